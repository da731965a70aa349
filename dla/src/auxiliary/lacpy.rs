//! Copies of matrices.

use crate::{
    Scalar,
    codelets::task,
    error::Error,
    options::Options,
    plan::Problem,
    subtasks::copy_part,
    tiled::{Tile, TileView, Tiled},
};
use superscalar_kernels::{MatMut, MatRef, Op, Part};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks that copy a part of A to B, both in block columns of the same width.
///
/// # Panics
/// If A and B are not in block columns of the same width, or their shapes differ.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    part: Part,
    a: &Tiled<'s, V>,
    b: &Tiled<'s, MatMut<'s, T>>,
) {
    let fit = a.partition(Op::None) == b.partition(Op::None) && a.mt() <= 1;
    assert!(
        fit,
        "lacpy: A is {:?} in tiles of {:?}, B is {:?} in tiles of {:?}",
        a.shape(),
        a.tile_shape(),
        b.shape(),
        b.tile_shape()
    );
    for (i, j) in b.tile_indices() {
        let first = j * b.tile_shape().1;
        s.spawn(
            task("lacpy", i, j, 0),
            (a.at(i, j).read(), b.at(i, j).read_write()),
            move |(a, b): (&Tile<V>, &mut Tile<MatMut<'s, T>>)| copy_part(part, first, a.view(), b.view_mut()),
        );
    }
}

/// Copies a part of A to B: all of it, or the lower or upper trapezoid. The rest of B is not changed.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes differ.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, Part, lacpy};
///
/// let rt = Runtime::new()?;
/// let (a, mut b) = (Matrix::from_fn(2, 2, |_, _| 1.0), Matrix::zeros(2, 2));
/// lacpy(&rt, Part::Lower, a.as_ref(), b.as_mut(), &Options::default())?;
/// assert_eq!(b.into_vec(), [1.0, 1.0, 0.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn lacpy<T: Scalar>(
    rt: &Runtime,
    part: Part,
    a: MatRef<'_, T>,
    mut b: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    if a.shape() != b.shape() {
        return Err(Error::shape(format!("lacpy: A is {:?}, B is {:?}", a.shape(), b.shape())));
    }
    let Some(nb) = options.plan::<T>(rt, Problem::elements(a.shape()))?.blocks() else {
        copy_part(part, 0, a, b);
        return Ok(());
    };
    Ok(rt.scope(|s| spawn(s, part, &Tiled::read_only_columns(s, a, nb), &Tiled::columns(s, b.rb_mut(), nb)))?)
}
