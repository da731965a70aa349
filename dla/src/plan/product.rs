//! Products and similar operations: general products, products with a square matrix on one side, and triangles.
//!
//! The first candidate has measurements behind it or is the rule used before the model. Another candidate must be
//! clearly better by the model.

use super::{Machine, Plan, Tiles, machine::TASK_NS};

/// Edges of tiles of full depth are multiples of this: a cache line of any type, and rows of register tiles.
pub(crate) const EDGE_MULTIPLE: usize = 16;
/// Rows of a register tile of doubles with AVX-512.
const REGISTER_TILE_ROWS: usize = 24;
/// Rows or columns of a block of the kernel. The other operand is packed once per block.
const KERNEL_BLOCK: usize = 2048;
/// Products of up to this many multiplications are cut into tiles of full depth for any number of workers. Measured:
/// docs/measurements/2026-11-28-constants.md.
const FULL_DEPTH_MULTIPLICATIONS_MAX: usize = 1 << 33;
/// Smallest edge of a tile of full depth: the kernels' rate drops below it.
const FULL_DEPTH_EDGE_MIN: usize = 64;
/// Smallest edge that may be halved further if there are many tiles, and the largest edge: a packed tile of this size
/// fits into a second-level cache.
const EDGE_LIMITS: (usize, usize) = (96, 512);
/// Smallest edge of a tile beside a square matrix.
const SIDED_EDGE_MIN: usize = 112;
/// Smallest edge of a tile of a triangle.
const TRIANGLE_EDGE_MIN: usize = 96;
/// Largest edge of a tile of a triangle.
const TRIANGLE_EDGE_MAX: usize = 432;
/// Largest depth of a task of a triangle: the kernel processes this many columns together.
const TRIANGLE_DEPTH_MAX: usize = 384;
/// Time of the longest strip of a triangle relative to the mean.
const LONGEST_STRIP_RATIO: f64 = 1.06;
/// Minimum width of a strip of a triangle.
const STRIP_COLUMNS_MIN: usize = 32;
/// Each worker gets one strip per this many columns of a triangle.
const COLUMNS_PER_STRIP_ROUND: usize = 4096;
/// Ratio of depth to width from which more than two workers compute a triangle in strips: deep products have few tiles
/// with long chains of tasks. Flatter triangles are faster in tiles. Measured:
/// docs/measurements/2026-11-28-constants.md.
const DEEP_RATIO: usize = 8;
/// A candidate replaces the first one only if its estimate is less than this part of the first one's. Estimates are
/// accurate to about 0.15.
const REPLACEMENT_RATIO: f64 = 0.8;

/// A set of equal tasks.
struct Tasks {
    /// Rows, columns and depth of the product that each task computes.
    each: [f64; 3],
    /// Number of tiles of the result.
    tiles: f64,
    /// Number of consecutive tasks per tile.
    steps: f64,
    /// Number of tasks in the longest chain.
    chain: f64,
}

impl Tasks {
    /// Returns the estimated time until the last task finishes, in nanoseconds.
    fn estimate(&self, machine: &Machine) -> f64 {
        let ([m, n, k], workers) = (self.each, machine.workers as f64);
        let blocks = |len: f64| (len / KERNEL_BLOCK as f64).max(1.0);
        let moved = m * k * blocks(n) + k * n * blocks(m) + 2.0 * m * n;
        // A factor that meets a whole kernel block is packed by each worker for itself; shorter tiles share packed
        // factors.
        let shared = |len: f64| (1.0 - len / KERNEL_BLOCK as f64).max(0.0);
        let fetched = m * k * shared(n) + k * n * shared(m);
        let work = m * n * k * machine.multiply_ns + moved * machine.move_ns() + fetched * machine.fetch_ns();
        let each = self.tiles * self.steps / workers;
        // With several steps per tile, a worker always finds a ready task.
        let rounds = if self.steps > 1.0 { each.max(1.0) } else { each.ceil() };
        // Other workers take over some steps of a delayed tile. A single tile waits for nothing.
        let late = machine.delay(self.tiles) * (self.steps + 1.0) / 2.0;
        let (wake, late) = if self.tiles > 1.0 { (machine.wake_ns(), late) } else { (0.0, 0.0) };
        wake + (work + TASK_NS) * (rounds.max(self.chain) + late)
    }
}

/// The best plan so far: the first candidate, unless another is clearly better.
pub(super) struct Best {
    pub(super) ns: f64,
    pub(super) plan: Plan,
    /// Another plan must take less than this part of `ns`.
    margin: f64,
}

