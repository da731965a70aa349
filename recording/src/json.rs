//! A fast JSON writer: a trace has millions of events with about ten numbers each.
//!
//! Formatting with `fmt` is several times slower. These routines write tokens; the caller is responsible for matching
//! brackets and commas.

use std::io::{self, Write};

/// The size of a buffer that is passed to the output, large enough to make the cost of a system call negligible.
const PIECE_BYTES: usize = 1 << 16;

/// Integers from this value on are not exact in the double precision of readers.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

pub(super) struct JsonWriter<W: Write> {
    out: W,
    piece: Vec<u8>,
    bytes: u64,
}

impl<W: Write> JsonWriter<W> {
    pub(super) fn new(out: W) -> Self {
        // Room for the last event, so that the buffer need not grow.
        let piece = Vec::with_capacity(PIECE_BYTES + 4096);
        Self { out, piece, bytes: 0 }
    }

    /// Writes text that is valid JSON already.
    pub(super) fn raw(&mut self, json: &str) {
        self.piece.extend_from_slice(json.as_bytes());
    }

    /// Writes a string with quotes and escapes.
    pub(super) fn string(&mut self, text: &str) {
        self.piece.push(b'"');
        self.escaped(text);
        self.piece.push(b'"');
    }

    /// Writes the inside of a string. Only quotes, backslashes and control characters need escaping.
    pub(super) fn escaped(&mut self, text: &str) {
        let mut plain = 0;
        for (at, &byte) in text.as_bytes().iter().enumerate() {
            if byte >= 0x20 && byte != b'"' && byte != b'\\' {
                continue;
            }
            self.piece.extend_from_slice(&text.as_bytes()[plain..at]);
            plain = at + 1;
            match byte {
                b'"' | b'\\' => self.piece.extend_from_slice(&[b'\\', byte]),
                b'\n' => self.piece.extend_from_slice(b"\\n"),
                b'\t' => self.piece.extend_from_slice(b"\\t"),
                _ => {
                    let low = b"0123456789abcdef"[usize::from(byte & 15)];
                    let escape = [b'\\', b'u', b'0', b'0', b'0' + (byte >> 4), low];
                    self.piece.extend_from_slice(&escape);
                }
            }
        }
        self.piece.extend_from_slice(&text.as_bytes()[plain..]);
    }

    pub(super) fn integer(&mut self, mut value: u64) {
        let mut digits = [0_u8; 20];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b'0' + (value % 10) as u8;
            value /= 10;
            if value == 0 {
                break;
            }
        }
        self.piece.extend_from_slice(&digits[first..]);
    }

    /// Writes an array of integers.
    pub(super) fn integers(&mut self, values: impl Iterator<Item = u64>) {
        self.raw("[");
        for (at, value) in values.enumerate() {
            self.raw(if at == 0 { "" } else { "," });
            self.integer(value);
        }
        self.raw("]");
    }

    pub(super) fn signed(&mut self, value: i64) {
        if value < 0 {
            self.piece.push(b'-');
        }
        self.integer(value.unsigned_abs());
    }

    /// Writes `value` / 1000 with three decimals: nanoseconds as exact microseconds.
    pub(super) fn thousandths(&mut self, value: u64) {
        self.integer(value / 1000);
        let rest = value % 1000;
        let digit = |power: u64| b'0' + (rest / power % 10) as u8;
        let decimals = [b'.', digit(100), digit(10), digit(1)];
        self.piece.extend_from_slice(&decimals);
    }

    /// Writes a real number. JSON has no NaN and infinity; they become `null`.
    pub(super) fn real(&mut self, value: f64) {
        if !value.is_finite() {
            self.raw("null");
        } else if value.fract() == 0.0 && value.abs() < EXACT_MAX {
            self.signed(value as i64);
        } else {
            // Writing to a vector cannot fail.
            let _ = write!(self.piece, "{value:e}");
        }
    }

    /// Passes the buffer to the output if it is full. To be called between events.
    ///
    /// # Errors
    /// If writing to the output fails.
    pub(super) fn pass_on(&mut self) -> io::Result<()> {
        if self.piece.len() >= PIECE_BYTES {
            self.drain()?;
        }
        Ok(())
    }

    /// Writes the rest of the buffer and flushes the output. Returns the total number of bytes written.
    ///
    /// # Errors
    /// If writing to the output fails.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.drain()?;
        self.out.flush()?;
        Ok(self.bytes)
    }

    fn drain(&mut self) -> io::Result<()> {
        self.out.write_all(&self.piece)?;
        self.bytes += self.piece.len() as u64;
        self.piece.clear();
        Ok(())
    }
}

impl JsonWriter<Vec<u8>> {
    /// Returns the text written since the last call.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.bytes += self.piece.len() as u64;
        self.out.append(&mut self.piece);
        std::mem::take(&mut self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::JsonWriter;
    use serde_json::Value;

    fn text(write: impl FnOnce(&mut JsonWriter<&mut Vec<u8>>)) -> String {
        let mut bytes = Vec::new();
        let mut json = JsonWriter::new(&mut bytes);
        write(&mut json);
        json.finish().expect("a vector takes every write");
        String::from_utf8(bytes).expect("the writer keeps UTF-8 intact")
    }

    #[test]
    fn characters_survive_a_round_trip() {
        let all: String = (0..0x800).chain(0x1F600..0x1F610).filter_map(char::from_u32).collect();
        let written = text(|json| json.string(&all));
        let read: Value = serde_json::from_str(&written).expect("valid JSON");
        assert_eq!(read, Value::String(all));
    }

    #[test]
    fn numbers_are_exact() {
        for value in [0, 1, 9, 10, 999, 1000, 1001, u64::MAX] {
            assert_eq!(text(|json| json.integer(value)), value.to_string());
            let expected = format!("{}.{:03}", value / 1000, value % 1000);
            assert_eq!(text(|json| json.thousandths(value)), expected);
        }
        for value in [i64::MIN, -1, 0, 7] {
            assert_eq!(text(|json| json.signed(value)), value.to_string());
        }
        for value in [0.0, -3.0, 0.1, 1e300, 5e-324, 9_007_199_254_740_993.0] {
            let written = text(|json| json.real(value));
            let read: f64 = written.parse().expect("a number");
            assert_eq!(read, value, "{written}");
            serde_json::from_str::<Value>(&written).expect("valid JSON");
        }
        assert_eq!(text(|json| json.real(f64::NAN)), "null");
        assert_eq!(text(|json| json.real(f64::NEG_INFINITY)), "null");
    }
}
