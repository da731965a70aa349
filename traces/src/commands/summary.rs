//! `superscalar-trace summary`.

use super::CommandResult;
use std::{
    fmt::Display,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};
use superscalar_traces::{
    Trace,
    analysis::{
        Analysis,
        gaps::Gaps,
        replay::{self, Prediction, Replay, WhatIf},
    },
    read::ReadOptions,
};

/// The arguments of `summary`. Without options it prints every part in brief; with options, only the chosen parts, in
/// full.
#[derive(Debug, clap::Args)]
pub struct Summary {
    /// The trace file.
    file: PathBuf,
    /// Print where each lane's time went, and why it was idle.
    #[arg(long)]
    lanes: bool,
    /// Print the time and rate of each kernel, with their distribution.
    #[arg(long)]
    kernels: bool,
    /// Print the transfers between memory nodes, and the evictions.
    #[arg(long)]
    links: bool,
    /// Print why lanes were idle, and list the COUNT longest gaps (at most 100).
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(..=Gaps::LONGEST_MAX as i64))]
    gaps: Option<u16>,
    /// Print the critical path task by task, the possible parallelism, and the lower bounds.
    #[arg(long)]
    path: bool,
    /// Predict the run with a kernel FACTOR times as fast, such as `gemm=2`; repeated options form one question.
    #[arg(long, value_name = "KERNEL=FACTOR", value_parser = speedup)]
    what_if: Vec<(String, f64)>,
    /// Predict the run with COUNT workers; each count is a separate question.
    #[arg(long, value_name = "COUNT", value_delimiter = ',')]
    workers: Vec<usize>,
    /// Print all analyses as JSON.
    #[arg(long)]
    json: bool,
}

fn speedup(text: &str) -> Result<(String, f64), String> {
    let (kernel, factor) = text.rsplit_once('=').ok_or("expected KERNEL=FACTOR, such as gemm=2")?;
    let factor: f64 = factor.parse().map_err(|_| format!("`{factor}` is not a number"))?;
    if factor.is_finite() && factor > 0.0 {
        Ok((kernel.to_owned(), factor))
    } else {
        Err(format!("the factor {factor} is not a positive finite number"))
    }
}

/// Reads a trace as far as possible: a file that a crash cut short is still useful. Prints a warning to standard error
/// if reading stopped early.
pub(super) fn open(file: &PathBuf) -> Result<Trace, Box<dyn std::error::Error>> {
    let reading = ReadOptions::default().open_whole_events(file)?;
    match reading.broken {
        Some(error) if reading.trace.tasks.is_empty() => Err(error.into()),
        Some(error) => {
            eprintln!("warning: {error}; the results cover only the part of the file before this point");
            Ok(reading.trace)
        }
        None => Ok(reading.trace),
    }
}

/// Prints to standard output. Succeeds if the reader has closed the pipe, as `head` does.
pub(super) fn print(text: impl Display) -> CommandResult {
    match writeln!(io::stdout().lock(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}

impl Summary {
    pub fn run(&self) -> CommandResult {
        let trace = open(&self.file)?;
        let answers = self.answers(&trace)?;
        let has_parts = self.lanes || self.kernels || self.links || self.gaps.is_some() || self.path;
        if !self.json && !has_parts && !answers.is_empty() {
            return print(replay::table(&answers).to_string().trim_end());
        }
        let analysis = Analysis::new(&trace);
        match (self.json, has_parts) {
            (true, _) => print(json(&analysis, &answers)?),
            (false, false) => print(analysis.to_string().trim_end()),
            (false, true) => print(self.parts(&trace, &analysis, &answers).join("\n").trim_end()),
        }
    }

    /// Answers the questions of `--what-if` and `--workers`. The first answer is the run as recorded.
    fn answers(&self, trace: &Trace) -> Result<Vec<Prediction>, Box<dyn std::error::Error>> {
        if self.what_if.is_empty() && self.workers.is_empty() {
            return Ok(Vec::new());
        }
        let asked = |workers| WhatIf { workers, speedups: self.what_if.clone() };
        let mut questions = vec![WhatIf::default()];
        if self.workers.is_empty() {
            questions.push(asked(None));
        }
        questions.extend(self.workers.iter().map(|&workers| asked(Some(workers))));
        let replay = Replay::new(trace);
        let answers: Result<Vec<Prediction>, _> = questions.iter().map(|question| replay.predict(question)).collect();
        Ok(answers?)
    }

    fn parts(&self, trace: &Trace, analysis: &Analysis, answers: &[Prediction]) -> Vec<String> {
        let mut parts = vec![analysis.overview.to_string()];
        if self.lanes {
            parts.extend([analysis.lanes.to_string(), analysis.lanes.idle_table().to_string()]);
        }
        if self.kernels {
            parts.extend([analysis.kernels.to_string(), analysis.kernels.full_table().to_string()]);
        }
        if self.links {
            parts.push(analysis.links.to_string());
        }
        if let Some(count) = self.gaps {
            parts.extend([analysis.gaps.to_string(), analysis.gaps.longest_table(count.into()).to_string()]);
        }
        if self.path {
            parts.extend([analysis.path.to_string(), analysis.path.tasks_table(trace).to_string()]);
            parts.extend([analysis.parallelism.to_string(), analysis.bounds.to_string()]);
        }
        if !answers.is_empty() {
            parts.push(replay::table(answers).to_string());
        }
        parts
    }
}

fn json(analysis: &Analysis, answers: &[Prediction]) -> serde_json::Result<String> {
    let mut value = serde_json::to_value(analysis)?;
    if !answers.is_empty() {
        value["asked"] = serde_json::to_value(answers)?;
    }
    serde_json::to_string_pretty(&value)
}
