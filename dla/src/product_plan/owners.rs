//! Which device updates which tile of C.

use super::{
    PlannedProduct,
    grid::{Cut, DeviceGrid, TARGETS_MAX},
};

/// If C's tiles are dealt to all devices, and none has more than this many times its part, they stay where they are.
const UNEVEN_MAX: f64 = 1.25;

/// The device of each tile of C.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Owners {
    rows: usize,
    columns: usize,
    /// Column by column.
    of: Vec<usize>,
    /// The grid whose blocks they are; `None` if C's tiles stay where they are.
    pub(super) grid: Option<DeviceGrid>,
}

impl Owners {
    /// Returns the homes of C's tiles if they are dealt evenly, and otherwise the blocks of the grid.
    pub(super) fn new(product: &PlannedProduct, cuts: &[Cut; 3], grid: DeviceGrid) -> Self {
        let [rows, columns, _] = cuts.map(Cut::count);
        let tiles = || (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j)));
        let homes = tiles().map(|tile| product.homes[2].of(tile, rows).checked_sub(1));
        let dealt = homes.collect::<Option<Vec<usize>>>().map(|of| Self { rows, columns, of, grid: None });
        dealt.filter(|owners| owners.are_even(product.flops_per_s.len())).unwrap_or_else(|| {
            let block = |at: usize, count: usize, parts: usize| ((at + 1) * parts - 1) / count;
            let device =
                |(i, j): (usize, usize)| block(j, columns, grid.columns) * grid.rows + block(i, rows, grid.rows);
            Self { rows, columns, of: tiles().map(device).collect(), grid: Some(grid) }
        })
    }

    /// Returns whether each device has about as many tiles as the others, and routes reach all of a row or a column.
    fn are_even(&self, devices: usize) -> bool {
        let count = |device: usize| self.of.iter().filter(|&&of| of == device).count();
        let most = (0..devices).map(count).max().unwrap_or(0);
        most as f64 <= UNEVEN_MAX * self.of.len().div_ceil(devices) as f64
            && (0..self.rows).all(|i| self.of_row(i).len() <= TARGETS_MAX)
            && (0..self.columns).all(|j| self.of_column(j).len() <= TARGETS_MAX)
    }

    /// Returns the tiles of a device, row by row.
    pub(super) fn tiles_of(&self, device: usize) -> impl Iterator<Item = (usize, usize)> {
        let tiles = (0..self.rows).flat_map(|i| (0..self.columns).map(move |j| (i, j)));
        tiles.filter(move |(i, j)| self.of[i + j * self.rows] == device)
    }

    /// Returns the devices that have tiles in a row of tiles.
    pub(super) fn of_row(&self, i: usize) -> Vec<usize> {
        distinct((0..self.columns).map(|j| self.of[i + j * self.rows]).collect())
    }

    /// Returns the devices that have tiles in a column of tiles.
    pub(super) fn of_column(&self, j: usize) -> Vec<usize> {
        distinct(self.of[j * self.rows..(j + 1) * self.rows].to_vec())
    }
}

/// Returns each number once, in increasing order.
pub(super) fn distinct(mut numbers: Vec<usize>) -> Vec<usize> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
