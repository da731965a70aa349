//! The one error of this crate: where, and what.

use std::fmt;
use std::io;

use crate::types::{Entry, Format, Shape, Symmetry};

/// The longest excerpt of a file that a message repeats, in characters: a line of 64 KiB is no message.
const EXCERPT_CHARS_MAX: usize = 40;

/// Why a Matrix Market file could not be read, built or written.
///
/// Displayed as `line 17: column index 12 is out of range 1..=10`. Errors about values in memory name the entry
/// instead, and count indices from 0 as the caller does: `entry 3: row index 9 is out of range 0..9`.
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
    place: Place,
    kind: Kind,
}

impl Error {
    /// The line of the file that is at fault, counted from 1; `None` if no line is.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market as matrix_market;
    /// assert_eq!(matrix_market::read(&b"%MatrixMarket"[..]).unwrap_err().line(), Some(1));
    /// ```
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        match self.place {
            Place::Line { line, .. } => Some(line),
            Place::Entry(_) | Place::Whole => None,
        }
    }

    /// The byte of [`line`](Self::line) where the fault begins, counted from 1; `None` if no line is at fault.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market as matrix_market;
    /// let text = "%%MatrixMarket matrix coordinate quaternion general";
    /// assert_eq!(matrix_market::read(text.as_bytes()).unwrap_err().column(), Some(34));
    /// ```
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        match self.place {
            Place::Line { column, .. } => Some(column),
            Place::Entry(_) | Place::Whole => None,
        }
    }

    /// Whether a limit of [`ReadOptions`](crate::ReadOptions) was met, so that a larger one might let the file pass.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market as matrix_market;
    /// let text = "%%MatrixMarket matrix array real general\n1000000000 1000000000\n";
    /// assert!(matrix_market::read(text.as_bytes()).unwrap_err().is_limit());
    /// ```
    #[must_use]
    pub fn is_limit(&self) -> bool {
        matches!(
            self.kind,
            Kind::LineTooLong { .. }
                | Kind::FileTooLong { .. }
                | Kind::CommentsTooLong { .. }
                | Kind::TooManyAnnounced { .. }
        )
    }

    /// The bytes that the matrix takes in dense storage, if there is no memory for them.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market::Error;
    /// let error = Error::no_memory(800_000_000_000_000, "there is no memory for 10000000 x 10000000 numbers");
    /// assert_eq!(error.bytes_needed(), Some(800_000_000_000_000));
    /// ```
    #[must_use]
    pub fn bytes_needed(&self) -> Option<u128> {
        match self.kind {
            Kind::NoMemory { bytes, .. } => Some(bytes),
            _ => None,
        }
    }

    /// There is no memory for the matrix in dense storage, which takes `bytes`; `why` is the message. For callers that
    /// make a dense matrix of a [`Market`](crate::Market).
    ///
    /// ```
    /// # use superscalar::dla::matrix_market::Error;
    /// let error = Error::no_memory(800_000_000_000_000, "there is no memory for 10000000 x 10000000 numbers");
    /// assert_eq!(error.to_string(), "there is no memory for 10000000 x 10000000 numbers");
    /// ```
    #[must_use]
    pub fn no_memory(bytes: u128, why: impl fmt::Display) -> Self {
        Kind::NoMemory { bytes, why: why.to_string() }.at(Place::Whole)
    }

    /// The value of `entry` is not in `field`, the last words of the message. For callers that make a matrix of a
    /// [`Market`](crate::Market), with elements that can not hold every value.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market::{Entry, Error};
    /// let error = Error::not_in_field(Entry { i: 1, j: 2, re: 0.5, im: -1.0 }, "real");
    /// assert_eq!(error.to_string(), "(0.5, -1.0) at (1, 2) is not real");
    /// ```
    #[must_use]
    pub fn not_in_field(entry: Entry, field: &'static str) -> Self {
        let Entry { i, j, re, im } = entry;
        Kind::NotInField { re, im, i, j, field }.at(Place::Whole)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Line { line, .. } => write!(f, "line {line}: {}", self.kind),
            Place::Entry(entry) => write!(f, "entry {entry}: {}", self.kind),
            Place::Whole => self.kind.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // Not the kind itself, which is private and already displayed.
        self.kind.source()
    }
}

/// What an error is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// A line of the file, and the byte in it, both from 1.
    Line { line: u64, column: usize },
    /// An entry in memory, from 0.
    Entry(usize),
    /// The file or the matrix as a whole.
    Whole,
}

/// What went wrong. Messages are lower case and complete a `line 17:`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Kind {
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

impl Kind {
    /// The error of this kind at `place`.
    #[cold]
    pub(crate) fn at(self, place: Place) -> Error {
        Error { place, kind: self }
    }

    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(self)
    }
}

/// A piece of a file, quoted for a message.
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

/// `text` cut to a readable length, control characters escaped.
#[cold]
pub(crate) fn shorten(text: &str) -> String {
    let start = text.chars().take(EXCERPT_CHARS_MAX);
    let mut shown: String = start.flat_map(char::escape_debug).collect();
    if text.chars().nth(EXCERPT_CHARS_MAX).is_some() {
        shown.push_str("...");
    }
    shown
}
