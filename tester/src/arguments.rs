//! The command line.

use crate::case::{Choices, Coefficient, Location};
use crate::letters::{Letters, chosen};
use crate::peer::PeerPath;
use crate::range::{Dims, Range, TileSizes};
use crate::report::Format;
use crate::routines::{RoutineEntry, TABLE};
use crate::sizes::{Batch, BatchSizes};
use crate::types::Type;
use clap::{Parser, ValueEnum};
use superscalar_dla::Distribution;
use superscalar_kernels::{Diag, Direction, Norm, Op, Part, Side, Uplo};
use superscalar_oracle::ROUNDINGS_MAX;
use superscalar_runtime::PolicyName;

/// Checks and times routines, beside any BLAS or LAPACK library given by path.
///
/// Every combination of the given values is a case, and every case is a row. Exit status: 0 if all checks hold, 1 if
/// one fails, 2 if an argument is not valid.
#[derive(Parser, Debug)]
#[command(name = "tester", version, after_help = after_help())]
pub struct Arguments {
    /// Routines, without the type's letter: names, or `all`
    #[arg(required = true, value_delimiter = ',', value_parser = routines)]
    pub routines: Vec<Selection>,

    /// Element types: s, d, c, z
    #[arg(long = "type", value_delimiter = ',', default_value = "d")]
    pub types: Vec<Type>,

    /// Sizes N, MxN or MxNxK, of numbers or ranges start:stop:step; a routine uses only the sizes that it has
    #[arg(long, allow_negative_numbers = true, value_delimiter = ',', default_value = "100:500:100")]
    pub dim: Vec<Dims>,

    /// Right-hand sides, for routines that have them: numbers or ranges
    #[arg(long, allow_negative_numbers = true, value_delimiter = ',', default_value = "64")]
    pub nrhs: Vec<Range>,

    /// Tile sizes: numbers, ranges or `auto`
    #[arg(long, allow_negative_numbers = true, value_delimiter = ',', default_value = "auto")]
    pub nb: Vec<TileSizes>,

    /// Makes each case a batch of this many problems, of the routines that have a form for batches
    #[arg(long, allow_negative_numbers = true, value_name = "COUNT", value_parser = count)]
    pub batch: Option<usize>,

    /// Sizes of the problems of a batch: that of the case; or from 1 to it at random by --seed, in this order or sorted
    #[arg(long, requires = "batch", default_value = "uniform")]
    pub batch_sizes: BatchSizes,

