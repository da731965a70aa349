//! The `otherData` of a merged trace.

use super::{json, microseconds};
use crate::read::cursor::Token;
use crate::read::{Stop, number};

/// The maximum bytes of `otherData` of all files together.
const BYTES_MAX: usize = 64 << 20;

/// Numeric entries whose sums go into the merged file.
const SUMS: [&str; 4] = ["tasks", "records dropped", "hazards left out", "workers"];

/// The collected `otherData` of all files.
#[derive(Debug, Default)]
pub(super) struct Facts {
    files: u64,
    /// Concatenated `,"key":value` entries.
    json: String,
    /// For each of [`SUMS`] the sum, and the number of files that have it.
    sums: [(u64, u64); SUMS.len()],
    /// The number of files with `"complete":false`.
    incomplete: u64,
    /// The largest `clock tolerance`, in nanoseconds.
    tolerance_ns: Option<u64>,
}

impl Facts {
    /// Starts another file. Its times are reduced by `moved_ns`.
    pub(super) fn begin(&mut self, file: &str, moved_ns: u64) {
        self.files += 1;
        if moved_ns > 0 {
            let key = json(&format!("{file}: moved by"));
            self.json.push_str(&format!(",{key}:{}", microseconds(moved_ns)));
        }
    }

    /// Adds an entry of a file.
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

    /// Returns the JSON object. A sum is written if every file has the entry; a sum of dropped objects, if any file has
    /// it.
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
