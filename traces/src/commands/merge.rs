//! `superscalar-trace merge`.

use super::CommandResult;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use superscalar_traces::merge::{MergeOptions, Merged, TimeOrigin, merge};

/// The arguments of `merge`.
#[derive(Debug, clap::Args)]
pub struct Merge {
    /// The trace files.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The file to write.
    #[arg(short, long)]
    out: PathBuf,
    /// Shift the times of each file so that its earliest time is zero; without this, times stay unchanged.
    #[arg(long)]
    align: bool,
    /// Merge the complete events of files that were cut short.
    #[arg(long)]
    whole_events: bool,
}

impl Merge {
    pub fn run(&self) -> CommandResult {
        let time_origin = if self.align { TimeOrigin::Aligned } else { TimeOrigin::Kept };
        let options = MergeOptions { time_origin, whole_events: self.whole_events, ..MergeOptions::default() };
        // Write to another name first: the output may be one of the inputs, and a partial file must not replace it.
        let partial = partial(&self.out);
        let written = || -> Result<Merged, Box<dyn std::error::Error>> {
            let file = File::create(&partial).map_err(|error| about(&partial, &error))?;
            let merged = merge(&self.files, file, &options)?;
            fs::rename(&partial, &self.out).map_err(|error| about(&self.out, &error))?;
            Ok(merged)
        };
        // The partial file may not exist; report the first error.
        let merged = written().inspect_err(|_| _ = fs::remove_file(&partial))?;
        let cut = match merged.cut_short {
            0 => String::new(),
            count => format!(", {count} of them cut short"),
        };
        println!("{}: {} events of {} files{cut}", self.out.display(), merged.events, self.files.len());
        Ok(ExitCode::SUCCESS)
    }
}

fn partial(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    out.with_file_name(name)
}

fn about(path: &Path, error: &io::Error) -> Box<dyn std::error::Error> {
    format!("{}: {error}", path.display()).into()
}
