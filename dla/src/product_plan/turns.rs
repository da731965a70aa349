//! Products that the devices cannot hold at once. C is cut into regions, which are computed one after the other, and in
//! each region k is cut into windows. A device holds its part of a region, and the factors of two windows.
//!
//! "Uncut-GEMMs" (section III-C) cuts m, n and k into equal cubes. With regions, each tile of C is fetched and returned
//! once, and the factors cross the links as rarely as the memory allows.

use super::{
    Homes, PlannedProduct,
    fabric::HOST,
    grid::{Cut, DeviceGrid},
};
use std::ops::Range;

/// The most products that a device gets in a window: planning takes a time that grows with their square.
pub(super) const PRODUCTS_MAX: usize = 256;
/// The most products that it gets in all.
const ALL_PRODUCTS_MAX: usize = 1 << 12;
/// The most of a device's room that its part of a region takes.
const REGION_SHARE: f64 = 0.5;

/// The turns in which a product is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turns {
    /// The regions along the rows and along the columns of C.
    pub(super) regions: [usize; 2],
    /// The steps of a window.
    pub(super) window: usize,
    /// The most products of a device in a window.
    pub(super) products: usize,
    /// Whether there is room for sums apart from C.
    pub(super) has_sums: bool,
}

/// What a device holds in a turn.
struct TurnShare {
    /// Its tiles of C.
    tiles: usize,
    /// Their bytes.
    of_c: f64,
    /// The bytes of the factors of one step.
    of_step: f64,
}

impl TurnShare {
    fn of(product: &PlannedProduct, cuts: &[Cut; 3], grid: DeviceGrid, regions: [usize; 2]) -> Self {
        let part = |at: usize, devices: usize| {
            let tiles = cuts[at].count().div_ceil(regions[at]).div_ceil(devices);
            (tiles, tiles.saturating_mul(cuts[at].part).min(cuts[at].len) as f64)
        };
        let ((rows, m), (columns, n)) = (part(0, grid.rows), part(1, grid.columns));
        let (bytes, k) = (product.element_bytes as f64, cuts[2].part.min(cuts[2].len) as f64);
        Self { tiles: rows.saturating_mul(columns), of_c: m * n * bytes, of_step: (m + n) * k * bytes }
    }
}

impl Turns {
    /// Returns the fewest turns with these tiles; `None` if the devices cannot hold a single step of a small region, or
    /// if there are too many products. Matrices on devices are not taken in turns.
    pub(super) fn of(product: &PlannedProduct, grid: DeviceGrid, tile: [usize; 3]) -> Option<Self> {
        let cuts = product.cuts(tile);
        let (steps, all) = (cuts[2].count(), TurnShare::of(product, &cuts, grid, [1, 1]));
        if all.tiles.saturating_mul(steps) > ALL_PRODUCTS_MAX {
            return None;
        }
        let with = |share: &TurnShare, regions: [usize; 2], window: usize, has_sums: bool| {
            let window = window.min(PRODUCTS_MAX / share.tiles.max(1));
            (window > 0).then_some(Self { regions, window, products: share.tiles * window, has_sums })
        };
        let has_sums = product.may_have_sums && product.features.late_result;
        let (room, factors) = (product.room_bytes as f64, all.of_step * steps as f64);
        if all.of_c + factors <= room || product.homes.iter().any(|homes| *homes != Homes::One(HOST)) {
            return with(&all, [1, 1], steps, has_sums && 2.0 * all.of_c + factors <= room);
        }
        let with_regions = |regions: [usize; 2]| {
            let share = TurnShare::of(product, &cuts, grid, regions);
            let window = steps.min(((room - share.of_c) / (2.0 * share.of_step)) as usize);
            (share.of_c <= REGION_SHARE * room).then(|| with(&share, regions, window, false)).flatten()
        };
        let [rows, columns, _] = cuts.map(Cut::count);
        let across: Vec<usize> = (1..=columns).collect();
        // With more regions along the columns, a device holds less.
        let fewest = |down: usize| {
            let at = across.partition_point(|&across| with_regions([down, across]).is_none());
            with_regions([down, *across.get(at)?])
        };
        let key = |turns: &Self| (turns.regions[0] * turns.regions[1], turns.fetched(product));
        let best = (1..=rows).filter_map(fewest);
        best.min_by(|a, b| key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1)))
    }

    /// Returns the edges of a device's block in a turn, if all turns were equal: about the largest tile.
    pub(super) fn block(product: &PlannedProduct, grid: DeviceGrid) -> [usize; 3] {
        let [m, n, k] = product.shape;
        let (m, n) = (m.div_ceil(grid.rows).max(1), n.div_ceil(grid.columns).max(1));
        let bytes = |rows: usize, columns: usize| rows as f64 * columns as f64 * product.element_bytes as f64;
        let room = product.room_bytes as f64;
        if bytes(m, n) + bytes(m + n, k) <= room || product.homes.iter().any(|homes| *homes != Homes::One(HOST)) {
            return [m, n, k];
        }
        let parts = (bytes(m, n) / (REGION_SHARE * room)).max(1.0).sqrt().ceil() as usize;
        let (m, n) = (m.div_ceil(parts), n.div_ceil(parts));
        let window = (1.0 - REGION_SHARE) * room / (2.0 * bytes(m + n, 1));
        [m, n, k.min(window as usize).max(1)]
    }

    /// Returns in how many turns each element of A and of B is fetched from the host.
    pub(super) fn fetches(&self) -> [f64; 2] {
        [self.regions[1] as f64, self.regions[0] as f64]
    }

    fn fetched(&self, product: &PlannedProduct) -> f64 {
        let ([m, n, _], [of_a, of_b]) = (product.shape, self.fetches());
        m as f64 * of_a + n as f64 * of_b
    }

    /// Returns the rows and the columns of tiles of each region.
    pub(super) fn regions(&self, cuts: &[Cut; 3]) -> impl Iterator<Item = [Range<usize>; 2]> + use<> {
        let ([of_rows, of_columns], [rows, columns, _]) = (self.regions, cuts.map(Cut::count));
        let (height, width) = (rows.div_ceil(of_rows).max(1), columns.div_ceil(of_columns).max(1));
        let part = |from: usize, len: usize, all: usize| from..all.min(from + len);
        (0..columns)
            .step_by(width)
            .flat_map(move |j| (0..rows).step_by(height).map(move |i| [part(i, height, rows), part(j, width, columns)]))
    }
}
