//! Our call on matrices that lie on devices: copied there before the clock starts, and back when it has stopped.

use crate::case::Case;
use crate::ours::Ours;
use crate::range::TileSize;
use std::time::{Duration, Instant};
use superscalar_dla::{BlockSize, DeviceMatrix, Error, Layout, Scalar, Tiled};
use superscalar_kernels::MatMut;
use superscalar_runtime::{Runtime, Scope};

/// How long the call took, and what came of it.
pub type Timed = (Duration, Result<(), Error>);

/// How matrices are cut for a routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    Tiles,
    Columns,
    /// Columns as wide as the tiles of a Cholesky factorization would be.
    CholeskyColumns,
}

impl Cut {
    fn layout(self, nb: BlockSize, ours: &Ours<'_>) -> Layout {
        let layout = if self == Self::Tiles { Layout::tiles(nb) } else { Layout::columns(nb) };
        ours.distribution.map_or(layout, |distribution| layout.distributed(distribution))
    }
}

/// Why matrices can not lie on this runtime's devices.
pub fn absence(runtime: &Runtime) -> Option<String> {
    let layout = Layout::tiles(BlockSize::Fixed(1));
    DeviceMatrix::<f64>::zeros(runtime, (1, 1), layout).err().map(|error| error.to_string())
}

/// Copies the matrices to the devices, has `insert` insert the tasks of a routine on them, and copies them back when all work is done;
/// only what is between is timed. Interchanges and the scalars of reflectors are for routines that leave such on the host.
pub fn call<T: Scalar, const N: usize>(
    ours: &Ours<'_>,
    case: &Case,
    cut: Cut,
    mut matrices: [MatMut<'_, T>; N],
    (ipiv, tau): (&mut [i32], &mut [T]),
    insert: impl for<'s, 'e> FnOnce(&'s Scope<'s, 'e>, [Tiled<'s, MatMut<'s, T>>; N], &'s mut [i32], &'s mut [T]),
) -> Timed {
    let mut on = match load(ours, case, cut, &matrices) {
        Ok(on) => on,
        Err(error) => return (Duration::ZERO, Err(error)),
    };
    let start = Instant::now();
    let result = ours.runtime.scope(|s| {
        let tiled: Vec<_> = on.iter_mut().map(|matrix| matrix.lend(s)).collect();
        let Ok(tiled) = <[_; N]>::try_from(tiled) else { unreachable!("as many as there are matrices") };
        insert(s, tiled, ipiv, tau);
    });
    let elapsed = start.elapsed();
    let stored = on.iter().zip(&mut matrices).try_for_each(|(on, a)| on.download(ours.runtime, a.rb_mut()));
    // What a task that failed was to write is lost: its failure says more.
    (elapsed, result.map_err(Error::from).and(stored))
}

/// The matrices on the devices, all with the same tiles.
fn load<T: Scalar, const N: usize>(
    ours: &Ours<'_>,
    case: &Case,
    cut: Cut,
    matrices: &[MatMut<'_, T>; N],
) -> Result<Vec<DeviceMatrix<T>>, Error> {
    let nb = match case.nb {
        TileSize::Fixed(nb) => nb,
        TileSize::Auto => {
            // Of tiles, as the result has them; of columns, as the matrix that is factored has them.
            let decisive = if cut == Cut::Tiles { matrices.last() } else { matrices.first() };
            let shape = decisive.map_or((0, 0), MatMut::shape);
            let width = if cut == Cut::CholeskyColumns { Cut::Tiles } else { cut };
            DeviceMatrix::<T>::zeros(ours.runtime, shape, width.layout(BlockSize::Auto, ours))?.tile_shape().1
        }
    };
    let layout = cut.layout(BlockSize::Fixed(nb), ours);
    matrices.iter().map(|a| DeviceMatrix::from_host(ours.runtime, a.as_ref(), layout)).collect()
}
