//! `superscalar-trace check`.

use super::Outcome;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use superscalar_traces::check::{Verdict, check_reading};
use superscalar_traces::read::ReadOptions;
use superscalar_traces::{ActivityKind, Trace};

/// Of a file that is not a trace.
const UNREADABLE: u8 = 2;

/// The arguments of `check`.
#[derive(Debug, clap::Args)]
pub struct Check {
    /// The trace.
    file: PathBuf,
    /// Checks the whole events of a file that was cut short.
    #[arg(long)]
    whole_events: bool,
}

impl Check {
    /// Exit status 0: consistent; 1: not; 2: cannot be read.
    pub fn run(&self) -> Outcome {
        let options = ReadOptions::default();
        let reading = if self.whole_events { options.open_whole_events(&self.file) } else { options.open(&self.file) };
        let reading = match reading {
            Ok(reading) => reading,
            Err(error) => {
                eprintln!("error: {error}");
                if error.is_cut_short() && !self.whole_events {
                    eprintln!("--whole-events checks what there is of it");
                }
                return Ok(ExitCode::from(UNREADABLE));
            }
        };
        let verdict = check_reading(&reading);
        let mut out = io::stdout().lock();
        for finding in verdict.findings() {
            writeln!(out, "{finding}")?;
        }
        writeln!(out, "{}: {}: {}", self.file.display(), summary(&verdict), counts(&reading.trace))?;
        Ok(if verdict.is_consistent() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn summary(verdict: &Verdict) -> String {
    match verdict.fault_count() {
        0 => "consistent".to_owned(),
        1 => "1 fault".to_owned(),
        count => format!("{count} faults"),
    }
}

fn counts(trace: &Trace) -> String {
    let of = |kind| trace.activities.iter().filter(|activity| activity.kind == kind).count();
    format!(
        "{} tasks, {} hazards, {} transfers, {} stalls, {} host spans, {} counters, {} lanes",
        trace.tasks.len(),
        trace.hazards.len(),
        of(ActivityKind::Transfer),
        of(ActivityKind::Stall),
        of(ActivityKind::Host),
        trace.counters.len(),
        trace.lanes.len()
    )
}
