//! `superscalar-trace compare`.

use super::Outcome;
use std::path::PathBuf;

/// The arguments of `compare`.
#[derive(Debug, clap::Args)]
pub struct Compare {
    /// The trace.
    file: PathBuf,
}

impl Compare {
    pub fn run(&self) -> Outcome {
        Err(format!("{}: not written yet", self.file.display()).into())
    }
}
