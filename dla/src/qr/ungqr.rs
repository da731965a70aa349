//! Generation of the Q of a QR factorization.

use super::unmqr::{SERIAL_BLOCK, reflectors};
use crate::{
    Scalar,
    codelets::{Application, Larfb, TileMut, task},
    error::Error,
    matrix::Matrix,
    options::Options,
    plan::{Plan, Problem},
    tiled::Tiled,
};
use superscalar_kernels::{
    MatMut, MatRef, Op, Reflector, Side,
    cpu::{self, BlockReflector},
};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks that replace the m x n matrix A, in block columns, by the first n columns of Q. The first columns
/// of A hold the reflectors, as [`geqrf`](fn@crate::spawn::geqrf) leaves them with `tau`, one per element of `tau`.
///
/// # Panics
/// If A is not in block columns, n > m, or there are more reflectors than columns.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar>(s: &'s Scope<'s, '_>, a: &Tiled<'s, MatMut<'s, T>>, tau: &'s mut [T]) {
    let ((m, n), nb) = (a.shape(), a.tile_shape().1);
    assert!(n <= m, "ungqr: A is {m} x {n}; expected n <= m");
    let q = reflectors(s, a, tau);
    let larfb = Larfb::new();
    for j in 0..a.nt() {
        // Columns without reflectors start as those of the identity.
        let (first, known) = (j * nb, q.k.saturating_sub(j * nb).min(a.cols_of(j)));
        s.spawn(task("laset", 0, j, 0), a.at(0, j).read_write(), move |a: &mut TileMut<'s, T>| {
            // The part above the block on the diagonal holds R.
            let (mut above, below) = a.view_mut().split_at_row(first.min(m));
            above.fill(T::ZERO);
            let (rows, cols) = below.shape();
            identity(below.submatrix(0..rows, known..cols), known);
        });
    }
    for k in (0..q.blocks.len()).rev() {
        let (start, reflectors) = (k * nb, nb.min(q.k - k * nb));
        for j in k + 1..a.nt() {
            // A[k..m][j] := Q[k] A[k..m][j]
            let how = Application { side: Side::Left, op: Op::None, rows: start..m, k: reflectors, n: a.cols_of(j) };
            larfb.spawn(s, task("larfb", k, j, k), how, a.at(0, k), q.blocks[k], a.at(0, j));
        }
        // A[k..m][k] := Q[k] I
        let operands = (a.at(0, k).read_write(), q.blocks[k].read());
        let body = move |(a, q): (&mut TileMut<'s, T>, &Reflector<T>)| {
            multiply_out(a.view_mut().split_at_row(start).1, reflectors, q.t());
        };
        s.spawn(task("ungqr", k, k, k).priority(1), operands, body);
    }
}

/// Replaces the m x n matrix A by the first n columns of Q. The first k columns of A hold the reflectors of Q below the
/// diagonal, as [`geqrf`](fn@crate::geqrf) leaves them, and `tau` their k scalar factors. For real types this is
/// LAPACK's orgqr.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) unless k <= n <= m.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, geqrf, ungqr};
///
/// let (rt, o) = (Runtime::new()?, Options::default());
/// let (mut a, mut tau) = (Matrix::from_fn(2, 1, |i, _| [3.0f64, 4.0][i]), [0.0]);
/// geqrf(&rt, a.as_mut(), &mut tau, &o)?;
/// ungqr(&rt, a.as_mut(), &tau, &o)?;
/// assert!((a.at(0, 0) + 0.6).abs() < 1e-15 && (a.at(1, 0) + 0.8).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn ungqr<T: Scalar>(rt: &Runtime, mut a: MatMut<'_, T>, tau: &[T], options: &Options) -> Result<(), Error> {
    let ((m, n), k) = (a.shape(), tau.len());
    if n > m || k > n {
        return Err(Error::shape(format!("ungqr: A is {m} x {n} with k = {k} reflectors; expected k <= n <= m")));
    }
    if options.plan::<T>(rt, Problem::Product { m, n, k })? == Plan::Serial {
        serial(a, tau);
        return Ok(());
    }
    let nb = options.reflector_columns::<T>((m, n))?;
    let mut tau = tau.to_vec();
    Ok(rt.scope(|s| spawn(s, &Tiled::columns(s, a.rb_mut(), nb), &mut tau))?)
}

/// Replaces A by the first columns of Q on the calling thread, like [`ungqr`](fn@crate::ungqr).
///
/// # Panics
/// Unless k <= n <= m.
///
/// ```
/// use superscalar::dla::{Matrix, serial};
///
/// let (mut a, mut tau) = (Matrix::from_fn(2, 1, |i, _| [3.0f64, 4.0][i]), [0.0]);
/// serial::geqrf(a.as_mut(), &mut tau);
/// serial::ungqr(a.as_mut(), &tau);
/// assert!((a.at(0, 0) + 0.6).abs() < 1e-15 && (a.at(1, 0) + 0.8).abs() < 1e-15);
/// ```
#[each_type]
pub fn serial<T: Scalar>(mut a: MatMut<'_, T>, tau: &[T]) {
    let ((m, n), k) = (a.shape(), tau.len());
    assert!(k <= n && n <= m, "ungqr: A is {m} x {n} with k = {k} reflectors; expected k <= n <= m");
    identity(a.rb_mut().submatrix(0..m, k..n), k);
    let mut t = Matrix::zeros(SERIAL_BLOCK.min(k), SERIAL_BLOCK.min(k));
    for start in (0..k).step_by(SERIAL_BLOCK).rev() {
        let count = SERIAL_BLOCK.min(k - start);
        // After this block's columns are done, the rows above are those of the identity.
        let (above, below) = a.rb_mut().submatrix(0..m, start..n).split_at_row(start);
        let mut t = t.as_mut().submatrix(0..count, 0..count);
        cpu::larft(below.as_ref().submatrix(0..m - start, 0..count), &tau[start..start + count], t.rb_mut());
        multiply_out(below, count, t.as_ref());
        above.submatrix(0..start, 0..count).fill(T::ZERO);
    }
}

/// Computes A := Q (I, B) for A = (V, B), where V are the k reflectors of Q and T their triangular factor.
fn multiply_out<T: Scalar>(mut a: MatMut<'_, T>, k: usize, t: MatRef<'_, T>) {
    let m = a.nrows();
    let mut v = Matrix::zeros(m, k);
    v.as_mut().copy_from(a.as_ref().submatrix(0..m, 0..k));
    identity(a.rb_mut().submatrix(0..m, 0..k), 0);
    cpu::larfb(Side::Left, Op::None, BlockReflector::new(v.as_ref(), t), a);
}

/// Sets A to zeros, with ones where the row is the column + `shift`.
fn identity<T: Scalar>(mut a: MatMut<'_, T>, shift: usize) {
    let (m, n) = a.shape();
    a.fill(T::ZERO);
    for j in 0..n.min(m.saturating_sub(shift)) {
        a[(j + shift, j)] = T::ONE;
    }
}
