//! The error of reading: the position in the file, and what was expected there.

use std::fmt;
use std::io;

/// A position in a file.
///
/// ```
/// use superscalar_traces::Trace;
/// let error = Trace::read(&b"{\"traceEvents\":[\n{\"ph\":\"X\";"[..]).unwrap_err();
/// let at = error.position().unwrap();
/// assert_eq!((at.offset, at.line, at.column), (26, 2, 10));
/// assert_eq!(at.to_string(), "line 2, column 10 (byte 26)");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Position {
    /// The number of bytes before it.
    pub offset: u64,
    /// The line number, counted from 1.
    pub line: u64,
    /// The byte in that line, counted from 1.
    pub column: u64,
}

impl Position {
    pub(super) const START: Self = Self { offset: 0, line: 1, column: 1 };

    /// Returns the position after `text`, which begins at this position.
    pub(super) fn after(self, text: &[u8]) -> Self {
        // Chunks whose count fits into a byte are vectorized by the compiler.
        let count = |piece: &[u8]| piece.iter().map(|&byte| u8::from(byte == b'\n')).sum::<u8>();
        let lines: u64 = text.chunks(usize::from(u8::MAX)).map(|piece| u64::from(count(piece))).sum();
        let column = match text.iter().rposition(|&byte| byte == b'\n') {
            Some(at) => (text.len() - at) as u64,
            None => self.column + text.len() as u64,
        };
        Self { offset: self.offset + text.len() as u64, line: self.line + lines, column }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}, column {} (byte {})", self.line, self.column, self.offset)
    }
}

/// Why a trace could not be read, and where.
///
/// Displays as `run.json: line 7, column 12 (byte 310): expected a string, found '4'`. The file name is shown only if
/// the file was opened by name.
#[derive(Debug)]
pub struct ReadError {
    pub(super) file: Option<String>,
    pub(super) position: Option<Position>,
    pub(super) repr: Repr,
}

impl ReadError {
    /// Returns the position of the fault, or `None` if the file could not be opened.
    pub fn position(&self) -> Option<Position> {
        self.position
    }

    /// Returns whether the file ends too early, as after a crash.
    ///
    /// ```
    /// # use superscalar_traces::Trace;
    /// assert!(Trace::read(&b"{\"traceEvents\":[{\"ph\""[..]).unwrap_err().is_cut_short());
    /// ```
    pub fn is_cut_short(&self) -> bool {
        matches!(self.repr, Repr::Ends { .. })
    }

    /// Returns whether a limit of [`ReadOptions`](super::ReadOptions) was exceeded.
    pub fn is_limit(&self) -> bool {
        matches!(self.repr, Repr::Limit { .. })
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(out, "{file}: ")?;
        }
        if let Some(position) = self.position {
            write!(out, "{position}: ")?;
        }
        self.repr.fmt(out)
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The representation itself is private and already displayed.
        std::error::Error::source(&self.repr)
    }
}

/// The cause of an error. Messages follow a prefix such as `line 7, column 12 (byte 310):`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Repr {
    #[error("cannot open the file: {0}")]
    Open(#[source] io::Error),
    #[error("reading failed: {0}")]
    Read(#[source] io::Error),
    #[error("the text is not UTF-8 here")]
    Encoding,
    #[error("the file ends here, within {within}")]
    Ends { within: &'static str },
    #[error("expected {expected}, found {found:?}")]
    Expected { expected: &'static str, found: char },
    #[error("`{key}` must be {expected}, not {found}")]
    Value { key: &'static str, expected: &'static str, found: String },
    #[error("{event} has no `{key}`")]
    Missing { event: &'static str, key: &'static str },
    #[error("`{0}` occurs a second time")]
    Twice(&'static str),
    #[error("the object ends without `traceEvents`")]
    NoEvents,
    #[error("more {what} than the limit of {max}")]
    Limit { what: &'static str, max: u64 },
    #[error("{0}")]
    Refused(String),
}

impl Repr {
    /// Makes an error without a file name.
    #[cold]
    pub(super) fn at(self, position: Position) -> ReadError {
        ReadError { file: None, position: Some(position), repr: self }
    }
}

/// The reason why a text could not be parsed.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The text in memory ends too early; the file may contain more.
    End,
    /// The text is faulty, this many bytes after its start.
    Fault(usize, Box<Repr>),
}

impl Stop {
    #[cold]
    pub(super) fn fault(at: usize, repr: Repr) -> Self {
        Self::Fault(at, Box::new(repr))
    }

    /// Makes a fault with a message of the caller.
    #[cold]
    pub(crate) fn refused(at: usize, why: String) -> Self {
        Self::fault(at, Repr::Refused(why))
    }
}
