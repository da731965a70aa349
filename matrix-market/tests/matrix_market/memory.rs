//! The reader's memory is proportional to the bytes that it reads, not to the entries that a header announces.

use std::io::{BufReader, Read};

use superscalar_matrix_market::{self as matrix_market, ReadOptions};

use crate::allocator::peak_bytes;

/// Memory that a reader may use for a file of any length: initial capacity, line buffer, messages.
pub const FIXED_BYTES: usize = 16 << 10;
/// Memory that it may use for each byte of the file.
pub const BYTES_PER_BYTE: usize = 12;

fn unlimited() -> ReadOptions {
    ReadOptions { entries_max: usize::MAX, bytes_max: u64::MAX, ..ReadOptions::default() }
}

#[test]
fn huge_announcements_allocate_nothing() {
    for text in [
        "%%MatrixMarket matrix coordinate complex general\n1000000000 1000000000 1000000000000000000\n1 1 1 1\n",
        "%%MatrixMarket matrix array complex general\n1000000000 1000000000\n1 1\n",
    ] {
        let (result, bytes) = peak_bytes(|| matrix_market::read_with(text.as_bytes(), &unlimited()));
        let error = result.expect_err("most entries are missing");
        assert_eq!(error.to_string(), "line 3: the file ends after 1 of 1000000000000000000 entries");
        assert!(bytes <= FIXED_BYTES, "{bytes} bytes");
        let refused = matrix_market::read(text.as_bytes()).expect_err("more than the default limit");
        assert!(refused.is_limit());
    }
}

#[test]
fn memory_is_proportional_to_the_file() {
    for (header, entry) in [
        ("coordinate pattern general\n1 1 ", "1 1\n"),
        ("coordinate integer general\n1 1 ", "1 1 1\n"),
        ("coordinate complex general\n1 1 ", "1 1 1 1\n"),
    ] {
        // One more than a power of two, so that a vector has doubled for the last entry.
        let count = (1 << 16) + 1;
        let text = format!("%%MatrixMarket matrix {header}{count}\n{}", entry.repeat(count));
        let (result, bytes) = peak_bytes(|| matrix_market::read(text.as_bytes()));
        assert_eq!(result.map(|market| market.nnz()).ok(), Some(count));
        assert!(bytes <= FIXED_BYTES + BYTES_PER_BYTE * text.len(), "{bytes} bytes for {}", text.len());
    }
}

#[test]
fn memory_of_comments_is_proportional() {
    let count = 100_000;
    let comments = "%\n".repeat(count);
    let text = format!("%%MatrixMarket matrix array real general\n{comments}0 0\n{comments}");
    let (result, bytes) = peak_bytes(|| matrix_market::read(text.as_bytes()));
    assert_eq!(result.map(|market| market.comments().count()).ok(), Some(2 * count));
    assert!(bytes <= FIXED_BYTES + 3 * text.len(), "{bytes} bytes for {}", text.len());
}

#[test]
fn endless_lines_are_not_buffered() {
    let endless = b"%%MatrixMarket matrix array real general\n%".chain(std::io::repeat(b'c'));
    let (result, bytes) = peak_bytes(|| matrix_market::read(BufReader::with_capacity(512, endless)));
    assert!(result.expect_err("a limit").is_limit());
    assert!(bytes <= 4 * ReadOptions::default().line_bytes_max, "{bytes} bytes");
}
