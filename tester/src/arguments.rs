//! The command line.

use crate::case::Choices;
use crate::check;
use crate::peer::PeerPath;
use crate::range::{Dims, Range, TileSizes};
use crate::report::Format;
use crate::routine::{Entry, TABLE};
use crate::types::Type;
use clap::{Parser, ValueEnum};
use superscalar_kernels::{Diag, Op, Side, Uplo};
use superscalar_runtime::PolicyName;

/// Checks and times routines, beside any BLAS or LAPACK given by path.
///
/// Every combination of the values given is a case, and every case a row. Exit status: 0 if all checks hold, 1 if one fails,
/// 2 if an argument is not valid.
#[derive(Parser, Debug)]
#[command(name = "tester", version, after_help = after_help())]
pub struct Arguments {
    /// Routines, without the type's letter: names, or `all`
    #[arg(required = true, value_delimiter = ',', value_parser = routines)]
    pub routines: Vec<Selection>,

    /// Element types: s, d, c, z
    #[arg(long = "type", value_delimiter = ',', default_value = "d")]
    pub types: Vec<Type>,

    /// Sizes N, MxN or MxNxK, of numbers or ranges start:stop:step; a routine takes those of m, n, k that it has
    #[arg(long, allow_negative_numbers = true, value_delimiter = ',', default_value = "100:500:100")]
    pub dim: Vec<Dims>,

    /// Right-hand sides, for routines that have them: numbers or ranges
    #[arg(long, allow_negative_numbers = true, value_delimiter = ',', default_value = "64")]
    pub nrhs: Vec<Range>,

    /// Tile sizes: numbers, ranges or `auto`
    #[arg(long, allow_negative_numbers = true, value_delimiter = ',', default_value = "auto")]
    pub nb: Vec<TileSizes>,

    /// Triangles: l, u
    #[arg(long, value_delimiter = ',', default_value = "l")]
    pub uplo: Vec<Uplo>,

    /// Sides: l, r
    #[arg(long, value_delimiter = ',', default_value = "l")]
    pub side: Vec<Side>,

    /// What is done to A: n, t, c
    #[arg(long, value_delimiter = ',', default_value = "n")]
    pub transa: Vec<Op>,

    /// What is done to B: n, t, c
    #[arg(long, value_delimiter = ',', default_value = "n")]
    pub transb: Vec<Op>,

    /// Whether diagonals are stored: n, u
    #[arg(long, value_delimiter = ',', default_value = "n")]
    pub diag: Vec<Diag>,

    /// Whether results are checked
    #[arg(long, default_value = "y")]
    pub check: YesNo,

    /// Scaled residuals up to this are accepted
    #[arg(long, allow_negative_numbers = true, value_name = "RESIDUAL", default_value_t = check::BOUND)]
    pub bound: f64,

    /// Rows between the columns of matrices, filled with sentinels [default: 3 for checked cases up to 512, else 0]
    #[arg(long, allow_negative_numbers = true, value_name = "ROWS")]
    pub ld_pad: Option<usize>,

    /// A library to compare with, and the prefix of its Fortran symbols; repeatable
    #[arg(long, value_name = "LIB[,PREFIX]")]
    pub peer: Vec<PeerPath>,

    /// Calls that are timed, of which the median counts; with more than one there is a warm-up first
    #[arg(long, allow_negative_numbers = true, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,

    /// Threads, ours and the peers' [default: one per physical core]
    #[arg(long, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub workers: Option<u32>,

    /// Seed of the random matrices
    #[arg(long, allow_negative_numbers = true, default_value_t = 1)]
    pub seed: u64,

    /// How rows are written
    #[arg(long, default_value = "table")]
    pub format: Format,

    /// The runtime's scheduling policy, by name [default: the runtime's]
    #[arg(long, value_name = "NAME")]
    pub policy: Option<PolicyName>,
}

/// `y` or `n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum YesNo {
    Y,
    N,
}

/// Routines that one word names.
#[derive(Clone, Debug)]
pub struct Selection(Vec<&'static Entry>);

impl std::fmt::Debug for Entry {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name)
    }
}

fn routines(word: &str) -> Result<Selection, String> {
    let is_named = |entry: &&Entry| word == "all" || word == entry.name;
    let entries: Vec<_> = TABLE.iter().filter(is_named).collect();
    if entries.is_empty() {
        return Err(format!("no routine is called `{word}`; there are all, {}", names()));
    }
    Ok(Selection(entries))
}

fn names() -> String {
    TABLE.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

fn after_help() -> String {
    format!("Routines: {}\nPolicies: {}", names(), PolicyName::ALL.map(PolicyName::as_str).join(", "))
}

impl Arguments {
    /// The routines, each once, in the order in which they are first named.
    pub fn entries(&self) -> Vec<&'static Entry> {
        let mut entries: Vec<&'static Entry> = Vec::new();
        for entry in self.routines.iter().flat_map(|selection| &selection.0) {
            if entries.iter().all(|known| known.name != entry.name) {
                entries.push(entry);
            }
        }
        entries
    }

    /// The values that each parameter is to take.
    pub fn choices(&self) -> Choices {
        Choices {
            dims: self.dim.iter().flat_map(|dims| dims.0.clone()).collect(),
            nrhs: self.nrhs.iter().flat_map(|range| range.0.clone()).collect(),
            nb: self.nb.iter().flat_map(|sizes| sizes.0.clone()).collect(),
            uplo: self.uplo.clone(),
            side: self.side.clone(),
            trans_a: self.transa.clone(),
            trans_b: self.transb.clone(),
            diag: self.diag.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }

    #[test]
    fn routines_are_named_once_each() {
        let names = |line: &str| -> Vec<&str> {
            let words = std::iter::once("tester").chain(line.split(' '));
            let arguments = Arguments::try_parse_from(words).expect(line);
            arguments.entries().iter().map(|entry| entry.name).collect()
        };
        assert_eq!(names("posv potrf,posv"), ["posv", "potrf"]);
        assert_eq!(names("all").len(), TABLE.len());
    }

    #[test]
    fn errors_name_the_argument() {
        for (line, argument) in [
            ("", "ROUTINES"),
            ("nothing", "ROUTINES"),
            ("potrf --type q", "--type"),
            ("potrf --dim 1:", "--dim"),
            ("potrf --dim 1x2x3x4", "--dim"),
            ("potrf --nb 0", "--nb"),
            ("potrf --uplo x", "--uplo"),
            ("potrf --check maybe", "--check"),
            ("potrf --repeat 0", "--repeat"),
            ("potrf --workers 0", "--workers"),
            ("potrf --seed -1", "--seed"),
            ("potrf --format xml", "--format"),
            ("potrf --policy none", "--policy"),
            ("potrf --peer ,scipy_", "--peer"),
            ("potrf --peer lib.so,a-b", "--peer"),
            ("potrf --wrokers 2", "--wrokers"),
        ] {
            let words = std::iter::once("tester").chain(line.split_whitespace());
            let error = Arguments::try_parse_from(words).expect_err(line);
            assert_eq!(error.exit_code(), 2, "{line}");
            assert!(error.to_string().contains(argument), "{line}: {error}");
        }
    }
}
