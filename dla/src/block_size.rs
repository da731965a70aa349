//! How large tiles are.

mod triangle;

pub(crate) use triangle::TriangleParts;

use crate::{
    block_table::{self, Blocks},
    error::Error,
};
use superscalar_kernels::{Scalar, Side};
use superscalar_runtime::Runtime;

/// Who a routine's work is cut for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crew {
    pub(crate) workers: usize,
    pub(crate) devices: usize,
    /// Some device is so fast that its tiles have to be as large as can be.
    pub(crate) has_accelerator: bool,
}

impl Crew {
    /// Those of a runtime.
    pub(crate) fn of(rt: &Runtime) -> Self {
        let devices = if rt.has_devices() { rt.devices() } else { Vec::new() };
        let has_accelerator = devices.iter().any(|device| device.speed.flops_per_s >= ACCELERATOR);
        Self { workers: rt.workers(), devices: devices.len(), has_accelerator }
    }

    /// The devices and the host, if there are devices.
    fn resources(self) -> Option<usize> {
        (self.devices > 0).then_some(self.devices + 1)
    }
}

impl From<usize> for Crew {
    fn from(workers: usize) -> Self {
        Self { workers, devices: 0, has_accelerator: false }
    }
}

/// The size of a routine's tiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockSize {
    /// By measurement, from the size of the problem and the number of workers: on this machine, where its table was made (see
    /// [`tuning`](crate::tuning)), or else by rules that were fitted on others.
    #[default]
    Auto,
    /// Tiles of this size.
    Fixed(usize),
}

impl BlockSize {
    /// The tiles of a product of m x k by k x n, or `None` if one task would be all there is, or tasks are not worth while.
    pub(crate) fn of_product(
        self,
        (m, n, k): (usize, usize, usize),
        crew: Crew,
    ) -> Result<Option<ProductTiles>, Error> {
        match (self, crew.resources()) {
            (Self::Fixed(0), _) => Err(Error::shape("a block size of zero")),
            (Self::Fixed(nb), _) if m.max(n).max(k) <= nb => Ok(None),
            (Self::Fixed(nb), _) => Ok(Some(ProductTiles { mb: nb, nb, kb: nb })),
            (Self::Auto, None) => Ok(auto_product((m, n, k), crew.workers)),
            (Self::Auto, Some(_)) if crew.has_accelerator => Ok(accelerator_product((m, n, k))),
            (Self::Auto, Some(resources)) => Ok(many_tiles((m, n, k), resources, DEVICE_EDGES)),
        }
    }

    /// The same for an m x n matrix that is multiplied from one side with one whose tiles on the diagonal are square.
    pub(crate) fn of_sided(
        self,
        side: Side,
        (m, n): (usize, usize),
        crew: Crew,
    ) -> Result<Option<ProductTiles>, Error> {
        let tiles = match self {
            Self::Auto if crew.devices == 0 => auto_sided(side, (m, n), crew.workers),
            _ => self.of_product((m, n, if side == Side::Left { m } else { n }), crew)?,
        };
        Ok(tiles.map(|tiles| ProductTiles { kb: if side == Side::Left { tiles.mb } else { tiles.nb }, ..tiles }))
    }

    /// The parts of a triangle of a product of n x k by k x n: one strip if tasks are not worth while.
    pub(crate) fn of_triangle(self, (n, k): (usize, usize), crew: Crew) -> Result<TriangleParts, Error> {
        if self == Self::Auto && crew.devices == 0 {
            return Ok(triangle::auto((n, k), crew.workers));
        }
        let Some(tiles) = self.of_product((n, n, k), crew)? else { return Ok(TriangleParts::Strips(1)) };
        // Of an accelerator's tiles, which are higher than wide, the mean.
        let edge = |tiles: &ProductTiles| if crew.has_accelerator { (tiles.mb / 2).max(tiles.nb) } else { tiles.nb };
        Ok(TriangleParts::Tiles(ProductTiles { mb: edge(&tiles), nb: edge(&tiles), ..tiles }))
    }

