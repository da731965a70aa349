//! `otherData` of a merged trace.

use super::{json, microseconds};
use crate::read::cursor::Token;
use crate::read::{Stop, number};

/// Bytes of `otherData` that are kept of all files together.
const BYTES_MAX: usize = 64 << 20;

/// Entries that are numbers of which the whole has the sum.
const SUMS: [&str; 4] = ["tasks", "records dropped", "hazards left out", "workers"];

/// What the files say of themselves.
#[derive(Debug, Default)]
pub(super) struct Facts {
    files: u64,
    /// `,"key":value` again and again.
    json: String,
    /// Of each of [`SUMS`], the sum, and how many files have it.
    sums: [(u64, u64); SUMS.len()],
    /// Files that say `"complete":false`.
    incomplete: u64,
    /// The largest `clock tolerance`, as nanoseconds.
    tolerance_ns: Option<u64>,
}

impl Facts {
    /// Another file, whose times become earlier by so much.
    pub(super) fn begin(&mut self, file: &str, moved_ns: u64) {
        self.files += 1;
        if moved_ns > 0 {
            let key = json(&format!("{file}: moved by"));
            self.json.push_str(&format!(",{key}:{}", microseconds(moved_ns)));
        }
    }

    /// An entry of the file with this name.
    pub(super) fn add(&mut self, file: &str, key: &str, value: Token<'_>) -> Result<(), Stop> {
        if let Some(place) = SUMS.iter().position(|sum| *sum == key)
            && let Some(number) = number::unsigned(value.0)
        {
            let (sum, files) = &mut self.sums[place];
            *sum = sum.saturating_add(number);
            *files += 1;
        }
        self.incomplete += u64::from(key == "complete" && value.0 == "false");
        if key == "clock tolerance" {
            self.tolerance_ns = self.tolerance_ns.max(number::nanoseconds(value.0));
        }
        self.json.push(',');
        self.json.push_str(&json(&format!("{file}: {key}")));
        self.json.push(':');
        self.json.push_str(value.0);
        if self.json.len() > BYTES_MAX {
            return Err(Stop::refused(0, format!("more than {BYTES_MAX} bytes of `otherData` in all files")));
        }
        Ok(())
    }

    /// The object. A sum of which a file has no part is not written, but for what was lost.
    pub(super) fn json(&self, is_whole: bool) -> String {
        let mut all = format!("{{\"complete\":{}", is_whole && self.incomplete == 0);
        for (key, &(sum, files)) in SUMS.iter().zip(&self.sums) {
            let is_loss = matches!(*key, "records dropped" | "hazards left out");
            if files > 0 && (files == self.files || is_loss) {
                all.push_str(&format!(",{}:{sum}", json(key)));
            }
        }
        if let Some(ns) = self.tolerance_ns {
            all.push_str(&format!(",\"clock tolerance\":{}", microseconds(ns)));
        }
        all.push_str(&self.json);
        all.push('}');
        all
    }
}
