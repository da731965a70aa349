//! Tile shapes of a device matrix, and the placement of its tiles.

use crate::{
    block_size::BlockSize,
    distribution::Grid,
    error::Error,
    options::Distribution,
    plan::{Machine, Problem, resident_edge},
};
use superscalar_kernels::Scalar;
use superscalar_runtime::Runtime;

/// Tile shape of a [`DeviceMatrix`](crate::DeviceMatrix), and the devices on which its tiles live.
///
/// The Level-3 BLAS accepts any matching tiles; Cholesky needs square tiles or block columns, LU and QR need block
/// columns.
///
/// ```
/// use superscalar::dla::{BlockSize, Distribution, Layout};
/// let factored = Layout::columns(BlockSize::Auto);
/// let product = Layout::products(BlockSize::Auto);
/// let columns = Layout::tiles(BlockSize::Fixed(2048)).distributed(Distribution::BlockColumnCyclic);
/// let here = Layout::tiles(BlockSize::Fixed(512)).on(1);
/// # let _ = (factored, product, columns, here);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    tile_shape: TileShape,
    placement: TilePlacement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TileShape {
    Square(BlockSize),
    Product(BlockSize),
    Rectangular(usize, usize),
    BlockColumns(BlockSize),
}

/// Placement of the tiles on devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TilePlacement {
    OnDevice(usize),
    Distributed(Distribution),
}

impl Layout {
    /// Square tiles. On several devices they are distributed [2-D cyclically](Distribution::TwoDimensionalCyclic). With
    /// [`BlockSize::Auto`], the tile size is that of a Cholesky factorization.
    #[must_use]
    pub const fn tiles(nb: BlockSize) -> Self {
        Self {
            tile_shape: TileShape::Square(nb),
            placement: TilePlacement::Distributed(Distribution::TwoDimensionalCyclic),
        }
    }

    /// Square tiles for the Level-3 BLAS. On several devices they are distributed
    /// [2-D cyclically](Distribution::TwoDimensionalCyclic). With [`BlockSize::Auto`], they are as large as the number
    /// of devices permits: nothing is transferred, so on one device a matrix is a single tile, up to order 8192.
    /// Operands of different shapes may get different tiles then: give all of them the largest
    /// [`tile_shape`](crate::DeviceMatrix::tile_shape), as [`BlockSize::Fixed`].
    #[must_use]
    pub const fn products(nb: BlockSize) -> Self {
        Self { tile_shape: TileShape::Product(nb), ..Self::tiles(nb) }
    }

    /// Tiles of mb x nb, distributed 2-D cyclically; for factors and results of products.
    #[must_use]
    pub const fn rectangles(mb: usize, nb: usize) -> Self {
        Self {
            tile_shape: TileShape::Rectangular(mb, nb),
            placement: TilePlacement::Distributed(Distribution::TwoDimensionalCyclic),
        }
    }

    /// Block columns. On several devices they are distributed [cyclically](Distribution::BlockColumnCyclic). With
    /// [`BlockSize::Auto`], the width is that of an LU factorization.
    #[must_use]
    pub const fn columns(nb: BlockSize) -> Self {
        Self {
            tile_shape: TileShape::BlockColumns(nb),
            placement: TilePlacement::Distributed(Distribution::BlockColumnCyclic),
        }
    }

    /// Places all tiles on one device. Devices are numbered in the order in which they were given to the runtime's
    /// builder.
    #[must_use]
    pub const fn on(self, device: usize) -> Self {
        Self { placement: TilePlacement::OnDevice(device), ..self }
    }

    /// Distributes the tiles over all devices. With [`Distribution::None`] and [`Distribution::Planned`], tiles get no
    /// home: each lives where the scheduling policy, or a plan, has it updated.
    #[must_use]
    pub const fn distributed(self, distribution: Distribution) -> Self {
        Self { placement: TilePlacement::Distributed(distribution), ..self }
    }

    pub(super) fn placement(self) -> TilePlacement {
        self.placement
    }

    /// Returns the number of rows and columns of a tile.
    pub(super) fn tile<T: Scalar>(self, rt: &Runtime, (m, n): (usize, usize)) -> Result<(usize, usize), Error> {
        let (mb, nb) = match self.tile_shape {
            TileShape::Square(size) => {
                let order = m.min(n);
                let nb = size.plan::<T>(Problem::Cholesky { n: order }, &Machine::of::<T>(rt))?.blocks_of(order);
                (nb, nb)
            }
            TileShape::Product(BlockSize::Auto) => {
                let edge = resident_edge(m.max(n), Grid::of(rt.devices().len()).shape());
                (edge, edge)
            }
            TileShape::Product(BlockSize::Fixed(nb)) => (nb, nb),
            TileShape::Rectangular(mb, nb) => (mb, nb),
            TileShape::BlockColumns(size) => {
                (m.max(1), size.plan::<T>(Problem::Lu { m, n }, &Machine::of::<T>(rt))?.blocks_of(n))
            }
        };
        if mb == 0 || nb == 0 {
            return Err(Error::shape("the block size is zero, expected a positive number"));
        }
        Ok((mb, nb))
    }
}
