//! The fuzz target for `matrix_market.rs` of the parent folder.

#![no_main]

#[path = "../matrix_market.rs"]
mod matrix_market;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    matrix_market::assert_sound(text, matrix_market::read(text));
});