    /// Columns of the panels of an LU or QR factorization, or `None` if it is done at once where it was called.
    pub(crate) fn of_panel<T: Scalar>(
        self,
        blocks: Blocks,
        (m, n): (usize, usize),
        crew: Crew,
    ) -> Result<Option<usize>, Error> {
        let (of, workers) = (|nb: usize| (n > nb && m > 0).then_some(nb), crew.workers);
        match (self, crew.resources()) {
            (Self::Fixed(0), _) => Err(Error::shape("a block size of zero")),
            (Self::Fixed(nb), _) => Ok(of(nb)),
            (Self::Auto, Some(_)) if m.max(n) <= PANEL_DIRECT => Ok(None),
            (Self::Auto, Some(_)) if crew.has_accelerator => Ok(of(accelerator_panel(blocks, m.min(n)))),
            (Self::Auto, Some(resources)) => Ok(of(for_devices(n, resources, PANELS_EACH, (64, 512)))),
            // A matrix that is not square as one with as many elements.
            (Self::Auto, None) => match block_table::block_size::<T>(blocks, workers, m.saturating_mul(n).isqrt())? {
                Some(nb) => Ok(of(nb)),
                None => Ok(auto_panel(blocks, (m, n), workers)),
            },
        }
    }

    /// Reflectors that share a triangular factor where an m x n matrix is factored at once.
    pub(crate) fn of_reflectors<T: Scalar>(self, (m, n): (usize, usize), workers: usize) -> Result<usize, Error> {
        let measured = match self {
            Self::Fixed(_) => None,
            Self::Auto => block_table::block_size::<T>(Blocks::QrInner, workers, m.saturating_mul(n).isqrt())?,
        };
        Ok(measured.unwrap_or(REFLECTORS).min(m.min(n)))
    }

    /// Rows of the blocks of a tall matrix with n columns, of elements so large, that is factored by a tree.
    pub(crate) fn of_tree(self, n: usize, element_bytes: usize) -> Result<usize, Error> {
        match self {
            Self::Fixed(0) => Err(Error::shape("a block size of zero")),
            Self::Fixed(nb) => Ok(nb),
            Self::Auto => Ok((TREE_BYTES / (n.max(1) * element_bytes)).max(4 * n)),
        }
    }

    /// Block columns of a matrix whose elements are touched once, or `None` if that is done at once where it was called.
    pub(crate) fn of_stream(self, (m, n): (usize, usize), workers: usize) -> Result<Option<usize>, Error> {
        match self {
            Self::Fixed(0) => Err(Error::shape("a block size of zero")),
            Self::Fixed(nb) => Ok((n > nb && m > 0).then_some(nb)),
            Self::Auto if workers == 1 || n == 1 || m.saturating_mul(n) <= STREAM_DIRECT => Ok(None),
            Self::Auto => Ok(Some(n.div_ceil(4 * workers))),
        }
    }

    /// The tile size of a factorization of order n.
    pub(crate) fn of_factorization<T: Scalar>(self, n: usize, crew: impl Into<Crew>) -> Result<usize, Error> {
        let crew = crew.into();
        match (self, crew.resources()) {
            (Self::Fixed(0), _) => Err(Error::shape("a block size of zero")),
            (Self::Fixed(nb), _) => Ok(nb),
            (Self::Auto, Some(_)) if n <= DIRECT => Ok(n.max(1)),
            (Self::Auto, Some(_)) if crew.has_accelerator => Ok(accelerator_factorization(n, crew.devices)),
            (Self::Auto, Some(resources)) => Ok(for_devices(n, resources, TILES_EACH, (128, 1024))),
            (Self::Auto, None) => {
                let measured = block_table::block_size::<T>(Blocks::Cholesky, crew.workers, n)?;
                Ok(measured.unwrap_or_else(|| auto(n, crew.workers)))
            }
        }
    }
}

/// Tiles of a product: C's are mb x nb, the left factor's mb x kb, the right one's kb x nb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProductTiles {
    pub(crate) mb: usize,
    pub(crate) nb: usize,
    pub(crate) kb: usize,
}

/// Up to so many multiplications a product is done at once where it was called: handing out parts of it would take as long.
const PRODUCT_DIRECT: usize = 160 * 160 * 160;
/// The smallest tile of a product, below which the kernels' rate drops, and the largest: packing it takes a few percent of a product
/// with it, and it fits into a cache of 2 MiB.
const PRODUCT_EDGES: (usize, usize) = (96, 512);
/// The same where there are devices: a tile has to be large for its updates to take longer than its way to a device, n³ against n².
const DEVICE_EDGES: (usize, usize) = (256, 1024);

