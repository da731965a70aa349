//! larfb: a block reflector Q = I − V T Vᴴ applied by products alone. The triangles of V are completed with their ones and zeros as
//! they are packed, which makes trmm a gemm (Quintana-Ortí, Igual, Quintana-Ortí and van de Geijn's choice for accelerators, too).

use super::{
    product::Product,
    stream::Stream,
    view::{Structure, View},
};
use crate::{Op, Scalar, Side, Uplo, operations::Larfb};
use superscalar_runtime::DeviceError;

/// C := op(Q) C or C op(Q). With T of fewer rows than columns, Q is the product of one reflector for every so many columns.
pub(super) fn larfb<T: Scalar>(
    stream: &mut Stream<'_>,
    Larfb { side, op, v, t, c }: Larfb<T>,
) -> Result<(), DeviceError> {
    let (m, k) = v.shape();
    let c = View::of(c);
    // From the right it is (C op(Q))ᵀ = op(Q)ᵀ Cᵀ.
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

/// The same for one T and a C that stands on the right of Q, or of its transpose.
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
    let set = |a, b, c| Product { beta: T::ZERO, ..Product::adding(T::ONE, a, b, c) };
    set(v.transpose().conj(), c, y).run(stream)?;
    set(t, y, z).run(stream)?;
    Product::adding(-T::ONE, v, z, c).run(stream)?;
    stream.scratch.release(before);
    Ok(())
}