impl Best {
    fn new() -> Self {
        Self { ns: f64::INFINITY, plan: Plan::Serial, margin: REPLACEMENT_RATIO }
    }

    fn consider(&mut self, tasks: &Tasks, machine: &Machine, plan: Plan) {
        let (ns, is_first, is_one) = (tasks.estimate(machine), self.ns.is_infinite(), tasks.tiles <= 1.0);
        // A problem that is not small runs without tasks only if that is the first candidate.
        if ns < self.margin * self.ns && (is_first || !is_one) {
            let plan = if is_one { Plan::Serial } else { plan };
            *self = Self { ns, plan, margin: if is_first { REPLACEMENT_RATIO } else { 1.0 } };
        }
    }
}

/// Returns the length of equal parts, rounded up to a multiple of `step` unless there is only one part.
fn cut(len: usize, parts: usize, step: usize) -> usize {
    let part = len.div_ceil(parts.max(1)).max(1);
    part.checked_next_multiple_of(step).unwrap_or(part).min(len.max(1))
}

/// Returns the rows and columns of a grid of `tiles` tiles that minimizes packing; fewer tiles if edges would be
/// shorter than `least`.
fn grid((m, n): (usize, usize), tiles: usize, least: usize) -> (usize, usize) {
    let [most_rows, most_cols] = [m, n].map(|len| (len / least).max(1));
    let grids = (1..=tiles.min(most_rows)).map(|rows| (rows, (tiles / rows).min(most_cols)));
    let packed = |rows: usize, cols: usize| rows.saturating_mul(n).saturating_add(cols.saturating_mul(m));
    grids.min_by_key(|&(rows, cols)| (tiles - rows * cols, packed(rows, cols))).unwrap_or((1, 1))
}

