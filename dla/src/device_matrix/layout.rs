//! How a matrix on devices is cut, and whose its tiles are.

use crate::{
    block_size::BlockSize,
    error::Error,
    options::Distribution,
    plan::{Machine, Problem},
};
use superscalar_kernels::Scalar;
use superscalar_runtime::Runtime;

/// How a [`DeviceMatrix`](crate::DeviceMatrix) is cut, and on which devices its tiles live.
///
/// The Level-3 BLAS takes any tiles that fit together, Cholesky square ones or block columns, LU and QR block columns.
///
/// ```
/// use superscalar::dla::{BlockSize, Distribution, Layout};
/// let factored = Layout::columns(BlockSize::Auto);
/// let product = Layout::tiles(BlockSize::Fixed(2048)).distributed(Distribution::BlockColumnCyclic);
/// let here = Layout::tiles(BlockSize::Fixed(512)).on(1);
/// # let _ = (factored, product, here);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    cut: Cut,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// Square.
    Tiles(BlockSize),
    Rectangles(usize, usize),
    Columns(BlockSize),
}

/// Whose the tiles are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    On(usize),
    Over(Distribution),
}

impl Layout {
    /// Square tiles; over several devices they are dealt [2-D cyclically](Distribution::TwoDimensionalCyclic). The size is by default that of a
    /// Cholesky factorization.
    #[must_use]
    pub const fn tiles(nb: BlockSize) -> Self {
        Self { cut: Cut::Tiles(nb), place: Place::Over(Distribution::TwoDimensionalCyclic) }
    }

    /// Tiles of mb x nb, dealt as square ones are: for factors and results of products.
    #[must_use]
    pub const fn rectangles(mb: usize, nb: usize) -> Self {
        Self { cut: Cut::Rectangles(mb, nb), place: Place::Over(Distribution::TwoDimensionalCyclic) }
    }

    /// Block columns; over several devices they are dealt [in turns](Distribution::BlockColumnCyclic). The width is by default that of an
    /// LU factorization.
    #[must_use]
    pub const fn columns(nb: BlockSize) -> Self {
        Self { cut: Cut::Columns(nb), place: Place::Over(Distribution::BlockColumnCyclic) }
    }

    /// All of it on the device of this index, in the order in which they were given to the runtime's builder.
    #[must_use]
    pub const fn on(self, device: usize) -> Self {
        Self { place: Place::On(device), ..self }
    }

    /// Dealt over all devices in this way. With [`Distribution::None`] nothing is dealt: tiles live where the policy has them updated.
    #[must_use]
    pub const fn distributed(self, distribution: Distribution) -> Self {
        Self { place: Place::Over(distribution), ..self }
    }

    pub(super) fn place(self) -> Place {
        self.place
    }

    /// Rows and columns of a tile.
    pub(super) fn tile<T: Scalar>(self, rt: &Runtime, (m, n): (usize, usize)) -> Result<(usize, usize), Error> {
        let (mb, nb) = match self.cut {
            Cut::Tiles(size) => {
                let order = m.min(n);
                let nb = size.plan::<T>(Problem::Cholesky { n: order }, &Machine::of::<T>(rt))?.blocks_of(order);
                (nb, nb)
            }
            Cut::Rectangles(mb, nb) => (mb, nb),
            Cut::Columns(size) => (m.max(1), size.plan::<T>(Problem::Lu { m, n }, &Machine::of::<T>(rt))?.blocks_of(n)),
        };
        if mb == 0 || nb == 0 {
            return Err(Error::shape("a block size of zero"));
        }
        Ok((mb, nb))
    }
}