    /// Problems of a batch that are indefinite, singular or have NaN, as the routine allows
    #[arg(long, requires = "batch", allow_negative_numbers = true, value_name = "COUNT", default_value = "0",
          value_parser = count)]
    pub batch_bad: usize,

    /// Triangles: l, u or `all`
    #[arg(long, value_delimiter = ',')]
    pub uplo: Vec<Letters<Uplo>>,

    /// Sides: l, r or `all`
    #[arg(long, value_delimiter = ',')]
    pub side: Vec<Letters<Side>>,

    /// Operation on A, or on the matrix applied: n, t, c or `all`
    #[arg(long, value_delimiter = ',')]
    pub transa: Vec<Letters<Op>>,

    /// Operation on B: n, t, c or `all`
    #[arg(long, value_delimiter = ',')]
    pub transb: Vec<Letters<Op>>,

    /// Whether diagonals are stored: n, u or `all`
    #[arg(long, value_delimiter = ',')]
    pub diag: Vec<Letters<Diag>>,

    /// Norms: o, m, i, f or `all`
    #[arg(long, value_delimiter = ',')]
    pub norm: Vec<Letters<Norm>>,

    /// Parts of rectangular matrices: a (the whole matrix), l, u or `all` (each of the three)
    #[arg(long, value_delimiter = ',')]
    pub part: Vec<Letters<Part>>,

    /// Orders of row interchanges: f, b or `all`
    #[arg(long, value_delimiter = ',')]
    pub direction: Vec<Letters<Direction>>,

    /// Factors alpha of products, RE or RE:IM; real types use the real part
    #[arg(long, allow_hyphen_values = true, value_delimiter = ',', default_values_t = [Coefficient::ALPHA])]
    pub alpha: Vec<Coefficient>,

    /// Factors beta of the matrix that is added to, RE or RE:IM
    #[arg(long, allow_hyphen_values = true, value_delimiter = ',', default_values_t = [Coefficient::BETA])]
    pub beta: Vec<Coefficient>,

    /// Whether results are checked
    #[arg(long, default_value = "y")]
    pub check: YesNo,

    /// Largest accepted scaled residual
    #[arg(long, allow_negative_numbers = true, value_name = "RESIDUAL", default_value_t = ROUNDINGS_MAX)]
    pub bound: f64,

    /// Rows between the columns of matrices, filled with sentinels [default: 3 for checked cases up to 512, else 0]
    #[arg(long, allow_negative_numbers = true, value_name = "ROWS")]
    pub ld_pad: Option<usize>,

    /// A library to compare with, and the prefix of its Fortran symbols; or `cublasxt`, `cusolver`, `cusolvermg`, some
    /// with the order of their blocks, or for batches `cublas`, on the GPUs of --devices or else the first GPU; can be
    /// repeated
    #[arg(long, value_name = "LIB[,PREFIX]")]
    pub peer: Vec<PeerPath>,

    /// Number of timed calls; the median is reported; if it is more than one, an untimed call comes first
    #[arg(
        long,
        allow_negative_numbers = true,
        default_value_t = 3,
        value_parser = clap::value_parser!(u32).range(1..=10_000),
    )]
    pub repeat: u32,

    /// Number of threads, ours and the peers' [default: one per physical core]
    #[arg(long, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub workers: Option<u32>,

    /// Seed of the random matrices
    #[arg(long, allow_negative_numbers = true, default_value_t = 1)]
    pub seed: u64,

    /// Format of the rows
    #[arg(long, default_value = "table")]
    pub format: Format,

    /// The runtime's scheduling policy, by name [default: the runtime's]
    #[arg(long, value_name = "NAME")]
    pub policy: Option<PolicyName>,

    /// Devices to run on, such as `cuda:0,cuda:1`, `cpu,sim:0..3` or `opencl:0`; without `cpu` the host runs only tasks
    /// that no device can run [default: those of SUPERSCALAR_DEVICES]
    #[arg(long, value_name = "NAMES")]
    pub devices: Option<String>,

    /// Bytes of each device's memory to use, such as 64M [default: SUPERSCALAR_DEVICE_MEMORY, or all of it]
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true, value_parser = device_memory)]
    pub device_memory: Option<usize>,

    /// Where matrices are when a routine is called
    #[arg(long, default_value = "host")]
    pub location: Location,

    /// Whether host memory of matrices is pinned, so that GPUs copy to and from it directly
    #[arg(long, default_value = "n")]
    pub pinned: YesNo,

    /// How matrices are distributed over the devices, by name [default: that of SUPERSCALAR_DISTRIBUTION, or none]
    #[arg(long, value_name = "NAME")]
    pub distribution: Option<Distribution>,
}

fn device_memory(text: &str) -> Result<usize, &'static str> {
    superscalar::devices::bytes(text)
}

/// The largest number of problems.
const COUNT_MAX: usize = 100_000_000;

fn count(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|&count| count <= COUNT_MAX);
    count.ok_or_else(|| format!("`{text}` is not a number of problems: expected one from 0 to {COUNT_MAX}"))
}

/// `y` or `n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum YesNo {
    Y,
    N,
}

/// The routines named by one word.
#[derive(Clone, Debug)]
pub struct Selection {
    entries: Vec<&'static RoutineEntry>,
    /// Whether the word was `all`.
    is_all: bool,
}

impl std::fmt::Debug for RoutineEntry {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name)
    }
}

fn routines(word: &str) -> Result<Selection, String> {
    let is_named = |entry: &&RoutineEntry| word == "all" || word == entry.name;
    let entries: Vec<_> = TABLE.iter().filter(is_named).collect();
    if entries.is_empty() {
        return Err(format!("no routine is called `{word}`; expected all, {}", names()));
    }
    Ok(Selection { entries, is_all: word == "all" })
}

