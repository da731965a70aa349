//! Products with the Q of an LQ factorization.

use super::{
    RowReflectors,
    gelqf::{column_major_copy, conjugate, conjugate_all},
    unmqr,
};
use crate::{
    Scalar,
    error::Error,
    matrix::Matrix,
    options::Options,
    tiled::{TileView, Tiled},
};
use superscalar_kernels::{MatMut, MatRef, Op, Side};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks that compute the triangular factors of the reflectors in A, as [`gelqf`](fn@crate::spawn::gelqf)
/// left them with `tau` in an earlier scope. (In the scope of the factorization, use what `gelqf` returns.) As for
/// `gelqf`, A is given by its transposed view. `tau` is conjugated.
///
/// # Panics
/// If the view is not in block columns, or there are more reflectors than rows or columns.
#[each_type]
#[track_caller]
pub fn row_reflectors<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    at: &Tiled<'s, V>,
    tau: &'s mut [T],
) -> RowReflectors<'s, T> {
    tau.iter_mut().for_each(|tau| *tau = tau.conj());
    RowReflectors(unmqr::reflectors(s, at, tau))
}

/// Inserts the tasks of C := op(Q) C (left) or C := C op(Q) (right). A, given by its transposed view in block columns,
/// holds the reflectors of Q, as [`gelqf`](fn@crate::spawn::gelqf) leaves them. C lies in block columns (left) or block
/// rows (right).
///
/// # Panics
/// If the view of A is not in block columns or C not in block columns (left) or block rows (right); if the order of Q
/// does not match C; or for [`Op::Trans`] of a complex type.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    side: Side,
    op: Op,
    at: &Tiled<'s, V>,
    q: &RowReflectors<'s, T>,
    c: &Tiled<'s, MatMut<'s, T>>,
) {
    // A holds conj(V), so apply conj(Q) to conj(C).
    conjugate_all(s, c);
    unmqr::spawn(s, side, adjoint::<T>(op), at, &q.0, c);
    conjugate_all(s, c);
}

/// Returns the operation on the Q of the QR factorization of Aᴴ, which is the adjoint of the Q of A = L Q.
fn adjoint<T: Scalar>(op: Op) -> Op {
    match op {
        Op::None => Op::ConjTrans,
        Op::Trans if T::COMPLEX => Op::Trans,
        _ => Op::None,
    }
}

/// Computes C = op(Q) C (left) or C = C op(Q) (right). The first k rows of A hold the reflectors of Q to the right of
/// the diagonal, as [`gelqf`](fn@crate::gelqf) leaves them, and `tau` their k scalar factors. A has as many columns as
/// Q has rows. For real types this is LAPACK's ormlq, and [`Op::Trans`] is Qᵀ.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes do not match; [`Argument`](crate::ErrorKind::Argument) for
/// [`Op::Trans`] of a complex type.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Op, Options, Side, gelqf, unmlq};
///
/// let (rt, o) = (Runtime::new()?, Options::default());
/// let (mut a, mut tau) = (Matrix::from_fn(1, 2, |_, j| [3.0, 4.0][j]), [0.0]);
/// gelqf(&rt, a.as_mut(), &mut tau, &o)?;
/// let mut c = Matrix::from_fn(1, 2, |_, j| [-5.0f64, 0.0][j]);
/// unmlq(&rt, Side::Right, Op::None, a.as_ref(), &tau, c.as_mut(), &o)?; // L Q
/// assert!((c.at(0, 0) - 3.0).abs() < 1e-14 && (c.at(0, 1) - 4.0).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn unmlq<T: Scalar>(
    rt: &Runtime,
    side: Side,
    op: Op,
    a: MatRef<'_, T>,
    tau: &[T],
    mut c: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let (shape, k) = (c.shape(), tau.len());
    let order = if side == Side::Left { shape.0 } else { shape.1 };
    if a.ncols() != order || k > a.nrows().min(order) {
        let why = format!("unmlq: A is {:?} with {k} reflectors, C is {shape:?}, side {side}", a.shape());
        return Err(Error::shape(why));
    }
    unmqr::check_op::<T>("unmlq", op)?;
    let tau = conjugated(tau);
    conjugate(c.rb_mut());
    let v = a.submatrix(0..k, 0..order).transpose();
    // Devices need contiguous columns.
    let copy = rt.has_devices().then(|| column_major_copy(v)).transpose()?;
    let v = copy.as_ref().map_or(v, Matrix::as_ref);
    let outcome = unmqr::apply(rt, side, adjoint::<T>(op), v, &tau, c.rb_mut(), options);
    conjugate(c);
    outcome
}

/// Returns the conjugates of scalar factors.
pub(crate) fn conjugated<T: Scalar>(tau: &[T]) -> Vec<T> {
    tau.iter().map(|tau| tau.conj()).collect()
}

/// Multiplies C by op(Q) on the calling thread, like [`unmlq`](fn@crate::unmlq).
///
/// # Panics
/// If the shapes do not match, or for [`Op::Trans`] of a complex type.
///
/// ```
/// use superscalar::dla::{Matrix, Op, Side, serial};
///
/// let (mut a, mut tau) = (Matrix::from_fn(1, 2, |_, j| [3.0, 4.0][j]), [0.0]);
/// serial::gelqf(a.as_mut(), &mut tau);
/// let mut c = Matrix::from_fn(1, 2, |_, j| [-5.0f64, 0.0][j]);
/// serial::unmlq(Side::Right, Op::None, a.as_ref(), &tau, c.as_mut()); // L Q
/// assert!((c.at(0, 0) - 3.0).abs() < 1e-14 && (c.at(0, 1) - 4.0).abs() < 1e-14);
/// ```
#[each_type]
pub fn serial<T: Scalar>(side: Side, op: Op, a: MatRef<'_, T>, tau: &[T], mut c: MatMut<'_, T>) {
    let v = a.submatrix(0..tau.len(), 0..a.ncols()).transpose();
    conjugate(c.rb_mut());
    unmqr::serial(side, adjoint::<T>(op), v, &conjugated(tau), c.rb_mut());
    conjugate(c);
}
