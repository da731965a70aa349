//! [`TileTable`]: the tiles of batched products that were measured on a GPU.
//!
//! A table is plain text, for one model of GPU: `<name>.tiles` in the user's cache folder, or the file that
//! `SUPERSCALAR_TILES` names. Other GPUs have the table of this crate, which was measured on an H100.

use crate::{
    Scalar, c32, c64,
    cuda::tile::{ProductTile, TileLimits},
    scalar::LETTERS,
};
use std::{
    collections::BTreeMap,
    fmt,
    path::PathBuf,
    str::FromStr,
    sync::{Mutex, PoisonError},
};
use superscalar_devices::cuda::GpuClass;
use superscalar_runtime::{
    DeviceError,
    cache::{self, CacheFile},
    environment,
};

const SHIPPED: &str = include_str!("h100.tiles");

/// One line of a table: the fastest tile for products of an element type and an order, and rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TunedTile {
    /// Element type: s, d, c or z.
    pub letter: char,
    /// Order of the factors.
    pub order: usize,
    /// The fastest tile.
    pub tile: ProductTile,
    /// The rate of the kernel with this tile, in Gflop/s.
    pub gflops: f64,
    /// The rate of cuBLAS's batched product, in Gflop/s; zero if it was not measured.
    pub cublas_gflops: f64,
}

impl TunedTile {
    /// Returns whether cuBLAS was faster.
    #[must_use]
    pub fn is_for_cublas(&self) -> bool {
        self.cublas_gflops > self.gflops
    }
}

/// The tiles that were measured on one model of GPU.
///
/// ```
/// use superscalar::kernels::cuda::tuning::TileTable;
///
/// let table: TileTable = "d 64 64 64 16 3 2 2 9000.0 9500.0\n".parse()?;
/// let tuned = table.nearest('d', 70).expect("an entry for doubles");
/// assert!(tuned.order == 64 && tuned.is_for_cublas());
/// assert_eq!(table.nearest('s', 70), None);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TileTable {
    /// The lines of the table.
    pub entries: Vec<TunedTile>,
}

impl TileTable {
    /// The orders for which tiles are measured.
    pub const ORDERS: [usize; 8] = [20, 28, 32, 48, 64, 96, 128, 256];

    /// Returns the table of this crate.
    #[must_use]
    pub fn shipped() -> Self {
        // A test parses it.
        SHIPPED.parse().unwrap_or_default()
    }

    /// Returns the entry whose order is the closest by ratio, or None if nothing was measured for the element type.
    #[must_use]
    pub fn nearest(&self, letter: char, order: usize) -> Option<&TunedTile> {
        let log = |order: usize| (order.max(1) as f64).ln();
        let distance = |entry: &&TunedTile| (log(entry.order) - log(order)).abs();
        let fits = self.entries.iter().filter(|entry| entry.letter == letter);
        fits.min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }

    /// Returns the path of a GPU's table, or None if there is no cache folder.
    #[must_use]
    pub fn path(gpu: &GpuClass) -> Option<PathBuf> {
        file(gpu).map(|file| file.path().to_owned())
    }

    /// Writes the table to a file atomically; creates the folder if necessary.
    ///
    /// # Errors
    /// If the file cannot be written, with the system's message.
    pub fn save(&self, path: &std::path::Path) -> Result<(), DeviceError> {
        CacheFile::named(path).replace(self.to_string().as_bytes()).map_err(|error| DeviceError::new(error.to_string()))
    }

    /// Adds an entry, in the place of one of the same element type and order.
    pub fn replace(&mut self, entry: TunedTile) {
        self.entries.retain(|old| (old.letter, old.order) != (entry.letter, entry.order));
        self.entries.push(entry);
    }

