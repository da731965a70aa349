//! Reads a file line by line into one buffer of limited size, and splits a line into tokens.

use std::borrow::Cow;
use std::io::{BufRead, Read};

use crate::error::{Error, Location, Repr};
use crate::types::ReadOptions;

/// Reads lines one at a time and collects the comments.
pub(crate) struct LineReader<'o, R> {
    reader: R,
    options: &'o ReadOptions,
    /// The current line, at most `line_bytes_max` + 2 bytes with its ending.
    buffer: Vec<u8>,
    /// The number of the current line, counted from 1; 0 before the first line.
    number: u64,
    /// The column after the last byte of the current line, counted from 1.
    end_column: usize,
    bytes_read: u64,
    /// Each comment without its `%` and trailing blanks, and with a line feed.
    comments: String,
}

impl<'o, R: BufRead> LineReader<'o, R> {
    pub(crate) fn new(reader: R, options: &'o ReadOptions) -> Self {
        Self { reader, options, buffer: Vec::new(), number: 0, end_column: 1, bytes_read: 0, comments: String::new() }
    }

    /// Returns the next line, which may be blank or a comment, or `None` at the end of the file.
    pub(crate) fn next(&mut self) -> Result<Option<TextLine<'_>>, Error> {
        if !self.advance()? {
            return Ok(None);
        }
        decode(self.number, &self.buffer).map(Some)
    }

    /// Returns the next line that is neither blank nor a comment, or `None` at the end of the file.
    pub(crate) fn next_data(&mut self) -> Result<Option<TextLine<'_>>, Error> {
        while self.advance()? {
            match self.buffer.trim_ascii_start().first() {
                None => {}
                Some(b'%') => self.keep_comment()?,
                Some(_) => return decode(self.number, &self.buffer).map(Some),
            }
        }
        Ok(None)
    }

    /// Returns the end of the last line, for errors about missing input. Returns line 1 if no line was read.
    pub(crate) fn end_location(&self) -> Location {
        Location::Line { line: self.number.max(1), column: self.end_column }
    }

    /// Returns the comments collected so far and clears them.
    pub(crate) fn take_comments(&mut self) -> String {
        std::mem::take(&mut self.comments)
    }

    /// Reads one line into the buffer. Returns false at the end of the file.
    fn advance(&mut self) -> Result<bool, Error> {
        let line = self.number + 1;
        let start = Location::Line { line, column: 1 };
        // Two bytes more than the limit leave room for the CR LF of the longest allowed line.
        let bytes_taken = u64::try_from(self.options.line_bytes_max.saturating_add(2));
        let mut taken = self.reader.by_ref().take(bytes_taken.unwrap_or(u64::MAX));
        self.buffer.clear();
        let read = taken.read_until(b'\n', &mut self.buffer);
        let bytes_read = read.map_err(|source| Repr::Read { source }.at(start))?;
        if bytes_read == 0 {
            return Ok(false);
        }
        self.number = line;
        self.bytes_read = self.bytes_read.saturating_add(bytes_read as u64);
        self.drop_line_ending();
        self.end_column = self.buffer.len() + 1;
        let (line_bytes_max, bytes_max) = (self.options.line_bytes_max, self.options.bytes_max);
        if self.buffer.len() > line_bytes_max {
            let column = line_bytes_max + 1;
            let repr = Repr::LineTooLong { bytes_max: line_bytes_max };
            return Err(repr.at(Location::Line { line, column }));
        }
        if self.bytes_read > bytes_max {
            return Err(Repr::FileTooLong { bytes_max }.at(start));
        }
        Ok(true)
    }

    fn drop_line_ending(&mut self) {
        if self.buffer.last() == Some(&b'\n') {
            self.buffer.pop();
        }
        if self.buffer.last() == Some(&b'\r') {
            self.buffer.pop();
        }
    }

    fn keep_comment(&mut self) -> Result<(), Error> {
        let text = decode_comment(&self.buffer);
        let text = text.trim_ascii();
        let text = text.strip_prefix('%').unwrap_or(text);
        let bytes_max = self.options.comment_bytes_max;
        if self.comments.len() + text.len() + 1 > bytes_max {
            return Err(Repr::CommentsTooLong { bytes_max }.at(Location::Line { line: self.number, column: 1 }));
        }
        self.comments.push_str(text);
        self.comments.push('\n');
        Ok(())
    }
}

/// Decodes a comment as UTF-8, or else as Latin-1, which old files use for the names of their authors.
fn decode_comment(bytes: &[u8]) -> Cow<'_, str> {
    str::from_utf8(bytes).map_or_else(|_| bytes.iter().map(|&byte| char::from(byte)).collect(), Cow::from)
}

/// Returns `bytes` as line `number`, or an error if they are not UTF-8.
fn decode(number: u64, bytes: &[u8]) -> Result<TextLine<'_>, Error> {
    match str::from_utf8(bytes) {
        Ok(text) => Ok(TextLine { number, text }),
        Err(error) => {
            let column = error.valid_up_to() + 1;
            Err(Repr::Encoding { column }.at(Location::Line { line: number, column }))
        }
    }
}

/// One line of a file, without its ending.
#[derive(Clone, Copy)]
pub(crate) struct TextLine<'a> {
    number: u64,
    pub(crate) text: &'a str,
}

impl<'a> TextLine<'a> {
    /// Returns the location of byte `column` of this line, counted from 1.
    pub(crate) fn at(self, column: usize) -> Location {
        Location::Line { line: self.number, column }
    }

    /// Returns the location after the last byte of this line.
    pub(crate) fn at_end(self) -> Location {
        self.at(self.text.len() + 1)
    }

    pub(crate) fn tokens(self) -> Tokens<'a> {
        Tokens { text: self.text, at: 0 }
    }

    /// Splits a line that must have exactly `expected` tokens, at most 4. Array elements beyond `expected` are empty.
    /// Returns the error `wrong_count(found)` if the line has fewer or more tokens.
    pub(crate) fn exactly(self, expected: usize, wrong_count: impl Fn(usize) -> Repr) -> Result<[Token<'a>; 4], Error> {
        let mut taken = [Token { text: "", column: 1 }; 4];
        let mut tokens = self.tokens();
        for (found, slot) in taken.iter_mut().take(expected).enumerate() {
            *slot = tokens.next().ok_or_else(|| wrong_count(found).at(self.at_end()))?;
        }
        match tokens.next() {
            None => Ok(taken),
            Some(extra) => Err(wrong_count(expected + 1 + tokens.count()).at(self.at(extra.column))),
        }
    }
}

/// A run of bytes between blanks, and the column where it begins, counted from 1.
#[derive(Clone, Copy)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) column: usize,
}

/// An iterator over the tokens of one line, like `split_ascii_whitespace`, but with columns.
pub(crate) struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

/// A bit set of the ASCII blanks: one test is faster than five comparisons (measured:
/// docs/measurements/2026-11-28-constants.md).
const BLANKS: u64 = 1 << b' ' | 1 << b'\t' | 1 << b'\n' | 1 << b'\x0c' | 1 << b'\r';

fn is_blank(byte: u8) -> bool {
    byte <= b' ' && (BLANKS >> byte) & 1 == 1
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let bytes = self.text.as_bytes();
        let mut start = self.at;
        while is_blank(*bytes.get(start)?) {
            start += 1;
        }
        let mut end = start + 1;
        while end < bytes.len() && !is_blank(bytes[end]) {
            end += 1;
        }
        self.at = end;
        Some(Token { text: &self.text[start..end], column: start + 1 })
    }
}
