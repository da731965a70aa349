//! Calls our library on matrices on devices: copied there before the clock starts, and back after it has stopped.

use crate::case::Case;
use crate::ours::Ours;
use crate::range::TileSize;
use std::time::{Duration, Instant};
use superscalar_dla::{BlockSize, DeviceMatrix, Error, Layout, Scalar, Tiled};
use superscalar_kernels::MatMut;
use superscalar_runtime::{Runtime, Scope};

/// The duration and the result of the call.
pub type Timed = (Duration, Result<(), Error>);

/// The layout of matrices on devices for a routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceTiling {
    /// Square tiles for the Level-3 BLAS.
    Products,
    Tiles,
    Columns,
    /// Columns as wide as the tiles of a Cholesky factorization.
    CholeskyColumns,
}

impl DeviceTiling {
    fn layout(self, nb: BlockSize, ours: &Ours<'_>) -> Layout {
        let layout = match self {
            Self::Products => Layout::products(nb),
            Self::Tiles => Layout::tiles(nb),
            Self::Columns | Self::CholeskyColumns => Layout::columns(nb),
        };
        ours.distribution.map_or(layout, |distribution| layout.distributed(distribution))
    }
}

/// Returns the reason if matrices cannot be stored on this runtime's devices.
pub fn absence(runtime: &Runtime) -> Option<String> {
    let layout = Layout::tiles(BlockSize::Fixed(1));
    DeviceMatrix::<f64>::zeros(runtime, (1, 1), layout).err().map(|error| error.to_string())
}

/// Copies the matrices to the devices, inserts the tasks of a routine on them with `insert`, and copies them back when
/// all work is done. The copies are not timed. `ipiv` and `tau` are for routines that leave interchanges or scalars of
/// reflectors on the host.
pub fn call<T: Scalar, const N: usize>(
    ours: &Ours<'_>,
    case: &Case,
    tiling: DeviceTiling,
    mut matrices: [MatMut<'_, T>; N],
    (ipiv, tau): (&mut [i32], &mut [T]),
    insert: impl for<'s, 'e> FnOnce(&'s Scope<'s, 'e>, [Tiled<'s, MatMut<'s, T>>; N], &'s mut [i32], &'s mut [T]),
) -> Timed {
    let mut on = match load(ours, case, tiling, &matrices) {
        Ok(on) => on,
        Err(error) => return (Duration::ZERO, Err(error)),
    };
    let start = Instant::now();
    let result = ours.runtime.scope(|s| {
        let tiled: Vec<_> = on.iter_mut().map(|matrix| matrix.lend(s)).collect();
        let Ok(tiled) = <[_; N]>::try_from(tiled) else { unreachable!("one device matrix for each matrix") };
        insert(s, tiled, ipiv, tau);
    });
    let elapsed = start.elapsed();
    let stored = on.iter().zip(&mut matrices).try_for_each(|(on, a)| on.download(ours.runtime, a.rb_mut()));
    // The download fails if a task failed, because its output is lost; the task's error says more.
    (elapsed, result.map_err(Error::from).and(stored))
}

/// Returns the matrices on the devices, all with the same tile size.
fn load<T: Scalar, const N: usize>(
    ours: &Ours<'_>,
    case: &Case,
    tiling: DeviceTiling,
    matrices: &[MatMut<'_, T>; N],
) -> Result<Vec<DeviceMatrix<T>>, Error> {
    let nb = match case.nb {
        TileSize::Fixed(nb) => nb,
        TileSize::Auto => {
            // For products, the largest size; for tiles, that of the result; for columns, that of the matrix that is
            // factored.
            let decisive = match tiling {
                DeviceTiling::Products => matrices.as_slice(),
                DeviceTiling::Tiles => &matrices[N - 1..],
                DeviceTiling::Columns | DeviceTiling::CholeskyColumns => &matrices[..1],
            };
            let tiling = if tiling == DeviceTiling::CholeskyColumns { DeviceTiling::Tiles } else { tiling };
            let layout = tiling.layout(BlockSize::Auto, ours);
            let widths = decisive.iter().map(|matrix| {
                DeviceMatrix::<T>::zeros(ours.runtime, matrix.shape(), layout).map(|matrix| matrix.tile_shape().1)
            });
            widths.collect::<Result<Vec<_>, _>>()?.into_iter().fold(1, usize::max)
        }
    };
    let layout = tiling.layout(BlockSize::Fixed(nb), ours);
    matrices.iter().map(|a| DeviceMatrix::from_host(ours.runtime, a.as_ref(), layout)).collect()
}
