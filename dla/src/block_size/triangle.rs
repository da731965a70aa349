//! How a triangle of a product is cut.

use super::{PRODUCT_DIRECT, PRODUCT_EDGES, ProductTiles, STEP, are_few};

/// The parts of a triangle of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TriangleParts {
    /// Into square tiles.
    Tiles(ProductTiles),
    /// Into so many strips of full depth, or not at all.
    Strips(usize),
}

/// The longest edge of a tile of a triangle of a product, and its depth: a kernel takes so many columns together, and would halve more of them.
const TRIANGLE_EDGE: usize = 432;
const TRIANGLE_DEPTH: usize = 384;
/// Rows and columns of a triangle for which each of a few workers has one strip.
const STRIPED: usize = 4096;

/// The parts of a triangle of a product.
///
/// For a few workers these are strips of equal work, as whole products and those with triangles have tiles of full depth: a worker packs for itself, for as
/// many columns as there are. (Two cores of an EPYC, 2026-11-26, two strips beside ten tiles or more, syrk, syr2k, gemmt in d: order 256 1.42, 1.43, 1.39
/// times as fast, 512 1.02, 1.06, 1.03, 2048 1.06, 1.06, 1.05, 4096 1.02, 0.99, 1.00; in c 512 1.03, 1.07, 1.01, 2048 1.03, 1.04, 1.04; order 64 of depth
/// 4000 in d 2.4. One core, order 1024 at once beside three tiles, in d 1.03, 1.04, 1.00, in c syr2k and gemmt 1.05. Of a Xeon two of 16 cores, d 512:
/// 1.06, gemmt 0.99, 2048: 1.01, 1.07; but four 0.85 to 1.10, and 8 and 16, whose strips are narrow, 0.3 to 0.9.)
///
/// For more workers they are tiles, as large as they may be while there are six or more for each worker, of which those on the diagonal are
/// half as much work, or two where they are small, and no deeper than wide, so that a worker that is awake before another does more of them.
/// (16 cores of a Xeon, 2026-11-24: order 512 in edges of 96 instead of 192 1.16 to 1.6 times as fast, 1024 in 144 1.00 to 1.10.)
pub(super) fn auto((n, k): (usize, usize), workers: usize) -> TriangleParts {
    if n.saturating_mul(n).saturating_mul(k) <= PRODUCT_DIRECT {
        return TriangleParts::Strips(1);
    }
    if are_few(workers) {
        return TriangleParts::Strips(workers * n.div_ceil(STRIPED));
    }
    let (edge_min, _) = PRODUCT_EDGES;
    let are_too_few = |parts: usize| {
        let (tiles, edge) = (parts * (parts + 1) / 2, n.div_ceil(parts));
        (tiles < 6 * workers && edge >= 2 * edge_min) || (tiles < 2 * workers && edge > edge_min)
    };
    let mut parts = n.div_ceil(TRIANGLE_EDGE);
    while are_too_few(parts) {
        parts += 1;
    }
    // Whole register tiles of all types.
    let cut = |len: usize, parts: usize| len.div_ceil(parts.max(1)).next_multiple_of(2 * STEP).min(len.max(1));
    let edge = cut(n, parts);
    let kb = cut(k, k.div_ceil(edge.clamp(2 * edge_min, TRIANGLE_DEPTH)));
    if edge == n && kb == k {
        return TriangleParts::Strips(1);
    }
    TriangleParts::Tiles(ProductTiles { mb: edge, nb: edge, kb })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_are_cut_into_a_strip_or_some_tiles_for_each_worker() {
        let parts = |n, workers| auto((n, n), workers);
        assert_eq!([parts(100, 2), parts(0, 2), parts(100, 16), parts(512, 1)], [TriangleParts::Strips(1); 4]);
        assert_eq!([parts(512, 2), parts(4096, 2)], [TriangleParts::Strips(2); 2]);
        assert_eq!((parts(10000, 1), parts(10000, 2)), (TriangleParts::Strips(3), TriangleParts::Strips(6)));
        let edge = |n, workers| match parts(n, workers) {
            TriangleParts::Tiles(tiles) => tiles.nb,
            strips => panic!("{n}, {workers}: {strips:?}"),
        };
        assert_eq!(edge(512, 16), 96);
        for (n, workers) in [(512, 3), (2048, 16), (4000, 7)] {
            let edge = edge(n, workers);
            let parts = n.div_ceil(edge);
            assert!(parts * (parts + 1) / 2 >= 2 * workers && edge >= PRODUCT_EDGES.0, "{n}, {workers}: {edge}");
        }
    }
}
