//! Order of the tile updates of a product, and areas of C for devices that cannot hold all of C.
//!
//! A product runs through the depth step by step, and each step updates every tile of C. If C does not fit into the
//! devices' memory, each step would copy all of C in and out: 2 m n (k / kb) elements. So C is cut into areas that fit,
//! and each area is finished before the next one starts. Then C moves once, and op(A) and op(B) once per area that
//! needs them; square areas need the least.
//!
//! If everything fits, each element moves once in any order. The order then determines how much data must arrive before
//! the devices have enough work to hide the remaining transfers. If the host does most of the work, reuse of packed
//! tiles matters more, so the depth is the outer loop.

use crate::{
    codelets::{self, cost_of_product},
    tiled::{Partition, Tiled},
};
use std::ops::Range;
use superscalar_kernels::{Scalar, Side};
use superscalar_runtime::{Cost, Resource, Scope, TaskSpec};

/// Tiles of C that are updated together, step by step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) rows: Range<usize>,
    pub(super) cols: Range<usize>,
    /// Tasks of earlier areas are more urgent. Priorities of successive areas differ by two, to leave room for urgent
    /// tasks.
    priority: i32,
}

impl Area {
    /// Returns the indices (i, j) of its tiles, in column-major order.
    fn tile_indices(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let Self { rows, cols, .. } = self.clone();
        cols.flat_map(move |j| rows.clone().map(move |i| (i, j)))
    }

    /// Returns a task of this area; see [`codelets::task`].
    pub(super) fn task(&self, name: &'static str, i: usize, j: usize, k: usize) -> TaskSpec {
        codelets::task(name, i, j, k).priority(self.priority)
    }

    /// Returns a task that is more urgent than the area's other tasks.
    pub(super) fn urgent_task(&self, name: &'static str, i: usize, j: usize, k: usize) -> TaskSpec {
        codelets::task(name, i, j, k).priority(self.priority + 1)
    }
}

/// The update of tile (i, j) of C by step k of the depth.
#[derive(Clone, Copy)]
pub(super) struct TileUpdate {
    pub(super) i: usize,
    pub(super) j: usize,
    pub(super) k: usize,
    priority: i32,
}

impl TileUpdate {
    /// Returns a task of this update.
    pub(super) fn task(&self, name: &'static str) -> TaskSpec {
        codelets::task(name, self.i, self.j, self.k).priority(self.priority)
    }
}

/// Returns the tile updates of a product into C, area by area. Within an area, the depth is the outer loop, or the
/// order is that of [`RecursiveHalving`] if everything fits into the devices' memory and they do most of the work.
pub(super) fn tile_updates<'s, T: Scalar, V>(
    s: &Scope<'s, '_>,
    c: &Tiled<'s, V>,
    depth: Partition,
) -> impl Iterator<Item = TileUpdate> + use<T, V> {
    let (mb, nb) = c.tile_shape();
    let is_roomy =
        has_room_for_all::<T, V>(s, c, depth) && are_faster_than_host(s, cost_of_product::<T>(mb, nb, depth.block()));
    square_areas::<T, V>(s, c).into_iter().flat_map(move |area| {
        let (tiles, kt) = (area.tile_indices().collect::<Vec<_>>(), depth.count());
        let halves = is_roomy.then(|| RecursiveHalving::new([area.rows, area.cols, 0..kt], [mb, nb, depth.block()]));
        let depths = if is_roomy { 0..0 } else { 0..kt };
        let slices = depths.flat_map(move |k| tiles.clone().into_iter().map(move |(i, j)| [i, j, k]));
        let step = move |[i, j, k]: [usize; 3]| TileUpdate { i, j, k, priority: area.priority };
        halves.into_iter().flatten().chain(slices).map(step)
    })
}

/// The updates (i, j, k) of a product, in an order in which every initial part needs few tiles of op(A), op(B) and C
/// for its work: the block of all updates is halved along its longest edge, and each half recursively. (With the depth
/// as outer loop, each update needs another tile of C, whose transfer may take as long as the update.) The updates of
/// each tile of C are in increasing order of k.
struct RecursiveHalving {
    /// Edges of an update, in elements.
    edges: [usize; 3],
    /// Stack of remaining blocks; the last one is next.
    left: Vec<[Range<usize>; 3]>,
}

