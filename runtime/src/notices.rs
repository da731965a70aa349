//! Notices: messages that are not errors. The work goes on, but not as the user may expect.
//!
//! Each notice is reported once: to the program's `tracing` subscriber, or on standard error if there is none; in
//! recordings and traces; and by [`Runtime::notices`](crate::Runtime::notices).

#![forbid(unsafe_code)]

use crate::{panics::catch_panic, sync::held};
use std::{
    fmt,
    io::{self, Write},
    sync::Mutex,
};

/// A runtime keeps and reports at most this many notices.
const NOTICES_MAX: usize = 64;

/// The notices of one runtime; see the [module](self) documentation.
#[derive(Debug, Default)]
pub(crate) struct Notices(Mutex<Vec<Notice>>);

#[derive(Debug)]
struct Notice {
    topic: String,
    text: String,
}

impl Notices {
    /// Reports a notice, unless one on this topic has been reported before.
    pub(crate) fn say(&self, topic: &str, text: impl FnOnce() -> String) {
        let mut reported = held(self.0.lock());
        if reported.len() == NOTICES_MAX || reported.iter().any(|notice| notice.topic == topic) {
            return;
        }
        let text = text();
        reported.push(Notice { topic: topic.to_owned(), text: text.clone() });
        drop(reported);
        say(&text);
    }

    /// Returns the texts of all notices reported so far.
    pub(crate) fn texts(&self) -> Vec<String> {
        held(self.0.lock()).iter().map(|notice| notice.text.clone()).collect()
    }
}

/// Reports a notice that concerns no particular runtime.
///
/// A worker may report a notice while it holds a task. So neither a panic in the subscriber nor a write error on
/// standard error (such as a closed pipe) may end the thread.
pub(crate) fn say(text: &str) {
    let _ = catch_panic(|| {
        if tracing::enabled!(tracing::Level::WARN) {
            tracing::warn!("{text}");
        } else {
            print(format_args!("{text}"));
        }
    });
}

/// Writes a line to standard error, and ignores write errors.
pub(crate) fn print(text: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "superscalar: {text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_are_limited_and_unique_per_topic() {
        let notices = Notices::default();
        for at in 0..3 * NOTICES_MAX {
            notices.say(&format!("topic {}", at / 2), || format!("text {at}"));
        }
        let texts = notices.texts();
        assert_eq!(texts.len(), NOTICES_MAX);
        assert_eq!(texts[..2], ["text 0", "text 2"]);
    }
}
