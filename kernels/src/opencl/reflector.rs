//! larfb: applies a block reflector Q = I − V T Vᴴ by products alone. Packing, or the kernel that reads V where it is,
//! completes the triangles of V with their ones and zeros, which makes trmm a gemm; Quintana-Ortí, Igual, Quintana-Ortí
//! and van de Geijn do the same on accelerators.

use super::{
    product::Product,
    stream::Stream,
    tall::adjoint_product,
    view::{Structure, View},
};
use crate::{Op, Scalar, Side, Uplo, operations::Larfb};
use superscalar_runtime::DeviceError;

/// Computes C := op(Q) C or C op(Q). If T has fewer rows than columns, Q is the product of several reflectors, each of
/// as many columns as T has rows.
pub(super) fn larfb<T: Scalar>(
    stream: &mut Stream<'_>,
    Larfb { side, op, v, t, c }: Larfb<T>,
) -> Result<(), DeviceError> {
    let (m, k) = v.shape();
    let c = View::of(c);
    // From the right, compute (C op(Q))ᵀ = op(Q)ᵀ Cᵀ instead.
    let c = if side == Side::Right { c.transpose() } else { c };
    if k == 0 || c.n == 0 {
        return Ok(());
    }
    let block = t.m;
    let blocks = k.div_ceil(block);
    // Q C and C Qᴴ begin with the last factor of Q.
    let backward = (side == Side::Left) == (op == Op::None);
    for count in 0..blocks {
        let first = block * if backward { blocks - 1 - count } else { count };
        let columns = first..k.min(first + block);
        let v = View::of(v.submatrix(first..m, columns.clone()));
        let t = View::of(t.submatrix(0..columns.len(), columns));
        apply::<T>(stream, (side, op), v, t, c.part(first..m, 0..c.n))?;
    }
    Ok(())
}

/// Applies a reflector with one T to the C on its right. For [`Side::Right`], Q is transposed.
fn apply<T: Scalar>(
    stream: &mut Stream<'_>,
    (side, op): (Side, Op),
    v: View,
    t: View,
    c: View,
) -> Result<(), DeviceError> {
    let (right, adjoint) = (side == Side::Right, op != Op::None);
    let v = v.structured(Structure::UnitTriangle(Uplo::Lower));
    // Qᵀ is I − conj(V) Tᵀ Vᵀ.
    let v = if right { v.conj() } else { v };
    let t = if adjoint != right { t.transpose() } else { t };
    let t = if adjoint { t.conj() } else { t };
    let (k, n) = (v.n, c.n);
    let before = stream.scratch.mark();
    let y = View::dense(stream.scratch.take::<T>(k * n)?, k, n);
    let z = View::dense(stream.scratch.take::<T>(k * n)?, k, n);
    // Y = Vᴴ C, then C − V (op(T) Y).
    adjoint_product::<T>(stream, v, c, y)?;
    Product { beta: T::ZERO, ..Product::adding(T::ONE, t, y, z) }.run(stream)?;
    Product::adding(-T::ONE, v, z, c).run(stream)?;
    stream.scratch.release(before);
    Ok(())
}
