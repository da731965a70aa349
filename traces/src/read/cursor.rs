//! Zero-copy JSON tokens, checked by the grammar of RFC 8259.
//!
//! If the text ends within a token, the result is not a fault but [`Stop::End`]: the file may contain more text, and
//! the caller parses again with more of it. So the end of an event need not be found before it is parsed.

use super::error::{Repr, Stop};
use std::borrow::Cow;

/// The maximum nesting depth of arrays and objects: one bit for each level in [`Nest`].
const DEPTH_MAX: u32 = 64;

/// A value as it is written in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a>(pub(crate) &'a str);

impl<'a> Token<'a> {
    /// Returns the decoded text of a string, or `None` for any other value. An unpaired surrogate becomes U+FFFD.
    pub(crate) fn string(self) -> Option<Cow<'a, str>> {
        let inside = self.inside()?;
        Some(if inside.bytes().any(|byte| byte == b'\\') {
            Cow::Owned(unescaped(inside))
        } else {
            Cow::Borrowed(inside)
        })
    }

    /// Returns the text of a string between its quotes, with escapes undecoded, or `None` for any other value.
    pub(crate) fn inside(self) -> Option<&'a str> {
        self.0.strip_prefix('"')?.strip_suffix('"')
    }

    /// Looks up a string with `known`: first the text as written, then, if that is unknown and has escapes, the decoded
    /// text.
    pub(crate) fn known<T>(self, known: impl Fn(&str) -> Option<T>) -> Option<T> {
        let inside = self.inside()?;
        known(inside).or_else(|| if inside.contains('\\') { known(&unescaped(inside)) } else { None })
    }

    /// Returns whether the token is `null`.
    pub(crate) fn is_null(self) -> bool {
        self.0 == "null"
    }
}

/// Decodes the inside of a string whose escapes have been checked.
fn unescaped(inside: &str) -> String {
    let mut text = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let code = |from: usize| rest.get(from..from + 4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        let letter = rest.as_bytes().get(at + 1).copied().unwrap_or(b'\\');
        let mut bytes = 2;
        text.push(match letter {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                bytes = 6;
                let high = code(at + 2).unwrap_or(0xFFFD);
                let low = rest[at..].get(6..8).filter(|&next| next == "\\u").and_then(|_| code(at + 8));
                let low = low.filter(|low| (0xDC00..0xE000).contains(low) && (0xD800..0xDC00).contains(&high));
                let whole = low.map_or(high, |low| 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00));
                bytes += if low.is_some() { 6 } else { 0 };
                char::from_u32(whole).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            other => char::from(other),
        });
        rest = rest.get(at + bytes..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

/// A position in a text that is being parsed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    pub(crate) at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the next byte that is not white space, without consuming it.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<u8, Stop> {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Ok(byte);
            }
            self.at += 1;
        }
        Err(Stop::End)
    }

    /// Consumes `byte`, after white space.
    #[inline]
    pub(crate) fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), Stop> {
        if self.peek()? != byte {
            return Err(self.unexpected(expected));
        }
        self.at += 1;
        Ok(())
    }

    /// Returns the fault that the text here is not what was expected.
    #[cold]
    pub(super) fn unexpected(&self, expected: &'static str) -> Stop {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(found) => Stop::fault(self.at, Repr::Expected { expected, found }),
            None => Stop::End,
        }
    }

    /// Consumes the key of the next member of an object, with its colon. The opening brace has been consumed already.
    /// Returns `None` at the closing brace.
    #[inline]
    pub(crate) fn key(&mut self, is_first: &mut bool) -> Result<Option<Token<'a>>, Stop> {
        if self.peek()? == b'}' {
            self.at += 1;
            return Ok(None);
        }
        if !std::mem::take(is_first) {
            self.expect(b',', "`,` or `}`")?;
            self.peek()?;
        }
        let key = self.string("a key in quotes")?;
        self.expect(b':', "`:`")?;
        Ok(Some(key))
    }

    /// Consumes a value of any type.
    #[inline]
    pub(crate) fn value(&mut self) -> Result<Token<'a>, Stop> {
        match self.peek()? {
            b'"' => self.string("a string"),
            b'{' | b'[' => {
                let from = self.at;
                let mut nest = Nest::default();
                while !nest.step(self)? {}
                Ok(Token(&self.text[from..self.at]))
            }
            _ => self.scalar(),
        }
    }

    /// Consumes a number, `true`, `false` or `null`.
    fn scalar(&mut self) -> Result<Token<'a>, Stop> {
        let from = self.at;
        let rest = &self.text.as_bytes()[from..];
        let word = match rest.first() {
            Some(b't') => "true",
            Some(b'f') => "false",
            Some(b'n') => "null",
            _ => return self.number(),
        };
        for (place, expected) in word.bytes().enumerate() {
            match rest.get(place) {
                None => return Err(Stop::End),
                Some(&byte) if byte != expected => return Err(self.unexpected("a value")),
                Some(_) => {}
            }
        }
        self.at += word.len();
        Ok(Token(&self.text[from..self.at]))
    }

    fn number(&mut self) -> Result<Token<'a>, Stop> {
        let from = self.at;
        let bytes = self.text.as_bytes();
        let mut at = from + usize::from(bytes.get(from) == Some(&b'-'));
        // Skips digits. Returns what was expected if there are none.
        let digits = |at: &mut usize| {
            let first = *at;
            while bytes.get(*at).is_some_and(u8::is_ascii_digit) {
                *at += 1;
            }
            (*at == first).then_some("a digit")
        };
        let whole = at;
        let mut wrong = digits(&mut at);
        if at - whole > 1 && bytes[whole] == b'0' {
            (at, wrong) = (whole, Some("a number without leading zeros"));
        }
        if wrong.is_none() && bytes.get(at) == Some(&b'.') {
            at += 1;
            wrong = digits(&mut at);
        }
        if wrong.is_none() && matches!(bytes.get(at), Some(b'e' | b'E')) {
            at += 1;
            at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
            wrong = digits(&mut at);
        }
        // At the end of the text, the number may continue in the next part of the file.
        if at == bytes.len() {
            return Err(Stop::End);
        }
        self.at = at;
        match wrong {
            None => Ok(Token(&self.text[from..at])),
            Some("a digit") if at == from => Err(self.unexpected("a value")),
            Some(expected) => Err(self.unexpected(expected)),
        }
    }

    /// Consumes a string with its quotes.
    #[inline]
    fn string(&mut self, expected: &'static str) -> Result<Token<'a>, Stop> {
        let from = self.at;
        let bytes = self.text.as_bytes();
        if bytes.get(from) != Some(&b'"') {
            return Err(self.unexpected(expected));
        }
        let mut at = from + 1;
        loop {
            match bytes.get(at) {
                None => return Err(Stop::End),
                Some(b'"') => break,
                Some(b'\\') => at = self.escape(at)?,
                Some(0..0x20) => {
                    self.at = at;
                    return Err(self.unexpected("a closing quote"));
                }
                Some(_) => at += 1,
            }
        }
        self.at = at + 1;
        Ok(Token(&self.text[from..self.at]))
    }

    /// Returns the position after the escape at `at`.
    #[cold]
    fn escape(&mut self, at: usize) -> Result<usize, Stop> {
        let bytes = self.text.as_bytes();
        let digits = match bytes.get(at + 1) {
            None => return Err(Stop::End),
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 0,
            Some(b'u') => 4,
            Some(_) => {
                self.at = at + 1;
                return Err(self.unexpected("one of \" \\ / b f n r t u after a backslash"));
            }
        };
        for digit in at + 2..at + 2 + digits {
            if !bytes.get(digit).ok_or(Stop::End)?.is_ascii_hexdigit() {
                self.at = digit;
                return Err(self.unexpected("four hexadecimal digits"));
            }
        }
        Ok(at + 2 + digits)
    }
}

