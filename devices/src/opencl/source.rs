//! [`Source`]: the source text of a program and its compiler options.

use crate::cache::hash;
use std::sync::Arc;

/// The source text and options of a program. It is made once and used for every task.
#[derive(Clone, Debug)]
pub struct Source {
    text: Arc<str>,
    options: Arc<str>,
    id: u128,
}

impl Source {
    /// Makes a program from OpenCL C source and compiler options.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>, options: impl Into<Arc<str>>) -> Self {
        let (text, options) = (text.into(), options.into());
        let id = hash([options.as_bytes(), b"\0", text.as_bytes()]);
        Self { text, options, id }
    }

    /// Returns the source text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the compiler options.
    #[must_use]
    pub fn options(&self) -> &str {
        &self.options
    }

    /// Returns a hash of source text and options.
    pub(super) fn id(&self) -> u128 {
        self.id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_separates_options_and_source() {
        assert_ne!(Source::new("b", "a").id(), Source::new("ab", "").id());
    }
}
