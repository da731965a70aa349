//! Block sizes of the vector kernels, chosen for caches and registers, and the rule that divides a matrix by them.

use crate::simd;
use std::sync::LazyLock;

/// Vectors in one column of a full register tile.
pub(crate) const NV: usize = 3;
/// Columns of a block of A (BLIS: KC). With it a panel of B, 384 x 8 doubles, fills half of a 48 KiB first-level cache.
/// Smaller values update C more often.
pub(crate) const DEPTH: usize = 384;
/// Columns of a packed block of B (BLIS: NC). Bounds the workspace; each block of A is packed once for this many
/// columns. Measured: docs/measurements/2026-11-28-constants.md.
pub(crate) const COLUMNS: usize = 2048;
/// A factor of a real type is read in place, unpacked, if at most this many rows or columns of C use each of its
/// elements: packing pays off only for more uses. Measured: docs/measurements/2026-11-28-constants.md.
pub(crate) const UNPACKED_USES_MAX: usize = 128;

/// Returns whether columns of a matrix that are this many bytes apart evict each other from a second-level cache.
/// Elements whose distance is a multiple of a way's size share a set. Ways have 64 KiB (then there are 16) or 128 KiB
/// (then there are 8 or more). Measured: docs/measurements/2026-11-30-many-cores.md.
pub(crate) fn columns_collide(stride_bytes: usize, columns: usize) -> bool {
    const WAYS: usize = 8;
    const WAY_BITS: u32 = 17;
    let sets = 1 << (WAY_BITS - stride_bytes.trailing_zeros().min(WAY_BITS));
    columns > WAYS * sets
}

/// Returns the bytes of a packed block of a left factor: three eighths of the second-level cache. Such a block serves
/// many rows per panel of the right factor, and the data streaming past does not evict it. Measured:
/// docs/measurements/2026-11-28-constants.md.
pub(crate) fn block_bytes() -> usize {
    static BYTES: LazyLock<usize> = LazyLock::new(|| simd::second_level_cache().unwrap_or(1 << 20) / 8 * 3);
    *BYTES
}

/// Returns a block size that divides `total` into nearly equal blocks: a multiple of `unit`, at most `most`.
pub(crate) fn even_block_size(total: usize, most: usize, unit: usize) -> usize {
    let most = (most.min(*BLOCK_MAX) / unit).max(1) * unit;
    let blocks = total.div_ceil(most).max(1);
    total.div_ceil(blocks).next_multiple_of(unit).max(unit)
}

/// The largest block size, from `SUPERSCALAR_TEST_BLOCK_MAX`. Tests set it so that small operands have several blocks
/// in every direction; the reference loops are too slow for large operands.
pub(crate) static BLOCK_MAX: LazyLock<usize> = LazyLock::new(|| {
    let text = std::env::var("SUPERSCALAR_TEST_BLOCK_MAX");
    text.ok().and_then(|text| text.parse().ok()).unwrap_or(usize::MAX)
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_collide_at_powers_of_two() {
        for (rows, columns, collide) in [
            (8192, 128, true),
            (8200, 128, false),
            (4096, 128, true),
            (4096, 32, false),
            (2048, 128, true),
            (1024, 128, false),
            (64, 64, false),
            (1 << 60, 8, false),
            (1 << 60, 9, true),
        ] {
            assert_eq!(columns_collide(rows * 8, columns), collide, "{columns} columns of {rows} doubles");
        }
    }
}
