//! `superscalar-trace check`.

use super::Outcome;
use std::path::PathBuf;

/// The arguments of `check`.
#[derive(Debug, clap::Args)]
pub struct Check {
    /// The trace.
    file: PathBuf,
}

impl Check {
    pub fn run(&self) -> Outcome {
        Err(format!("{}: not written yet", self.file.display()).into())
    }
}
