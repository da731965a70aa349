//! `superscalar-trace`: summarises, compares, checks, merges and draws the traces of Superscalar's runs.

#![forbid(unsafe_code)]

mod commands;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Summarises, compares, checks, merges and draws the traces of Superscalar's runs.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print where the time went, as tables.
    Summary(commands::summary::Summary),
    /// Write one self-contained HTML page: a Gantt chart, counters and tables.
    Report(commands::report::ReportArguments),
    /// Print two runs side by side.
    Compare(commands::compare::Compare),
    /// Check whether a file is a consistent trace.
    Check(commands::check::Check),
    /// Merge several files into one.
    Merge(commands::merge::Merge),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Summary(command) => command.run(),
        Command::Report(command) => command.run(),
        Command::Compare(command) => command.run(),
        Command::Check(command) => command.run(),
        Command::Merge(command) => command.run(),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}