/// Floating-point operations per second from which on a device is an accelerator: above any host's.
const ACCELERATOR: f64 = 5e12;
/// The longest edge of a tile there: with columns of 32 KiB a copy from within a matrix runs at the rate of the bus, with half as long ones
/// at nine tenths of it (one H200, 2026-11-22: 55 and 48.5 GB/s), and its product takes a hundred times as long as its launch.
const ACCELERATOR_EDGE: usize = 4096;

/// The tiles of a product on accelerators: long columns, for the bus, and few of them, so that the first tiles are there soon and
/// the last ones gone.
fn accelerator_product((m, n, k): (usize, usize, usize)) -> Option<ProductTiles> {
    if m.saturating_mul(n).saturating_mul(k) <= PRODUCT_DIRECT {
        return None;
    }
    let edge = (m.max(n).max(k) / 2).next_multiple_of(256).clamp(512, ACCELERATOR_EDGE);
    Some(ProductTiles { mb: edge.min(m), nb: (edge / 4).min(n), kb: edge.min(k) })
}

/// Columns of the panels of a matrix of this order on accelerators. A panel takes the same time for each of its columns there, however many it
/// has, so the chain of all panels is as long for any width. Wide ones make products whose depth is worth a launch, and few tasks: with
/// 16 panels there are some 400, with 32 some 1500, which took twice as long (LU of order 8192 on one H200, 2026-11-22: 9.2 and 4.6 TFLOP/s).
/// Narrow ones leave less to the panels' own products, which are small. For LU, whose solves and interchanges wait for each other in each column, up to
/// 768 columns are best (one H200, 2026-11-22, order 32768: 37.5, 40.6 and 39.9 TFLOP/s with 512, 768 and 1024), for QR 512 (16384: 31.5 and 30.3).
fn accelerator_panel(blocks: Blocks, order: usize) -> usize {
    let most = if blocks == Blocks::Lu { 768 } else { 512 };
    (order / 16).next_multiple_of(64).clamp(128, most)
}

/// Columns of the blocks of a Cholesky factorization on so many accelerators: wide, for products at their best rate, as long as each of them has
/// columns enough to be at work while others have the panel (H200s, 2026-11-22: of 512 and 1024 columns, one does better with 1024 from order
/// 16384 on, four do so beyond 32768).
fn accelerator_factorization(n: usize, devices: usize) -> usize {
    (n / (16 * devices.max(1))).next_multiple_of(128).clamp(512, 1024)
}

/// Block columns, for each device and the host, of a matrix that is factored by panels, and block columns of one in tiles: enough
/// to be dealt in uneven shares.
const PANELS_EACH: usize = 8;
const TILES_EACH: usize = 6;

/// The block size for a matrix of n columns of which each resource shall have so many blocks, between two limits.
fn for_devices(n: usize, resources: usize, each: usize, (least, most): (usize, usize)) -> usize {
    (n / (resources * each)).next_multiple_of(32).clamp(least, most)
}

/// Up to so many multiplications a product has a few tiles of full depth for each worker, one each where there are no more than two
/// workers. What a kernel packs then stays in its core's cache, while tiles that are packed once for all go from core to core, which
/// takes three times as long (sgemm of order 512: 0.7 and 0.25 ns an element). With many workers, of which one is always held up by
/// somebody, each has two.
///
/// (gemm beside 2 x 2 tiles or more of depth 512, 2026-11-23. Two cores of an EPYC, s, d, z: one each, order 256: 1.30, 1.26, 1.09
/// times as fast, 512: 1.19, 1.11, 1.03, 1024: 1.13, 1.05, 1.02. 16 cores of a Xeon, s, d: two each, 512: 1.08, 1.9, 1024: 1.02, 0.94,
/// 2048: 0.99, 1.04; one each: 0.6. Two cores, 2026-11-25, order 2048, one each beside two: an EPYC, d, s: 1.03, 1.01; a Xeon, d: 1.03.)
const FEW: usize = 2048 * 2048 * 2048;
/// The shortest edge of such a tile, and what edges are multiples of, for register tiles with few idle lanes.
const FEW_EDGE: usize = 64;
const FEW_STEP: usize = 16;
/// The edges of such a tile of a larger product. The kernel packs each block of a factor just before it is used as long as C is so wide and high that
/// this takes little of its time; in tiles of 512 what is packed comes from the last-level cache each time. Longer ones would leave workers idle at
/// the end, as these do where there are many. (dgemm beside tiles of 528, 2026-11-25: order 4096 on two cores of an EPYC 1.03 times as fast, of a
/// Xeon 1.04, symm 1.02 on the EPYC; order 8192 on 16 cores of a Xeon 0.85.)
const LARGE_EDGES: (usize, usize) = (1024, 2048);

