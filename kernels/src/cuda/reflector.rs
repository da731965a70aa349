//! larfb: applies a block reflector Q = I − V T Vᴴ by products alone. The triangle of V is completed with its ones and
//! zeros, which makes trmm a gemm; Quintana-Ortí, Igual, Quintana-Ortí and van de Geijn do the same on accelerators.
//! The rows below the triangle are used directly.

use super::{elements::complete, stream::Stream};
use crate::{
    Op, Scalar, Side,
    device::Mat,
    operations::{Gemm, Larfb},
};
use superscalar_runtime::DeviceError;

/// Computes C := op(Q) C or C op(Q). If T has fewer rows than columns, Q is the product of several reflectors, each of
/// as many columns as T has rows.
pub(super) fn larfb<T: Scalar>(
    stream: &mut Stream<'_, T>,
    Larfb { side, op, v, t, c }: Larfb<T>,
) -> Result<(), DeviceError> {
    let (m, k) = v.shape();
    if k == 0 || c.m == 0 || c.n == 0 {
        return Ok(());
    }
    let block = t.m;
    let blocks = k.div_ceil(block);
    // Q C and C Qᴴ begin with the last factor of Q.
    let backward = (side == Side::Left) == (op == Op::None);
    for count in 0..blocks {
        let first = block * if backward { blocks - 1 - count } else { count };
        let columns = first..k.min(first + block);
        let v = v.submatrix(first..m, columns.clone());
        let t = t.submatrix(0..columns.len(), columns);
        let part = match side {
            Side::Left => c.submatrix(first..m, 0..c.n),
            Side::Right => c.submatrix(0..c.m, first..m),
        };
        apply(stream, (side, op), v, t, part)?;
    }
    Ok(())
}

/// Computes Y = Vᴴ C, then C − V (op(T) Y); from the right Y = C V, then C − (Y op(T)) Vᴴ. The triangle of V and the
/// rows below it are separate factors.
fn apply<T: Scalar>(
    stream: &mut Stream<'_, T>,
    (side, op): (Side, Op),
    v: Mat<T>,
    t: Mat<T>,
    c: Mat<T>,
) -> Result<(), DeviceError> {
    let (m, k) = v.shape();
    let before = stream.scratch.mark();
    let unit = stream.take::<T>((k, k))?;
    let shape = if side == Side::Left { (k, c.n) } else { (c.m, k) };
    let (y, z) = (stream.take::<T>(shape)?, stream.take::<T>(shape)?);
    complete(stream, v.submatrix(0..k, 0..k), unit)?;
    let (below, plain) = (v.submatrix(k..m, 0..k), (Op::None, Op::None));
    match side {
        Side::Left => {
            let (top, bottom) = (c.submatrix(0..k, 0..c.n), c.submatrix(k..m, 0..c.n));
            let transposed = (Op::ConjTrans, Op::None);
            set(transposed, unit, top, y).enqueue(stream)?;
            adding(T::ONE, transposed, below, bottom, y, stream)?;
            set((op, Op::None), t, y, z).enqueue(stream)?;
            adding(-T::ONE, plain, unit, z, top, stream)?;
            adding(-T::ONE, plain, below, z, bottom, stream)?;
        }
        Side::Right => {
            let (first, rest) = (c.submatrix(0..c.m, 0..k), c.submatrix(0..c.m, k..m));
            let transposed = (Op::None, Op::ConjTrans);
            set(plain, first, unit, y).enqueue(stream)?;
            adding(T::ONE, plain, rest, below, y, stream)?;
            set((Op::None, op), y, t, z).enqueue(stream)?;
            adding(-T::ONE, transposed, z, unit, first, stream)?;
            adding(-T::ONE, transposed, z, below, rest, stream)?;
        }
    }
    stream.scratch.release(before);
    Ok(())
}

/// Returns the product C := op(A) op(B).
fn set<T: Scalar>(ops: (Op, Op), a: Mat<T>, b: Mat<T>, c: Mat<T>) -> Gemm<T, Mat<T>> {
    Gemm::new(ops, T::ONE, (a, b), T::ZERO, c)
}

/// Computes C := C + alpha op(A) op(B).
fn adding<T: Scalar>(
    alpha: T,
    ops: (Op, Op),
    a: Mat<T>,
    b: Mat<T>,
    c: Mat<T>,
    stream: &mut Stream<'_, T>,
) -> Result<(), DeviceError> {
    Gemm::new(ops, alpha, (a, b), T::ONE, c).enqueue(stream)
}
