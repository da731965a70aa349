//! Block sizes measured on this machine.
//!
//! [`BlockSize::Auto`](crate::BlockSize::Auto) looks block sizes up in a [`TuningTable`], a text file for each
//! processor type (see [`TuningTable::path`]). Without a table, a cost model chooses them. The program
//! `superscalar-tune` measures block sizes with [`measure`] and writes the table.

use crate::error::Error;
use std::{fmt, path::PathBuf, sync::OnceLock};
use superscalar_kernels::{Scalar, scalar::LETTERS};
use superscalar_runtime::{
    cache::{self, CacheFile},
    environment, processor_name,
};

/// Kind of block that a measured size applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockKind {
    /// Square tiles of a Cholesky factorization and of routines with the same structure.
    Cholesky,
    /// Panel width of LU.
    Lu,
    /// Panel width of QR.
    Qr,
    /// Inner block of a QR factorization without tasks: the reflectors that share a triangular factor.
    QrInner,
}

impl BlockKind {
    /// All kinds of blocks.
    pub const ALL: [Self; 4] = [Self::Cholesky, Self::Lu, Self::Qr, Self::QrInner];

    /// Returns the LAPACK name of the measured routine, as it appears in the table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cholesky => "potrf",
            Self::Lu => "getrf",
            Self::Qr => "geqrf",
            Self::QrInner => "geqrt",
        }
    }
}

/// One line of a table: the best block size for a routine, an element type, a number of workers and a matrix order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TunedBlockSize {
    /// Kind of block.
    pub blocks: BlockKind,
    /// Element type: s, d, c or z.
    pub letter: char,
    /// Number of workers.
    pub workers: usize,
    /// Order of the matrices.
    pub n: usize,
    /// Block size. A size of n or more means that no tasks are used.
    pub nb: usize,
    /// Measured rate with this block size, in Gflop/s.
    pub gflops: f64,
}

/// Measured block sizes, in the order of measurement.
///
/// ```
/// use superscalar::dla::tuning::{BlockKind, TuningTable};
///
/// let table: TuningTable = "potrf d 2 512 96 60.5\npotrf d 2 4096 384 101.0\n".parse()?;
/// assert_eq!(table.block_size(BlockKind::Cholesky, 'd', 2, 3000), Some(384));
/// assert_eq!(table.block_size(BlockKind::Cholesky, 'd', 7, 3000), None);
/// assert_eq!(table.to_string().parse::<TuningTable>()?, table);
/// # Ok::<(), superscalar::dla::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TuningTable {
    /// The lines of the table.
    pub entries: Vec<TunedBlockSize>,
}

impl TuningTable {
    /// Returns the block size measured with this number of workers at the order closest to n by ratio, or `None` if
    /// nothing was measured with this number of workers.
    #[must_use]
    pub fn block_size(&self, blocks: BlockKind, letter: char, workers: usize, n: usize) -> Option<usize> {
        let distance = |entry: &&TunedBlockSize| ((entry.n.max(1) as f64).ln() - (n.max(1) as f64).ln()).abs();
        let fits = |entry: &&TunedBlockSize| (entry.blocks, entry.letter, entry.workers) == (blocks, letter, workers);
        let best = self.entries.iter().filter(fits).min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        // "No tasks" applies to all orders near the measured one.
        Some(if best.nb >= best.n { best.nb.max(n) } else { best.nb })
    }

    /// Adds an entry, in the place of one of the same routine, element type, number of workers and order.
    pub fn replace(&mut self, entry: TunedBlockSize) {
        let key = |entry: &TunedBlockSize| (entry.blocks, entry.letter, entry.workers, entry.n);
        self.entries.retain(|old| key(old) != key(&entry));
        self.entries.push(entry);
    }

    /// Returns the path of this machine's table: `SUPERSCALAR_TUNING` if it is set, otherwise `<processor>.blocks` in
    /// the user's cache folder. The cache folder is `SUPERSCALAR_CACHE`, or `superscalar` in `XDG_CACHE_HOME` or
    /// `~/.cache`. Returns `None` if there is no cache folder.
    #[must_use]
    pub fn path() -> Option<PathBuf> {
        file().map(|file| file.path().to_owned())
    }

    /// Writes the table to a file atomically; creates the folder if necessary.
    ///
    /// # Errors
    /// [`System`](crate::ErrorKind::System), with the system's message.
    pub fn save(&self, path: &std::path::Path) -> Result<(), Error> {
        Ok(CacheFile::named(path).replace(self.to_string().as_bytes())?)
    }

