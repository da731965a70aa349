//! Block sizes of the vector kernels: bounds that follow from caches and registers, and how a matrix is cut by them.

use crate::simd;
use std::sync::LazyLock;

/// Vectors along a full tile.
pub(crate) const NV: usize = 3;
/// Columns of a block: a panel of the right factor, 384 x 8 doubles, takes a half of a 48 KiB first-level cache. Each
/// block adds to C once more.
pub(crate) const DEPTH: usize = 384;
/// Columns of a packed block of B, which bounds the workspace. Each block of A is packed once for so many. (Two cores
/// of an EPYC, 2026-11-25: dgemm of order 4096 in four products is 1.01 and 1.04 times as fast as with 1024 and 512.)
pub(crate) const COLUMNS: usize = 2048;
/// Up to so many rows or columns of C a factor of a real type is read where it lies: it would be packed for a few uses.
/// (One core of an EPYC, 2026-11-23: order 64 in d, s: gemm 1.22, 1.08, syrk 1.25, 1.20 times as fast; from 256 on it
/// makes no difference.)
pub(crate) const NEAR: usize = 128;

/// Bytes of a packed block of a left factor: three eighths of a second-level cache, so that a panel of the right one is
/// read for many rows, and what comes through that cache meanwhile does not drive it out. (Two cores, 2026-11-25, dgemm
/// of order 4096: an EPYC with 1 MiB, 384, 512 and 640 KiB: 1.00, 0.99, 0.98; a Xeon with 2 MiB, 512, 640, 768 and 900
/// KiB: 0.98, 0.99, 1.00, 1.00.)
pub(crate) fn block_bytes() -> usize {
    static BYTES: LazyLock<usize> = LazyLock::new(|| simd::second_level_cache().unwrap_or(1 << 20) / 8 * 3);
    *BYTES
}

/// The size of blocks of at most `most`, nearly equal and multiples of `unit`, that cut `total`.
pub(crate) fn even(total: usize, most: usize, unit: usize) -> usize {
    let most = (most.min(*BLOCK_MAX) / unit).max(1) * unit;
    let blocks = total.div_ceil(most).max(1);
    total.div_ceil(blocks).next_multiple_of(unit).max(unit)
}

/// The largest block size that tests allow. It gives small operands several blocks in every direction; the reference
/// loops are too slow for large operands.
pub(crate) static BLOCK_MAX: LazyLock<usize> = LazyLock::new(|| {
    let text = std::env::var("SUPERSCALAR_TEST_BLOCK_MAX");
    text.ok().and_then(|text| text.parse().ok()).unwrap_or(usize::MAX)
});
