//! The part of a file that is in memory.

use std::io::{self, Read};

use super::error::{Position, ReadError, Repr};

/// The number of bytes read from the input at once. Not critical; measured: docs/measurements/2026-11-28-constants.md.
const CHUNK_BYTES: usize = 256 << 10;

/// A UTF-8 character has at most four bytes, so up to three may wait for the rest.
const WAITING_BYTES_MAX: usize = 3;

/// The part of a file that has been read but not consumed.
pub(super) struct Window<R> {
    input: R,
    /// The text from `start` on; the part before `at` has been consumed.
    text: String,
    at: usize,
    start: Position,
    chunk: Vec<u8>,
    /// The number of bytes at the front of `chunk` of a character that the last read split.
    waiting: usize,
    /// Whether the text is followed by a byte that is not UTF-8.
    is_invalid: bool,
    bytes_max: usize,
}

impl<R: Read> Window<R> {
    /// Creates a window that holds at most about `bytes_max` bytes that are not consumed.
    pub(super) fn new(input: R, bytes_max: usize) -> Self {
        let chunk = vec![0; CHUNK_BYTES + WAITING_BYTES_MAX];
        Self {
            input,
            text: String::new(),
            at: 0,
            start: Position::START,
            chunk,
            waiting: 0,
            is_invalid: false,
            bytes_max,
        }
    }

    /// Returns the text that has not been consumed.
    pub(super) fn text(&self) -> &str {
        &self.text[self.at..]
    }

    /// Returns the position `ahead` bytes into the text.
    #[cold]
    pub(super) fn position(&self, ahead: usize) -> Position {
        let to = self.at.saturating_add(ahead).min(self.text.len());
        self.start.after(&self.text.as_bytes()[..to])
    }

    /// Consumes this many bytes of the text.
    pub(super) fn take(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Reads more text. Returns `false` at the end of the file.
    ///
    /// # Errors
    /// If reading fails, for bytes that are not UTF-8, and for more text than the limit.
    pub(super) fn more(&mut self) -> Result<bool, ReadError> {
        let taken = &self.text.as_bytes()[..self.at];
        self.start = self.start.after(taken);
        self.text.drain(..self.at);
        self.at = 0;
        if self.text.len() > self.bytes_max {
            let max = self.bytes_max as u64;
            return Err(Repr::Limit { what: "bytes in one event", max }.at(self.start));
        }
        // The caller parses the whole text again. The text must double each time, or a long event would take quadratic
        // time.
        let before = self.text.len();
        while self.text.len() < before.saturating_mul(2).max(1) && self.chunk()? {}
        Ok(self.text.len() > before)
    }

    /// Reads one chunk. Returns `false` at the end of the file.
    fn chunk(&mut self) -> Result<bool, ReadError> {
        let end = |window: &Self| window.start.after(window.text.as_bytes());
        if self.is_invalid {
            return Err(Repr::Encoding.at(end(self)));
        }
        let room = self.waiting..self.waiting + CHUNK_BYTES;
        let read = loop {
            match self.input.read(&mut self.chunk[room.clone()]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other.map_err(|error| Repr::Read(error).at(end(self)))?,
            }
        };
        if read == 0 {
            return if self.waiting == 0 { Ok(false) } else { Err(Repr::Encoding.at(end(self))) };
        }
        let filled = &self.chunk[..self.waiting + read];
        let valid = match str::from_utf8(filled) {
            Ok(text) => text,
            Err(error) => {
                self.is_invalid = error.error_len().is_some();
                str::from_utf8(&filled[..error.valid_up_to()]).unwrap_or_default()
            }
        };
        self.text.push_str(valid);
        let (valid, filled) = (valid.len(), filled.len());
        if !self.is_invalid {
            self.chunk.copy_within(valid..filled, 0);
            self.waiting = filled - valid;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that returns one byte at a time.
    struct Drops<'a>(&'a [u8]);

    impl Read for Drops<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let bytes = self.0.len().min(1);
            to[..bytes].copy_from_slice(&self.0[..bytes]);
            self.0 = &self.0[bytes..];
            Ok(bytes)
        }
    }

    #[test]
    fn split_characters_are_joined() {
        let text = "a\u{e9}\u{4e16}\u{1f600}\nb";
        let mut window = Window::new(Drops(text.as_bytes()), 1 << 10);
        while window.more().expect("UTF-8") {}
        assert_eq!(window.text(), text);
        assert_eq!(window.position(text.len()), Position { offset: 12, line: 2, column: 2 });
    }

    #[test]
    fn invalid_utf8_is_refused_with_position() {
        for text in [&b"ab\nc\xff\xffd"[..], &b"ab\nc\xe4\xb8"[..]] {
            let mut window = Window::new(text, 1 << 10);
            let error = loop {
                match window.more() {
                    Ok(more) => assert!(more, "the end of {text:?}"),
                    Err(error) => break error,
                }
                window.take(1);
            };
            assert_eq!(error.position(), Some(Position { offset: 4, line: 2, column: 2 }), "{text:?}");
        }
    }
}
