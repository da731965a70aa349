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

/// The reflectors of an LQ factorization whose tasks are inserted: besides A, the data needed to apply Q.
pub struct RowReflectors<'s, T>(pub(crate) Reflectors<'s, T>);

/// Inserts the tasks of the factorization A = L Q of an m x n matrix. A is given by its transposed view in block
/// columns: `Tiled::columns(s, a.transpose(), nb)`. Uses [`geqrf`](fn@crate::spawn::geqrf) on the conjugate.
///
/// # Panics
/// If the view is not in block columns, or `tau` does not have min(m, n) elements.
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
    // From here on, A holds the conjugates of V. Together with conj(T) they represent conj(Q).
    for (k, &block) in q.blocks.iter().enumerate().filter(|_| T::COMPLEX) {
        s.spawn(task("conj", k, k, k), block.read_write(), |block: &mut Reflector<T>| conjugate(block.t_mut()));
    }
    RowReflectors(q)
}

/// Inserts tasks that conjugate each tile of a complex matrix.
#[track_caller]
pub(crate) fn conjugate_all<'s, T: Scalar>(s: &'s Scope<'s, '_>, a: &Tiled<'s, MatMut<'s, T>>) {
    for (i, j) in a.tile_indices().filter(|_| T::COMPLEX) {
        let tile = a.at(i, j).read_write();
        s.spawn(task("conj", i, j, 0), tile, |tile: &mut Tile<MatMut<'s, T>>| conjugate(tile.view_mut()));
    }
}

/// Computes the LQ factorization A = L Q of an m x n matrix. L, lower trapezoidal, overwrites the lower part of A. The
/// reflectors overwrite the part to the right of it, and `tau` receives their min(m, n) scalar factors, in LAPACK's
/// form: Q = … H₂ᴴ H₁ᴴ, Hᵢ = I − τᵢ vᵢ vᵢᴴ, where vᵢ is zero before element i, which is one; row i of A holds its
/// conjugate.
///
/// The routine computes the QR factorization of Aᴴ in place, on the transposed view, which is conjugated before and
/// after.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if `tau` does not have min(m, n) elements.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, gelqf};
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
    let outcome = with_column_major(rt, a.rb_mut().transpose(), |at| geqrf::geqrf(rt, at, tau, options));
    conjugate(a);
    outcome
}

/// Calls `body` with a matrix in row-major order. If the runtime has devices, which need contiguous columns, `body`
/// gets a column-major copy, which is copied back.
pub(crate) fn with_column_major<T: Scalar>(
    rt: &Runtime,
    mut at: MatMut<'_, T>,
    body: impl FnOnce(MatMut<'_, T>) -> Result<(), Error>,
) -> Result<(), Error> {
    if !rt.has_devices() || at.row_stride() == 1 {
        return body(at);
    }
    let mut copy = column_major_copy(at.as_ref())?;
    let outcome = body(copy.as_mut());
    at.copy_from(copy.as_ref());
    outcome
}

/// Returns a column-major copy of the matrix.
pub(crate) fn column_major_copy<T: Scalar>(a: MatRef<'_, T>) -> Result<Matrix<T>, Error> {
    let mut copy = Matrix::try_zeros(a.nrows(), a.ncols())?;
    copy.as_mut().copy_from(a);
    Ok(copy)
}

/// Computes the LQ factorization of A on the calling thread, like [`gelqf`](fn@crate::gelqf).
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

/// Computes A := conj(A).
pub(crate) fn conjugate<T: Scalar>(mut a: MatMut<'_, T>) {
    for j in 0..if T::COMPLEX { a.ncols() } else { 0 } {
        match a.col_as_slice_mut(j) {
            Some(column) => column.iter_mut().for_each(|x| *x = x.conj()),
            None => (0..a.nrows()).for_each(|i| a[(i, j)] = a[(i, j)].conj()),
        }
    }
}