fn names() -> String {
    TABLE.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

/// Returns the names of the routines that have a form for batches.
fn batched_names() -> String {
    let names = TABLE.iter().filter(|entry| entry.has_batch_form).map(|entry| entry.name);
    names.collect::<Vec<_>>().join(", ")
}

fn after_help() -> String {
    format!(
        "Letters that are not given: all letters that a routine takes if the routines are `all`, otherwise the first.\n\
         Routines: {}\nRoutines with a form for batches: {}\nPolicies: {}\nDistributions: {}",
        names(),
        batched_names(),
        PolicyName::ALL.map(PolicyName::as_str).join(", "),
        Distribution::ALL.map(Distribution::as_str).join(", ")
    )
}

impl Arguments {
    /// Returns CUDA's numbers of the GPUs among the devices; the first GPU if there are none.
    pub fn gpus(&self) -> Vec<i32> {
        let names = self.devices.iter().flat_map(|text| text.split(','));
        let gpus = names.filter_map(|name| name.trim().strip_prefix("cuda:")).flat_map(|numbers| {
            let (first, end) = numbers.split_once("..").unwrap_or((numbers, ""));
            let first: i32 = first.parse().unwrap_or(0);
            first..end.parse().unwrap_or(first + 1)
        });
        let gpus: Vec<i32> = gpus.collect();
        if gpus.is_empty() { vec![0] } else { gpus }
    }

    /// Returns the batch of every case.
    pub fn batch(&self) -> Option<Batch> {
        Some(Batch { count: self.batch?, sizes: self.batch_sizes, bad: self.batch_bad })
    }

    /// Returns the routines, each once, in the order of their first occurrence. With batches, `all` are those that have
    /// a form for batches.
    ///
    /// # Errors
    /// If a routine that is named has no form for batches.
    pub fn entries(&self) -> Result<Vec<&'static RoutineEntry>, String> {
        let mut entries: Vec<&'static RoutineEntry> = Vec::new();
        for selection in &self.routines {
            for entry in &selection.entries {
                match (self.batch, entry.has_batch_form) {
                    (Some(_), false) if selection.is_all => {}
                    (Some(_), false) => {
                        let name = entry.name;
                        return Err(format!("--batch: {name} has no form for batches; expected {}", batched_names()));
                    }
                    _ if entries.iter().any(|known| known.name == entry.name) => {}
                    _ => entries.push(entry),
                }
            }
        }
        Ok(entries)
    }

    /// Returns the values of each parameter.
    pub fn choices(&self) -> Choices {
        let every = self.routines.iter().any(|selection| selection.is_all);
        Choices {
            dims: self.dim.iter().flat_map(|dims| dims.0.clone()).collect(),
            nrhs: self.nrhs.iter().flat_map(|range| range.0.clone()).collect(),
            nb: self.nb.iter().flat_map(|sizes| sizes.0.clone()).collect(),
            uplo: chosen(&self.uplo, every),
            side: chosen(&self.side, every),
            trans_a: chosen(&self.transa, every),
            trans_b: chosen(&self.transb, every),
            diag: chosen(&self.diag, every),
            norm: chosen(&self.norm, every),
            part: chosen(&self.part, every),
            direction: chosen(&self.direction, every),
            alpha: self.alpha.clone(),
            beta: self.beta.clone(),
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
            arguments.entries().expect(line).iter().map(|entry| entry.name).collect()
        };
        assert_eq!(names("posv potrf,posv"), ["posv", "potrf"]);
        assert_eq!(names("all").len(), TABLE.len());
        assert!(names("all --batch 3").len() < TABLE.len());
    }

    #[test]
    fn gpus_come_from_the_devices() {
        let gpus = |line: &str| Arguments::try_parse_from(line.split(' ')).expect(line).gpus();
        assert_eq!(gpus("tester gemm"), [0]);
        assert_eq!(gpus("tester gemm --devices cpu,cuda:3,cuda:0..2"), [3, 0, 1]);
    }

    #[test]
    fn letters_default_to_all_for_all_routines() {
        let counts = |line: &str| {
            let words = std::iter::once("tester").chain(line.split(' '));
            let choices = Arguments::try_parse_from(words).expect(line).choices();
            (choices.uplo.len(), choices.norm.len(), choices.alpha.len())
        };
        assert_eq!(counts("all"), (2, 4, 1));
        assert_eq!(counts("all --uplo u --alpha -1,0:1"), (1, 4, 2));
        assert_eq!(counts("potrf --norm all"), (1, 4, 1));
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
            ("lange --norm 2", "--norm"),
            ("lacpy --part x", "--part"),
            ("gemm --alpha 1+i", "--alpha"),
            ("gemm --beta 1:2:3", "--beta"),
            ("potrf --check maybe", "--check"),
            ("potrf --repeat 0", "--repeat"),
            ("potrf --batch -1", "--batch"),
            ("potrf --batch many", "--batch"),
            ("potrf --batch 2 --batch-sizes equal", "--batch-sizes"),
            ("potrf --batch-sizes sorted", "--batch"),
            ("potrf --batch-bad 1", "--batch"),
            ("potrf --workers 0", "--workers"),
            ("potrf --seed -1", "--seed"),
            ("potrf --format xml", "--format"),
            ("potrf --policy none", "--policy"),
            ("potrf --distribution fair", "--distribution"),
            ("potrf --device-memory much", "--device-memory"),
            ("potrf --device-memory -4M", "expected a number of bytes"),
            ("potrf --location disk", "--location"),
            ("potrf --pinned maybe", "--pinned"),
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
