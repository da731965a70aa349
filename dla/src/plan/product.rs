//! Products, and what is built like them: whole ones, those with a square matrix on one side, and triangles.

use super::{Machine, Plan, Tiles};

/// What edges of tiles are multiples of: cache lines of all types, and rows of register tiles.
pub(crate) const STEP: usize = 16;
/// Columns, or rows, of a block of the kernel: what meets a longer tile is packed once for each.
const BLOCK: usize = 2048;
/// Depth of a tile that has others behind it: so packed it fits into a second-level cache.
const DEPTH: usize = 512;
/// Tiles for each worker, by turns.
const EACH: [usize; 5] = [1, 2, 4, 8, 16];

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
        let packed = (m * k * blocks(n) + k * n * blocks(m) + m * n) * machine.pack_ns();
        // From its second task on a worker finds packed what others have used.
        let each = (self.tiles * self.steps / workers).max(1.0);
        let fetched = (m * k + k * n) * machine.fetch_ns() * (1.0 - 1.0 / each);
        let task = m * n * k * machine.multiply_ns() + packed + fetched + machine.task_ns();
        // Who has steps of several tiles at hand has always one that is ready.
        let rounds = if self.steps > 1.0 { each } else { (self.tiles / workers).ceil() };
        let last = machine.late() * (self.steps + 1.0) / 2.0;
        task * (rounds.max(self.chain) + last)
    }
}

/// The plan that takes least, of those that were offered.
struct Best {
    ns: f64,
    plan: Plan,
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

/// The length of equal parts, a multiple of [`STEP`] unless there is but one, and how many they are.
pub(super) fn cut(len: usize, parts: usize) -> (usize, usize) {
    let part = len.div_ceil(parts.max(1)).max(1);
    let part = part.checked_next_multiple_of(STEP).unwrap_or(part).min(len.max(1));
    (part, len.div_ceil(part))
}

/// The two grids of so many tiles, in rows and columns, whose tiles are nearest to squares.
fn grids((m, n): (usize, usize), tiles: usize) -> [(usize, usize); 2] {
    let ideal = ((tiles as f64 * m as f64 / n as f64).sqrt() as usize).clamp(1, tiles);
    let below = (1..=ideal).rev().find(|&rows| tiles.is_multiple_of(rows)).unwrap_or(1);
    let above = (ideal + 1..=tiles).find(|&rows| tiles.is_multiple_of(rows)).unwrap_or(tiles);
    [below, above].map(|rows| (rows, tiles / rows))
}

/// The grids that are tried: of some tiles for each worker, and of tiles as large as they are packed at their best.
fn all_grids(shape: (usize, usize), workers: usize) -> impl Iterator<Item = (usize, usize)> {
    let each = EACH.into_iter().flat_map(move |each| grids(shape, each * workers));
    each.chain([BLOCK, DEPTH].map(|edge| (shape.0.div_ceil(edge), shape.1.div_ceil(edge))))
}

/// m x k by k x n.
pub(super) fn whole([m, n, k]: [usize; 3], machine: &Machine) -> Plan {
    let mut best = Best::new();
    for (rows, cols) in all_grids((m, n), machine.workers) {
        let ((mb, rows), (nb, cols)) = (cut(m, rows), cut(n, cols));
        for (kb, steps) in [(k, 1), cut(k, k.div_ceil(DEPTH))] {
            let (tiles, steps) = (rows as f64 * cols as f64, steps as f64);
            let tasks = Tasks { each: [mb, nb, kb].map(|len| len as f64), tiles, steps, chain: steps };
            let is_one = tiles * steps == 1.0;
            best.offer(&tasks, machine, if is_one { Plan::AtOnce } else { Plan::Tiles(Tiles { mb, nb, kb }) });
        }
    }
    best.plan
}

/// A matrix whose rows, `order` of them, are multiplied with a triangle or a symmetric matrix, or solved for. It is cut into strips of all rows, or
/// tiles as high as the square matrix's are.
pub(super) fn sided((order, sides): (usize, usize), machine: &Machine) -> Plan {
    let mut best = Best::new();
    let strips = EACH.into_iter().map(|each| (1, each * machine.workers));
    for (rows, cols) in strips.chain(all_grids((order, sides), machine.workers)) {
        let ((mb, rows), (nb, cols)) = (cut(order, rows), cut(sides, cols));
        let (height, width, rows, cols) = (mb as f64, nb as f64, rows as f64, cols as f64);
        // A triangle is half of a square: a strip has half the depth, a tile half of the steps. A row is solved for when all before it are.
        let (depth, steps, chain) =
            if rows == 1.0 { (height / 2.0, 1.0, 1.0) } else { (height, (rows + 1.0) / 2.0, 2.0 * rows) };
        let tasks = Tasks { each: [height, width, depth], tiles: rows * cols, steps, chain };
        let is_one = rows * cols == 1.0;
        best.offer(&tasks, machine, if is_one { Plan::AtOnce } else { Plan::Tiles(Tiles { mb, nb, kb: mb }) });
    }
    best.plan
}

/// A triangle of n x k by k x n: strips of equal work and full depth, or square tiles.
pub(super) fn triangle((n, k): (usize, usize), machine: &Machine) -> Plan {
    let (order, depth, mut best) = (n as f64, k as f64, Best::new());
    for strips in EACH.map(|each| each * machine.workers) {
        let each = [order / 2.0, order / strips as f64, depth];
        let tasks = Tasks { each, tiles: strips as f64, steps: 1.0, chain: 1.0 };
        best.offer(&tasks, machine, if strips == 1 { Plan::AtOnce } else { Plan::Strips(strips) });
    }
    let wanted = EACH.map(|each| ((2 * each * machine.workers) as f64).sqrt().ceil() as usize);
    for parts in wanted.into_iter().chain([n.div_ceil(DEPTH)]) {
        let ((edge, parts), (kb, steps)) = (cut(n, parts), cut(k, k.div_ceil(DEPTH)));
        // Those on the diagonal take as long as others.
        let (tiles, steps) = (parts as f64 * (parts as f64 + 1.0) / 2.0, steps as f64);
        let tasks = Tasks { each: [edge as f64, edge as f64, kb as f64], tiles, steps, chain: steps };
        best.offer(&tasks, machine, Plan::Tiles(Tiles { mb: edge, nb: edge, kb }));
    }
    best.plan
}
