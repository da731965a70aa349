//! The subcommands, one file each.

pub mod check;
pub mod compare;
pub mod merge;
pub mod report;
pub mod summary;

/// What a subcommand returns: an exit status, or why there is none.
pub type Outcome = Result<std::process::ExitCode, Box<dyn std::error::Error>>;
