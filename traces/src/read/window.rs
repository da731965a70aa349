//! The part of a file that is in memory: a text that moves through it.

use std::io::{self, Read};

use super::error::{Kind, Position, ReadError};

/// Bytes asked of the input at once. 64 KiB to 1 MiB measured alike.
const CHUNK_BYTES: usize = 256 << 10;

/// The longest character in UTF-8 has four bytes, so that three may wait for their fourth.
const WAITING_BYTES_MAX: usize = 3;

/// What is left to take of a file, as far as it has been read.
pub(super) struct Window<R> {
    input: R,
    /// UTF-8 from `start` on; what lies before `at` has been taken.
    text: String,
    at: usize,
    start: Position,
    chunk: Vec<u8>,
    /// Bytes of a character cut in two by the last chunk, at the front of `chunk`.
    waiting: usize,
    /// Whether the text ends before a byte that is not UTF-8.
    is_invalid: bool,
    bytes_max: usize,
}

impl<R: Read> Window<R> {
    /// A window on `input` that holds no more than about `bytes_max` untaken bytes.
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

    /// The text at hand.
    pub(super) fn text(&self) -> &str {
        &self.text[self.at..]
    }

    /// The position so many bytes into the text at hand.
    #[cold]
    pub(super) fn position(&self, ahead: usize) -> Position {
        let to = self.at.saturating_add(ahead).min(self.text.len());
        self.start.after(&self.text.as_bytes()[..to])
    }

    /// Goes on behind so many bytes of the text at hand.
    pub(super) fn take(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Adds to the text at hand; `false` at the end of the file.
    ///
    /// # Errors
    /// Those of the input, bytes that are not UTF-8, and more text than the limit.
    pub(super) fn more(&mut self) -> Result<bool, ReadError> {
        let taken = &self.text.as_bytes()[..self.at];
        self.start = self.start.after(taken);
        self.text.drain(..self.at);
        self.at = 0;
        if self.text.len() > self.bytes_max {
            let max = self.bytes_max as u64;
            return Err(Kind::Limit { what: "bytes in one event", max }.at(self.start));
        }
        // Whoever asks begins again with the whole text: it has to double, or a long event would cost the square of its
        // length.
        let before = self.text.len();
        while self.text.len() < before.saturating_mul(2).max(1) && self.chunk()? {}
        Ok(self.text.len() > before)
    }

    /// Adds one chunk to the text; `false` at the end of the file.
    fn chunk(&mut self) -> Result<bool, ReadError> {
        let end = |window: &Self| window.start.after(window.text.as_bytes());
        if self.is_invalid {
            return Err(Kind::Encoding.at(end(self)));
        }
        let room = self.waiting..self.waiting + CHUNK_BYTES;
        let read = loop {
            match self.input.read(&mut self.chunk[room.clone()]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other.map_err(|error| Kind::Read(error).at(end(self)))?,
            }
        };
        if read == 0 {
            return if self.waiting == 0 { Ok(false) } else { Err(Kind::Encoding.at(end(self))) };
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

    /// Hands out one byte at a time.
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
    fn characters_cut_in_two_are_put_together() {
        let text = "a\u{e9}\u{4e16}\u{1f600}\nb";
        let mut window = Window::new(Drops(text.as_bytes()), 1 << 10);
        while window.more().expect("UTF-8") {}
        assert_eq!(window.text(), text);
        assert_eq!(window.position(text.len()), Position { offset: 12, line: 2, column: 2 });
    }

    #[test]
    fn bytes_that_are_not_utf8_are_refused_where_they_stand() {
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
