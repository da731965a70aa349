//! What a runtime has to say that is no error: the work goes on, but not as its user may expect.
//!
//! Each is said once: to the program's subscriber of `tracing`, or on standard error if it has none; in recordings and traces; and to
//! who asks the runtime.

#![forbid(unsafe_code)]

use crate::{panics::caught, sync::held};
use std::{
    fmt,
    io::{self, Write},
    sync::Mutex,
};

/// More than this many notices of one runtime are not kept, nor said.
const NOTICES_MAX: usize = 64;

/// See the module's head.
#[derive(Debug, Default)]
pub(crate) struct Notices(Mutex<Vec<Notice>>);

#[derive(Debug)]
struct Notice {
    topic: String,
    text: String,
}

impl Notices {
    /// Says something, unless something was said on this topic.
    pub(crate) fn say(&self, topic: &str, text: impl FnOnce() -> String) {
        let mut said = held(self.0.lock());
        if said.len() == NOTICES_MAX || said.iter().any(|notice| notice.topic == topic) {
            return;
        }
        let text = text();
        said.push(Notice { topic: topic.to_owned(), text: text.clone() });
        drop(said);
        say(&text);
    }

    /// All that was said.
    pub(crate) fn texts(&self) -> Vec<String> {
        held(self.0.lock()).iter().map(|notice| notice.text.clone()).collect()
    }
}

/// Says something that concerns no runtime.
///
/// A thread that has taken a task says things, too. So neither a subscriber that panics nor a standard error that takes nothing, such as
/// a pipe that nobody reads any more, ends it.
pub(crate) fn say(text: &str) {
    let _ = caught(|| {
        if tracing::enabled!(tracing::Level::WARN) {
            tracing::warn!("{text}");
        } else {
            print(format_args!("{text}"));
        }
    });
}

/// Writes a line to standard error, if that takes it.
pub(crate) fn print(text: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "superscalar: {text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_spoken_of_once_and_there_are_so_many() {
        let notices = Notices::default();
        for at in 0..3 * NOTICES_MAX {
            notices.say(&format!("topic {}", at / 2), || format!("text {at}"));
        }
        let texts = notices.texts();
        assert_eq!(texts.len(), NOTICES_MAX);
        assert_eq!(texts[..2], ["text 0", "text 2"]);
    }
}
