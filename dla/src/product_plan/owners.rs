//! Which device updates which tile of C.

use super::{
    PlannedProduct,
    grid::{Cut, DeviceGrid, TARGETS_MAX},
};
use std::ops::Range;

/// C's tiles count as dealt evenly if no device has more than this many times its equal part.
pub(crate) const UNEVEN_MAX: f64 = 1.25;

/// The device of each tile of an area of C.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Owners {
    rows: Range<usize>,
    columns: Range<usize>,
    /// Column by column.
    of: Vec<usize>,
    /// The grid whose blocks they are; `None` if C's tiles stay where they are.
    pub(super) grid: Option<DeviceGrid>,
}

impl Owners {
    /// Returns the homes of C's tiles if they are dealt evenly, and otherwise the blocks of the grid.
    pub(super) fn new(
        product: &PlannedProduct,
        cuts: &[Cut; 3],
        grid: DeviceGrid,
        [rows, columns]: [Range<usize>; 2],
    ) -> Self {
        let all = Self { rows: rows.clone(), columns: columns.clone(), of: Vec::new(), grid: None };
        let home = |tile| product.homes[2].of(tile, cuts[0].count()).checked_sub(1);
        let tiles = || columns.clone().flat_map(|j| rows.clone().map(move |i| (i, j)));
        let dealt = tiles().map(home).collect::<Option<Vec<usize>>>().map(|of| Self { of, ..all.clone() });
        dealt.filter(|owners| owners.are_even(product.flops_per_s.len())).unwrap_or_else(|| {
            let block = |at: usize, of: &Range<usize>, parts: usize| ((at - of.start + 1) * parts - 1) / of.len();
            let device =
                |(i, j): (usize, usize)| block(j, &columns, grid.columns) * grid.rows + block(i, &rows, grid.rows);
            Self { of: tiles().map(device).collect(), grid: Some(grid), ..all }
        })
    }

    /// Returns whether each device has about as many tiles as the others, and whether one route can reach all devices
    /// of a row or of a column.
    fn are_even(&self, devices: usize) -> bool {
        let count = |device: usize| self.of.iter().filter(|&&of| of == device).count();
        let most = (0..devices).map(count).max().unwrap_or(0);
        most as f64 <= UNEVEN_MAX * self.of.len().div_ceil(devices) as f64
            && self.rows.clone().all(|i| self.of_row(i).len() <= TARGETS_MAX)
            && self.columns.clone().all(|j| self.of_column(j).len() <= TARGETS_MAX)
    }

    fn index(&self, i: usize, j: usize) -> usize {
        i - self.rows.start + (j - self.columns.start) * self.rows.len()
    }

    /// Returns the tiles of a device, row by row.
    pub(super) fn tiles_of(&self, device: usize) -> impl Iterator<Item = (usize, usize)> {
        let tiles = self.rows.clone().flat_map(|i| self.columns.clone().map(move |j| (i, j)));
        tiles.filter(move |&(i, j)| self.of[self.index(i, j)] == device)
    }

    /// Returns the devices that have tiles in a row of tiles.
    pub(super) fn of_row(&self, i: usize) -> Vec<usize> {
        distinct(self.columns.clone().map(|j| self.of[self.index(i, j)]).collect())
    }

    /// Returns the devices that have tiles in a column of tiles.
    pub(super) fn of_column(&self, j: usize) -> Vec<usize> {
        let first = self.index(self.rows.start, j);
        distinct(self.of[first..first + self.rows.len()].to_vec())
    }
}

/// Returns each number once, in increasing order.
pub(super) fn distinct(mut numbers: Vec<usize>) -> Vec<usize> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
