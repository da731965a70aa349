//! `superscalar-trace report`.

use super::Outcome;
use std::path::PathBuf;

/// The arguments of `report`.
#[derive(Debug, clap::Args)]
pub struct Report {
    /// The trace.
    file: PathBuf,
}

impl Report {
    pub fn run(&self) -> Outcome {
        Err(format!("{}: not written yet", self.file.display()).into())
    }
}
