//! What a caller may choose; everything has a default that comes from measurement.

use crate::block_size::BlockSize;

/// Options of the blocking routines.
///
/// ```
/// use superscalar_dla::Options;
/// let options = Options::default().nb(128);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub(crate) block_size: BlockSize,
}

impl Options {
    /// Tiles of `nb` x `nb` instead of [`BlockSize::Auto`].
    #[must_use]
    pub fn nb(self, nb: usize) -> Self {
        self.block_size(BlockSize::Fixed(nb))
    }

    /// The tile size that a factorization of order n takes with so many workers.
    #[must_use]
    pub fn factorization_nb(&self, n: usize, workers: usize) -> usize {
        self.block_size.of_factorization(n, workers).unwrap_or(1)
    }

    /// How large the tiles are.
    #[must_use]
    pub fn block_size(self, block_size: BlockSize) -> Self {
        Self { block_size }
    }
}
