//! The full text of every error message, with its line and column.

use std::io::{self, BufReader, Read};

use superscalar_matrix_market::{self as matrix_market, ReadOptions};

/// Asserts that `text` is refused with exactly `message`, at the line that the message states and at `column`.
#[track_caller]
fn assert_refused(text: &[u8], column: usize, message: &str) {
    let error = matrix_market::read(text).expect_err("an invalid file");
    assert_eq!(error.to_string(), message, "{}", text.escape_ascii());
    assert_eq!(error.column(), Some(column), "column of: {message}");
    assert!(message.starts_with(&format!("line {}: ", error.line().unwrap_or(0))));
    assert!(!error.is_limit());
}

const COORDINATE: &str = "%%MatrixMarket matrix coordinate real general\n";
const ARRAY: &str = "%%MatrixMarket matrix array real general\n";

#[test]
fn banners() {
    for (text, column, message) in [
        ("", 1, "line 1: the file is empty"),
        ("\n", 1, "line 1: the banner must begin with `%%MatrixMarket`, not with ``"),
        ("1 1 1\n", 1, "line 1: the banner must begin with `%%MatrixMarket`, not with `1`"),
        ("%%Matrix\n", 1, "line 1: the banner must begin with `%%MatrixMarket`, not with `%%Matrix`"),
        (" %%MatrixMarket matrix\n", 1, "line 1: the banner must begin at the start of the line"),
        ("%%MatrixMarket", 15, "line 1: the banner ends before the object"),
        ("%%MatrixMarket matrix\r\n", 22, "line 1: the banner ends before the format"),
        ("%%MatrixMarket matrix array", 28, "line 1: the banner ends before the field"),
        ("%%MatrixMarket matrix array real", 33, "line 1: the banner ends before the symmetry"),
    ] {
        assert_refused(text.as_bytes(), column, message);
    }
}

#[test]
fn words_of_the_banner() {
    for (text, column, message) in [
        ("%%MatrixMarket vector array real general", 16, "line 1: `vector` is not a known object (known: matrix)"),
        ("%%MatrixMarket matrix csr", 23, "line 1: `csr` is not a known format (known: coordinate, array)"),
        (
            "%%MatrixMarket matrix array double",
            29,
            "line 1: `double` is not a known field (known: real, integer, complex, pattern)",
        ),
        (
            "%%MatrixMarket matrix array real skew",
            34,
            "line 1: `skew` is not a known symmetry (known: general, symmetric, hermitian, skew-symmetric)",
        ),
        ("%%MatrixMarket matrix array real general !", 42, "line 1: `!` follows the complete banner"),
        (
            "%%MatrixMarket matrix array real hermitian",
            1,
            "line 1: array real hermitian is not a valid combination: only a complex matrix can be hermitian",
        ),
    ] {
        assert_refused(text.as_bytes(), column, message);
    }
}

#[test]
fn size_lines() {
    let symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
    for (banner, rest, column, message) in [
        (COORDINATE, "", 46, "line 1: the file ends before the size line"),
        (COORDINATE, "% only\n\n", 1, "line 3: the file ends before the size line"),
        (COORDINATE, "3 3", 4, "line 2: the size line of coordinate format has 3 numbers, not 2"),
        (COORDINATE, "3 3 1 1", 7, "line 2: the size line of coordinate format has 3 numbers, not 4"),
        (ARRAY, "3 3 9", 5, "line 2: the size line of array format has 2 numbers, not 3"),
        (ARRAY, "3 x", 3, "line 2: `x` is not a count"),
        (ARRAY, "-3 3", 1, "line 2: `-3` is not a count"),
        (ARRAY, "3 3.0", 3, "line 2: `3.0` is not a count"),
        (ARRAY, "99999999999999999999 1", 1, "line 2: `99999999999999999999` is too large a count"),
        (symmetric, "3 4 1", 1, "line 2: a symmetric matrix must be square, not 3 x 4"),
    ] {
        assert_refused(format!("{banner}{rest}").as_bytes(), column, message);
    }
}

#[test]
fn entries() {
    let sized = format!("{COORDINATE}% ten rows\n\n10 12 2\n");
    for (rest, column, message) in [
        ("", 8, "line 4: the file ends after 0 of 2 entries"),
        ("1 1 1.0\n% no more\n", 10, "line 6: the file ends after 1 of 2 entries"),
        ("1 1 1\n1 1 1\n  1 1 1\n", 1, "line 7: an entry follows the 2 that were announced"),
        ("1 1", 4, "line 5: an entry of this file has 3 tokens, not 2"),
        ("1 1 1.0 0.0", 9, "line 5: an entry of this file has 3 tokens, not 4"),
        ("1\t1 1.0 2 2 2", 9, "line 5: an entry of this file has 3 tokens, not 6"),
        ("0 1 1.0", 1, "line 5: row index 0 is out of range 1..=10"),
        ("11 1 1.0", 1, "line 5: row index 11 is out of range 1..=10"),
        ("-1 1 1.0", 1, "line 5: row index -1 is out of range 1..=10"),
        ("10 13 1.0", 4, "line 5: column index 13 is out of range 1..=12"),
        ("1 999999999999999999999 1.0", 3, "line 5: column index 999999999999999999999 is out of range 1..=12"),
        ("1.0 1 1.0", 1, "line 5: `1.0` is not a row index"),
        ("1 y 1.0", 3, "line 5: `y` is not a column index"),
        ("1 1 one", 5, "line 5: `one` is not a number"),
        ("1 1 1e999", 5, "line 5: `1e999` is out of the range of a 64-bit float"),
        ("1 1 \u{7}\u{e9}", 5, "line 5: `\\u{7}\u{e9}` is not a number"),
    ] {
        assert_refused(format!("{sized}{rest}").as_bytes(), column, message);
    }
}

