//! [`ProductTile`]: the parameters of a batched product by tiles, and the space of the valid ones.
//!
//! The space is pruned as by Dong et al., "MAGMA Batched: A Batched BLAS Approach for Small Matrix Factorizations and
//! Applications on GPUs" (2016), §5.1: parameters that the hardware or the kernel cannot have are discarded
//! ([`TileConstraint`]); the others are ranked by what is likely to be fast, and only the best are measured.

use crate::Scalar;
use std::{fmt, str::FromStr};

/// The parameters of a kernel that computes one tile of C by one block of threads: `tiled` in `text/batch_gemm.cu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProductTile {
    /// Rows of the tile of C.
    pub rows: usize,
    /// Columns of the tile of C.
    pub columns: usize,
    /// Columns of op(A) and rows of op(B) that are in shared memory as one stage.
    pub deep: usize,
    /// Stages in shared memory: one is used while the others are fetched.
    pub stages: usize,
    /// Warps down the tile.
    pub down: usize,
    /// Warps across the tile.
    pub across: usize,
}

/// Why a device cannot run a kernel with some parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TileConstraint {
    /// A number is zero or above 1024, or there are fewer than two stages.
    Range,
    /// More threads than a block can have.
    Threads,
    /// The part of a warp is not a multiple of what its registers or the matrix units compute at once.
    WarpPart,
    /// The threads of a block do not have equal parts of a stage to fetch.
    Fetch,
    /// The depth of a stage is not a multiple of what a warp loads at once.
    Depth,
    /// The stages exceed the shared memory of a block.
    SharedMemory,
    /// The sums and factors of a thread exceed its registers, or those of a block exceed the processor's.
    Registers,
}

/// Formats the constraint's name.
impl fmt::Display for TileConstraint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Range => "range of the numbers",
            Self::Threads => "threads of a block",
            Self::WarpPart => "part of a warp",
            Self::Fetch => "equal fetches",
            Self::Depth => "depth of a stage",
            Self::SharedMemory => "shared memory",
            Self::Registers => "registers",
        })
    }
}

/// What kernels can use of a processor of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileLimits {
    /// Shared memory of one block, in bytes, if it asks for the most.
    pub shared_bytes: usize,
    /// Whether there are matrix units for doubles: compute capability 8.0.
    pub has_units: bool,
}

const WARP: usize = 32;
const BLOCK_THREADS_MAX: usize = 1024;
/// Registers of a thread, and of a processor.
const THREAD_REGISTERS_MAX: usize = 255;
const REGISTERS: usize = 65536;
/// Registers of a thread for addresses and counters. An estimate.
const OTHER_REGISTERS: usize = 40;
/// More blocks on a processor than this do not hide more latency, and leave each thread fewer registers.
const RESIDENT_MAX: usize = 8;
/// Warps on a processor that hide the latency of memory. An estimate, as are the ranks.
const WARPS_ENOUGH: f64 = 16.0;
/// The reuse of a loaded element at which loading takes as long as multiplying: by a warp from shared memory, and by a
/// block from global memory. Estimates.
const WARP_REUSE: f64 = 8.0;
const BLOCK_REUSE: f64 = 8.0;
/// Candidates that differ in their stages only.
const ALIKE_MAX: usize = 3;
/// The fewest warps on a processor of a candidate.
const WARPS_MIN: usize = 8;
/// The least share of the tiles' elements that are elements of C.
const USED_MIN: f64 = 0.25;

