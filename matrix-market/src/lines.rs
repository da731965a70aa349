//! The lines of a file, one at a time in one buffer of bounded size, and the tokens of a line.

use std::borrow::Cow;
use std::io::{BufRead, Read};

use crate::error::{Error, Kind, Place};
use crate::types::ReadOptions;

/// A source of lines that keeps the comments it passes.
pub(crate) struct Lines<'o, R> {
    reader: R,
    options: &'o ReadOptions,
    /// The current line with its ending. Never longer than `line_bytes_max` + 2.
    buffer: Vec<u8>,
    /// The number of the current line, from 1; 0 before the first.
    number: u64,
    /// One behind the last byte of the current line, from 1.
    end_column: usize,
    bytes_read: u64,
    /// Each comment without its `%` and trailing blanks, and ended by a line feed.
    comments: String,
}

impl<'o, R: BufRead> Lines<'o, R> {
    pub(crate) fn new(reader: R, options: &'o ReadOptions) -> Self {
        Self { reader, options, buffer: Vec::new(), number: 0, end_column: 1, bytes_read: 0, comments: String::new() }
    }

    /// The very next line, whatever it holds; `None` at the end of the file.
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>, Error> {
        if !self.advance()? {
            return Ok(None);
        }
        decode(self.number, &self.buffer).map(Some)
    }

    /// The next line that is neither blank nor a comment; `None` at the end of the file.
    pub(crate) fn next_data(&mut self) -> Result<Option<Line<'_>>, Error> {
        while self.advance()? {
            match self.buffer.trim_ascii_start().first() {
                None => {}
                Some(b'%') => self.keep_comment()?,
                Some(_) => return decode(self.number, &self.buffer).map(Some),
            }
        }
        Ok(None)
    }

    /// The end of the last line that was read: where something is missing. Line 1 if there was none.
    pub(crate) fn place_of_end(&self) -> Place {
        Place::Line { line: self.number.max(1), column: self.end_column }
    }

    /// The comments passed so far, leaving none.
    pub(crate) fn take_comments(&mut self) -> String {
        std::mem::take(&mut self.comments)
    }

    /// Loads one line into the buffer; false at the end of the file.
    fn advance(&mut self) -> Result<bool, Error> {
        let line = self.number + 1;
        let start = Place::Line { line, column: 1 };
        // Two bytes over the limit, so that the longest allowed line still brings its CR LF.
        let bytes_taken = u64::try_from(self.options.line_bytes_max.saturating_add(2));
        let mut taken = self.reader.by_ref().take(bytes_taken.unwrap_or(u64::MAX));
        self.buffer.clear();
        let read = taken.read_until(b'\n', &mut self.buffer);
        let bytes_read = read.map_err(|source| Kind::Read { source }.at(start))?;
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
            let kind = Kind::LineTooLong { bytes_max: line_bytes_max };
            return Err(kind.at(Place::Line { line, column }));
        }
        if self.bytes_read > bytes_max {
            return Err(Kind::FileTooLong { bytes_max }.at(start));
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
        let text = text_of(&self.buffer);
        let text = text.trim_ascii();
        let text = text.strip_prefix('%').unwrap_or(text);
        let bytes_max = self.options.comment_bytes_max;
        if self.comments.len() + text.len() + 1 > bytes_max {
            return Err(Kind::CommentsTooLong { bytes_max }.at(Place::Line { line: self.number, column: 1 }));
        }
        self.comments.push_str(text);
        self.comments.push('\n');
        Ok(())
    }
}

/// A comment: what is not UTF-8 is Latin-1, in which old files have the names of their authors.
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    str::from_utf8(bytes).map_or_else(|_| bytes.iter().map(|&byte| char::from(byte)).collect(), Cow::from)
}

/// The line in `bytes`, if it is text.
fn decode(number: u64, bytes: &[u8]) -> Result<Line<'_>, Error> {
    match str::from_utf8(bytes) {
        Ok(text) => Ok(Line { number, text }),
        Err(error) => {
            let column = error.valid_up_to() + 1;
            Err(Kind::Encoding { column }.at(Place::Line { line: number, column }))
        }
    }
}

/// One line of a file, without its ending.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    number: u64,
    pub(crate) text: &'a str,
}

impl<'a> Line<'a> {
    /// The byte `column`, from 1, of this line.
    pub(crate) fn at(self, column: usize) -> Place {
        Place::Line { line: self.number, column }
    }

    /// Behind the last byte of this line.
    pub(crate) fn at_end(self) -> Place {
        self.at(self.text.len() + 1)
    }

    pub(crate) fn tokens(self) -> Tokens<'a> {
        Tokens { text: self.text, at: 0 }
    }

    /// The tokens of a line that must have `expected` of them, at most 4; those beyond `expected` are empty. If the
    /// line has fewer or more, `complain(found)` says so.
    pub(crate) fn exactly(self, expected: usize, complain: impl Fn(usize) -> Kind) -> Result<[Token<'a>; 4], Error> {
        let mut taken = [Token { text: "", column: 1 }; 4];
        let mut tokens = self.tokens();
        for (found, slot) in taken.iter_mut().take(expected).enumerate() {
            *slot = tokens.next().ok_or_else(|| complain(found).at(self.at_end()))?;
        }
        match tokens.next() {
            None => Ok(taken),
            Some(extra) => Err(complain(expected + 1 + tokens.count()).at(self.at(extra.column))),
        }
    }
}

/// A run of bytes between blanks, and the byte of its line where it begins, from 1.
#[derive(Clone, Copy)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) column: usize,
}

/// The tokens of one line: what `split_ascii_whitespace` yields, with columns.
pub(crate) struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

/// The blanks of ASCII as a set of bits: one test for five comparisons makes reading 8 % faster.
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
