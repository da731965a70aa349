//! Products, and what is built like them: whole ones, those with a square matrix on one side, and triangles.
//!
//! The cut that is offered first was measured, or is what stood here before the model. Another one has to be clearly
//! better by the model.

use super::{Machine, Plan, Tiles, machine::TASK_NS};

/// What edges of tiles of full depth are multiples of: cache lines of all types, and rows of register tiles.
pub(crate) const STEP: usize = 16;
/// Rows of a register tile with AVX-512, of doubles; two of these are one of singles.
const ROWS: usize = 24;
/// Columns, or rows, of a block of the kernel. What meets a longer tile is packed once for each.
const BLOCK: usize = 2048;
/// Multiplications up to which tiles of full depth are taken for any number of workers. Beyond, 16 had 0.85 of the rate
/// with two of these each (2026-11-25), and two workers 1.03.
const FULL: usize = 1 << 33;
/// The shortest edge of a tile of full depth: below, the rate of kernels drops.
const EDGE: usize = 64;
/// The shortest edge of one of many tiles that is still cut into halves, and the longest. Packed, the longest fits into
/// a second-level cache.
const EDGES: (usize, usize) = (96, 512);
/// The shortest edge of a tile beside a square matrix.
const SIDED_EDGE: usize = 112;
/// The shortest edge of a tile of a triangle.
const TRIANGLE_EDGE: usize = 96;
/// The longest edge of a tile of a triangle, and its depth: the kernel takes so many columns together, and halves more.
const TRIANGLE: (usize, usize) = (432, 384);
/// The time of the longest strip of a triangle, in those of the mean.
const LONGEST: f64 = 1.06;
/// Columns that a strip of a triangle has at least, and those of a triangle for which a worker has another strip.
const STRIP: (usize, usize) = (32, 4096);
/// How many times as deep as wide a product is whose triangle more than two workers may have in strips. Strips of flat
/// ones had 0.3 to 0.9 of the rate of tiles on 8 and 16; but deep ones have few tiles, with long chains of tasks.
const DEEP: usize = 8;
/// The part of the time of the first cut that another one may take at most to be chosen in its place. Estimates are off
/// by up to 0.15 from what was measured.
const CLEAR: f64 = 0.8;

/// Tasks that are alike.
struct Tasks {
    /// Rows, columns and depth of the product that one of them is.
    each: [f64; 3],
    /// Tiles of the result.
    tiles: f64,
    /// Tasks for each tile, one after the other.
    steps: f64,
    /// Tasks in the longest chain of those that wait for each other.
    chain: f64,
}

impl Tasks {
    /// Nanoseconds until the last one is done.
    fn estimate(&self, machine: &Machine) -> f64 {
        let ([m, n, k], workers) = (self.each, machine.workers as f64);
        let blocks = |len: f64| (len / BLOCK as f64).max(1.0);
        let moved = m * k * blocks(n) + k * n * blocks(m) + 2.0 * m * n;
        // Of a factor that meets a whole block a worker packs its own; shorter tiles share what is packed.
        let shared = |len: f64| (1.0 - len / BLOCK as f64).max(0.0);
        let fetched = m * k * shared(n) + k * n * shared(m);
        let work = m * n * k * machine.multiply_ns + moved * machine.move_ns() + fetched * machine.fetch_ns();
        let each = self.tiles * self.steps / workers;
        // With steps of several tiles at hand a worker always finds one that is ready.
        let rounds = if self.steps > 1.0 { each.max(1.0) } else { each.ceil() };
        // Other workers take over some of a late tile's steps. Who does a tile alone waits for nobody.
        let late = machine.late(self.tiles) * (self.steps + 1.0) / 2.0;
        let (wake, late) = if self.tiles > 1.0 { (machine.wake_ns(), late) } else { (0.0, 0.0) };
        wake + (work + TASK_NS) * (rounds.max(self.chain) + late)
    }
}

/// The best of the plans that were offered: the first one, which has measurements, unless another takes clearly less.
pub(super) struct Best {
    pub(super) ns: f64,
    pub(super) plan: Plan,
    /// The part of `ns` that another plan has to take less than.
    margin: f64,
}

impl Best {
    fn new() -> Self {
        Self { ns: f64::INFINITY, plan: Plan::AtOnce, margin: CLEAR }
    }

