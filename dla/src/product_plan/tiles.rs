//! The tiles of a plan.
//!
//! "Uncut-GEMMs" (section III-A) weighs padding, overlap and latency of square tiles. Here the time is estimated for
//! tiles of many shapes, because long columns move faster. From the best few on, plans are made and compared.

use super::{
    PlannedProduct, ProductMatrix, ProductPlan, ProductSums,
    fabric::{Fabric, HOST, Place},
    grid::DeviceGrid,
    schedule::Schedule,
    turns::{PRODUCTS_MAX, Turns},
};

/// Edges of tiles are multiples of this.
const EDGE_MULTIPLE: usize = 128;
/// The parts into which the edges of a device's block are cut.
const PARTS: [usize; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];
/// Tiles of C have at least this many elements, or as many as a device's block: smaller ones leave multiprocessors of a
/// large GPU without work.
const OUTPUT_MIN: usize = 1 << 20;
/// The search begins at the tiles with the shortest estimated times among those with at most so many products.
const SEED_PRODUCTS: [usize; 3] = [32, 96, PRODUCTS_MAX];
/// The search does this much work, or plans once: about three milliseconds.
const WORK_MAX: usize = 300_000;

/// Returns the plan with the shortest predicted time that is found, from the tiles with the shortest estimated times to
/// neighbours with shorter ones. `None` if the devices cannot hold a part of the product with any tiles.
pub(super) fn best_plan(product: &PlannedProduct, fabric: &Fabric, grid: DeviceGrid) -> Option<ProductPlan> {
    let search = TileSearch::new(product, fabric, grid);
    let all: Vec<(f64, Candidate)> = search.all().collect();
    let best_of = |products: &usize| {
        let few = all.iter().filter(|(_, of)| of.turns.products <= *products);
        few.min_by(|a, b| a.0.total_cmp(&b.0)).map(|seed| seed.1)
    };
    let (mut tried, mut work) = (Vec::new(), 0);
    let mut best: Option<(ProductPlan, Candidate)> = None;
    let mut open: Vec<Candidate> = SEED_PRODUCTS.iter().filter_map(best_of).collect();
    while !open.is_empty() {
        let mut is_better = false;
        for candidate in open {
            let more = search.work(&candidate);
            if tried.contains(&candidate) || best.is_some() && work + more > WORK_MAX {
                continue;
            }
            work += more;
            let plan = Schedule::new(product, fabric, grid, search.tile(candidate.at), candidate.turns).run();
            tried.push(candidate);
            if best.as_ref().is_none_or(|(best, _)| plan.end_ns < best.end_ns) {
                best = Some((plan, candidate));
                is_better = true;
            }
        }
        open = best.iter().filter(|_| is_better).flat_map(|(_, best)| search.neighbours(best)).collect();
    }
    best.map(|(plan, _)| plan)
}

/// Tiles, as numbers of edges, and their turns.
#[derive(Clone, Copy, PartialEq)]
struct Candidate {
    at: [usize; 3],
    turns: Turns,
}

/// The tiles that are tried.
struct TileSearch<'a> {
    product: &'a PlannedProduct,
    fabric: &'a Fabric,
    grid: DeviceGrid,
    edges: [Vec<usize>; 3],
    output_min: usize,
}

impl<'a> TileSearch<'a> {
    fn new(product: &'a PlannedProduct, fabric: &'a Fabric, grid: DeviceGrid) -> Self {
        let block = Turns::block(product, grid);
        let edges = block.map(|len| {
            let edge = |parts: usize| len.div_ceil(parts).next_multiple_of(EDGE_MULTIPLE).min(len).max(1);
            let mut edges: Vec<usize> = PARTS.into_iter().map(edge).collect();
            edges.dedup();
            edges
        });
        Self { product, fabric, grid, edges, output_min: OUTPUT_MIN.min(block[0] * block[1]) }
    }

    fn tile(&self, at: [usize; 3]) -> [usize; 3] {
        [0, 1, 2].map(|edge| self.edges[edge][at[edge]])
    }

    /// Returns these tiles if they are neither too small nor too many, nor too large for the devices.
    fn candidate(&self, at: [usize; 3]) -> Option<Candidate> {
        let tile = self.tile(at);
        let turns = (tile[0] * tile[1] >= self.output_min).then(|| Turns::of(self.product, self.grid, tile)).flatten();
        turns.map(|turns| Candidate { at, turns })
    }

