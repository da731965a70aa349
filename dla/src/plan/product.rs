//! Products, and what is built like them: whole ones, those with a square matrix on one side, and triangles.

use super::{Machine, Plan, Tiles, machine::TASK_NS};

/// What edges of tiles are multiples of: cache lines of all types, and rows of register tiles.
pub(crate) const STEP: usize = 16;
/// Rows of a register tile with AVX-512, of doubles; two of these are one of singles.
const ROWS: usize = 24;
/// Columns, or rows, of a block of the kernel. What meets a longer tile is packed once for each.
const BLOCK: usize = 2048;
/// Depth of a tile that has others behind it: packed it fits into a second-level cache.
const DEPTH: usize = 512;
/// The shortest edge of a tile of full depth, of one of a triangle, and of one beside a square matrix: below, the rate of
/// kernels drops.
const EDGE: usize = 64;
const TRIANGLE_EDGE: usize = 96;
const SIDED_EDGE: usize = 160;
/// The time of the longest strip of a triangle, in those of the mean.
const LONGEST: f64 = 1.06;
/// Columns that a strip of a triangle has at least.
const STRIP: usize = 32;
/// The longest edge of a tile of a triangle, and its depth: the kernel takes so many columns together, and halves more.
const TRIANGLE: (usize, usize) = (432, 384);

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
        // Other workers take over some of a late tile's steps.
        let late = machine.late() * (self.steps + 1.0) / 2.0;
        let wake = if self.tiles > 1.0 { machine.wake_ns() } else { 0.0 };
        wake + (work + TASK_NS) * (rounds.max(self.chain) + late)
    }
}

/// The plan that takes least of those that were offered.
pub(super) struct Best {
    pub(super) ns: f64,
    pub(super) plan: Plan,
}

impl Best {
    fn new() -> Self {
        Self { ns: f64::INFINITY, plan: Plan::AtOnce }
    }

    fn offer(&mut self, tasks: &Tasks, machine: &Machine, plan: Plan) {
        let ns = tasks.estimate(machine);
        if ns < self.ns {
            *self = Self { ns, plan };
        }
    }
}

/// The length of equal parts, a multiple of `step` unless there is but one, and how many they are.
pub(super) fn cut(len: usize, parts: usize, step: usize) -> (usize, usize) {
    let part = len.div_ceil(parts.max(1)).max(1);
    let part = part.checked_next_multiple_of(step).unwrap_or(part).min(len.max(1));
    (part, len.div_ceil(part))
}

/// The same for tiles of which there are many: of whole register tiles where that makes little difference.
fn cut_into_many(len: usize, parts: usize) -> (usize, usize) {
    let is_long = len.div_ceil(parts.max(1)) >= 8 * ROWS;
    cut(len, parts, if is_long { ROWS } else { STEP })
}

/// Grids in rows and columns whose tiles are near to squares: the nearest of at most so many tiles, and two of exactly
/// so many. No edge is shorter than `least`.
fn grids((m, n): (usize, usize), tiles: usize, least: usize) -> [(usize, usize); 3] {
    let ideal = ((tiles as f64 * m as f64 / n as f64).sqrt() as usize).clamp(1, tiles);
    let below = (1..=ideal).rev().find(|&rows| tiles.is_multiple_of(rows)).unwrap_or(1);
    let above = (ideal + 1..=tiles).find(|&rows| tiles.is_multiple_of(rows)).unwrap_or(tiles);
    [ideal, below, above].map(|rows| (rows.min((m / least).max(1)), (tiles / rows).min((n / least).max(1))))
}

/// m x k by k x n: a tile or two for each worker, of full depth or not, or tiles of a fixed edge.
pub(super) fn whole([m, n, k]: [usize; 3], machine: &Machine) -> Best {
    let mut best = Best::new();
    let mut offer = |(mb, rows): (usize, usize), (nb, cols): (usize, usize), (kb, steps): (usize, usize)| {
        let (rows, cols, steps) = (rows as f64, cols as f64, steps as f64);
        let each = [m as f64 / rows, n as f64 / cols, k as f64 / steps];
        let tasks = Tasks { each, tiles: rows * cols, steps, chain: steps };
        let is_one = rows * cols * steps == 1.0;
        best.offer(&tasks, machine, if is_one { Plan::AtOnce } else { Plan::Tiles(Tiles { mb, nb, kb }) });
    };
    for each in [1, 2] {
        for grid in grids((m, n), each * machine.workers, EDGE) {
            let (rows, cols) = (cut(m, grid.0, STEP), cut(n, grid.1, STEP));
            offer(rows, cols, (k, 1));
            offer(rows, cols, cut_into_many(k, k.div_ceil(DEPTH)));
        }
    }
    let edge_of = |edge: usize| [m, n, k].map(|len| cut_into_many(len, len.div_ceil(edge)));
    let [rows, cols, _] = edge_of(BLOCK);
    offer(rows, cols, (k, 1));
    let [rows, cols, depths] = edge_of(DEPTH);
    offer(rows, cols, depths);
    best
}