    fn offer(&mut self, tasks: &Tasks, machine: &Machine, plan: Plan) {
        let (ns, is_first, is_one) = (tasks.estimate(machine), self.ns.is_infinite(), tasks.tiles <= 1.0);
        // What is not little is done at once only where nothing else was measured.
        if ns < self.margin * self.ns && (is_first || !is_one) {
            let plan = if is_one { Plan::AtOnce } else { plan };
            *self = Self { ns, plan, margin: if is_first { CLEAR } else { 1.0 } };
        }
    }
}

/// The length of equal parts, a multiple of `step` unless there is but one.
fn cut(len: usize, parts: usize, step: usize) -> usize {
    let part = len.div_ceil(parts.max(1)).max(1);
    part.checked_next_multiple_of(step).unwrap_or(part).min(len.max(1))
}

/// Rows and columns of a grid of so many tiles for which least is packed; fewer tiles where edges were too short.
fn grid((m, n): (usize, usize), tiles: usize, least: usize) -> (usize, usize) {
    let [most_rows, most_cols] = [m, n].map(|len| (len / least).max(1));
    let grids = (1..=tiles.min(most_rows)).map(|rows| (rows, (tiles / rows).min(most_cols)));
    let packed = |rows: usize, cols: usize| rows.saturating_mul(n).saturating_add(cols.saturating_mul(m));
    grids.min_by_key(|&(rows, cols)| (tiles - rows * cols, packed(rows, cols))).unwrap_or((1, 1))
}

/// Tiles that are packed once for all: as large as they may be while there are two or more for each of those who have
/// them, and as many for each. An edge is cut into halves while these are not shorter than `least`.
pub(super) fn many_tiles([m, n, k]: [usize; 3], resources: usize, (least, most): (usize, usize)) -> Tiles {
    let cut = |len: usize, parts: usize| {
        let is_long = len.div_ceil(parts.max(1)) >= 2 * least;
        cut(len, parts, if is_long { ROWS } else { 1 })
    };
    let are_enough =
        |tiles: usize| tiles >= 8 * resources || (tiles >= 2 * resources && tiles.is_multiple_of(resources));
    let (mut rows, mut cols) = (m.div_ceil(most), n.div_ceil(most));
    while resources > 1 && !are_enough(rows.saturating_mul(cols)) && cut(m, rows).max(cut(n, cols)) >= 2 * least {
        if cut(m, rows) >= cut(n, cols) {
            rows += 1;
        } else {
            cols += 1;
        }
    }
    Tiles { mb: cut(m, rows), nb: cut(n, cols), kb: cut(k, k.div_ceil(most)) }
}

/// m x k by k x n: a tile or two of full depth for each worker, tiles as large as the kernel's blocks, or many.
pub(super) fn whole([m, n, k]: [usize; 3], machine: &Machine) -> Best {
    let workers = machine.workers;
    let full = |(rows, cols)| Tiles { mb: cut(m, rows, STEP), nb: cut(n, cols, STEP), kb: k };
    let each = |each: usize| full(grid((m, n), each * workers, EDGE));
    let (rows, cols) = (m.div_ceil(BLOCK), n.div_ceil(BLOCK));
    let for_all = |parts: usize, len: usize| {
        let most = (len / EDGE).max(1);
        parts.checked_next_multiple_of(workers).map_or(parts, |all| if all <= most { all } else { parts })
    };
    let blocks = full(if m > n { (for_all(rows, m), cols) } else { (rows, for_all(cols, n)) });
    let many = many_tiles([m, n, k], workers, EDGES);
    let is_large = m.saturating_mul(n).saturating_mul(k) > FULL;
    let first = match (machine.are_few(), is_large) {
        (true, true) => blocks,
        (true, false) => each(1),
        (false, true) => many,
        (false, false) => each(2),
    };
    let mut best = Best::new();
    for Tiles { mb, nb, kb } in [first, each(1), each(2), blocks, many] {
        let [rows, cols, steps] = [(m, mb), (n, nb), (k, kb)].map(|(len, part)| len.div_ceil(part) as f64);
        // A chain of tasks on one tile has nobody to share it with.
        let steps = if rows * cols > 1.0 { steps } else { 1.0 };
        let each = [m as f64 / rows, n as f64 / cols, k as f64 / steps];
        let tasks = Tasks { each, tiles: rows * cols, steps, chain: steps };
        best.offer(&tasks, machine, Plan::Tiles(Tiles { mb, nb, kb }));
    }
    best
}

