//! `superscalar-trace check`.

use super::CommandResult;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use superscalar_traces::check::{Verdict, check_reading};
use superscalar_traces::read::ReadOptions;
use superscalar_traces::{ActivityKind, Trace};

/// The exit status for a file that cannot be read as a trace.
const UNREADABLE: u8 = 2;

/// The arguments of `check`.
#[derive(Debug, clap::Args)]
pub struct Check {
    /// The trace file.
    file: PathBuf,
    /// Check the complete events of a file that was cut short.
    #[arg(long)]
    whole_events: bool,
}

impl Check {
    /// Checks the file. Exit status 0: consistent; 1: inconsistent; 2: the file cannot be read.
    pub fn run(&self) -> CommandResult {
        let options = ReadOptions::default();
        let reading = if self.whole_events { options.open_whole_events(&self.file) } else { options.open(&self.file) };
        let reading = match reading {
            Ok(reading) => reading,
            Err(error) => {
                eprintln!("error: {error}");
                if error.is_cut_short() && !self.whole_events {
                    eprintln!("use --whole-events to check the events that are complete");
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
        "{} tasks, {} hazard arrows, {} transfers, {} stalls, {} host spans, {} plans, {} counters, {} lanes",
        trace.tasks.len(),
        trace.hazards.len(),
        of(ActivityKind::Transfer),
        of(ActivityKind::Stall),
        of(ActivityKind::Host).saturating_sub(trace.plans.len()),
        trace.plans.len(),
        trace.counters.len(),
        trace.lanes.len()
    )
}