    /// Returns a GPU's table, which is read once per process. It has entries for all element types, and only such as
    /// the GPU can run. Entries that it cannot run, and those of an unusable file in the cache folder, are replaced by
    /// the crate's, or, if it cannot run these either, by the likely best.
    ///
    /// # Errors
    /// If the file that `SUPERSCALAR_TILES` names cannot be read or is not a table.
    pub(super) fn of_gpu(gpu: &GpuClass) -> Result<&'static Self, DeviceError> {
        static TABLES: Mutex<BTreeMap<usize, &'static TileTable>> = Mutex::new(BTreeMap::new());
        // A table is inserted only when it is complete.
        let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&table) = tables.get(&gpu.ordinal) {
            return Ok(table);
        }
        let parse = |bytes: &[u8]| std::str::from_utf8(bytes).map_err(|error| error.to_string())?.parse::<Self>();
        let read =
            file(gpu).map_or(Ok(None), |file| file.read(parse)).map_err(|error| DeviceError::new(error.to_string()))?;
        let table: &'static Self = Box::leak(Box::new(read.unwrap_or_default().completed(gpu.tile_limits())));
        tables.insert(gpu.ordinal, table);
        Ok(table)
    }

    /// Replaces entries that are not valid within the limits, and adds those of element types without any.
    fn completed(self, limits: TileLimits) -> Self {
        let mut shipped = Self::shipped();
        shipped.entries.retain(|entry| is_valid(entry, limits));
        let replacement = |letter, order| {
            let nearest = shipped.nearest(letter, order).map(|&entry| TunedTile { order, ..entry });
            nearest.or_else(|| likely_best(letter, order, limits))
        };
        let valid = |entry: TunedTile| match is_valid(&entry, limits) {
            true => Some(entry),
            false => replacement(entry.letter, entry.order),
        };
        let mut entries: Vec<_> = self.entries.into_iter().filter_map(valid).collect();
        for letter in LETTERS {
            if !entries.iter().any(|entry| entry.letter == letter) {
                entries.extend(Self::ORDERS.into_iter().filter_map(|order| replacement(letter, order)));
            }
        }
        Self { entries }
    }
}

/// What tiles depend on.
pub(super) trait HasTileLimits {
    /// Returns the limits of batched products.
    fn tile_limits(&self) -> TileLimits;
}

impl HasTileLimits for GpuClass {
    fn tile_limits(&self) -> TileLimits {
        TileLimits { shared_bytes: self.block_shared_bytes, has_units: self.compute_capability >= (8, 0) }
    }
}

/// Returns the file of a GPU's table.
fn file(gpu: &GpuClass) -> Option<CacheFile> {
    let named = environment::variable("SUPERSCALAR_TILES").map(CacheFile::named);
    let name: String = gpu.name.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' }).collect();
    named.or_else(|| Some(CacheFile::within(&cache::folder()?, &format!("{name}.tiles"))))
}

fn is_valid(entry: &TunedTile, limits: TileLimits) -> bool {
    let check = match entry.letter {
        's' => ProductTile::check::<f32>,
        'd' => ProductTile::check::<f64>,
        'c' => ProductTile::check::<c32>,
        _ => ProductTile::check::<c64>,
    };
    check(&entry.tile, limits).is_ok()
}

/// Returns an entry for a GPU that can run none of the measured tiles.
fn likely_best(letter: char, order: usize, limits: TileLimits) -> Option<TunedTile> {
    fn of<T: Scalar>(order: usize, limits: TileLimits) -> Option<TunedTile> {
        let tile = ProductTile::candidates::<T>(limits, order, 1).pop()?;
        Some(TunedTile { letter: T::LETTER, order, tile, gflops: 0.0, cublas_gflops: 0.0 })
    }
    match letter {
        's' => of::<f32>(order, limits),
        'd' => of::<f64>(order, limits),
        'c' => of::<c32>(order, limits),
        _ => of::<c64>(order, limits),
    }
}

