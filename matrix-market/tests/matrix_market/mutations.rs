//! Valid files with random damage to bytes, tokens and lines. For each, the reader returns and uses little memory, and
//! an accepted matrix is sound and can be written and read back. The seeds are fixed; a failure prints the seed and
//! the damaged file. The fuzz target checks the same properties on the inputs of libFuzzer.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::allocator::peak_bytes;
use crate::assertions::{assert_round_trip, cases};
use crate::memory::{BYTES_PER_BYTE, FIXED_BYTES};

#[path = "../../fuzz/matrix_market.rs"]
mod fuzz;

/// The default number of damaged files, about two seconds without optimisation. `FUZZ_FILES=n` sets another number.
const FILES: u64 = 400_000;

/// Replacements for tokens: words of the banner, limits of ranges, spellings of numbers.
const TOKENS: [&str; 36] = [
    "coordinate",
    "array",
    "real",
    "integer",
    "complex",
    "pattern",
    "general",
    "symmetric",
    "hermitian",
    "skew-symmetric",
    "matrix",
    "%%MatrixMarket",
    "%",
    "",
    "0",
    "1",
    "2",
    "3",
    "4",
    "-1",
    "+1",
    "9",
    "1.5",
    "-0.0",
    "1.0D+03",
    "1e999",
    "1e-999",
    "nan",
    "-inf",
    "1000000000000000000",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "4294967296",
    "\u{e9}\u{a0}",
];

const BYTES: &[u8] = b"0123456789+-.eEdD% \t\r\n\x0b\x0c\0\x7f\x80\xc3\xff";

/// The generator of Steele, Lea and Flood (2014), SplitMix64: small, seedable, and good enough to choose damage.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, or 0 if `end` is 0.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap_or(0)
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    fn range(&mut self, end: usize) -> std::ops::Range<usize> {
        let (a, b) = (self.below(end + 1), self.below(end + 1));
        a.min(b)..a.max(b)
    }
}

fn damage(text: &mut Vec<u8>, random: &mut Random, others: &[(String, Vec<u8>)]) {
    let at = random.below(text.len() + 1);
    match random.below(10) {
        0 if at < text.len() => text[at] = *random.pick(BYTES),
        1 if at < text.len() => text[at] ^= 1 << random.below(8),
        2 => text.insert(at, *random.pick(BYTES)),
        3 => text.truncate(at),
        4 => drop(text.drain(random.range(at))),
        5 => {
            let copied = text[random.range(at)].to_vec();
            text.splice(at..at, copied);
        }
        6 => {
            let other = &random.pick(others).1;
            text.splice(at.., other[random.below(other.len())..].iter().copied());
        }
        7 => swap_lines(text, random),
        _ => replace_token(text, random),
    }
}

fn replace_token(text: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(text.len());
    let is_blank = u8::is_ascii_whitespace;
    let start = text[..at].iter().rposition(is_blank).map_or(0, |blank| blank + 1);
    let end = text[at..].iter().position(is_blank).map_or(text.len(), |length| at + length);
    text.splice(start..end.max(start), random.pick(&TOKENS).bytes());
}

fn swap_lines(text: &mut Vec<u8>, random: &mut Random) {
    let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    let (a, b) = (random.below(lines.len()), random.below(lines.len()));
    lines.swap(a, b);
    *text = lines.join(&b'\n');
}

/// Checks the properties of the reader for `text` and returns whether the text was accepted.
fn check(text: &[u8]) -> bool {
    let (result, bytes) = peak_bytes(|| fuzz::read(text));
    assert!(bytes <= FIXED_BYTES + BYTES_PER_BYTE * text.len(), "{bytes} bytes held for {}", text.len());
    if let Ok(market) = &result {
        assert_round_trip(market);
    }
    fuzz::assert_sound(text, result)
}

#[test]
fn damaged_files() {
    let cases = cases();
    let mut accepted = 0;
    let files = std::env::var("FUZZ_FILES").map_or(FILES, |files| files.parse().expect("FUZZ_FILES is a number"));
    for seed in 0..files {
        let mut random = Random(seed);
        let mut text = random.pick(&cases).1.clone();
        for _ in 0..=random.below(4) {
            damage(&mut text, &mut random, &cases);
        }
        match catch_unwind(AssertUnwindSafe(|| check(&text))) {
            Ok(was_accepted) => accepted += u64::from(was_accepted),
            Err(_) => panic!("seed {seed}: {}", text.escape_ascii()),
        }
    }
    println!("{accepted} of {files} damaged files were still valid");
    // The test is valid only if it exercised both outcomes.
    assert!(accepted > files / 50 && accepted < files / 2, "{accepted} accepted");
}
