//! The tiles of a plan.
//!
//! "Uncut-GEMMs" (section III-A) weighs padding, overlap and latency of square tiles. Here the time is estimated for
//! tiles of many shapes, because long columns move faster. A plan is made for the best few; its prediction decides.

use super::{
    PlannedProduct, ProductMatrix,
    fabric::{Fabric, HOST, Place},
    grid::DeviceGrid,
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

/// Returns the estimated time of a product of host matrices: the longest of a device's computations and of the copies
/// over its link in each direction, before that the copies of the first product, and after it the last product and its
/// way back.
fn estimate_ns(product: &PlannedProduct, fabric: &Fabric, grid: DeviceGrid, tile: [usize; 3]) -> f64 {
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
    // Each factor crosses the links once, to any of the devices; those of one device are a block of the grid.
    let tiles_of_c = (rows / grid.rows as f64).ceil() * (columns / grid.columns as f64).ceil();
    let in_ns = (a_ns * rows + b_ns * columns) * steps / devices + c_ns * tiles_of_c;
    let longest = in_ns.max(back_ns * tiles_of_c).max(product_ns * tiles_of_c * steps);
    a_ns + b_ns + c_ns + longest + product_ns + back_ns
}
