//! [`Source`]: the text of a program and what it is compiled with.

use crate::cache::hash;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_text_do_not_run_together() {
        assert_ne!(Source::new("b", "a").id(), Source::new("ab", "").id());
    }
}
