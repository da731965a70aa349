//! `superscalar-trace summary`.

use super::Outcome;
use std::path::PathBuf;

/// The arguments of `summary`.
#[derive(Debug, clap::Args)]
pub struct Summary {
    /// The trace.
    file: PathBuf,
}

impl Summary {
    pub fn run(&self) -> Outcome {
        Err(format!("{}: not written yet", self.file.display()).into())
    }
}