impl RecursiveHalving {
    fn new(block: [Range<usize>; 3], edges: [usize; 3]) -> Self {
        let is_empty = block.iter().any(Range::is_empty);
        Self { edges, left: if is_empty { Vec::new() } else { vec![block] } }
    }

    /// Returns the longest edge along which a block can be halved. Ties go to rows and columns before the depth, so
    /// that parts of C are finished early.
    fn longest(&self, block: &[Range<usize>; 3]) -> Option<usize> {
        (0..3).rev().filter(|&at| block[at].len() > 1).max_by_key(|&at| block[at].len() * self.edges[at])
    }
}

impl Iterator for RecursiveHalving {
    type Item = [usize; 3];

    fn next(&mut self) -> Option<[usize; 3]> {
        let mut first = self.left.pop()?;
        while let Some(at) = self.longest(&first) {
            let Range { start, end } = first[at].clone();
            let middle = start.midpoint(end);
            let mut second = first.clone();
            (first[at], second[at]) = (start..middle, middle..end);
            self.left.push(second);
        }
        Some(first.map(|range| range.start))
    }
}

/// Returns whether each device can hold its part of C and both factors.
fn has_room_for_all<'s, T: Scalar, V>(s: &Scope<'s, '_>, c: &Tiled<'s, V>, depth: Partition) -> bool {
    let nesting = s.nesting();
    if !nesting.has_devices() {
        return false;
    }
    let devices = nesting.devices();
    let memories = devices.iter().map(|device| device.memory.as_ref().map(|memory| memory.bytes));
    let Some(least) = memories.collect::<Option<Vec<usize>>>().and_then(|all| all.into_iter().min()) else {
        return false;
    };
    let ((m, n), k) = (c.shape(), depth.len());
    let elements = m as f64 * n as f64 / devices.len() as f64 + (m as f64 + n as f64) * k as f64;
    elements * size_of::<T>() as f64 <= least as f64
}

/// Returns whether the devices together are faster than the host's workers at products of this cost.
fn are_faster_than_host(s: &Scope<'_, '_>, cost: Cost) -> bool {
    let nesting = s.nesting();
    let rate = |on| nesting.capability_weight(on, "gemm", cost).rate;
    let devices: f64 = (0..nesting.devices().len()).map(|device| rate(Resource::device(device as u16))).sum();
    devices >= nesting.workers() as f64 * rate(Resource::HOST)
}

/// Part of the devices' memory that an area may occupy. The rest is for tiles of the factors and of the next area.
const C_MEMORY_SHARE: f64 = 0.5;

/// Returns nearly square areas of C.
fn square_areas<'s, T: Scalar, V>(s: &Scope<'s, '_>, c: &Tiled<'s, V>) -> Vec<Area> {
    let ((mt, nt), (mb, nb)) = ((c.mt(), c.nt()), c.tile_shape());
    let Some(tiles) = tiles_at_once::<T, V>(s, c) else { return vec![whole(c)] };
    let rows = ((tiles as f64 * nb as f64 / mb as f64).sqrt() as usize).clamp(1, mt.min(tiles));
    cut((mt, rows), (nt, tiles / rows))
}

/// Returns the areas of B for a product or solve from one side: whole block columns (left) or whole block rows (right).
pub(super) fn side_areas<'s, T: Scalar, V>(s: &Scope<'s, '_>, b: &Tiled<'s, V>, side: Side) -> Vec<Area> {
    let (mt, nt) = (b.mt(), b.nt());
    let Some(tiles) = tiles_at_once::<T, V>(s, b) else { return vec![whole(b)] };
    match side {
        Side::Left => cut((mt, mt), (nt, tiles / mt)),
        Side::Right => cut((mt, tiles / nt), (nt, nt)),
    }
}

/// Returns the area of all of C.
fn whole<V>(c: &Tiled<'_, V>) -> Area {
    Area { rows: 0..c.mt(), cols: 0..c.nt(), priority: 0 }
}