/// Whether there are so few workers that tiles, or strips, of full depth, one or two each, keep all of them at work to the end.
fn are_few(workers: usize) -> bool {
    workers <= 2
}

/// How many tiles of full depth each worker has at least, of a product of so many multiplications, and their edges; `None` if it has smaller ones.
fn tiles_each(work: usize, workers: usize) -> Option<(usize, (usize, usize))> {
    if work <= FEW {
        (work > PRODUCT_DIRECT).then_some((if are_few(workers) { 1 } else { 2 }, (FEW_EDGE, usize::MAX)))
    } else {
        are_few(workers).then_some((2, LARGE_EDGES))
    }
}

/// The tiles of a product, or `None` if a single task would do it.
fn auto_product((m, n, k): (usize, usize, usize), workers: usize) -> Option<ProductTiles> {
    let few = tiles_each(m.saturating_mul(n).saturating_mul(k), workers).and_then(|(each, (shortest, longest))| {
        let parts = |len: usize| len.div_ceil(longest)..=(len / shortest).max(1);
        // The rows and columns that are packed for all tiles together; of two grids alike, the one with more columns is taken.
        let packed = |(rows, cols): &(usize, usize)| rows * n + cols * m;
        let best = |tiles: usize| {
            let rows = parts(m).take_while(|&rows| rows <= tiles).filter(|&rows| tiles.is_multiple_of(rows));
            rows.map(|rows| (rows, tiles / rows)).filter(|(_, cols)| parts(n).contains(cols)).min_by_key(packed)
        };
        let least = each.max((parts(m).start() * parts(n).start()).div_ceil(workers));
        (least..=4 * least).find_map(|each| best(each * workers))
    });
    let Some((rows, cols)) = few else { return many_tiles((m, n, k), workers, PRODUCT_EDGES) };
    let cut = |len: usize, parts: usize| len.div_ceil(parts).next_multiple_of(FEW_STEP).min(len);
    (rows * cols > 1).then(|| ProductTiles { mb: cut(m, rows), nb: cut(n, cols), kb: k })
}

/// The tiles of an m x n matrix that is multiplied from one side, square or whole strips, or `None` as for a product.
///
/// A strip is what one worker does on its own. It takes the whole other matrix, which must be worth packing for it. (Two cores of an
/// EPYC, beside 2 x 2 tiles or more, s, d, z: order 512: trmm 1.24, 1.10, 1.10 times as fast, trsm 1.22, 1.21, 1.11, symm 1.40, 1.21,
/// 1.04; order 1024: 1.00 to 1.06; in d order 2048, where a strip packs its own blocks: trmm, trsm, symm 1.03, 1.03, 1.04, on a Xeon 1.08, 1.08,
/// 1.07; two each of order 4096: 1.00, 1.00, 1.02. 2026-11-23, 2026-11-25.)
fn auto_sided(side: Side, (m, n): (usize, usize), workers: usize) -> Option<ProductTiles> {
    let (order, sides) = if side == Side::Left { (m, n) } else { (n, m) };
    let work = m.saturating_mul(n).saturating_mul(order);
    if let Some((each, (shortest, longest))) = tiles_each(work, workers) {
        let strips = (each * workers).max(sides.div_ceil(longest).next_multiple_of(workers));
        let strip = sides.div_ceil(strips).next_multiple_of(FEW_STEP).min(sides);
        if strip >= shortest.max(order / 4) {
            let (mb, nb) = if side == Side::Left { (order, strip) } else { (strip, order) };
            return (strip < sides).then_some(ProductTiles { mb, nb, kb: order });
        }
    }
    many_tiles((m, n, order), workers, PRODUCT_EDGES)
}