/// A matrix with `order` rows that are multiplied with a triangle or a symmetric matrix, or solved for: strips of all
/// rows, or tiles as high as those of the square matrix.
pub(super) fn sided((order, sides): (usize, usize), machine: &Machine) -> Best {
    let (workers, are_few) = (machine.workers, machine.are_few());
    let is_large = order.saturating_mul(order).saturating_mul(sides) > FULL;
    let strips = |count: usize| (order, cut(sides, count, STEP));
    let each = if are_few && !is_large { 1 } else { 2 };
    let long = if is_large { sides.div_ceil(BLOCK).checked_next_multiple_of(workers) } else { None };
    let wide = strips(long.map_or(each * workers, |long| long.max(each * workers)));
    // A strip takes all of the square matrix, which must be worth packing for it.
    let is_wide = (are_few || !is_large) && wide.1 >= EDGE.max(order / 4);
    let Tiles { mb, nb, .. } = many_tiles([order, sides, order], workers, EDGES);
    // Two workers are better than one.
    let many = if (mb, nb) == (order, sides) { strips(2) } else { (mb, nb) };
    let mut best = Best::new();
    let finer = grid((order, sides), 2 * workers, SIDED_EDGE);
    let finer = (cut(order, finer.0, STEP), cut(sides, finer.1, STEP));
    for (mb, nb) in [if is_wide { wide } else { many }, many, finer] {
        let (rows, cols) = (order.div_ceil(mb) as f64, sides.div_ceil(nb) as f64);
        let (height, width) = (order as f64 / rows, sides as f64 / cols);
        // A triangle is half of a square: a strip has half the depth, a tile half the steps and a bit for the diagonal.
        let (depth, steps, chain) =
            if rows > 1.0 { (height, (rows + 0.5) / 2.0, rows) } else { (height / 2.0, 1.0, 1.0) };
        let tasks = Tasks { each: [height, width, depth], tiles: rows * cols, steps, chain };
        best.offer(&tasks, machine, Plan::Tiles(Tiles { mb, nb, kb: mb }));
    }
    best
}

/// A triangle of n x k by k x n: strips of equal work and full depth, or square tiles.
pub(super) fn triangle((n, k): (usize, usize), machine: &Machine) -> Best {
    let (order, depth, workers, mut best) = (n as f64, k as f64, machine.workers, Best::new());
    let offer_strips = |best: &mut Best| {
        let count = n.div_ceil(STRIP.1).saturating_mul(workers).min(n.div_ceil(STRIP.0));
        // The first has all rows, and half the columns of the mean.
        let each = [order, order / (2 * count) as f64, depth];
        let tasks = Tasks { each, tiles: count as f64, steps: 1.0, chain: if count > 1 { LONGEST } else { 1.0 } };
        best.offer(&tasks, machine, Plan::Strips(count));
    };
    if machine.are_few() {
        offer_strips(&mut best);
    }
    let are_too_few = |parts: usize| {
        let (tiles, edge) = (parts.saturating_mul(parts + 1) / 2, n.div_ceil(parts));
        (tiles < 6 * workers && edge >= 2 * TRIANGLE_EDGE) || (tiles < 2 * workers && edge > TRIANGLE_EDGE)
    };
    let mut parts = n.div_ceil(TRIANGLE.0).max(1);
    while are_too_few(parts) {
        parts += 1;
    }
    let edge = cut(n, parts, 2 * ROWS);
    let kb = cut(k, k.div_ceil(edge.clamp(2 * TRIANGLE_EDGE, TRIANGLE.1)), 2 * ROWS);
    // One on the diagonal is half a tile, and a bit.
    let (parts, is_one) = (order / edge as f64, edge == n);
    let (tiles, steps) = if is_one { (1.0, 1.0) } else { (parts * (parts + 0.25) / 2.0, k.div_ceil(kb) as f64) };
    let tasks = Tasks { each: [edge as f64, edge as f64, depth / steps], tiles, steps, chain: steps };
    best.offer(&tasks, machine, Plan::Tiles(Tiles { mb: edge, nb: edge, kb }));
    if !machine.are_few() && k / DEEP >= n {
        offer_strips(&mut best);
    }
    best
}
