//! The encoding of numbers in the page: varints, in base64.
//!
//! A varint has seven bits in each byte, the lowest first, and the top bit set on all but the last. Signed numbers are
//! zigzag-encoded: 0, -1, 1, -2, … become 0, 1, 2, 3, …. The page's `bytes.js` decodes them as doubles, which hold
//! whole numbers up to [`NUMBER_MAX`].

/// The largest whole number that a script reads exactly; larger numbers are written as this one.
pub(super) const NUMBER_MAX: u64 = 1 << 53;

/// A section of the page's data under construction.
#[derive(Debug, Default)]
pub(super) struct Bytes(Vec<u8>);

impl Bytes {
    pub fn number(&mut self, value: u64) {
        let mut rest = value.min(NUMBER_MAX);
        while rest >= 0x80 {
            self.0.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.0.push(rest as u8);
    }

    /// Appends the difference of two numbers, either of which may be the larger.
    pub fn difference(&mut self, from: u64, to: u64) {
        match to.checked_sub(from) {
            Some(up) => self.number(up.min(NUMBER_MAX / 2) * 2),
            None => self.number((from - to).min(NUMBER_MAX / 2) * 2 - 1),
        }
    }

    /// Appends a double as its eight bytes, the lowest first.
    pub fn double(&mut self, value: f64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Returns the bytes in base64, with padding (RFC 4648, section 4).
    pub fn base64(&self) -> String {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::with_capacity(self.0.len().div_ceil(3) * 4);
        for chunk in self.0.chunks(3) {
            let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for place in 0..4 {
                let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
                text.push(if place <= chunk.len() { char::from(digit) } else { '=' });
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut Bytes)) -> Vec<u8> {
        let mut bytes = Bytes::default();
        write(&mut bytes);
        bytes.0
    }

    #[test]
    fn numbers_are_varints() {
        assert_eq!(written(|bytes| bytes.number(0)), [0]);
        assert_eq!(written(|bytes| bytes.number(300)), [0xac, 0x02]);
        assert_eq!(written(|bytes| bytes.number(u64::MAX)), written(|bytes| bytes.number(NUMBER_MAX)));
    }

    #[test]
    fn differences_are_zigzagged() {
        for (from, to, zigzag) in [(5, 5, 0), (5, 4, 1), (5, 6, 2), (5, 3, 3)] {
            assert_eq!(written(|bytes| bytes.difference(from, to)), [zigzag]);
        }
    }

    #[test]
    fn base64_matches_rfc_4648() {
        for (plain, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
            assert_eq!(Bytes(plain.as_bytes().to_vec()).base64(), text);
        }
    }
}
