//! `superscalar-trace merge`.

use super::Outcome;
use std::path::PathBuf;

/// The arguments of `merge`.
#[derive(Debug, clap::Args)]
pub struct Merge {
    /// The trace.
    file: PathBuf,
}

impl Merge {
    pub fn run(&self) -> Outcome {
        Err(format!("{}: not written yet", self.file.display()).into())
    }
}
