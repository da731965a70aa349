//! What it means that a matrix survived a file, and that a matrix is sound.

use std::collections::HashSet;

use superscalar_matrix_market::{self as matrix_market, Market, Values};

/// The text of `market`.
pub fn text_of(market: &Market) -> Vec<u8> {
    let mut text = Vec::new();
    matrix_market::write(market, &mut text).expect("a vector takes everything");
    text
}

/// The stored values as bits, with one pattern for every NaN: its sign and payload have no decimal form.
fn bits(values: &Values) -> Vec<u64> {
    let of = |x: f64| {
        if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }
    };
    match values {
        Values::Pattern => Vec::new(),
        Values::Integer(values) => values.iter().map(|x| x.cast_unsigned()).collect(),
        Values::Real(values) => values.iter().copied().map(of).collect(),
        Values::Complex(values) => values.iter().flat_map(|z| [of(z.re), of(z.im)]).collect(),
    }
}

/// Asserts that two matrices are the same to the bit.
pub fn assert_same(left: &Market, right: &Market) {
    assert_eq!(left.header(), right.header());
    assert_eq!(left.shape(), right.shape());
    assert!(left.comments().eq(right.comments()));
    assert_eq!(left.positions(), right.positions());
    assert_eq!(bits(left.values()), bits(right.values()));
}

/// Asserts that writing and reading gives `market` back, and that its text is then final.
pub fn assert_round_trip(market: &Market) {
    let text = text_of(market);
    let again = matrix_market::read(&text[..]).expect("what was written can be read");
    assert_same(market, &again);
    assert_eq!(text, text_of(&again));
}

/// Asserts that `fill` stays inside the matrix and names no position twice.
pub fn assert_fill_is_sound(market: &Market) {
    let shape = market.shape();
    let mut seen = HashSet::new();
    market.fill(|i, j, _re, _im| {
        assert!(i < shape.m && j < shape.n, "({i}, {j}) is outside {shape}");
        assert!(seen.insert((i, j)), "({i}, {j}) came twice");
    });
}

/// The files of `cases/`: name and content, in the order of their names.
pub fn cases() -> Vec<(String, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/matrix_market/cases");
    let listed = std::fs::read_dir(folder).expect("the cases lie beside the test");
    let mut paths: Vec<_> = listed.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    let load = |path: std::path::PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        (name, std::fs::read(&path).expect("a readable case"))
    };
    paths.into_iter().map(load).collect()
}
