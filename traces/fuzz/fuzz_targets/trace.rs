//! Any bytes: see `trace.rs` of the folder above.

#![no_main]

#[path = "../trace.rs"]
mod trace;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    trace::assert_sound(text);
});