/// Parses lines with the element type, the order, the six numbers of the tile, and two rates. Lines that begin with `#`
/// are comments.
impl FromStr for TileTable {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut entries = Vec::new();
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        for (at, line) in lines {
            let wrong = |why: &str| format!("table of tiles, line {}: {why}", at + 1);
            let words: Vec<&str> = line.split_whitespace().collect();
            let &[letter, order, .., gflops, cublas_gflops] = &words[..] else {
                return Err(wrong("expected: type order rows columns deep stages down across gflops cublas"));
            };
            let letter = letter.parse().ok().filter(|letter| LETTERS.contains(letter));
            let order = order.parse().ok().filter(|&order: &usize| order > 0);
            let rate = |word: &str| word.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate >= 0.0);
            let (Some(letter), Some(order), Some(gflops), Some(cublas_gflops)) =
                (letter, order, rate(gflops), rate(cublas_gflops))
            else {
                return Err(wrong("expected a type, a positive order, and two rates"));
            };
            let tile = words[2..words.len() - 2].join(" ").parse().map_err(|why: String| wrong(&why))?;
            entries.push(TunedTile { letter, order, tile, gflops, cublas_gflops });
        }
        Ok(Self { entries })
    }
}

/// Formats the table so that it can be parsed.
impl fmt::Display for TileTable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "# tiles of batched products; measured")?;
        writeln!(out, "# type order rows columns deep stages down across gflops cublas")?;
        for TunedTile { letter, order, tile, gflops, cublas_gflops } in &self.entries {
            writeln!(out, "{letter} {order} {tile} {gflops:.1} {cublas_gflops:.1}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOPPER: TileLimits = TileLimits { shared_bytes: 227 << 10, has_units: true };

    #[test]
    fn shipped_table_is_complete_and_valid() {
        let table: TileTable = SHIPPED.parse().expect("the table of this crate");
        assert!(table.entries.iter().all(|entry| is_valid(entry, HOPPER)), "{table}");
        assert!(LETTERS.into_iter().all(|letter| table.nearest(letter, 32).is_some()), "{table}");
        assert_eq!(table.to_string().parse::<TileTable>().as_ref(), Ok(&table));
    }

    #[test]
    fn malformed_lines_are_refused() {
        for text in [
            "d 64 64 64 16 3 2 2 1.0",
            "d 64 64 64 16 3 2 2 1.0 NaN",
            "x 64 64 64 16 3 2 2 1.0 1.0",
            "d 0 64 64 16 3 2 2 1.0 1.0",
            "d 64 64 64 16 3 2 1.0 1.0",
            "d 64 64 64 16 3 2 -2 1.0 1.0",
            "d",
        ] {
            let error = format!("# fine\n{text}").parse::<TileTable>().expect_err(text);
            assert!(error.contains("line 2:"), "{error}");
        }
    }

    /// A table of another GPU, and a GPU for which nothing was measured.
    #[test]
    fn tables_are_completed_for_every_gpu() {
        let foreign: TileTable = "d 64 64 64 32 16 2 2 1.0 0.0\nz 64 64 64 8 3 2 2 1.0 0.0".parse().expect("two lines");
        for limits in [HOPPER, TileLimits { shared_bytes: 48 << 10, has_units: false }] {
            let table = foreign.clone().completed(limits);
            assert!(table.entries.iter().all(|entry| is_valid(entry, limits)), "{table}");
            assert!(LETTERS.into_iter().all(|letter| table.nearest(letter, 32).is_some()), "{table}");
            assert_eq!(table.nearest('d', 64).map(|entry| entry.order), Some(64), "{table}");
        }
    }

    #[test]
    fn entries_replace_those_of_their_order() {
        let mut table: TileTable =
            "d 64 64 64 16 3 2 2 1.0 0.0\nd 32 64 64 16 3 2 2 1.0 0.0".parse().expect("two lines");
        table.replace(TunedTile { gflops: 5.0, ..table.entries[0] });
        let rates: Vec<_> = table.entries.iter().map(|entry| (entry.order, entry.gflops)).collect();
        assert_eq!(rates, [(32, 1.0), (64, 5.0)]);
    }
}
