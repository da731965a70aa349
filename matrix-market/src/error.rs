//! The error type of this crate: a location and a description.

use std::fmt;
use std::io;

use crate::types::{Entry, Format, Shape, Symmetry};

/// The longest excerpt of a file that a message quotes, in characters. A line may have 64 KiB.
const EXCERPT_CHARS_MAX: usize = 40;

/// An error from reading, building or writing a Matrix Market file.
///
/// An error in a file is displayed as `line 17: column index 12 is out of range 1..=10`. An error in a matrix in memory
/// names the entry instead and counts indices from 0, as the caller does: `entry 3: row index 9 is out of range 0..9`.
///
/// ```
/// use superscalar::dla::matrix_market as matrix_market;
///
/// let text = "%%MatrixMarket matrix coordinate real general\n10 10 1\n1 12 0.5\n";
/// let error = matrix_market::read(text.as_bytes()).unwrap_err();
/// assert_eq!(error.to_string(), "line 3: column index 12 is out of range 1..=10");
/// assert_eq!((error.line(), error.column()), (Some(3), Some(3)));
/// ```
#[derive(Debug)]
pub struct Error {
    location: Location,
    repr: Repr,
}

impl Error {
    /// Returns the number of the faulty line, counted from 1, or `None` if the error is not about a line.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market as matrix_market;
    /// assert_eq!(matrix_market::read(&b"%MatrixMarket"[..]).unwrap_err().line(), Some(1));
    /// ```
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        match self.location {
            Location::Line { line, .. } => Some(line),
            Location::Entry(_) | Location::Whole => None,
        }
    }

    /// Returns the first faulty byte of [`line`](Self::line), counted from 1, or `None` if the error is not about a
    /// line.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market as matrix_market;
    /// let text = "%%MatrixMarket matrix coordinate quaternion general";
    /// assert_eq!(matrix_market::read(text.as_bytes()).unwrap_err().column(), Some(34));
    /// ```
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        match self.location {
            Location::Line { column, .. } => Some(column),
            Location::Entry(_) | Location::Whole => None,
        }
    }

    /// Returns whether the file exceeds a limit of [`ReadOptions`](crate::ReadOptions). A larger limit may accept it.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market as matrix_market;
    /// let text = "%%MatrixMarket matrix array real general\n1000000000 1000000000\n";
    /// assert!(matrix_market::read(text.as_bytes()).unwrap_err().is_limit());
    /// ```
    #[must_use]
    pub fn is_limit(&self) -> bool {
        matches!(
            self.repr,
            Repr::LineTooLong { .. }
                | Repr::FileTooLong { .. }
                | Repr::CommentsTooLong { .. }
                | Repr::TooManyAnnounced { .. }
        )
    }

    /// Returns the bytes that the dense matrix needs, if the error is that they could not be allocated.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market::Error;
    /// let error = Error::no_memory(800_000_000_000_000, "there is no memory for 10000000 x 10000000 numbers");
    /// assert_eq!(error.bytes_needed(), Some(800_000_000_000_000));
    /// ```
    #[must_use]
    pub fn bytes_needed(&self) -> Option<u128> {
        match self.repr {
            Repr::NoMemory { bytes, .. } => Some(bytes),
            _ => None,
        }
    }

    /// Makes the error that `bytes` for a dense matrix could not be allocated; `why` is the message. For callers that
    /// make a dense matrix from a [`Market`](crate::Market).
    ///
    /// ```
    /// # use superscalar::dla::matrix_market::Error;
    /// let error = Error::no_memory(800_000_000_000_000, "there is no memory for 10000000 x 10000000 numbers");
    /// assert_eq!(error.to_string(), "there is no memory for 10000000 x 10000000 numbers");
    /// ```
    #[must_use]
    pub fn no_memory(bytes: u128, why: impl fmt::Display) -> Self {
        Repr::NoMemory { bytes, why: why.to_string() }.at(Location::Whole)
    }

    /// Makes the error that the value of `entry` is not in `field`, which ends the message. For callers that make a
    /// matrix from a [`Market`](crate::Market) and whose element type cannot hold every value.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market::{Entry, Error};
    /// let error = Error::not_in_field(Entry { i: 1, j: 2, re: 0.5, im: -1.0 }, "real");
    /// assert_eq!(error.to_string(), "(0.5, -1.0) at (1, 2) is not real");
    /// ```
    #[must_use]
    pub fn not_in_field(entry: Entry, field: &'static str) -> Self {
        let Entry { i, j, re, im } = entry;
        Repr::NotInField { re, im, i, j, field }.at(Location::Whole)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.location {
            Location::Line { line, .. } => write!(f, "line {line}: {}", self.repr),
            Location::Entry(entry) => write!(f, "entry {entry}: {}", self.repr),
            Location::Whole => self.repr.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // `repr` itself is not a source: it is private, and `Display` already shows it.
        self.repr.source()
    }
}