/// Returns tile sizes for factors that are packed once and shared: the largest for which each resource has at least two
/// tiles and all have equally many, or eight per resource. Edges are halved only down to `least`.
pub(super) fn many_tiles([m, n, k]: [usize; 3], resources: usize, (least, most): (usize, usize)) -> Tiles {
    let cut = |len: usize, parts: usize| {
        let is_long = len.div_ceil(parts.max(1)) >= 2 * least;
        cut(len, parts, if is_long { REGISTER_TILE_ROWS } else { 1 })
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

/// Plans a product of m x k by k x n: one or two tiles of full depth per worker, tiles as large as kernel blocks, or
/// many tiles.
pub(super) fn general([m, n, k]: [usize; 3], machine: &Machine) -> Best {
    let workers = machine.workers;
    let full = |(rows, cols)| Tiles { mb: cut(m, rows, EDGE_MULTIPLE), nb: cut(n, cols, EDGE_MULTIPLE), kb: k };
    let each = |each: usize| full(grid((m, n), each * workers, FULL_DEPTH_EDGE_MIN));
    let (rows, cols) = (m.div_ceil(KERNEL_BLOCK), n.div_ceil(KERNEL_BLOCK));
    let for_all = |parts: usize, len: usize| {
        let most = (len / FULL_DEPTH_EDGE_MIN).max(1);
        parts.checked_next_multiple_of(workers).map_or(parts, |all| if all <= most { all } else { parts })
    };
    let blocks = full(if m > n { (for_all(rows, m), cols) } else { (rows, for_all(cols, n)) });
    let many = many_tiles([m, n, k], workers, EDGE_LIMITS);
    let is_large = m.saturating_mul(n).saturating_mul(k) > FULL_DEPTH_MULTIPLICATIONS_MAX;
    let first = match (machine.has_few_workers(), is_large) {
        (true, true) => blocks,
        (true, false) => each(1),
        (false, true) => many,
        (false, false) => each(2),
    };
    let mut best = Best::new();
    for Tiles { mb, nb, kb } in [first, each(1), each(2), blocks, many] {
        let [rows, cols, steps] = [(m, mb), (n, nb), (k, kb)].map(|(len, part)| len.div_ceil(part) as f64);
        // A single tile is computed as one task.
        let steps = if rows * cols > 1.0 { steps } else { 1.0 };
        let each = [m as f64 / rows, n as f64 / cols, k as f64 / steps];
        let tasks = Tasks { each, tiles: rows * cols, steps, chain: steps };
        best.consider(&tasks, machine, Plan::Tiles(Tiles { mb, nb, kb }));
    }
    best
}

/// Plans a product of a square (triangular or symmetric) matrix with a matrix of `order` rows, or a triangular solve:
/// strips with all rows, or tiles of the same height as those of the square matrix.
pub(super) fn sided((order, sides): (usize, usize), machine: &Machine) -> Best {
    let (workers, has_few_workers) = (machine.workers, machine.has_few_workers());
    let is_large = order.saturating_mul(order).saturating_mul(sides) > FULL_DEPTH_MULTIPLICATIONS_MAX;
    let strips = |count: usize| (order, cut(sides, count, EDGE_MULTIPLE));
    let each = if has_few_workers && !is_large { 1 } else { 2 };
    let long = if is_large { sides.div_ceil(KERNEL_BLOCK).checked_next_multiple_of(workers) } else { None };
    let wide = strips(long.map_or(each * workers, |long| long.max(each * workers)));
    // Each strip packs the whole square matrix, so it must be wide enough.
    let is_wide = (has_few_workers || !is_large) && wide.1 >= FULL_DEPTH_EDGE_MIN.max(order / 4);
    let Tiles { mb, nb, .. } = many_tiles([order, sides, order], workers, EDGE_LIMITS);
    // A single tile is cut into two strips.
    let many = if (mb, nb) == (order, sides) { strips(2) } else { (mb, nb) };
    let mut best = Best::new();
    let finer = grid((order, sides), 2 * workers, SIDED_EDGE_MIN);
    let finer = (cut(order, finer.0, EDGE_MULTIPLE), cut(sides, finer.1, EDGE_MULTIPLE));
    for (mb, nb) in [if is_wide { wide } else { many }, many, finer, strips(workers)] {
        let (rows, cols) = (order.div_ceil(mb) as f64, sides.div_ceil(nb) as f64);
        let (height, width) = (order as f64 / rows, sides as f64 / cols);
        // The triangle is half of a square: a strip has half the depth; a tile has half the steps, plus part of the
        // diagonal tile.
        let (depth, steps, chain) =
            if rows > 1.0 { (height, (rows + 0.5) / 2.0, rows) } else { (height / 2.0, 1.0, 1.0) };
        let tasks = Tasks { each: [height, width, depth], tiles: rows * cols, steps, chain };
        best.consider(&tasks, machine, Plan::Tiles(Tiles { mb, nb, kb: mb }));
    }
    best
}

/// Plans one triangle of a product of n x k by k x n: strips of equal work and full depth, or square tiles.
pub(super) fn triangle((n, k): (usize, usize), machine: &Machine) -> Best {
    let (order, depth, workers, mut best) = (n as f64, k as f64, machine.workers, Best::new());
    let consider_strips = |best: &mut Best| {
        let count = n.div_ceil(COLUMNS_PER_STRIP_ROUND).saturating_mul(workers).min(n.div_ceil(STRIP_COLUMNS_MIN));
        // The first strip has all rows, and half the mean number of columns.
        let each = [order, order / (2 * count) as f64, depth];
        let tasks =
            Tasks { each, tiles: count as f64, steps: 1.0, chain: if count > 1 { LONGEST_STRIP_RATIO } else { 1.0 } };
        best.consider(&tasks, machine, Plan::Strips(count));
    };
    if machine.has_few_workers() {
        consider_strips(&mut best);
    }
    let are_too_few = |parts: usize| {
        let (tiles, edge) = (parts.saturating_mul(parts + 1) / 2, n.div_ceil(parts));
        (tiles < 6 * workers && edge >= 2 * TRIANGLE_EDGE_MIN) || (tiles < 2 * workers && edge > TRIANGLE_EDGE_MIN)
    };
    let mut parts = n.div_ceil(TRIANGLE_EDGE_MAX).max(1);
    while are_too_few(parts) {
        parts += 1;
    }
    let edge = cut(n, parts, 2 * REGISTER_TILE_ROWS);
    let kb = cut(k, k.div_ceil(edge.clamp(2 * TRIANGLE_EDGE_MIN, TRIANGLE_DEPTH_MAX)), 2 * REGISTER_TILE_ROWS);
    for (edge, kb) in [(edge, kb), (FULL_DEPTH_EDGE_MIN.min(n), k)] {
        // A tile on the diagonal costs a little more than half a tile.
        let (parts, is_one) = (order / edge as f64, edge == n);
        let (tiles, steps) = if is_one { (1.0, 1.0) } else { (parts * (parts + 0.25) / 2.0, k.div_ceil(kb) as f64) };
        let tasks = Tasks { each: [edge as f64, edge as f64, depth / steps], tiles, steps, chain: steps };
        best.consider(&tasks, machine, Plan::Tiles(Tiles { mb: edge, nb: edge, kb }));
    }
    if !machine.has_few_workers() && k / DEEP_RATIO >= n {
        consider_strips(&mut best);
    }
    best
}
