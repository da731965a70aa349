//! Products with the Q of an LQ factorization.

use super::{gelqf::conjugate, unmqr};
use crate::{error::Error, matrix::Matrix, options::Options};
use superscalar_kernels::{MatMut, MatRef, Op, Scalar, Side};
use superscalar_runtime::Runtime;

/// C = op(Q) C (left) or C = C op(Q) (right), where the first k rows of A hold the reflectors of Q to the right of the diagonal,
/// as [`gelqf`](fn@crate::gelqf) leaves them, and `tau` their k scalar factors. A has as many columns as Q has rows; for real
/// types this is LAPACK's ormlq, and [`Op::Trans`] is Qᵀ.
///
/// For complex types the reflectors are copied, because A holds their conjugates.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes do not agree; [`Argument`](crate::ErrorKind::Argument) for [`Op::Trans`] of
/// a complex type.
///
/// ```
/// use superscalar_dla::{Matrix, Options, gelqf, unmlq};
/// use superscalar_kernels::{Op, Side};
/// use superscalar_runtime::Runtime;
///
/// let (rt, o) = (Runtime::new()?, Options::default());
/// let (mut a, mut tau) = (Matrix::from_fn(1, 2, |_, j| [3.0, 4.0][j]), [0.0]);
/// gelqf(&rt, a.as_mut(), &mut tau, &o)?;
/// let mut c = Matrix::from_fn(1, 2, |_, j| [-5.0f64, 0.0][j]);
/// unmlq(&rt, Side::Right, Op::None, a.as_ref(), &tau, c.as_mut(), &o)?; // L Q
/// assert!((c.at(0, 0) - 3.0).abs() < 1e-14 && (c.at(0, 1) - 4.0).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn unmlq<T: Scalar>(
    rt: &Runtime,
    side: Side,
    op: Op,
    a: MatRef<'_, T>,
    tau: &[T],
    c: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let (shape, k) = (c.shape(), tau.len());
    let order = if side == Side::Left { shape.0 } else { shape.1 };
    if a.ncols() != order || k > a.nrows().min(order) {
        let why = format!("unmlq: {k} reflectors in A of {:?}, C {:?}, side {side}", a.shape(), shape);
        return Err(Error::shape(why));
    }
    unmqr::check_op::<T>("unmlq", op)?;
    // The Q of A = L Q is the adjoint of that of the QR factorization of Aᴴ.
    let op = if op == Op::None { Op::ConjTrans } else { Op::None };
    let v = a.submatrix(0..k, 0..order).transpose();
    if !T::COMPLEX {
        return unmqr::apply(rt, side, op, v, tau, c, options);
    }
    let mut conjugated = Matrix::zeros(order, k);
    conjugated.as_mut().copy_from(v);
    conjugate(conjugated.as_mut());
    unmqr::apply(rt, side, op, conjugated.as_ref(), tau, c, options)
}
