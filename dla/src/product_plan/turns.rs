//! Products that the devices cannot hold at once. C is cut into areas, which are computed one after the other, and in
//! each area k is cut into slabs. A device holds its part of an area, and the factors of two slabs.
//!
//! "Uncut-GEMMs" (section III-C) cuts m, n and k into equal cubes. With areas, each tile of C is fetched and returned
//! once, and the factors cross the links as rarely as the memory allows.

use super::{
    Homes, PlannedProduct, ProductSums,
    fabric::HOST,
    grid::{Cut, DeviceGrid},
};
use std::ops::Range;

/// The most products that a device gets in a slab: planning takes a time that grows with their square.
pub(super) const PRODUCTS_MAX: usize = 256;
/// The most products that it gets in all.
const ALL_PRODUCTS_MAX: usize = 1 << 12;
/// The most of a device's room that its part of an area takes.
const AREA_SHARE: f64 = 0.5;
/// Edges of a device's part of an area, and steps, are at least so long if there is room. Steps may also be this part
/// of an edge.
const SHORT_EDGE: usize = 512;
const SHORT_STEP: usize = 128;
const SHORT_PART: usize = 8;

/// The turns in which a product is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turns {
    /// The areas along the rows and along the columns of C.
    pub(super) areas: [usize; 2],
    /// The steps of a slab.
    pub(super) slab: usize,
    /// The most products of a device in a slab.
    pub(super) products: usize,
    /// Whether there may be sums apart from C.
    pub(super) has_sums: bool,
}

/// What a device holds in a turn.
struct TurnShare {
    /// Its tiles of C.
    tiles: usize,
    /// Their bytes.
    of_c: f64,
    /// Those of sums apart from them.
    of_sums: f64,
    /// The bytes of the factors of one step.
    of_step: f64,
}

impl TurnShare {
    fn of(product: &PlannedProduct, cuts: &[Cut; 3], grid: DeviceGrid, areas: [usize; 2]) -> Self {
        let part = |at: usize, devices: usize| {
            let tiles = cuts[at].count().div_ceil(areas[at]).div_ceil(devices);
            (tiles, tiles.saturating_mul(cuts[at].part).min(cuts[at].len) as f64)
        };
        let ((rows, m), (columns, n)) = (part(0, grid.rows), part(1, grid.columns));
        let ([of_a, of_b, of_c, of_sum], k) = (product.bytes_of_elements(), cuts[2].part.min(cuts[2].len) as f64);
        Self {
            tiles: rows.saturating_mul(columns),
            of_c: m * n * of_c,
            of_sums: m * n * of_sum,
            of_step: (m * of_a + n * of_b) * k,
        }
    }
}

