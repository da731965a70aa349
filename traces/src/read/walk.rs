//! Walks a file once from beginning to end: the structure around its events.

use super::cursor::{Cursor, Nest, Token};
use super::error::{ReadError, Repr, Stop};
use super::event::Event;
use super::window::Window;
use std::borrow::Cow;
use std::io::Read;

/// Receives the events and the metadata of a file.
pub(crate) trait Events {
    /// Handles the next event of `traceEvents`.
    ///
    /// # Errors
    /// A fault with an offset in the event's text.
    fn event(&mut self, event: &Event<'_>) -> Result<(), Stop>;

    /// Handles the next member of `otherData`.
    ///
    /// # Errors
    /// If the member is not valid.
    fn fact(&mut self, key: Cow<'_, str>, value: Token<'_>) -> Result<(), Stop>;
}

/// Passes the contents of a file to `events`.
///
/// # Errors
/// The first fault, with its position.
pub(crate) fn walk<R: Read>(input: R, event_bytes_max: usize, events: &mut impl Events) -> Result<(), ReadError> {
    let mut walk = Walk { window: Window::new(input, event_bytes_max), events };
    walk.file()
}

struct Walk<'a, R, E> {
    window: Window<R>,
    events: &'a mut E,
}

impl<R: Read, E: Events> Walk<'_, R, E> {
    fn file(&mut self) -> Result<(), ReadError> {
        if self.peek()?.is_some() && self.window.text().starts_with('\u{feff}') {
            self.window.take('\u{feff}'.len_utf8());
        }
        match self.peek()? {
            Some(b'{') => self.object()?,
            Some(b'[') => self.array(false)?,
            None => return Err(self.ends("nothing: it is empty")),
            Some(_) => return Err(self.unexpected("`{` or `[`")),
        }
        match self.peek()? {
            None => Ok(()),
            Some(_) => Err(self.unexpected("the end of the file")),
        }
    }

    /// Reads the object form: `{"traceEvents":[…], …}`.
    fn object(&mut self) -> Result<(), ReadError> {
        self.window.take(1);
        let mut is_first = true;
        let mut has_events = false;
        loop {
            self.peek()?;
            let at = self.window.position(0);
            let key = self.retried("the outermost object", |_, text| {
                let mut cursor = Cursor::new(text);
                let key = cursor.key(&mut { is_first })?;
                // The value may be long: only its first byte must be in memory.
                if key.is_some() {
                    cursor.peek()?;
                }
                Ok((key.map(|key| key.string().unwrap_or_default().into_owned()), cursor.at))
            })?;
            is_first = false;
            let opening = self.window.text().as_bytes().first().copied();
            match key.as_deref() {
                None if has_events => return Ok(()),
                None => return Err(Repr::NoEvents.at(at)),
                Some("traceEvents") if has_events => return Err(Repr::Twice("traceEvents").at(at)),
                Some("traceEvents") if opening != Some(b'[') => return Err(self.unexpected("`[`, the events")),
                Some("traceEvents") => self.array(true)?,
                Some("otherData") if opening == Some(b'{') => self.facts()?,
                Some(_) => self.skip()?,
            }
            has_events |= key.as_deref() == Some("traceEvents");
        }
    }

    /// Reads the array of events. If the array is the whole file, its end may be missing: the format allows this, so
    /// that a program can write events as they occur.
    fn array(&mut self, must_end: bool) -> Result<(), ReadError> {
        self.window.take(1);
        let mut after = None;
        loop {
            match (self.peek()?, after) {
                (None, _) if must_end => return Err(self.ends("`traceEvents`")),
                (None, _) => return Ok(()),
                (Some(b']'), None | Some(b'}')) => {
                    self.window.take(1);
                    return Ok(());
                }
                (Some(b','), Some(b'}')) => {
                    self.window.take(1);
                    after = Some(b',');
                }
                (Some(_), Some(b'}')) => return Err(self.unexpected("`,` or `]`")),
                (Some(_), _) => {
                    self.event()?;
                    after = Some(b'}');
                }
            }
        }
    }

    fn event(&mut self) -> Result<(), ReadError> {
        self.retried("an event", |events, text| {
            let (event, bytes) = Event::parse(text)?;
            events.event(&event)?;
            Ok(((), bytes))
        })
    }

    fn facts(&mut self) -> Result<(), ReadError> {
        self.window.take(1);
        let mut is_first = true;
        let mut is_last = false;
        while !is_last {
            is_last = self.retried("`otherData`", |events, text| {
                let mut cursor = Cursor::new(text);
                let Some(key) = cursor.key(&mut { is_first })? else {
                    return Ok((true, cursor.at));
                };
                let value = cursor.value()?;
                let at = cursor.at - value.0.len();
                events.fact(key.string().unwrap_or_default(), value).map_err(|stop| match stop {
                    Stop::Fault(_, kind) => Stop::Fault(at, kind),
                    Stop::End => Stop::End,
                })?;
                Ok((false, cursor.at))
            })?;
            is_first = false;
        }
        Ok(())
    }

    /// Skips a value of any length.
    fn skip(&mut self) -> Result<(), ReadError> {
        let mut nest = Nest::default();
        let mut is_done = false;
        while !is_done {
            is_done = self.retried("a value of the outermost object", |_, text| {
                let mut cursor = Cursor::new(text);
                Ok((nest.step(&mut cursor)?, cursor.at))
            })?;
        }
        Ok(())
    }

    /// Calls `take` with the text in memory, and again with more text as long as it returns [`Stop::End`]. `take`
    /// returns its result and the number of bytes that it consumed.
    fn retried<T>(
        &mut self,
        within: &'static str,
        mut take: impl FnMut(&mut E, &str) -> Result<(T, usize), Stop>,
    ) -> Result<T, ReadError> {
        loop {
            match take(self.events, self.window.text()) {
                Ok((taken, bytes)) => {
                    self.window.take(bytes);
                    return Ok(taken);
                }
                Err(Stop::End) => self.refill(within)?,
                Err(stop) => return Err(self.fault(stop, within)),
            }
        }
    }

    /// Returns the next byte that is not white space, without consuming it; `None` at the end of the file.
    fn peek(&mut self) -> Result<Option<u8>, ReadError> {
        loop {
            let mut cursor = Cursor::new(self.window.text());
            let next = cursor.peek();
            let at = cursor.at;
            self.window.take(at);
            match next {
                Ok(byte) => return Ok(Some(byte)),
                Err(_) if !self.window.more()? => return Ok(None),
                Err(_) => {}
            }
        }
    }

    /// Reads more text.
    ///
    /// # Errors
    /// If the file ends, or reading fails.
    fn refill(&mut self, within: &'static str) -> Result<(), ReadError> {
        if self.window.more()? { Ok(()) } else { Err(self.ends(within)) }
    }

    #[cold]
    fn fault(&self, stop: Stop, within: &'static str) -> ReadError {
        match stop {
            Stop::End => self.ends(within),
            Stop::Fault(at, kind) => kind.at(self.window.position(at)),
        }
    }

    #[cold]
    fn ends(&self, within: &'static str) -> ReadError {
        Repr::Ends { within }.at(self.window.position(usize::MAX))
    }

    #[cold]
    fn unexpected(&self, expected: &'static str) -> ReadError {
        self.fault(Cursor::new(self.window.text()).unexpected(expected), "the file")
    }
}