/// Returns how many of C's tiles fit into the devices' memory at once; `None` if all do, or if the devices use host
/// memory.
fn tiles_at_once<'s, T: Scalar, V>(s: &Scope<'s, '_>, c: &Tiled<'s, V>) -> Option<usize> {
    let nesting = s.nesting();
    if !nesting.has_devices() {
        return None;
    }
    let memories = nesting.devices().into_iter().map(|device| device.memory.map(|memory| memory.bytes));
    let room = memories.sum::<Option<usize>>()?;
    let ((m, n), (mb, nb)) = (c.shape(), c.tile_shape());
    let (all, tile) = (m.saturating_mul(n), mb.min(m).saturating_mul(nb.min(n)).max(1));
    let elements = (C_MEMORY_SHARE * room as f64 / size_of::<T>() as f64) as usize;
    (all > elements).then_some((elements / tile).max(1))
}

/// Cuts `mt` rows and `nt` columns of tiles evenly into areas of at most `rows` x `cols` tiles.
fn cut((mt, rows): (usize, usize), (nt, cols): (usize, usize)) -> Vec<Area> {
    let evenly = |len: usize, most: usize| {
        let step = len.div_ceil(len.div_ceil(most.max(1)).max(1)).max(1);
        (0..len).step_by(step).map(move |start| start..len.min(start + step))
    };
    let ranges = evenly(nt, cols).flat_map(|cols| evenly(mt, rows).map(move |rows| (rows, cols.clone())));
    ranges.enumerate().map(|(rank, (rows, cols))| Area { rows, cols, priority: -2 * rank as i32 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_partition_the_matrix() {
        assert_eq!(cut((5, 5), (3, 9)), [Area { rows: 0..5, cols: 0..3, priority: 0 }]);
        for (mt, rows, nt, cols) in [(7, 3, 5, 2), (1, 1, 9, 4), (4, 9, 4, 1), (6, 4, 1, 0)] {
            let areas = cut((mt, rows), (nt, cols));
            let mut tiles: Vec<_> = areas.iter().flat_map(Area::tile_indices).collect();
            tiles.sort_unstable();
            let all: Vec<_> = (0..mt).flat_map(|i| (0..nt).map(move |j| (i, j))).collect();
            assert_eq!(tiles, all, "{mt} x {nt} by {rows} x {cols}");
            assert!(areas.iter().all(|area| area.rows.len() <= rows && area.cols.len() <= cols.max(1)));
            assert!(areas.iter().enumerate().all(|(rank, area)| area.priority == -2 * rank as i32));
        }
        assert!(cut((0, 1), (3, 1)).is_empty());
    }

    /// Returns the number of tiles of op(A), op(B) and C that these updates need.
    fn needed(steps: &[[usize; 3]]) -> usize {
        let tiles = steps.iter().flat_map(|&[i, j, k]| [(0, i, k), (1, k, j), (2, i, j)]);
        tiles.collect::<std::collections::HashSet<_>>().len()
    }

    #[test]
    fn halving_visits_updates_in_order() {
        for (counts, edges) in
            [([4, 16, 4], [4, 1, 4]), ([3, 5, 7], [2, 3, 1]), ([1, 1, 9], [1, 1, 1]), ([0, 3, 3], [1; 3])]
        {
            let [m, n, depth] = counts;
            let mut done = vec![0; m * n];
            for [i, j, k] in RecursiveHalving::new(counts.map(|count| 0..count), edges) {
                assert_eq!(done[i * n + j], k, "steps of tile ({i}, {j})");
                done[i * n + j] += 1;
            }
            assert!(done.iter().all(|&steps| steps == depth));
        }
    }

    #[test]
    fn initial_updates_need_few_tiles() {
        let steps: Vec<_> = RecursiveHalving::new([0..8, 0..8, 0..8], [1; 3]).collect();
        for edge in [1, 2, 4, 8] {
            assert_eq!(needed(&steps[..edge * edge * edge]), 3 * edge * edge);
        }
    }
}
