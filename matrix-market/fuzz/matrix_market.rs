//! What holds for any bytes whatever: the Matrix Market reader returns, a refusal names a line, and what it accepts is sound and survives
//! being written and read. The fuzz target runs it under libFuzzer, `tests/matrix_market/mutations.rs` on seeded damage.

use std::collections::HashSet;

use superscalar_matrix_market::{self as matrix_market, Error, Market, ReadOptions};

fn text_of(market: &Market) -> Vec<u8> {
    let mut text = Vec::new();
    matrix_market::write(market, &mut text).expect("a vector takes everything");
    text
}

/// Reads the bytes. There is no limit on what a file may announce: the memory that is measured around it, or libFuzzer's limit, shows
/// whether the reader believes announcements.
pub fn read(text: &[u8]) -> Result<Market, Error> {
    matrix_market::read_with(text, &ReadOptions { entries_max: usize::MAX, ..ReadOptions::default() })
}

/// Asserts what must hold of what [`read`] returned; whether the file was accepted.
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
    // Text and not values are compared, for a NaN is not equal to itself.
    let written = text_of(&market);
    let again = read(&written).expect("what was written can be read");
    assert_eq!(written, text_of(&again));

    let shape = market.shape();
    let mut seen = HashSet::new();
    market.fill(|i, j, _re, _im| {
        assert!(i < shape.m && j < shape.n, "({i}, {j}) is outside {shape}");
        assert!(seen.insert((i, j)), "({i}, {j}) came twice");
    });
    true
}