/// The state of skipping a value that may be longer than the text in memory.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Nest {
    /// One bit for each open array (0) or object (1); the lowest bit is the innermost.
    objects: u64,
    depth: u32,
    /// Whether the innermost one has a member before this position.
    has_member: bool,
}

impl Nest {
    /// Consumes one bracket, or one member that is not an array or object. Returns `true` when the value is complete.
    ///
    /// On [`Stop::End`], `self` is unchanged and the cursor has moved over white space at most.
    pub(super) fn step(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, Stop> {
        let mut ahead = *cursor;
        let is_object = self.objects & 1 == 1;
        let closing = if is_object { b'}' } else { b']' };
        if self.depth > 0 {
            if ahead.peek()? == closing {
                ahead.at += 1;
                *cursor = ahead;
                self.objects >>= 1;
                self.depth -= 1;
                self.has_member = true;
                return Ok(self.depth == 0);
            }
            if self.has_member {
                ahead.expect(b',', if is_object { "`,` or `}`" } else { "`,` or `]`" })?;
            }
            if is_object {
                ahead.peek()?;
                ahead.string("a key in quotes")?;
                ahead.expect(b':', "`:`")?;
            }
        }
        let opening = ahead.peek()?;
        if matches!(opening, b'{' | b'[') {
            if self.depth == DEPTH_MAX {
                return Err(Stop::fault(ahead.at, Repr::Limit { what: "nested brackets", max: DEPTH_MAX.into() }));
            }
            ahead.at += 1;
            self.objects = self.objects << 1 | u64::from(opening == b'{');
            self.depth += 1;
            self.has_member = false;
        } else {
            ahead.value()?;
            self.has_member = true;
        }
        *cursor = ahead;
        Ok(self.depth == 0)
    }
}
