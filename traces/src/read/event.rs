//! One event of a file, with its fields as tokens of the text.

use super::cursor::{Cursor, Token};
use super::error::{Repr, Stop};
use super::number;
use std::borrow::Cow;

/// Declares an enum of keys with their names in a file.
macro_rules! keys {
    ($(#[$attribute:meta])* $name:ident { $($variant:ident = $key:literal,)* }) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name {
            $($variant,)*
        }

        impl $name {
            const COUNT: usize = [$($key),*].len();

            fn named(key: &str) -> Option<Self> {
                match key {
                    $($key => Some(Self::$variant),)*
                    _ => None,
                }
            }

            fn key(self) -> &'static str {
                match self {
                    $(Self::$variant => $key,)*
                }
            }
        }
    };
}

keys! {
    /// The fields of an event that the reader uses.
    Field {
        Phase = "ph",
        Category = "cat",
        Name = "name",
        Process = "pid",
        Thread = "tid",
        Moment = "ts",
        Length = "dur",
        Id = "id",
        Bind = "bp",
        Arguments = "args",
    }
}

keys! {
    /// The arguments of an event that the reader uses.
    Argument {
        Name = "name",
        Kind = "kind",
        SortIndex = "sort_index",
        Task = "task",
        Outcome = "outcome",
        Inserted = "inserted",
        Priority = "priority",
        Index = "index",
        Level = "BLAS level",
        Flops = "flops",
        Bytes = "bytes",
        Site = "site",
        From = "from",
        To = "to",
        Datum = "datum",
        Tile = "tile",
    }
}

