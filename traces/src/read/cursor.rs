//! JSON as it lies in memory: one token after another, borrowed from the text, checked by the grammar of RFC 8259.
//!
//! A text that ends within a token is not wrong but [`Stop::End`]: there may be more of it in the file, and whoever
//! asked begins again with more. So an event needs no search for its end before it is parsed.

use super::error::{Kind, Stop};
use std::borrow::Cow;

/// Arrays and objects lie in one another at most this deep: one bit each in [`Nest`].
const DEPTH_MAX: u32 = 64;

/// A value as it stands in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a>(pub(crate) &'a str);

impl<'a> Token<'a> {
    /// The text that a string stands for; `None` for any other value. Half of a surrogate pair becomes U+FFFD.
    pub(crate) fn string(self) -> Option<Cow<'a, str>> {
        let inside = self.inside()?;
        Some(if inside.bytes().any(|byte| byte == b'\\') {
            Cow::Owned(unescaped(inside))
        } else {
            Cow::Borrowed(inside)
        })
    }

    /// A string between its quotes, escapes as they are; `None` for any other value.
    pub(crate) fn inside(self) -> Option<&'a str> {
        self.0.strip_prefix('"')?.strip_suffix('"')
    }

    /// What `known` makes of a string: of the text as it stands, and if that is unknown, of what it stands for.
    pub(crate) fn known<T>(self, known: impl Fn(&str) -> Option<T>) -> Option<T> {
        let inside = self.inside()?;
        known(inside).or_else(|| if inside.contains('\\') { known(&unescaped(inside)) } else { None })
    }

    /// Whether it is the word `null`.
    pub(crate) fn is_null(self) -> bool {
        self.0 == "null"
    }
}

/// The inside of a string whose escapes have been checked.
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

/// A place in a text that is being taken apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    pub(crate) at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The next byte that is not white space, not taken.
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

    /// Takes `byte`, after white space.
    #[inline]
    pub(crate) fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), Stop> {
        if self.peek()? != byte {
            return Err(self.unexpected(expected));
        }
        self.at += 1;
        Ok(())
    }

    /// What stands here is not what was expected.
    #[cold]
    pub(super) fn unexpected(&self, expected: &'static str) -> Stop {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(found) => Stop::fault(self.at, Kind::Expected { expected, found }),
            None => Stop::End,
        }
    }

    /// The key of the next member of an object whose brace has been taken, and its colon; `None` at the closing brace.
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

    /// A whole value, whatever it is.
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

    /// A number, `true`, `false` or `null`.
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
        // Digits, and what is wrong if there are none.
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
        // A number at the end of the text may go on behind it.
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

    /// A string with its quotes.
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

    /// The place behind the escape at `at`.
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

/// How far a value has been skipped that may be longer than the text at hand.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Nest {
    /// One bit for each open array (0) or object (1), the innermost lowest.
    objects: u64,
    depth: u32,
    /// Whether the innermost one has had a member.
    has_member: bool,
}

impl Nest {
    /// Takes one step: a bracket, or a member that is no array or object. `true` when the value is whole.
    ///
    /// After [`Stop::End`] neither `self` nor the cursor has moved but over white space.
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
                return Err(Stop::fault(
                    ahead.at,
                    Kind::Limit { what: "brackets in one another", max: DEPTH_MAX.into() },
                ));
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
