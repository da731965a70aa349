//! [`Source`]: the text of a program and what it is compiled with.

use std::sync::Arc;

/// A program's text with its options: made once, used for every task.
#[derive(Clone, Debug)]
pub struct Source {
    text: Arc<str>,
    options: Arc<str>,
    id: u128,
}

impl Source {
    /// A program in OpenCL C, with the compiler's options.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>, options: impl Into<Arc<str>>) -> Self {
        let (text, options) = (text.into(), options.into());
        let id = hash([options.as_bytes(), b"\0", text.as_bytes()]);
        Self { text, options, id }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The compiler's options.
    #[must_use]
    pub fn options(&self) -> &str {
        &self.options
    }

    /// A number for text and options.
    pub(super) fn id(&self) -> u128 {
        self.id
    }
}

/// FNV-1a (Fowler, Noll, Vo) with 128 bits: the same on every machine and for every version, as names of files must be.
pub(super) fn hash<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> u128 {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    pieces.into_iter().flatten().fold(BASIS, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        // From the authors' test vectors.
        assert_eq!(hash([&b""[..]]), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(hash([&b"a"[..]]), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
        assert_eq!(hash([&b"a"[..]]), hash([&b""[..], &b"a"[..]]));
    }

    #[test]
    fn options_and_text_do_not_run_together() {
        assert_ne!(Source::new("b", "a").id(), Source::new("ab", "").id());
    }
}
