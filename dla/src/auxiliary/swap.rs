//! Exchange of two matrices.

use crate::{
    Scalar,
    codelets::task,
    error::Error,
    options::Options,
    plan::Problem,
    tiled::{Tile, Tiled},
};
use superscalar_kernels::{MatMut, Op};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks that exchange A and B, which have the same tiles.
///
/// # Panics
/// If the tiles differ.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar>(s: &'s Scope<'s, '_>, a: &Tiled<'s, MatMut<'s, T>>, b: &Tiled<'s, MatMut<'s, T>>) {
    let fit = a.partition(Op::None) == b.partition(Op::None);
    assert!(
        fit,
        "swap: A is {:?} in tiles of {:?}, B is {:?} in tiles of {:?}",
        a.shape(),
        a.tile_shape(),
        b.shape(),
        b.tile_shape()
    );
    for (i, j) in a.tile_indices() {
        let both = (a.at(i, j).read_write(), b.at(i, j).read_write());
        s.spawn(task("swap", i, j, 0), both, |(a, b): (&mut Tile<MatMut<'s, T>>, &mut Tile<MatMut<'s, T>>)| {
            exchange(a.view_mut(), b.view_mut())
        });
    }
}

fn exchange<T: Scalar>(mut a: MatMut<'_, T>, mut b: MatMut<'_, T>) {
    for j in 0..a.ncols() {
        match (a.col_as_slice_mut(j), b.col_as_slice_mut(j)) {
            (Some(a), Some(b)) => a.swap_with_slice(b),
            _ => (0..a.nrows()).for_each(|i| std::mem::swap(&mut a[(i, j)], &mut b[(i, j)])),
        }
    }
}

/// Exchanges two matrices of the same shape.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes differ.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, swap};
///
/// let (rt, mut a, mut b) = (Runtime::new()?, Matrix::from_fn(1, 1, |_, _| 1.0), Matrix::zeros(1, 1));
/// swap(&rt, a.as_mut(), b.as_mut(), &Options::default())?;
/// assert_eq!((a.at(0, 0), b.at(0, 0)), (0.0, 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn swap<T: Scalar>(
    rt: &Runtime,
    mut a: MatMut<'_, T>,
    mut b: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    if a.shape() != b.shape() {
        return Err(Error::shape(format!("swap: A is {:?}, B is {:?}", a.shape(), b.shape())));
    }
    let Some(nb) = options.plan::<T>(rt, Problem::elements(a.shape()))?.blocks() else {
        exchange(a, b);
        return Ok(());
    };
    Ok(rt.scope(|s| spawn(s, &Tiled::columns(s, a.rb_mut(), nb), &Tiled::columns(s, b.rb_mut(), nb)))?)
}