/// The tiles of a product: as large as they may be while there are two or more for each worker, and as many for each.
fn many_tiles(
    (m, n, k): (usize, usize, usize),
    workers: usize,
    (edge_min, edge_max): (usize, usize),
) -> Option<ProductTiles> {
    if m.saturating_mul(n).saturating_mul(k) <= PRODUCT_DIRECT {
        return None;
    }
    let cut = |len: usize, parts: usize| {
        let block = len.div_ceil(parts.max(1)).max(1);
        // Whole register tiles, where that makes no block of nothing.
        block.next_multiple_of(if block >= 2 * edge_min { STEP } else { 1 }).min(len.max(1))
    };
    let (mut rows, mut cols) = (m.div_ceil(edge_max), n.div_ceil(edge_max));
    let enough = |count: usize| count >= 8 * workers || (count >= 2 * workers && count.is_multiple_of(workers));
    while workers > 1 && !enough(rows * cols) && cut(m, rows).max(cut(n, cols)) >= 2 * edge_min {
        if cut(m, rows) >= cut(n, cols) {
            rows += 1;
        } else {
            cols += 1;
        }
    }
    let tiles = ProductTiles { mb: cut(m, rows), nb: cut(n, cols), kb: cut(k, k.div_ceil(edge_max)) };
    // A single task is none.
    (tiles.mb < m || tiles.nb < n || tiles.kb < k).then_some(tiles)
}

/// Bytes of a block of rows of a tall matrix: it fits into a second-level cache.
const TREE_BYTES: usize = 1 << 20;

/// Up to so many elements are gone through at once: it takes some 20 µs, as long as waking another worker.
const STREAM_DIRECT: usize = 1 << 16;

/// Up to this order a factorization by panels is done at once.
const PANEL_DIRECT: usize = 192;

/// The same with one worker, which has nobody to share with: LU's panels may be as narrow as they are fastest, and QR needs fewer triangular factors. (One core of a Xeon, 2026-11-25, LU of order 256, 512,
/// 1024 in d: 1.08, 1.08, 1.00 times as fast at once, in s 256 and 1024 1.09.)
const PANEL_ALONE: usize = 1024;
/// Reflectors for each triangular factor of QR then.
pub(crate) const REFLECTORS: usize = 32;

/// How many times as high as wide a matrix is tall.
const TALL: usize = 8;

/// Columns of a panel: few, so that the panels, of which each waits for the one before, take little of the time; but enough for
/// the products to run near their rate.
fn auto_panel(blocks: Blocks, (m, n): (usize, usize), workers: usize) -> Option<usize> {
    let order = m.min(n);
    let direct = if workers == 1 { PANEL_ALONE } else { PANEL_DIRECT };
    if order == 0 || n <= 32 || m.max(n) <= direct {
        return None;
    }
    let wanted = match blocks {
        Blocks::Lu => auto_lu(order, workers),
        _ => match order {
            0..=1024 => 64,
            1025..=3072 => 96,
            _ => 128,
        },
    };
    // A tall matrix is nearly all panels: there have to be several for workers to share.
    let tall = if m >= TALL * n { (n / 4).next_multiple_of(8).max(16) } else { wanted };
    Some(wanted.min(tall).min(n))
}

/// Columns of the panels of an LU factorization, by measurement (2026-11-21, f64; two cores of an EPYC, 16 of a Xeon):
///
/// | n | 1 worker | 2 workers | 16 workers |
/// |---|---|---|---|
/// | 512 | 96 | 64 | 64 |
/// | 1024 | 192 | 128 | 64 |
/// | 2048 | 256 | 192 | 64 |
/// | 4096 | 256 | 256 | 112 |
/// | 8192 | | | 128 |
fn auto_lu(order: usize, workers: usize) -> usize {
    let workers = workers as f64;
    let most = 300.0 * workers.powf(-0.3);
    let wanted = (order as f64 / (5.0 * workers.powf(2.0 / 3.0))).min(most);
    ((wanted / 16.0).round() as usize * 16).max(64)
}

/// A single worker has nobody to share with, so the larger the tiles the better; tiles this large keep a trace readable and a
/// failure prompt, for 3 % of the speed.
const ALONE: usize = 512;
/// Up to this order one tile is fastest, however many workers there are.
const DIRECT: usize = 256;

/// Rows of a register tile with AVX-512, of doubles; two of these are one of singles.
const STEP: usize = 24;

