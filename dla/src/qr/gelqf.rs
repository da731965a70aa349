//! LQ factorization: A = L Q.

use super::{Reflectors, geqrf};
use crate::{
    Scalar,
    codelets::task,
    error::Error,
    matrix::Matrix,
    options::Options,
    tiled::{Tile, Tiled},
};
use superscalar_kernels::{MatMut, MatRef, Reflector};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// The reflectors of an LQ factorization whose tasks are inserted: what applying Q needs besides the matrix that holds them.
pub struct RowReflectors<'s, T>(pub(crate) Reflectors<'s, T>);

/// Inserts the tasks of the factorization A = L Q of an m x n matrix, which is given by its transposed view in block columns:
/// `Tiled::columns(s, a.transpose(), nb)`. Otherwise as [`geqrf`](fn@crate::spawn::geqrf), which does the work
/// on the conjugate.
///
/// # Panics
/// As [`geqrf`](fn@crate::spawn::geqrf).
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    at: &Tiled<'s, MatMut<'s, T>>,
    tau: &'s mut [T],
) -> RowReflectors<'s, T> {
    conjugate_all(s, at);
    let q = geqrf::spawn(s, at, tau);
    conjugate_all(s, at);
    // What stands in A from now on are the conjugates of V, which with that of T make that of Q.
    for (k, &block) in q.blocks.iter().enumerate().filter(|_| T::COMPLEX) {
        s.spawn(task("conj", k, k, k), block.read_write(), |block: &mut Reflector<T>| conjugate(block.t_mut()));
    }
    RowReflectors(q)
}

/// Inserts tasks that conjugate each tile of a complex matrix.
#[track_caller]
pub(crate) fn conjugate_all<'s, T: Scalar>(s: &'s Scope<'s, '_>, a: &Tiled<'s, MatMut<'s, T>>) {
    for (i, j) in a.places().filter(|_| T::COMPLEX) {
        let tile = a.at(i, j).read_write();
        s.spawn(task("conj", i, j, 0), tile, |tile: &mut Tile<MatMut<'s, T>>| conjugate(tile.view_mut()));
    }
}

/// Factors an m x n matrix: A = L Q. L, lower trapezoidal, overwrites the lower part of A; to the right of it stand the
/// reflectors, and `tau` receives their min(m, n) scalar factors, as LAPACK has them: Q = … H₂ᴴ H₁ᴴ, Hᵢ = I − τᵢ vᵢ vᵢᴴ, where vᵢ
/// is zero before element i, which is one, and its conjugate stands in row i of A.
///
/// It is the QR factorization of Aᴴ, in place: of the transposed view, conjugated before and after.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if `tau` does not have min(m, n) elements.
///
/// ```
/// use superscalar::dla::{Matrix, Options, gelqf};
/// use superscalar::Runtime;
///
/// let rt = Runtime::new()?;
/// let (mut a, mut tau) = (Matrix::from_fn(1, 2, |_, j| [3.0, 4.0][j]), [0.0]);
/// gelqf(&rt, a.as_mut(), &mut tau, &Options::default())?;
/// assert_eq!((a.into_vec(), tau), (vec![-5.0, 0.5], [1.6]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn gelqf<T: Scalar>(rt: &Runtime, mut a: MatMut<'_, T>, tau: &mut [T], options: &Options) -> Result<(), Error> {
    let (m, n) = a.shape();
    geqrf::check_tau("gelqf", m.min(n), tau)?;
    conjugate(a.rb_mut());
    let outcome = by_columns(rt, a.rb_mut().transpose(), |at| geqrf::geqrf(rt, at, tau, options));
    conjugate(a);
    outcome
}

/// Does something with a matrix that lies by rows; where the runtime has devices, which copy columns, with a copy that
/// lies by columns.
pub(crate) fn by_columns<T: Scalar>(
    rt: &Runtime,
    mut at: MatMut<'_, T>,
    body: impl FnOnce(MatMut<'_, T>) -> Result<(), Error>,
) -> Result<(), Error> {
    if !rt.has_devices() || at.row_stride() == 1 {
        return body(at);
    }
    let mut copy = copied(at.as_ref())?;
    let outcome = body(copy.as_mut());
    at.copy_from(copy.as_ref());
    outcome
}

/// The same matrix by columns.
pub(crate) fn copied<T: Scalar>(a: MatRef<'_, T>) -> Result<Matrix<T>, Error> {
    let mut copy = Matrix::try_zeros(a.nrows(), a.ncols())?;
    copy.as_mut().copy_from(a);
    Ok(copy)
}

/// Factors A on the calling thread, as [`gelqf`](fn@crate::gelqf) does.
///
/// # Panics
/// If `tau` does not have min(m, n) elements.
///
/// ```
/// use superscalar::dla::{Matrix, serial};
///
/// let (mut a, mut tau) = (Matrix::from_fn(1, 2, |_, j| [3.0, 4.0][j]), [0.0]);
/// serial::gelqf(a.as_mut(), &mut tau);
/// assert_eq!((a.into_vec(), tau), (vec![-5.0, 0.5], [1.6]));
/// ```
#[each_type]
pub fn serial<T: Scalar>(mut a: MatMut<'_, T>, tau: &mut [T]) {
    conjugate(a.rb_mut());
    geqrf::serial(a.rb_mut().transpose(), tau);
    conjugate(a);
}

/// A = conj(A).
pub(crate) fn conjugate<T: Scalar>(mut a: MatMut<'_, T>) {
    for j in 0..if T::COMPLEX { a.ncols() } else { 0 } {
        match a.col_as_slice_mut(j) {
            Some(column) => column.iter_mut().for_each(|x| *x = x.conj()),
            None => (0..a.nrows()).for_each(|i| a[(i, j)] = a[(i, j)].conj()),
        }
    }
}
