//! `superscalar-trace`: looks into the traces of Superscalar's runs.

#![forbid(unsafe_code)]

mod commands;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Looks into the traces of Superscalar's runs.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Where the time went, as tables.
    Summary(commands::summary::Summary),
    /// One self-contained HTML page: a Gantt chart, counters and tables.
    Report(commands::report::Report),
    /// Two runs side by side.
    Compare(commands::compare::Compare),
    /// Whether a file is a consistent trace.
    Check(commands::check::Check),
    /// Several files made one.
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