/// An event. If a field occurs twice, the later one counts, as in JavaScript.
#[derive(Debug)]
pub(crate) struct Event<'a> {
    /// The text from the event's opening brace on.
    text: &'a str,
    fields: [Option<Token<'a>>; Field::COUNT],
    arguments: [Option<Token<'a>>; Argument::COUNT],
}

impl<'a> Event<'a> {
    /// Parses the event at the start of `text`. Returns it with its length in bytes.
    pub(super) fn parse(text: &'a str) -> Result<(Self, usize), Stop> {
        let mut event = Self { text, fields: [None; Field::COUNT], arguments: [None; Argument::COUNT] };
        let mut cursor = Cursor::new(text);
        cursor.expect(b'{', "an event, `{`")?;
        let mut is_first = true;
        while let Some(key) = cursor.key(&mut is_first)? {
            match key.known(Field::named) {
                Some(Field::Arguments) if cursor.peek()? == b'{' => {
                    let from = cursor.at;
                    event.parse_arguments(&mut cursor)?;
                    event.fields[Field::Arguments as usize] = Some(Token(&text[from..cursor.at]));
                }
                Some(field) => {
                    event.fields[field as usize] = Some(cursor.value()?);
                    if field == Field::Arguments {
                        event.arguments = [None; Argument::COUNT];
                    }
                }
                None => {
                    cursor.value()?;
                }
            }
        }
        event.text = &text[..cursor.at];
        Ok((event, cursor.at))
    }

    fn parse_arguments(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Stop> {
        self.arguments = [None; Argument::COUNT];
        cursor.expect(b'{', "`{`")?;
        let mut is_first = true;
        while let Some(key) = cursor.key(&mut is_first)? {
            let value = cursor.value()?;
            if let Some(argument) = key.known(Argument::named) {
                self.arguments[argument as usize] = Some(value);
            }
        }
        Ok(())
    }

    /// Returns the event's text, with its braces.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    pub(crate) fn field(&self, field: Field) -> Option<Token<'a>> {
        self.fields[field as usize]
    }

    /// Returns an argument; `null` counts as missing.
    pub(crate) fn argument(&self, argument: Argument) -> Option<Token<'a>> {
        self.arguments[argument as usize].filter(|token| !token.is_null())
    }

    /// Returns all members of the arguments, in order; none if the arguments are not an object.
    pub(crate) fn members(&self) -> Vec<(Token<'a>, Token<'a>)> {
        self.field(Field::Arguments).and_then(members).unwrap_or_default()
    }

    /// Returns the offset of a token within the event.
    pub(crate) fn offset_of(&self, token: Token<'_>) -> usize {
        // Both are slices of one text. For a token from another text the result is meaningless, but within the event.
        let ahead = (token.0.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        ahead.min(self.text.len())
    }

    /// Returns a fault about a token with this key.
    #[cold]
    pub(crate) fn wrong(&self, token: Token<'_>, key: &'static str, expected: &'static str) -> Stop {
        let found = excerpt(token.0);
        Stop::fault(self.offset_of(token), Repr::Value { key, expected, found })
    }

    #[cold]
    fn missing(&self, event: &'static str, key: &'static str) -> Stop {
        Stop::fault(0, Repr::Missing { event, key })
    }

    /// Returns a field that is a string; empty if it is missing.
    pub(crate) fn text_of(&self, field: Field) -> Result<Cow<'a, str>, Stop> {
        let Some(token) = self.field(field) else {
            return Ok(Cow::Borrowed(""));
        };
        token.string().ok_or_else(|| self.wrong(token, field.key(), "a string"))
    }

    /// Returns a field that is a time; `event` names the event in the error for a missing field.
    pub(crate) fn time_ns(&self, field: Field, event: &'static str) -> Result<u64, Stop> {
        let token = self.field(field).ok_or_else(|| self.missing(event, field.key()))?;
        number::nanoseconds(token.0).ok_or_else(|| self.wrong(token, field.key(), EXPECTED_TIME))
    }

    /// Returns an argument that is a time.
    pub(crate) fn argument_ns(&self, argument: Argument) -> Result<Option<u64>, Stop> {
        self.parsed(argument, EXPECTED_TIME, |token| number::nanoseconds(token.0))
    }

    /// Returns an argument that is a string.
    pub(crate) fn string(&self, argument: Argument) -> Result<Option<Cow<'a, str>>, Stop> {
        self.parsed(argument, "a string", Token::string)
    }

    /// Returns an argument that is an unsigned integer.
    pub(crate) fn count(&self, argument: Argument) -> Result<Option<u64>, Stop> {
        self.parsed(argument, "an integer from 0 to 2^64 - 1", |token| number::unsigned(token.0))
    }

    /// Like [`count`](Self::count), but the argument must be present.
    pub(crate) fn needed(&self, argument: Argument, event: &'static str) -> Result<u64, Stop> {
        self.count(argument)?.ok_or_else(|| self.missing(event, argument.key()))
    }

    /// Returns an argument that is a number, at least zero; zero if it is missing.
    pub(crate) fn amount(&self, argument: Argument) -> Result<f64, Stop> {
        let read = |token: Token<'_>| token.0.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
        Ok(self.parsed(argument, "a number that is not negative", read)?.unwrap_or(0.0))
    }

    /// Parses an argument with `read`, which returns `None` if the value is not as `expected`.
    pub(crate) fn parsed<T>(
        &self,
        argument: Argument,
        expected: &'static str,
        read: impl FnOnce(Token<'a>) -> Option<T>,
    ) -> Result<Option<T>, Stop> {
        let Some(token) = self.argument(argument) else {
            return Ok(None);
        };
        read(token).map(Some).ok_or_else(|| self.wrong(token, argument.key(), expected))
    }
}

/// Returns the members of an object, in order; `None` for any other value.
pub(super) fn members(object: Token<'_>) -> Option<Vec<(Token<'_>, Token<'_>)>> {
    let mut members = Vec::new();
    let mut cursor = Cursor::new(object.0);
    let mut is_first = true;
    cursor.expect(b'{', "`{`").ok()?;
    // The text has been parsed before, so a fault cannot occur; if it did, it would end the list.
    while let Ok(Some(key)) = cursor.key(&mut is_first) {
        let Ok(value) = cursor.value() else {
            break;
        };
        members.push((key, value));
    }
    Some(members)
}

const EXPECTED_TIME: &str = "microseconds from 0 to 2^64 ns";

/// Returns the beginning of a text, for a message.
#[cold]
pub(super) fn excerpt(text: &str) -> String {
    const CHARS_MAX: usize = 40;
    let mut shown = String::new();
    for letter in text.chars().take(CHARS_MAX) {
        if letter.is_control() { shown.extend(letter.escape_debug()) } else { shown.push(letter) }
    }
    if text.chars().nth(CHARS_MAX).is_some() {
        shown.push_str("...");
    }
    shown
}
