//! `superscalar-trace compare`.

use super::{
    CommandResult,
    summary::{open, print},
};
use std::path::PathBuf;
use superscalar_traces::analysis::{Analysis, comparison::Comparison};

/// The arguments of `compare`.
#[derive(Debug, clap::Args)]
pub struct Compare {
    /// The trace of the first run.
    a: PathBuf,
    /// The trace of the second run, which is compared with the first.
    b: PathBuf,
    /// Print the comparison as JSON.
    #[arg(long)]
    json: bool,
}

impl Compare {
    pub fn run(&self) -> CommandResult {
        let (a, b) = (Analysis::new(&open(&self.a)?), Analysis::new(&open(&self.b)?));
        let comparison = Comparison::new(&a, &b);
        match self.json {
            true => print(serde_json::to_string_pretty(&comparison)?),
            false => print(comparison.to_string().trim_end()),
        }
    }
}
