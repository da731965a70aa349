//! Any bytes: the Matrix Market reader returns, and what it accepts is sound and survives being written and read.

#![no_main]

use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use superscalar_dla::matrix_market::{self, Market, ReadOptions};

fn text_of(market: &Market) -> Vec<u8> {
    let mut text = Vec::new();
    matrix_market::write(market, &mut text).expect("a vector takes everything");
    text
}

fuzz_target!(|text: &[u8]| {
    // No limit on announcements: libFuzzer's own memory limit shows whether the reader believes them.
    let options = ReadOptions {
        entries_max: usize::MAX,
        ..ReadOptions::default()
    };
    let market = match matrix_market::read_with(text, &options) {
        Ok(market) => market,
        Err(error) => {
            assert!(error.to_string().starts_with("line "), "{error}");
            return;
        }
    };
    // Text and not values are compared, for a NaN is not equal to itself.
    let written = text_of(&market);
    let again =
        matrix_market::read_with(&written[..], &options).expect("what was written can be read");
    assert_eq!(written, text_of(&again));

    let shape = market.shape();
    let mut seen = HashSet::new();
    market.fill(|i, j, _re, _im| {
        assert!(i < shape.m && j < shape.n, "({i}, {j}) is outside {shape}");
        assert!(seen.insert((i, j)), "({i}, {j}) came twice");
    });
});
