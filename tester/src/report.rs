//! Rows: one per case, or one per case and peer; as a table, or as JSON with one object per line.

use crate::case::{Case, Location, Parameter};
use crate::range::TileSize;
use crate::sizes::Batch;
use crate::types::Type;
use serde_json::{Map, Value, json};
use std::fmt::{self, Write};
use superscalar_dla::Distribution;

/// The format of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Aligned columns for people.
    Table,
    /// One JSON object per line.
    Json,
}

/// The status of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Checked, and correct.
    Ok,
    /// Not checked, because `--check n` was given.
    Unchecked,
    Failed,
    Skipped,
}

impl Status {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unchecked => "unchecked",
            Self::Failed => "FAILED",
            Self::Skipped => "skipped",
        }
    }
}

/// The number of rows of each status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    ok: usize,
    unchecked: usize,
    failed: usize,
    skipped: usize,
}

impl Tally {
    /// Counts a row.
    pub fn count(&mut self, status: Status) {
        *match status {
            Status::Ok => &mut self.ok,
            Status::Unchecked => &mut self.unchecked,
            Status::Failed => &mut self.failed,
            Status::Skipped => &mut self.skipped,
        } += 1;
    }

    /// Returns whether no check has failed.
    pub fn holds(&self) -> bool {
        self.failed == 0
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ok, unchecked, failed, skipped } = self;
        write!(out, "{ok} rows ok, {unchecked} not checked, {failed} FAILED, {skipped} skipped")
    }
}

/// Times and the rate of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// The median.
    pub seconds: f64,
    /// The minimum, which on a shared machine says more about the code.
    pub seconds_min: f64,
    pub gflops: f64,
}

/// A peer's part of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerPart {
    pub name: String,
    pub error: Option<f64>,
    pub timing: Option<Timing>,
}

/// The settings that all rows of a run share.
#[derive(Clone, Debug)]
pub struct Setting {
    pub workers: usize,
    pub policy: String,
    /// The devices' names.
    pub devices: Vec<String>,
    /// The distribution of matrices over the devices, if given.
    pub distribution: Option<Distribution>,
    pub seed: u64,
    pub repeat: usize,
    pub bound: f64,
    /// Whether the operands' memory is pinned.
    pub is_pinned: bool,
    /// Where matrices are when a routine is called.
    pub location: Location,
    /// The batch of each case, if a case is not a single problem.
    pub batch: Option<Batch>,
}

/// One line of the report.
#[derive(Clone, Debug)]
pub struct Row {
    pub routine: &'static str,
    pub uses: &'static [Parameter],
    pub letter: Type,
    pub case: Case,
    pub ld_pad: usize,
    /// `None` without a batch.
    pub problems: Option<ProblemCounts>,
    pub error: Option<f64>,
    /// How the residual was evaluated; `None` if it was not.
    pub check: Option<&'static str>,
    pub timing: Option<Timing>,
    pub peer: Option<PeerPart>,
    pub status: Status,
    pub reason: Option<String>,
}

/// The numbers of problems of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProblemCounts {
    /// Those whose results were checked; the info of all was.
    pub checked: usize,
    /// Those that have a defect.
    pub bad: usize,
}

impl Row {
    /// Makes the row of a case that was not run.
    pub fn new(routine: &'static str, uses: &'static [Parameter], letter: Type, case: &Case) -> Self {
        Self {
            routine,
            uses,
            letter,
            case: *case,
            ld_pad: 0,
            problems: None,
            error: None,
            check: None,
            timing: None,
            peer: None,
            status: Status::Skipped,
            reason: None,
        }
    }

    /// Returns the row of a case that is not run, with the reason.
    pub fn skipped(self, why: &str) -> Self {
        Self { status: Status::Skipped, reason: Some(why.to_owned()), ..self }
    }

    /// Returns our timing. A failed row has no times and rates.
    fn timing(&self) -> Option<Timing> {
        self.timing.filter(|_| self.status != Status::Failed)
    }

    /// Returns the peer's timing. A failed row has no times and rates, since the peer's result may be the wrong one.
    fn peer_timing(&self) -> Option<Timing> {
        self.peer.as_ref()?.timing.filter(|_| self.status != Status::Failed)
    }

