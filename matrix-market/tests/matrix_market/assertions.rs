//! Assertions about matrices: equality, round trips, soundness of `fill`; and the test cases.

use std::collections::HashSet;

use superscalar_matrix_market::{self as matrix_market, Market, Values};

/// Returns the text of `market`.
pub fn text_of(market: &Market) -> Vec<u8> {
    let mut text = Vec::new();
    matrix_market::write(market, &mut text).expect("writing into a vector succeeds");
    text
}

/// Returns the stored values as bits, with one pattern for every NaN: text does not keep its sign and payload.
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

/// Asserts that two matrices are equal, bit for bit.
pub fn assert_same(left: &Market, right: &Market) {
    assert_eq!(left.header(), right.header());
    assert_eq!(left.shape(), right.shape());
    assert!(left.comments().eq(right.comments()));
    assert_eq!(left.positions(), right.positions());
    assert_eq!(bits(left.values()), bits(right.values()));
}

/// Asserts that `market` is unchanged after writing and reading it, and that it is written as the same text again.
pub fn assert_round_trip(market: &Market) {
    let text = text_of(market);
    let again = matrix_market::read(&text[..]).expect("written text can be read");
    assert_same(market, &again);
    assert_eq!(text, text_of(&again));
}

/// Asserts that `fill` passes only positions inside the matrix, and each at most once.
pub fn assert_fill_is_sound(market: &Market) {
    let shape = market.shape();
    let mut seen = HashSet::new();
    market.fill(|i, j, _re, _im| {
        assert!(i < shape.m && j < shape.n, "({i}, {j}) is outside {shape}");
        assert!(seen.insert((i, j)), "({i}, {j}) came twice");
    });
}

/// Returns the name and content of each file of `cases/`, sorted by name.
pub fn cases() -> Vec<(String, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/matrix_market/cases");
    let listed = std::fs::read_dir(folder).expect("the folder of the cases exists");
    let mut paths: Vec<_> = listed.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    let load = |path: std::path::PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        (name, std::fs::read(&path).expect("a readable case"))
    };
    paths.into_iter().map(load).collect()
}