/// The tile size by measurement.
///
/// Large tiles run nearer to the kernel's peak, small ones give more workers something to do. The example `tune` measures
/// which is best; on a 16-core Xeon with AVX-512 (2026-11-20) that was, for potrf:
///
/// | n | 2 workers, d / s | 4 workers, d | 16 workers, d / s |
/// |---|---|---|---|
/// | 512 | 96 / 192 | 96 | – / 96 |
/// | 1024 | 192 / 320 | 128 | – / 96 |
/// | 2048 | 192 / 320 | 192 | – / 160 |
/// | 4096 | 384 / 512 | 320 | 224 / 192 |
///
/// with a flat optimum: half or twice as much costs some 10 %. The rule below goes through these points.
fn auto(n: usize, workers: usize) -> usize {
    if workers == 1 {
        return if n <= 4 * ALONE { n.max(1) } else { ALONE };
    }
    if n <= DIRECT {
        return n.max(1);
    }
    let wanted = (5.1 * (n as f64).powf(0.54) * (workers as f64).powf(-0.29)).clamp(72.0, 480.0);
    let step = if wanted < 240.0 { STEP } else { 2 * STEP };
    let nearest = ((wanted / step as f64).round() as usize).max(1) * step;
    // The nearest multiple that leaves no thin strip at the far edge, whose tasks would cost more than they do.
    let whole = |nb: &usize| (n - 1) % nb + 1 >= nb / 3;
    [nearest, nearest - step, nearest + step].into_iter().filter(|&nb| nb > 0).find(whole).unwrap_or(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_products_are_cut_into_a_tile_or_two_for_each_worker() {
        let tiles = |(m, n, k), workers| auto_product((m, n, k), workers).map(|tiles| (tiles.mb, tiles.nb, tiles.kb));
        assert_eq!([tiles((512, 512, 512), 1), tiles((100, 100, 100), 2), tiles((0, 9, 9), 2)], [None; 3]);
        assert_eq!(tiles((512, 512, 512), 2), Some((512, 256, 512)));
        assert_eq!(tiles((5000, 300, 300), 2), Some((2512, 300, 300)), "the smaller factor is packed twice");
        assert_eq!(tiles((2048, 2048, 2048), 2), Some((2048, 1024, 2048)));
        assert_eq!(tiles((512, 512, 512), 16), Some((128, 64, 512)));
        assert_eq!(tiles((4096, 4096, 4096), 2), Some((2048, 2048, 4096)), "each packs its own blocks");
        assert_eq!(tiles((4096, 4096, 4096), 16), Some((528, 528, 528)), "often used tiles are packed once");
        for (m, n, k) in [(257, 1000, 333), (2000, 64, 900), (1500, 1501, 1502)] {
            for workers in [2, 3, 7, 16] {
                let Some((mb, nb, kb)) = tiles((m, n, k), workers) else {
                    panic!("{m} x {n} x {k} is worth {workers} workers")
                };
                assert!(mb <= m && nb <= n && kb <= k && m.div_ceil(mb) * n.div_ceil(nb) <= 8 * workers);
            }
        }
    }

    #[test]
    fn small_triangles_are_multiplied_by_strips() {
        let tiles = |side, shape, workers| auto_sided(side, shape, workers).map(|tiles| (tiles.mb, tiles.nb));
        assert_eq!(tiles(Side::Left, (512, 512), 2), Some((512, 256)));
        assert_eq!(tiles(Side::Right, (500, 300), 2), Some((256, 300)));
        assert_eq!((tiles(Side::Left, (512, 512), 1), tiles(Side::Left, (100, 100), 2)), (None, None));
        let (mb, nb) = tiles(Side::Left, (512, 512), 16).expect("tiles");
        assert!(
            mb < 512 && nb < 512,
            "strips for 16 workers would be narrower than it takes to pack the triangle: {mb} x {nb}"
        );
        assert_eq!(tiles(Side::Left, (2048, 2048), 2), Some((2048, 1024)));
        assert_eq!(tiles(Side::Right, (4096, 4096), 2), Some((1024, 4096)));
        let (mb, nb) = tiles(Side::Left, (16384, 16384), 2).expect("tiles");
        assert!(mb < 16384 && nb < 16384, "strips would be narrow for their length, or few: {mb} x {nb}");
    }
}