impl ProductTile {
    /// Checks that the kernel can exist for elements of this type, on a device with these limits.
    ///
    /// # Errors
    /// The first constraint that is violated.
    ///
    /// ```
    /// use superscalar::kernels::cuda::tuning::{ProductTile, TileConstraint, TileLimits};
    ///
    /// let limits = TileLimits { shared_bytes: 48 << 10, has_units: true };
    /// let tile = ProductTile { rows: 64, columns: 64, deep: 16, stages: 2, down: 2, across: 2 };
    /// assert_eq!(tile.check::<f64>(limits), Ok(()));
    /// assert_eq!(ProductTile { stages: 9, ..tile }.check::<f64>(limits), Err(TileConstraint::SharedMemory));
    /// ```
    pub fn check<T: Scalar>(&self, limits: TileLimits) -> Result<(), TileConstraint> {
        let &Self { rows, columns, deep, stages, down, across } = self;
        let meets = |is_met: bool, constraint| if is_met { Ok(()) } else { Err(constraint) };
        // Sizes beyond these limits are not meant, and would overflow what follows.
        let is_small = [rows, columns, deep, stages, down, across].iter().all(|&number| (1..=1024).contains(&number));
        meets(is_small && stages >= 2, TileConstraint::Range)?;
        meets(self.threads() <= BLOCK_THREADS_MAX, TileConstraint::Threads)?;
        let units = limits.has_units && is_double::<T>();
        // Matrix units compute 16 x 8 sums. Without them a lane has every eighth row and every fourth column, and as
        // many adjacent ones as a pack has, or fewer.
        let lanes = |part: usize, lanes: usize| part.is_multiple_of(lanes) && is_packed::<T>(part / lanes);
        let (part_rows, part_columns) = (rows / down, columns / across);
        let fits = match units {
            true => part_rows.is_multiple_of(16) && part_columns.is_multiple_of(8),
            false => lanes(part_rows, 8) && lanes(part_columns, 4),
        };
        let is_divided = rows.is_multiple_of(down) && columns.is_multiple_of(across);
        meets(is_divided && part_rows > 0 && part_columns > 0 && fits, TileConstraint::WarpPart)?;
        let step = if units { 4 * unit_parts::<T>() } else { pack::<T>() };
        meets(deep.is_multiple_of(step), TileConstraint::Depth)?;
        let shapes = [(rows, deep), (deep, rows), (columns, deep), (deep, columns)];
        let are_equal = |each| shapes.iter().all(|&shape| has_equal_fetches(shape, each, self.threads()));
        meets(are_equal(1) && are_equal(pack::<T>()), TileConstraint::Fetch)?;
        meets(self.shared_bytes_max::<T>() <= limits.shared_bytes, TileConstraint::SharedMemory)?;
        let registers = self.registers::<T>();
        let are_enough = registers <= THREAD_REGISTERS_MAX && registers * self.threads() <= REGISTERS;
        meets(are_enough, TileConstraint::Registers)
    }

    /// Returns the threads of a block.
    #[must_use]
    pub fn threads(&self) -> usize {
        WARP.saturating_mul(self.down).saturating_mul(self.across)
    }

    /// Returns the bytes of shared memory of all stages, whose factors are transposed or not.
    #[must_use]
    pub fn shared_bytes<T: Scalar>(&self, [is_a_trans, is_b_trans]: [bool; 2]) -> usize {
        let a = factor_elements::<T>(self.rows, self.deep, is_a_trans);
        let b = factor_elements::<T>(self.columns, self.deep, !is_b_trans);
        (a + b) * self.stages * size_of::<T>()
    }

    fn shared_bytes_max<T: Scalar>(&self) -> usize {
        let each = [false, true].into_iter().flat_map(|a| [[a, false], [a, true]]);
        each.map(|are_trans| self.shared_bytes::<T>(are_trans)).max().unwrap_or_default()
    }

    /// Estimates the 32-bit registers of a thread: those of its sums, and of the factors that are loaded at once.
    fn registers<T: Scalar>(&self) -> usize {
        let (rows, columns) = (self.rows / self.down, self.columns / self.across);
        let words = size_of::<T>() / 4;
        let loaded = match is_double::<T>() {
            true => (rows + columns) / 8 * unit_parts::<T>(),
            false => (rows / 8 + columns / 4) * pack::<T>(),
        };
        (rows * columns / WARP + loaded) * words + OTHER_REGISTERS
    }

    /// Returns the blocks that one processor shall run at once. The compiler gives threads as many registers as that
    /// allows.
    #[must_use]
    pub fn resident<T: Scalar>(&self) -> usize {
        (REGISTERS / (self.registers::<T>() * self.threads()).max(1)).clamp(1, RESIDENT_MAX)
    }