    /// Returns our rate over the peer's.
    fn ratio(&self) -> Option<f64> {
        let peer = self.peer_timing()?;
        Some(self.timing()?.gflops / peer.gflops).filter(|ratio| ratio.is_finite())
    }

    /// Returns the row as a JSON object. Values that do not apply or are not finite are null.
    pub fn json(&self, setting: &Setting) -> Value {
        let mut row = Map::new();
        let mut put = |key: &str, value: Value| row.insert(key.to_owned(), value);
        put("routine", json!(self.routine));
        put("type", json!(self.letter.letter().to_string()));
        for parameter in [Parameter::M, Parameter::N, Parameter::K] {
            put(&parameter.key(), Value::Null);
        }
        for &parameter in self.uses {
            let value = self.case.value(parameter);
            let number = if parameter.is_size() { value.parse::<u64>().ok() } else { None };
            put(&parameter.key(), number.map_or_else(|| json!(value), |number| json!(number)));
        }
        put(
            "nb",
            match self.case.nb {
                TileSize::Auto => json!("auto"),
                TileSize::Fixed(nb) => json!(nb),
            },
        );
        put("ld_pad", json!(self.ld_pad));
        if let Some(batch) = setting.batch {
            put("batch", json!(batch.count));
            put("batch_sizes", json!(batch.sizes.as_str()));
            put("batch_bad", json!(self.problems.map(|problems| problems.bad)));
            put("batch_checked", json!(self.problems.map(|problems| problems.checked)));
        }
        put("workers", json!(setting.workers));
        put("policy", json!(setting.policy));
        put("devices", json!(setting.devices));
        put("distribution", json!(setting.distribution.map(Distribution::as_str)));
        put("location", json!(format!("{:?}", setting.location).to_lowercase()));
        put("pinned", json!(setting.is_pinned));
        put("seed", json!(setting.seed));
        put("repeat", json!(setting.repeat));
        put("error", json!(self.error));
        put("bound", json!(setting.bound));
        put("check", json!(self.check));
        put("seconds", json!(self.timing().map(|timing| timing.seconds)));
        put("seconds_min", json!(self.timing().map(|timing| timing.seconds_min)));
        put("gflops", json!(self.timing().map(|timing| timing.gflops)));
        let peer = self.peer.as_ref();
        put("peer", json!(peer.map(|peer| &peer.name)));
        put("peer_error", json!(peer.and_then(|peer| peer.error)));
        let timing = self.peer_timing();
        put("peer_seconds", json!(timing.map(|timing| timing.seconds)));
        put("peer_seconds_min", json!(timing.map(|timing| timing.seconds_min)));
        put("peer_gflops", json!(timing.map(|timing| timing.gflops)));
        put("ratio", json!(self.ratio()));
        put("status", json!(self.status.as_str()));
        put("reason", json!(self.reason));
        Value::Object(row)
    }

    /// Returns the row as a line of the table.
    pub fn line(&self) -> String {
        let size = |parameter| if self.uses.contains(&parameter) { self.case.value(parameter) } else { "-".to_owned() };
        let letters = self.uses.iter().filter(|&&parameter| !parameter.is_size() && !self.case.is_usual(parameter));
        let letters: Vec<_> = letters.map(|&letter| format!("{}={}", letter.key(), self.case.value(letter))).collect();
        let letters = letters.join(" ");
        let number =
            |value: Option<f64>, digits: usize| value.map_or("-".to_owned(), |value| format!("{value:.digits$}"));
        let small = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2e}"));
        let (timing, peer) = (self.timing(), self.peer.as_ref());
        let peer_timing = self.peer_timing();
        let mut line = columns([
            &format!("{}{}", self.letter, self.routine),
            &size(Parameter::M),
            &size(Parameter::N),
            &size(Parameter::K),
            &size(Parameter::Nrhs),
            if letters.is_empty() { "-" } else { &letters },
            &self.case.nb.to_string(),
            &small(self.error),
            &small(timing.map(|timing| timing.seconds)),
            &number(timing.map(|timing| timing.gflops), 2),
            peer.map_or("-", |peer| &peer.name),
            &small(peer_timing.map(|timing| timing.seconds)),
            &number(peer_timing.map(|timing| timing.gflops), 2),
            &number(self.ratio(), 3),
            self.status.as_str(),
        ]);
        if let Some(reason) = &self.reason {
            // Writing to a string does not fail.
            let _ = write!(line, " ({reason})");
        }
        line
    }
}

