//! Properties of the trace reader for arbitrary bytes: it returns, an error has a position in the file, and an accepted
//! file is JSON, sound, and can be checked. The fuzz target runs this under libFuzzer, `tests/malformed.rs` on seeded
//! changes.

use serde::de::IgnoredAny;
use superscalar_traces::check::{Rule, check_reading};
use superscalar_traces::read::ReadOptions;

/// Asserts these properties. Returns whether the bytes were accepted as a trace.
pub fn assert_sound(text: &[u8]) -> bool {
    let options = ReadOptions::default();
    let partial = options.read_whole_events(text).expect("a slice has no errors of its own");
    let verdict = check_reading(&partial);
    assert_eq!(verdict.faults_of(Rule::Places) + verdict.faults_of(Rule::Length), 0);
    let trace = &partial.trace;
    assert!(trace.tasks.is_sorted_by_key(|task| (task.start_ns, task.id)));
    assert!(trace.hazards.is_sorted_by_key(|hazard| (hazard.to, hazard.from)));
    assert!(trace.activities.is_sorted_by_key(|activity| activity.start_ns));

    match options.read(text) {
        Err(error) => {
            let at = error.position().expect("a fault of the text has a position");
            assert!(at.offset <= text.len() as u64, "{error}");
            assert!(error.to_string().starts_with(&format!("{at}: ")), "{error}");
            false
        }
        Ok(reading) => {
            assert_eq!(reading.trace, partial.trace);
            // The reader also accepts unterminated arrays and a byte order mark, which are not JSON.
            let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
            if text.trim_ascii_start().starts_with(b"{") {
                serde_json::from_slice::<IgnoredAny>(text).expect("what is read is JSON");
            }
            true
        }
    }
}
