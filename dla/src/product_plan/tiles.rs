//! The tiles of a plan.
//!
//! "Uncut-GEMMs" (section III-A) weighs padding, overlap and latency of square tiles. Here the time is estimated for
//! tiles of many shapes, because long columns move faster. A plan is made for the best few; its prediction decides.

use super::{
    PlannedProduct, ProductMatrix,
    fabric::{Fabric, HOST},
    grid::{Cut, DeviceGrid},
};

/// Edges of tiles are multiples of this.
const EDGE_MULTIPLE: usize = 128;
/// The most products that a device gets: planning takes a time that grows with their square.
pub(super) const PRODUCTS_MAX: usize = 256;
/// The parts into which the edges of a device's block are cut.
const PARTS: [usize; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];
/// Tiles of C have at least this many elements, or as many as a device's block: smaller ones leave multiprocessors of a
/// large GPU without work.
const OUTPUT_MIN: usize = 1 << 20;
/// Tiles for which plans are made.
const PLANS: usize = 3;

/// Returns the tiles with the shortest estimated times.
pub(super) fn candidates(product: &PlannedProduct, fabric: &Fabric, grid: DeviceGrid) -> Vec<[usize; 3]> {
    let [m, n, k] = product.shape;
    let blocks = [m.div_ceil(grid.rows), n.div_ceil(grid.columns), k];
    let edges = blocks.map(|len| {
        let edge = |parts: usize| len.div_ceil(parts).next_multiple_of(EDGE_MULTIPLE).min(len).max(1);
        let mut edges: Vec<usize> = PARTS.into_iter().map(edge).collect();
        edges.dedup();
        edges
    });
    let mut all = Vec::new();
    for &mb in &edges[0] {
        for &nb in &edges[1] {
            for &kb in &edges[2] {
                let tile = [mb, nb, kb];
                let count: usize = (0..3).map(|at| blocks[at].div_ceil(tile[at])).product();
                if count <= PRODUCTS_MAX && mb * nb >= OUTPUT_MIN.min(blocks[0] * blocks[1]) {
                    all.push((estimate_ns(product, fabric, grid, tile), tile));
                }
            }
        }
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.into_iter().take(PLANS).map(|it| it.1).collect()
}

/// Returns the estimated time: the longest of the devices' computations and of their links' copies, before that the
/// copies of the first product, and after it the last product and its way back.
fn estimate_ns(product: &PlannedProduct, fabric: &Fabric, grid: DeviceGrid, tile: [usize; 3]) -> f64 {
    let cuts = product.cuts(tile);
    let [rows, columns, steps] = cuts.map(Cut::count);
    let copy_ns = |matrix, (from, to): (usize, usize)| {
        let load = product.load(matrix, &cuts, (0, 0));
        fabric.link(from, to).map_or(0.0, |link| load.copy_ns(link, (from, to)))
    };
    let devices = fabric.devices();
    let share = |count: usize, parts: usize| count as f64 / parts as f64;
    let products = share(rows, grid.rows) * share(columns, grid.columns) * steps as f64;
    let each = tile.iter().fold(product.operations, |all, &edge| all * edge as f64);
    let slowest = product.flops_per_s.iter().copied().fold(f64::INFINITY, f64::min);
    let product_ns = product.latency_ns + each / slowest * 1e9;
    // Factors cross the links to the host once, to any device; elsewhere each device fetches all that it needs.
    let mut links_ns = 0.0;
    let mut first_ns = 0.0;
    for (at, matrix) in [ProductMatrix::A, ProductMatrix::B].into_iter().enumerate() {
        let home = product.homes[at].first();
        let to = if home == 1 { devices } else { 1 };
        let ns = if home == to { 0.0 } else { copy_ns(matrix, (home, to)) };
        let tiles = if at == 0 { rows * steps } else { steps * columns };
        links_ns += ns * if home == HOST { tiles as f64 / devices as f64 } else { tiles as f64 };
        first_ns += ns;
    }
    let home = product.homes[2].first();
    let on = if home == 1 { devices } else { 1 };
    let blocks = rows as f64 * columns as f64 / devices as f64;
    let back_ns = if home == on { 0.0 } else { copy_ns(ProductMatrix::C, (on, home)) };
    if product.reads_c && home != on {
        let ns = copy_ns(ProductMatrix::C, (home, on));
        links_ns += ns * blocks;
        first_ns += ns;
    }
    first_ns + links_ns.max(back_ns * blocks).max(product_ns * products) + product_ns + back_ns
}