    /// Returns this machine's table, which is read once per process. The table is empty if there is no file, or if the
    /// file in the cache folder is not usable.
    ///
    /// # Errors
    /// [`Argument`](crate::ErrorKind::Argument) if the file named by `SUPERSCALAR_TUNING` cannot be read or is not a
    /// table.
    pub fn of_machine() -> Result<&'static Self, Error> {
        static TABLE: OnceLock<Result<TuningTable, String>> = OnceLock::new();
        let read = || file().map_or(Ok(None), |file| file.read(Self::parse)).map(Option::unwrap_or_default);
        let table = TABLE.get_or_init(|| read().map_err(|error| error.to_string()));
        table.as_ref().map_err(|why| Error::argument(why.clone()))
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        text.parse().map_err(|error: Error| error.to_string())
    }
}

/// Returns the file of this machine's table.
fn file() -> Option<CacheFile> {
    let named = environment::variable("SUPERSCALAR_TUNING").map(CacheFile::named);
    named.or_else(|| Some(CacheFile::within(&cache::folder()?, &format!("{}.blocks", processor_name()))))
}

/// Returns the block size measured on this machine, if there is one.
pub(crate) fn block_size<T: Scalar>(blocks: BlockKind, workers: usize, n: usize) -> Result<Option<usize>, Error> {
    Ok(TuningTable::of_machine()?.block_size(blocks, T::LETTER, workers, n))
}

impl std::str::FromStr for TuningTable {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |at: usize, why: &str| Error::argument(format!("tuning table, line {}: {why}", at + 1));
        let mut entries = Vec::new();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
        {
            let words: Vec<&str> = line.split_whitespace().collect();
            let &[name, letter, workers, n, nb, gflops] = &words[..] else {
                return Err(wrong(at, "expected: routine type workers n nb gflops"));
            };
            let blocks = BlockKind::ALL.into_iter().find(|blocks| blocks.name() == name);
            let number = |word: &str| word.parse().ok().filter(|&number: &usize| number > 0);
            let letter = letter.parse().ok().filter(|letter| LETTERS.contains(letter));
            let (Some(blocks), Some(letter)) = (blocks, letter) else {
                return Err(wrong(at, "unknown routine or element type"));
            };
            let (Some(workers), Some(n), Some(nb), Ok(gflops)) =
                (number(workers), number(n), number(nb), gflops.parse())
            else {
                return Err(wrong(at, "expected positive integers for workers, n and nb, and a number for gflops"));
            };
            entries.push(TunedBlockSize { blocks, letter, workers, n, nb, gflops });
        }
        Ok(Self { entries })
    }
}

impl fmt::Display for TuningTable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "# block sizes measured on {}", processor_name())?;
        writeln!(out, "# routine type workers n nb gflops")?;
        for TunedBlockSize { blocks, letter, workers, n, nb, gflops } in &self.entries {
            writeln!(out, "{} {letter} {workers} {n} {nb} {gflops:.1}", blocks.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_lines_are_refused() {
        for (text, line) in [
            ("potrf d 2 512 96", 1),
            ("# fine\n\npotrf d 2 512 ninety 1.0", 3),
            ("potrf x 2 512 96 1.0", 1),
            ("getrs d 2 512 96 1.0", 1),
            ("potrf d 2 512 0 1.0", 1),
        ] {
            let error = text.parse::<TuningTable>().expect_err(text);
            assert_eq!(error.kind(), crate::ErrorKind::Argument);
            assert!(error.to_string().contains(&format!("line {line}:")), "{error}");
        }
    }

    #[test]
    fn entries_replace_those_of_their_key() {
        let mut table: TuningTable = "potrf d 2 512 96 1.0\npotrf d 1 512 64 1.0".parse().expect("a table");
        table.replace(TunedBlockSize { nb: 128, ..table.entries[0] });
        let sizes: Vec<_> = table.entries.iter().map(|entry| (entry.workers, entry.nb)).collect();
        assert_eq!(sizes, [(1, 64), (2, 128)]);
    }

    #[test]
    fn no_tasks_applies_to_nearby_orders() {
        let table: TuningTable = "getrf z 2 100 100 1.0\ngetrf z 2 1000 64 9.0".parse().expect("a table");
        assert_eq!(table.block_size(BlockKind::Lu, 'z', 2, 150), Some(150));
        assert_eq!(table.block_size(BlockKind::Lu, 'z', 2, 90), Some(100));
        assert_eq!(table.block_size(BlockKind::Lu, 'z', 2, 400), Some(64));
    }
}