/// What an error refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Location {
    /// A line of the file and a byte of that line, both counted from 1.
    Line { line: u64, column: usize },
    /// An entry of a matrix in memory, counted from 0.
    Entry(usize),
    /// The file or the matrix as a whole.
    Whole,
}

/// The representation of an [`Error`]. Each message can follow `line 17: `.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Repr {
    #[error("cannot open `{path}`: {source}")]
    Open { path: String, source: io::Error },
    #[error("cannot create `{path}`: {source}")]
    Create { path: String, source: io::Error },
    #[error("reading failed: {source}")]
    Read { source: io::Error },
    #[error("writing failed: {source}")]
    Write { source: io::Error },

    #[error("the line is longer than the limit of {bytes_max} bytes")]
    LineTooLong { bytes_max: usize },
    #[error("the file is longer than the limit of {bytes_max} bytes")]
    FileTooLong { bytes_max: u64 },
    #[error("the comments are longer than the limit of {bytes_max} bytes")]
    CommentsTooLong { bytes_max: usize },
    #[error("{announced} entries are announced, more than the limit of {entries_max}")]
    TooManyAnnounced { announced: u128, entries_max: usize },
    #[error("the line is not UTF-8 from byte {column} on")]
    Encoding { column: usize },

    #[error("the file is empty")]
    Empty,
    #[error("the banner must begin with `%%MatrixMarket`, not with {found}")]
    Banner { found: Excerpt },
    #[error("the banner must begin at the start of the line")]
    BannerIndented,
    #[error("the banner ends before the {part}")]
    BannerEnds { part: &'static str },
    #[error("{word} follows the complete banner")]
    BannerExtra { word: Excerpt },
    #[error("{word} is not a known {part} (known: {known})")]
    BannerWord { part: &'static str, word: Excerpt, known: &'static str },
    #[error("{header} is not a valid combination: {why}")]
    Combination { header: String, why: &'static str },

    #[error("the file ends before the size line")]
    SizeMissing,
    #[error("the size line of {format} format has {expected} numbers, not {found}")]
    SizeTokens { format: Format, expected: usize, found: usize },
    #[error("{token} is not a count")]
    Count { token: Excerpt },
    #[error("{token} is too large a count")]
    CountTooLarge { token: Excerpt },
    #[error("a {symmetry} matrix must be square, not {shape}")]
    NotSquare { symmetry: Symmetry, shape: Shape },
    #[error("a matrix of {shape} has more entries than this machine can count")]
    Uncountable { shape: Shape },

    #[error("an entry of this file has {expected} tokens, not {found}")]
    EntryTokens { expected: usize, found: usize },
    #[error("the file ends after {found} of {announced} entries")]
    TooFew { found: usize, announced: usize },
    #[error("an entry follows the {announced} that were announced")]
    TooMany { announced: usize },
    #[error("{token} is not a {axis} index")]
    Index { axis: &'static str, token: Excerpt },
    #[error("{axis} index {index} is out of range {range}")]
    OutOfRange { axis: &'static str, index: String, range: String },
    #[error("{token} is not a number")]
    Number { token: Excerpt },
    #[error("{token} is out of the range of a 64-bit float")]
    NumberOverflow { token: Excerpt },
    #[error("{token} is not an integer")]
    Integer { token: Excerpt },
    #[error("{token} is out of the range of a 64-bit integer")]
    IntegerOverflow { token: Excerpt },

    #[error("entry ({i}, {j}) lies above the diagonal, and a {symmetry} file stores only the lower triangle")]
    WrongTriangle { i: usize, j: usize, symmetry: Symmetry },
    #[error("diagonal entry ({i}, {i}) of a skew-symmetric matrix must be zero")]
    SkewDiagonal { i: usize },
    #[error("diagonal entry ({i}, {i}) of a hermitian matrix must be real")]
    HermitianDiagonal { i: usize },

    #[error("{values} values for {expected} entries")]
    ValueCount { values: usize, expected: u128 },
    #[error("({re:?}, {im:?}) at ({i}, {j}) is not {field}")]
    NotInField { re: f64, im: f64, i: usize, j: usize, field: &'static str },
    #[error("{why}")]
    NoMemory { bytes: u128, why: String },
}

impl Repr {
    /// Makes the error at `location`.
    #[cold]
    pub(crate) fn at(self, location: Location) -> Error {
        Error { location, repr: self }
    }

    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(self)
    }
}

/// A shortened excerpt of a file, displayed in backquotes.
#[derive(Debug)]
pub(crate) struct Excerpt(String);

impl Excerpt {
    #[cold]
    pub(crate) fn new(text: &str) -> Self {
        Self(shorten(text))
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0)
    }
}

/// Returns the first [`EXCERPT_CHARS_MAX`] characters of `text` with control characters escaped.
#[cold]
pub(crate) fn shorten(text: &str) -> String {
    let start = text.chars().take(EXCERPT_CHARS_MAX);
    let mut shown: String = start.flat_map(char::escape_debug).collect();
    if text.chars().nth(EXCERPT_CHARS_MAX).is_some() {
        shown.push_str("...");
    }
    shown
}
