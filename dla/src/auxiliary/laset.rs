//! Initialization of matrices: one value for the diagonal, another for the other elements.

use crate::{
    Scalar,
    codelets::task,
    error::Error,
    options::Options,
    plan::Problem,
    subtasks::rows_in_part,
    tiled::{Tile, Tiled},
};
use superscalar_kernels::{MatMut, Part};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks of [`laset`](fn@crate::laset) for A in block columns.
///
/// # Panics
/// If A is not in block columns.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    part: Part,
    off_diagonal: T,
    diagonal: T,
    a: &Tiled<'s, MatMut<'s, T>>,
) {
    assert!(a.mt() <= 1, "laset: A must be in block columns, not in {} block rows", a.mt());
    for (i, j) in a.tile_indices() {
        let first = j * a.tile_shape().1;
        let body = move |a: &mut Tile<MatMut<'s, T>>| set(part, first, off_diagonal, diagonal, a.view_mut());
        s.spawn(task("laset", i, j, 0), a.at(i, j).read_write(), body);
    }
}

/// Sets the given part of A. Column 0 of A is column `first` of the whole matrix.
fn set<T: Scalar>(part: Part, first: usize, off_diagonal: T, diagonal: T, mut a: MatMut<'_, T>) {
    let (m, n) = a.shape();
    for j in 0..n {
        a.rb_mut().submatrix(rows_in_part(part, first + j, m), j..j + 1).fill(off_diagonal);
        if first + j < m {
            a[(first + j, j)] = diagonal;
        }
    }
}

/// Sets a part of an m x n matrix: the diagonal to `diagonal`, and the other elements of the part to `off_diagonal`.
///
/// # Errors
/// Errors of the runtime keep their kind, such as [`Device`](crate::ErrorKind::Device);
/// [`Shape`](crate::ErrorKind::Shape) if the block size is zero.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, Part, laset};
///
/// let (rt, mut a) = (Runtime::new()?, Matrix::from_fn(2, 2, |_, _| 7.0));
/// laset(&rt, Part::Upper, 0.0, 1.0, a.as_mut(), &Options::default())?;
/// assert_eq!(a.into_vec(), [1.0, 7.0, 0.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn laset<T: Scalar>(
    rt: &Runtime,
    part: Part,
    off_diagonal: T,
    diagonal: T,
    mut a: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let Some(nb) = options.plan::<T>(rt, Problem::elements(a.shape()))?.blocks() else {
        set(part, 0, off_diagonal, diagonal, a);
        return Ok(());
    };
    Ok(rt.scope(|s| spawn(s, part, off_diagonal, diagonal, &Tiled::columns(s, a.rb_mut(), nb)))?)
}