/// A matrix with `order` rows that are multiplied with a triangle or a symmetric matrix, or solved for: strips of all
/// rows, or tiles as high as those of the square matrix.
pub(super) fn sided((order, sides): (usize, usize), machine: &Machine) -> Best {
    let mut best = Best::new();
    // A strip takes all of the square matrix, which must be worth packing for it.
    let is_wide = |&(_, cols): &(usize, usize)| sides / cols >= EDGE.max(order / 4);
    let strips = [1, 2].map(|each| (1, each * machine.workers)).into_iter().filter(is_wide);
    let tiles = [2, 4].into_iter().flat_map(|each| grids((order, sides), each * machine.workers, SIDED_EDGE));
    let blocks = [(1, sides.div_ceil(BLOCK)), (order.div_ceil(DEPTH), sides.div_ceil(DEPTH))];
    for (rows, cols) in strips.chain(tiles).chain(blocks) {
        let strip = if rows == 1 { cut(sides, cols, STEP) } else { cut_into_many(sides, cols) };
        let ((mb, rows), (nb, cols)) = (cut_into_many(order, rows), strip);
        let (rows, cols) = (rows as f64, cols as f64);
        let (height, width) = (order as f64 / rows, sides as f64 / cols);
        // A triangle is half of a square: a strip has half the depth, a tile half the steps and a bit for the diagonal.
        let (depth, steps, chain) =
            if rows > 1.0 { (height, (rows + 0.5) / 2.0, rows) } else { (height / 2.0, 1.0, 1.0) };
        let tasks = Tasks { each: [height, width, depth], tiles: rows * cols, steps, chain };
        let is_one = rows * cols == 1.0;
        best.offer(&tasks, machine, if is_one { Plan::AtOnce } else { Plan::Tiles(Tiles { mb, nb, kb: mb }) });
    }
    best
}

/// A triangle of n x k by k x n: strips of equal work and full depth, or square tiles.
pub(super) fn triangle((n, k): (usize, usize), machine: &Machine) -> Best {
    let (order, depth, workers, mut best) = (n as f64, k as f64, machine.workers, Best::new());
    for strips in [workers, n.div_ceil(BLOCK).checked_next_multiple_of(workers).unwrap_or(workers)] {
        let strips = strips.min((n / STRIP).max(1));
        // The first has all rows, and half the columns of the mean.
        let each = [order, order / (2 * strips) as f64, depth];
        let tasks = Tasks { each, tiles: strips as f64, steps: 1.0, chain: if strips > 1 { LONGEST } else { 1.0 } };
        best.offer(&tasks, machine, if strips == 1 { Plan::AtOnce } else { Plan::Strips(strips) });
    }
    let (longest, deepest) = TRIANGLE;
    let wanted = [2, 4, 6, 8].map(|each| ((2 * each * workers) as f64).sqrt().ceil() as usize);
    for parts in wanted.map(|parts| parts.min(n.div_ceil(TRIANGLE_EDGE)).max(n.div_ceil(longest))) {
        let (edge, _) = cut(n, parts, 2 * ROWS);
        let (kb, steps) = cut(k, k.div_ceil(edge.clamp(2 * TRIANGLE_EDGE, deepest)), 2 * ROWS);
        // One on the diagonal is half a tile, and a bit.
        let (parts, steps) = (order / edge as f64, steps as f64);
        let tiles = parts * (parts + 0.25) / 2.0;
        let tasks = Tasks { each: [edge as f64, edge as f64, depth / steps], tiles, steps, chain: steps };
        best.offer(&tasks, machine, Plan::Tiles(Tiles { mb: edge, nb: edge, kb }));
    }
    best
}
