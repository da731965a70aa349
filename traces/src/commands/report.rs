//! `superscalar-trace report`.

use super::CommandResult;
use std::{
    fs::File,
    io::{BufWriter, Write},
    path::PathBuf,
    process::ExitCode,
};
use superscalar_traces::{Trace, analysis::Analysis, report};

/// The arguments of `report`.
#[derive(Debug, clap::Args)]
pub struct ReportArguments {
    /// The trace file.
    file: PathBuf,
    /// The HTML file to write.
    #[arg(short, long)]
    output: PathBuf,
    /// The page's title; defaults to the name of the trace file.
    #[arg(long)]
    title: Option<String>,
}

impl ReportArguments {
    pub fn run(&self) -> CommandResult {
        let trace = Trace::open(&self.file)?;
        let analysis = Analysis::new(&trace);
        let name = self.file.file_name().unwrap_or(self.file.as_os_str()).to_string_lossy();
        let page = report::Report::new(&trace, &analysis).title(self.title.as_deref().unwrap_or(&name)).file(&*name);
        let written = File::create(&self.output).and_then(|file| {
            let mut out = BufWriter::new(file);
            page.write(&mut out)?;
            out.flush()
        });
        written.map_err(|error| format!("{}: {error}", self.output.display()))?;
        Ok(ExitCode::SUCCESS)
    }
}