#[test]
fn long_tokens_are_cut_in_messages() {
    let sized = format!("{COORDINATE}10 12 2\n");
    let long = format!("{sized}1 1 {}", "z".repeat(1000));
    assert_refused(long.as_bytes(), 5, &format!("line 3: `{}...` is not a number", "z".repeat(40)));
    let endless = format!("{sized}{} 1 1", "9".repeat(1000));
    let shown = "9".repeat(40);
    assert_refused(endless.as_bytes(), 1, &format!("line 3: row index {shown}... is out of range 1..=10"));
}

#[test]
fn values_of_other_fields() {
    for (kind, entry, column, message) in [
        ("array integer general", "1.5", 1, "line 3: `1.5` is not an integer"),
        ("array integer general", "nan", 1, "line 3: `nan` is not an integer"),
        (
            "array integer general",
            "9223372036854775808",
            1,
            "line 3: `9223372036854775808` is out of the range of a 64-bit integer",
        ),
        ("array complex general", "1.0", 4, "line 3: an entry of this file has 2 tokens, not 1"),
        ("array complex general", "1.0 i", 5, "line 3: `i` is not a number"),
        ("array complex hermitian", "1.0 2.0", 1, "line 3: diagonal entry (1, 1) of a hermitian matrix must be real"),
        ("array complex hermitian", "1.0 nan", 1, "line 3: diagonal entry (1, 1) of a hermitian matrix must be real"),
    ] {
        assert_refused(format!("%%MatrixMarket matrix {kind}\n1 1\n{entry}\n").as_bytes(), column, message);
    }
    let pattern = "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1 1\n";
    assert_refused(pattern.as_bytes(), 5, "line 3: an entry of this file has 2 tokens, not 3");
}

#[test]
fn triangles_and_diagonals() {
    for (kind, entry, message) in [
        (
            "real symmetric",
            "2 3 1.0",
            "line 4: entry (2, 3) lies above the diagonal, and a symmetric file stores only the lower triangle",
        ),
        (
            "complex hermitian",
            "1 2 1 1",
            "line 4: entry (1, 2) lies above the diagonal, and a hermitian file stores only the lower triangle",
        ),
        (
            "integer skew-symmetric",
            "1 3 1",
            "line 4: entry (1, 3) lies above the diagonal, and a skew-symmetric file stores only the lower triangle",
        ),
        ("real skew-symmetric", "2 2 0.5", "line 4: diagonal entry (2, 2) of a skew-symmetric matrix must be zero"),
        ("real skew-symmetric", "2 2 nan", "line 4: diagonal entry (2, 2) of a skew-symmetric matrix must be zero"),
        ("complex skew-symmetric", "3 3 0 1", "line 4: diagonal entry (3, 3) of a skew-symmetric matrix must be zero"),
        ("complex hermitian", "3 3 0 1", "line 4: diagonal entry (3, 3) of a hermitian matrix must be real"),
    ] {
        let text = format!("%%MatrixMarket matrix coordinate {kind}\n3 3 1\n\n{entry}\n");
        assert_refused(text.as_bytes(), 1, message);
    }
    let zero = "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 -0.0\n";
    assert!(matrix_market::read(zero.as_bytes()).is_ok());
}

#[test]
fn only_comments_may_be_latin_1() {
    let comment = [COORDINATE.as_bytes(), b"% na\xefve\n1 1 0\n"].concat();
    assert_eq!(matrix_market::read(&*comment).unwrap().comments().collect::<Vec<_>>(), [" na\u{ef}ve"]);
    let entry = [COORDINATE.as_bytes(), b"1 1 1\n\xff"].concat();
    assert_refused(&entry, 1, "line 3: the line is not UTF-8 from byte 1 on");
}

#[test]
fn limits() {
    let options = ReadOptions { entries_max: 4, bytes_max: 100, line_bytes_max: 60, comment_bytes_max: 10 };
    let refused = |rest: &str| {
        let error = matrix_market::read_with(format!("{ARRAY}{rest}").as_bytes(), &options).expect_err("a limit");
        assert!(error.is_limit(), "{error}");
        error.to_string()
    };
    assert_eq!(refused("5 1\n"), "line 2: 5 entries are announced, more than the limit of 4");
    let huge = "4294967296 4294967296\n";
    assert_eq!(refused(huge), "line 2: 18446744073709551616 entries are announced, more than the limit of 4");
    assert_eq!(refused(&" ".repeat(61)), "line 2: the line is longer than the limit of 60 bytes");
    assert_eq!(refused("% four\n\n%five\n"), "line 4: the comments are longer than the limit of 10 bytes");
    let spaced = format!("1 1\n{}\n1\n", " ".repeat(60));
    assert_eq!(refused(&spaced), "line 3: the file is longer than the limit of 100 bytes");
    let longest = format!("{ARRAY}%  nine\r\n1 1\r\n1{}\r\n", " ".repeat(28));
    assert!(matrix_market::read_with(longest.as_bytes(), &options).is_ok());
}

#[test]
fn endless_lines_are_refused() {
    let endless = COORDINATE.as_bytes().chain(io::repeat(b'7'));
    let error = matrix_market::read(BufReader::new(endless)).expect_err("a limit");
    assert_eq!(error.to_string(), "line 2: the line is longer than the limit of 65536 bytes");
}