    /// Returns the rank of a valid tile for products of an order, or None if it is not worth measuring: if few warps
    /// are at work, or much of the tiles is outside of C. A larger rank is better.
    fn rank<T: Scalar>(&self, limits: TileLimits, order: usize) -> Option<f64> {
        let &Self { rows, columns, down, across, .. } = self;
        let by_memory = limits.shared_bytes / self.shared_bytes_max::<T>().max(1);
        let warps = self.resident::<T>().min(by_memory) * self.threads() / WARP;
        let covered = order.next_multiple_of(rows) as f64 * order.next_multiple_of(columns) as f64;
        let used = (order * order) as f64 / covered;
        let is_worth = warps >= WARPS_MIN && used >= USED_MIN;
        // Products for each element that a warp loads from shared memory, and a block from memory.
        let intensity = |rows: usize, columns: usize| (rows * columns) as f64 / (rows + columns) as f64;
        let (of_warp, of_block) = (intensity(rows / down, columns / across), intensity(rows, columns));
        let reuse = of_warp / (of_warp + WARP_REUSE) * of_block / (of_block + BLOCK_REUSE);
        is_worth.then(|| used * (warps as f64 / WARPS_ENOUGH).min(1.0).sqrt() * reuse)
    }

    /// Returns the tiles that are worth measuring for products of an order: at most `most`, the likely best first.
    ///
    /// ```
    /// use superscalar::kernels::cuda::tuning::{ProductTile, TileLimits};
    ///
    /// let limits = TileLimits { shared_bytes: 227 << 10, has_units: true };
    /// let tiles = ProductTile::candidates::<f64>(limits, 64, 10);
    /// assert_eq!(tiles.len(), 10);
    /// assert!(tiles.iter().all(|tile| tile.check::<f64>(limits).is_ok()));
    /// ```
    #[must_use]
    pub fn candidates<T: Scalar>(limits: TileLimits, order: usize, most: usize) -> Vec<Self> {
        let ranked = Self::space().filter(|tile| tile.check::<T>(limits).is_ok());
        let ranked = ranked.filter_map(|tile| Some((tile.rank::<T>(limits, order)?, tile)));
        let mut ranked: Vec<(f64, Self)> = ranked.collect();
        ranked.sort_by(|(a, tile), (b, other)| b.total_cmp(a).then(tile.cmp(other)));
        let mut chosen: Vec<Self> = Vec::new();
        for (_, tile) in ranked {
            let alike =
                chosen.iter().filter(|chosen| Self { deep: tile.deep, stages: tile.stages, ..**chosen } == tile);
            if chosen.len() < most && alike.count() < ALIKE_MAX {
                chosen.push(tile);
            }
        }
        chosen
    }

    /// Iterates over all parameters, valid or not.
    fn space() -> impl Iterator<Item = Self> {
        const SIZES: [usize; 7] = [16, 24, 32, 48, 64, 96, 128];
        const CHOICES: [&[usize]; 6] = [&SIZES, &SIZES, &[8, 16, 32], &[2, 3, 4], &[1, 2, 4], &[1, 2, 4]];
        // The digits of a number whose bases are the numbers of choices.
        (0..CHOICES.iter().map(|choice| choice.len()).product()).map(|mut number: usize| {
            let [rows, columns, deep, stages, down, across] = CHOICES.map(|choice| {
                let digit = number % choice.len();
                number /= choice.len();
                choice[digit]
            });
            Self { rows, columns, deep, stages, down, across }
        })
    }
}

/// Formats the six numbers, in the order of the fields.
impl fmt::Display for ProductTile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, columns, deep, stages, down, across } = self;
        write!(out, "{rows} {columns} {deep} {stages} {down} {across}")
    }
}

/// Parses six numbers, in the order of the fields.
impl FromStr for ProductTile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_whitespace().map(|word| word.parse().map_err(|_| format!("{word} is not a number")));
        match numbers.collect::<Result<Vec<usize>, String>>()?[..] {
            [rows, columns, deep, stages, down, across] => Ok(Self { rows, columns, deep, stages, down, across }),
            _ => Err("a tile has six numbers: rows, columns, depth, stages, warps down and across".into()),
        }
    }
}

/// Returns the elements of a 16-byte access.
pub(super) fn pack<T>() -> usize {
    16 / size_of::<T>()
}

/// Returns the elements of a factor's tile in shared memory, `factor_tile` in `text/batch_gemm.cu`.
fn factor_elements<T: Scalar>(out: usize, deep: usize, is_deep_fast: bool) -> usize {
    let (fast, slow) = if is_deep_fast { (deep, out) } else { (out, deep) };
    let padding = match T::LETTER {
        'd' => 4,
        'z' if is_deep_fast => 4,
        'z' => 2,
        _ => pack::<T>(),
    };
    ((fast + padding) * slow).next_multiple_of(pack::<T>())
}

