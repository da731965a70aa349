//! Properties of the Matrix Market reader for arbitrary bytes: it returns, an error names a line, and an accepted
//! matrix is sound and can be written and read back. The fuzz target checks them with libFuzzer;
//! `tests/matrix_market/mutations.rs` checks them on files with random damage.

use std::collections::HashSet;

use superscalar_matrix_market::{self as matrix_market, Error, Market, ReadOptions};

fn text_of(market: &Market) -> Vec<u8> {
    let mut text = Vec::new();
    matrix_market::write(market, &mut text).expect("writing into a vector succeeds");
    text
}

/// Reads the bytes without a limit on the announced entries. The caller's memory check, or libFuzzer's limit, detects
/// allocations for entries that are announced and missing.
pub fn read(text: &[u8]) -> Result<Market, Error> {
    matrix_market::read_with(text, &ReadOptions { entries_max: usize::MAX, ..ReadOptions::default() })
}

/// Checks the `result` of [`read`] and returns whether the file was accepted.
pub fn assert_sound(text: &[u8], result: Result<Market, Error>) -> bool {
    let market = match result {
        Ok(market) => market,
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("line ") && message.len() < 300, "{message}");
            let lines = text.split(|&byte| byte == b'\n').count() as u64;
            assert!(error.line().is_some_and(|line| line <= lines.max(1)), "{message}");
            return false;
        }
    };
    // The texts are compared, not the values, since a NaN is not equal to itself.
    let written = text_of(&market);
    let again = read(&written).expect("written text can be read");
    assert_eq!(written, text_of(&again));

    let shape = market.shape();
    let mut seen = HashSet::new();
    market.fill(|i, j, _re, _im| {
        assert!(i < shape.m && j < shape.n, "({i}, {j}) is outside {shape}");
        assert!(seen.insert((i, j)), "({i}, {j}) came twice");
    });
    true
}
