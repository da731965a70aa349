//! The subcommands, one per file.

pub mod check;
pub mod compare;
pub mod merge;
pub mod report;
pub mod summary;

/// The result of a subcommand: its exit status, or an error to print.
pub type CommandResult = Result<std::process::ExitCode, Box<dyn std::error::Error>>;