/// Returns whether a lane's rows or columns are whole packs, or less than one that is a power of two.
fn is_packed<T: Scalar>(count: usize) -> bool {
    count.is_multiple_of(pack::<T>()) || (count < pack::<T>() && count.is_power_of_two())
}

/// Returns whether all threads copy the same number of elements of a part of shared memory, `each` at a time:
/// `fetch_tile` in `text/batch_gemm.cu`.
fn has_equal_fetches((fast, slow): (usize, usize), each: usize, threads: usize) -> bool {
    let across = fast / each;
    fast.is_multiple_of(each) && threads.is_multiple_of(across) && slow.is_multiple_of(threads / across)
}

/// Returns the groups of four products that a warp loads at once, `UNIT_PARTS` in `text/batch_gemm.cu`.
fn unit_parts<T: Scalar>() -> usize {
    if T::COMPLEX { 2 } else { 4 }
}

fn is_double<T: Scalar>() -> bool {
    size_of::<T::Real>() == size_of::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{c32, c64};

    const HOPPER: TileLimits = TileLimits { shared_bytes: 227 << 10, has_units: true };
    const TURING: TileLimits = TileLimits { shared_bytes: 64 << 10, has_units: false };
    const TILE: ProductTile = ProductTile { rows: 64, columns: 64, deep: 16, stages: 3, down: 2, across: 2 };

    #[test]
    fn each_constraint_discards() {
        for (tile, constraint) in [
            (ProductTile { rows: 0, ..TILE }, TileConstraint::Range),
            (ProductTile { stages: 1, ..TILE }, TileConstraint::Range),
            (ProductTile { down: 8, across: 8, ..TILE }, TileConstraint::Threads),
            (ProductTile { rows: 48, down: 4, ..TILE }, TileConstraint::WarpPart),
            (ProductTile { deep: 8, ..TILE }, TileConstraint::Depth),
            (ProductTile { rows: 48, down: 1, ..TILE }, TileConstraint::Fetch),
            (ProductTile { deep: 32, stages: 16, ..TILE }, TileConstraint::SharedMemory),
            (ProductTile { rows: 128, columns: 128, ..TILE }, TileConstraint::Registers),
        ] {
            assert_eq!(tile.check::<f64>(HOPPER), Err(constraint), "{tile}");
        }
        assert_eq!(TILE.check::<f64>(HOPPER), Ok(()));
    }

    /// Also with numbers that overflow products of them.
    #[test]
    fn any_numbers_are_judged() {
        for number in [usize::MAX, 1 << 40, 4096] {
            for at in 0..6 {
                let mut numbers = [64, 64, 16, 3, 2, 2];
                numbers[at] = number;
                let tile: ProductTile = numbers.map(|number: usize| number.to_string()).join(" ").parse().expect("six");
                assert!(tile.check::<c64>(HOPPER).is_err(), "{tile}");
            }
        }
        assert!("1 2 3 4 5".parse::<ProductTile>().is_err() && "1 2 3 4 5 x".parse::<ProductTile>().is_err());
    }

    #[test]
    fn candidates_are_valid_and_few() {
        fn check<T: Scalar>() {
            for limits in [HOPPER, TURING] {
                for order in [17, 32, 48, 100, 512] {
                    let tiles = ProductTile::candidates::<T>(limits, order, 12);
                    assert!((4..=12).contains(&tiles.len()), "{} of order {order}: {}", T::LETTER, tiles.len());
                    assert!(tiles.iter().all(|tile| tile.check::<T>(limits).is_ok()));
                    let ranks: Vec<_> = tiles.iter().map(|tile| tile.rank::<T>(limits, order)).collect();
                    assert!(ranks.is_sorted_by(|a, b| a >= b), "{ranks:?}");
                }
            }
        }
        check::<f32>();
        check::<f64>();
        check::<c32>();
        check::<c64>();
        let all = ProductTile::space().count();
        let valid = ProductTile::space().filter(|tile| tile.check::<f64>(HOPPER).is_ok()).count();
        assert!(valid > 50 && valid * 4 < all, "{valid} of {all}");
    }
}
