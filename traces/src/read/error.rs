//! The one error of reading: where in the file, and what was expected there.

use std::fmt;
use std::io;

/// A place in a file.
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
    /// Bytes before it.
    pub offset: u64,
    /// Its line, from 1.
    pub line: u64,
    /// Its byte in that line, from 1.
    pub column: u64,
}

impl Position {
    pub(super) const START: Self = Self { offset: 0, line: 1, column: 1 };

    /// Where a text that begins here goes on after `text`.
    pub(super) fn after(self, text: &[u8]) -> Self {
        // In pieces whose count fits into a byte, which the compiler turns into vector instructions.
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
/// Displayed as `run.json: line 7, column 12 (byte 310): expected a string, found '4'`; the name only where a file was
/// opened by it.
#[derive(Debug)]
pub struct ReadError {
    pub(super) file: Option<String>,
    pub(super) position: Option<Position>,
    pub(super) kind: Kind,
}

impl ReadError {
    /// The place of the fault; `None` if the file could not be opened.
    pub fn position(&self) -> Option<Position> {
        self.position
    }

    /// Whether the file simply ends too early, as one does that a crash cut short.
    ///
    /// ```
    /// # use superscalar_traces::Trace;
    /// assert!(Trace::read(&b"{\"traceEvents\":[{\"ph\""[..]).unwrap_err().is_cut_short());
    /// ```
    pub fn is_cut_short(&self) -> bool {
        matches!(self.kind, Kind::Ends { .. })
    }

    /// Whether a limit of [`ReadOptions`](super::ReadOptions) was met.
    pub fn is_limit(&self) -> bool {
        matches!(self.kind, Kind::Limit { .. })
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
        self.kind.fmt(out)
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // Not the kind itself, which is private and displayed already.
        std::error::Error::source(&self.kind)
    }
}

/// What went wrong. Messages complete a `line 7, column 12 (byte 310):`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Kind {
    #[error("cannot be opened: {0}")]
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
    #[error("{event} without `{key}`")]
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

impl Kind {
    /// An error without a file's name.
    #[cold]
    pub(super) fn at(self, position: Position) -> ReadError {
        ReadError { file: None, position: Some(position), kind: self }
    }
}

/// Why a piece of text could not be taken.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The text at hand ends first; there may be more of it in the file.
    End,
    /// It is wrong, so many bytes into the text at hand.
    Fault(usize, Box<Kind>),
}

impl Stop {
    #[cold]
    pub(super) fn fault(at: usize, kind: Kind) -> Self {
        Self::Fault(at, Box::new(kind))
    }

    /// A refusal in the words of whoever takes the events.
    #[cold]
    pub(crate) fn refused(at: usize, why: String) -> Self {
        Self::fault(at, Kind::Refused(why))
    }
}