    /// Returns all tiles, with their estimated times.
    fn all(&self) -> impl Iterator<Item = (f64, Candidate)> {
        let [of_m, of_n, of_k] = self.edges.each_ref().map(Vec::len);
        let all = (0..of_m).flat_map(move |i| (0..of_n).flat_map(move |j| (0..of_k).map(move |p| [i, j, p])));
        let estimate = |of: &Candidate| estimate_ns(self.product, self.fabric, self.grid, self.tile(of.at), of.turns);
        all.filter_map(|at| self.candidate(at)).map(move |candidate| (estimate(&candidate), candidate))
    }

    /// Returns candidates that differ in one edge, or in whether they sum apart from C.
    fn neighbours(&self, of: &Candidate) -> impl Iterator<Item = Candidate> {
        let Candidate { at, turns } = *of;
        let moved = move |edge: usize, to: usize| [0, 1, 2].map(|it| if it == edge { to } else { at[it] });
        let up = (0..3).filter(move |&edge| at[edge] + 1 < self.edges[edge].len());
        let up = up.map(move |edge| moved(edge, at[edge] + 1));
        let down = (0..3).filter(move |&edge| at[edge] > 0).map(move |edge| moved(edge, at[edge] - 1));
        let has_sums = turns.has_sums;
        // The neighbours of tiles without sums have none either, unless all have them.
        let sums = self.product.sums;
        let alike = move |it: Candidate| Candidate {
            turns: Turns { has_sums: it.turns.has_sums && (has_sums || sums == ProductSums::Always), ..it.turns },
            ..it
        };
        let may_be_without = has_sums && self.product.sums == ProductSums::IfLate;
        let without = may_be_without.then_some(Candidate { at, turns: Turns { has_sums: false, ..turns } });
        up.chain(down).filter_map(|at| self.candidate(at)).map(alike).chain(without)
    }

    /// Returns the work of planning, in about ten nanoseconds.
    fn work(&self, of: &Candidate) -> usize {
        let Turns { areas: [across, down], slab, products, .. } = of.turns;
        let slabs = self.product.shape[2].div_ceil(self.tile(of.at)[2]).div_ceil(slab);
        self.fabric.devices() * across * down * slabs * products * (products + 100)
    }
}

/// Returns the estimated time of a product of host matrices: the longest of a device's computations and of the copies
/// over its link in each direction, before that the copies of the first product, and after it the last product and its
/// way back.
fn estimate_ns(product: &PlannedProduct, fabric: &Fabric, grid: DeviceGrid, tile: [usize; 3], turns: Turns) -> f64 {
    let cuts = product.cuts(tile);
    let [rows, columns, steps] = cuts.map(|cut| cut.count() as f64);
    let devices = fabric.devices() as f64;
    let copy_ns = |matrix, (from, to): (Place, Place)| {
        let load = product.load(matrix, &cuts, (0, 0));
        fabric.link(from, to).map_or(0.0, |link| load.copy_ns(link, (from, to)))
    };
    let (a_ns, b_ns) = (copy_ns(ProductMatrix::A, (HOST, 1)), copy_ns(ProductMatrix::B, (HOST, 1)));
    let c_ns = if product.reads_c { copy_ns(ProductMatrix::C, (HOST, 1)) } else { 0.0 };
    let back_ns = copy_ns(ProductMatrix::C, (1, HOST));
    let operations = tile.iter().fold(product.operations, |all, &edge| all * edge as f64);
    let slowest = product.flops_per_s.iter().copied().fold(f64::INFINITY, f64::min);
    let product_ns = product.latency_ns + operations / slowest * 1e9;
    // In each turn a tile of a factor leaves the host once, to any of the devices. Each device has its block of C.
    let tiles_of_c = (rows / grid.rows as f64).ceil() * (columns / grid.columns as f64).ceil();
    let [fetches_of_a, fetches_of_b] = turns.fetches();
    let in_ns = (a_ns * rows * fetches_of_a + b_ns * columns * fetches_of_b) * steps / devices + c_ns * tiles_of_c;
    let longest = in_ns.max(back_ns * tiles_of_c).max(product_ns * tiles_of_c * steps);
    let first_c_ns = if turns.has_sums { 0.0 } else { c_ns };
    a_ns + b_ns + first_c_ns + longest + product_ns + back_ns
}