/// Returns the heads of the table's columns.
pub fn heading() -> String {
    columns([
        "routine", "m", "n", "k", "nrhs", "options", "nb", "error", "seconds", "GFLOP/s", "peer", "seconds", "GFLOP/s",
        "ratio", "status",
    ])
}

/// Aligns the columns of a line: names left, numbers right.
fn columns(cells: [&str; 15]) -> String {
    let [routine, m, n, k, nrhs, options, nb, error, seconds, rate, peer, peer_seconds, peer_rate, ratio, status] =
        cells;
    format!(
        "{routine:<11}{m:>6} {n:>6} {k:>6} {nrhs:>5} {options:<29}{nb:>6} {error:>9} {seconds:>9} {rate:>9}  \
         {peer:<16}{peer_seconds:>9} {peer_rate:>9} {ratio:>7}  {status}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use superscalar_kernels::Uplo;

    fn row() -> Row {
        let case = Case { uplo: Uplo::Upper, ..Case::with_dim(0, 20, 0) };
        Row {
            routine: "potrf",
            uses: &[Parameter::N, Parameter::Uplo],
            letter: Type::C,
            case,
            ld_pad: 3,
            problems: None,
            error: Some(f64::NAN),
            check: Some("products"),
            timing: Some(Timing { seconds: 0.5, seconds_min: 0.4, gflops: 30.0 }),
            peer: Some(PeerPart {
                name: "blas".to_owned(),
                error: None,
                timing: Some(Timing { seconds: 1.0, seconds_min: 0.9, gflops: 15.0 }),
            }),
            status: Status::Failed,
            reason: Some("because".to_owned()),
        }
    }

    #[test]
    fn json_has_every_key() {
        let setting = Setting {
            workers: 2,
            policy: "fifo".to_owned(),
            devices: vec!["sim:0".to_owned()],
            distribution: None,
            seed: 9,
            repeat: 1,
            bound: 30.0,
            is_pinned: false,
            location: Location::Device,
            batch: None,
        };
        let value = row().json(&setting);
        for (key, expected) in [
            ("routine", json!("potrf")),
            ("type", json!("c")),
            ("m", Value::Null),
            ("n", json!(20)),
            ("k", Value::Null),
            ("uplo", json!("U")),
            ("nb", json!(8)),
            ("workers", json!(2)),
            ("devices", json!(["sim:0"])),
            ("distribution", Value::Null),
            ("location", json!("device")),
            ("pinned", json!(false)),
            ("error", Value::Null),
            ("bound", json!(30.0)),
            ("seconds", Value::Null),
            ("gflops", Value::Null),
            ("peer", json!("blas")),
            ("peer_gflops", Value::Null),
            ("ratio", Value::Null),
            ("status", json!("FAILED")),
            ("reason", json!("because")),
        ] {
            assert_eq!(value.get(key), Some(&expected), "{key}");
        }
        assert!(value.get("nrhs").is_none() && !value.to_string().contains('\n'));
        let right = Row { status: Status::Ok, reason: None, ..row() }.json(&setting);
        for (key, expected) in [("seconds", 0.5), ("gflops", 30.0), ("peer_gflops", 15.0), ("ratio", 2.0)] {
            assert_eq!(right.get(key), Some(&json!(expected)), "{key}");
        }
    }

    #[test]
    fn failed_rows_show_no_rates() {
        let line = row().line();
        assert!(!line.contains("30.00") && !line.contains("15.00") && !line.contains("e-1"), "{line}");
        let line = Row { status: Status::Ok, reason: None, ..row() }.line();
        assert!(line.contains("30.00") && line.contains("15.00"), "{line}");
    }

    #[test]
    fn cells_are_below_their_heads() {
        let line = row().line();
        assert!(line.starts_with("cpotrf") && line.ends_with("FAILED (because)"), "{line}");
        let at = |text: &str, word: &str| text.find(word);
        assert_eq!(at(&line, "FAILED"), at(&heading(), "status"));
        assert_eq!(at(&line, "blas"), at(&heading(), "peer"));
    }
}