impl Turns {
    /// Returns the fewest turns with these tiles; `None` if the devices cannot hold a single step of a small area, or
    /// if there are too many products. Matrices on devices are not taken in turns.
    pub(super) fn of(product: &PlannedProduct, grid: DeviceGrid, tile: [usize; 3]) -> Option<Self> {
        let cuts = product.cuts(tile);
        let (steps, all) = (cuts[2].count(), TurnShare::of(product, &cuts, grid, [1, 1]));
        if all.tiles.saturating_mul(steps) > ALL_PRODUCTS_MAX {
            return None;
        }
        let with = |share: &TurnShare, areas: [usize; 2], slab: usize, has_sums: bool| {
            let slab = slab.min(PRODUCTS_MAX / share.tiles.max(1));
            (slab > 0).then_some(Self { areas, slab, products: share.tiles * slab, has_sums })
        };
        let needs_sums = product.needs_sums(&cuts);
        let may_have_sums = product.sums == ProductSums::IfLate && product.features.late_result;
        let of_area = |share: &TurnShare| if needs_sums { share.of_c + share.of_sums } else { share.of_c };
        let (room, factors) = (product.room_bytes as f64, all.of_step * steps as f64);
        if of_area(&all) + factors <= room || product.homes.iter().any(|homes| *homes != Homes::One(HOST)) {
            let have_room = all.of_c + all.of_sums + factors <= room;
            return with(&all, [1, 1], steps, needs_sums || may_have_sums && have_room);
        }
        let with_areas = |areas: [usize; 2]| {
            let share = TurnShare::of(product, &cuts, grid, areas);
            let slab = steps.min(((room - of_area(&share)) / (2.0 * share.of_step)) as usize);
            (of_area(&share) <= AREA_SHARE * room).then(|| with(&share, areas, slab, needs_sums)).flatten()
        };
        let [rows, columns, _] = cuts.map(Cut::count);
        // About all devices have tiles in each area.
        let across: Vec<usize> = (1..=columns.div_ceil(grid.columns)).collect();
        // With more areas along the columns, a device holds less.
        let fewest = |down: usize| {
            let at = across.partition_point(|&across| with_areas([down, across]).is_none());
            with_areas([down, *across.get(at)?])
        };
        let key = |turns: &Self| (turns.areas[0] * turns.areas[1], turns.fetched(product));
        let best = (1..=rows.div_ceil(grid.rows)).filter_map(fewest);
        best.min_by(|a, b| key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1)))
    }

    /// Returns the edges of a device's block in a turn, if all turns were equal: about the largest tile.
    pub(super) fn block(product: &PlannedProduct, grid: DeviceGrid) -> [usize; 3] {
        let [m, n, k] = product.shape;
        let (m, n) = (m.div_ceil(grid.rows).max(1), n.div_ceil(grid.columns).max(1));
        let [of_a, of_b, of_c, of_sum] = product.bytes_of_elements();
        let of_area = if product.sums == ProductSums::Always { of_c + of_sum } else { of_c };
        let area = |m: usize, n: usize| m as f64 * n as f64 * of_area;
        let step = |m: usize, n: usize| m as f64 * of_a + n as f64 * of_b;
        let room = product.room_bytes as f64;
        if area(m, n) + step(m, n) * k as f64 <= room || product.homes.iter().any(|homes| *homes != Homes::One(HOST)) {
            return [m, n, k];
        }
        // Both edges are cut into as many parts, unless one of them would become short.
        let ratio = (area(m, n) / (AREA_SHARE * room)).max(1.0);
        let (even, most) = (ratio.sqrt().ceil(), |len: usize| (len / SHORT_EDGE).max(1) as f64);
        let (of_m, of_n) = match (most(m) < even, most(n) < even) {
            (true, false) => (most(m), (ratio / most(m)).ceil()),
            (false, true) => ((ratio / most(n)).ceil(), most(n)),
            _ => (even, even),
        };
        let [mut m, mut n] = [(m, of_m), (n, of_n)].map(|(len, parts)| len.div_ceil(parts as usize));
        let steps = |m: usize, n: usize| ((1.0 - AREA_SHARE) * room / (2.0 * step(m, n))) as usize;
        // Short steps of long tiles would copy short columns, and compute little at a time.
        while steps(m, n) < k.min(SHORT_STEP).min(m.max(n) / SHORT_PART) && m.max(n) > 1 {
            if m > n { m = m.div_ceil(2) } else { n = n.div_ceil(2) }
        }
        [m, n, k.min(steps(m, n)).max(1)]
    }

    /// Returns in how many turns each element of A and of B is fetched from the host.
    pub(super) fn fetches(&self) -> [f64; 2] {
        [self.areas[1] as f64, self.areas[0] as f64]
    }

    fn fetched(&self, product: &PlannedProduct) -> f64 {
        let ([m, n, _], [of_a, of_b]) = (product.shape, self.fetches());
        m as f64 * of_a + n as f64 * of_b
    }

    /// Returns the rows and the columns of tiles of each area, about equally many.
    pub(super) fn areas(&self, cuts: &[Cut; 3]) -> impl Iterator<Item = [Range<usize>; 2]> + use<> {
        let ([of_rows, of_columns], [rows, columns, _]) = (self.areas, cuts.map(Cut::count));
        let part = |at: usize, of: usize, all: usize| at * all / of..(at + 1) * all / of;
        (0..of_columns)
            .flat_map(move |j| (0..of_rows).map(move |i| [part(i, of_rows, rows), part(j, of_columns, columns)]))
    }
}
