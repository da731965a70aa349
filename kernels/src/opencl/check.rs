//! Whether the shapes of a call agree, and its operands lie in the heap: kernels go by what they are told.

use crate::{
    Op, Scalar, Side,
    device::{Call, Mat, Triangle},
};
use std::ops::Range;
use superscalar_runtime::DeviceError;

/// The error names what is wrong.
pub(super) fn check<T: Scalar>(call: &Call<T>) -> Result<(), DeviceError> {
    let (name, agree) = match call {
        Call::Gemm { part, op_a, op_b, a, b, c, .. } => {
            let ((m, k), (k_b, n)) = (op_a.shape(a.shape()), op_b.shape(b.shape()));
            ("gemm", (m, n) == c.shape() && k == k_b && (part.is_none() || m == n))
        }
        Call::Symm { side, a, b, c, .. } => ("symm", b.shape() == c.shape() && a.shape() == order(*side, *c)),
        Call::RankK { hermitian, op, a, c, .. } => ("syrk", rank_k(*hermitian, *op, *a, *c)),
        Call::Rank2k { hermitian, op, a, b, c, .. } => {
            ("syr2k", rank_k(*hermitian, *op, *a, *c) && a.shape() == b.shape())
        }
        Call::Trmm(Triangle { side, a, b, .. }) => ("trmm", a.shape() == order(*side, *b)),
        Call::Trsm(Triangle { side, a, b, .. }) => ("trsm", a.shape() == order(*side, *b)),
        Call::Potrf { a, .. } => ("potrf", a.m == a.n),
        Call::Laswp { a, first, ipiv, .. } => {
            // A block of interchanges lies in one piece.
            let pieces = ipiv.iter().all(|one| one.n <= 1 || one.m == one.ld || one.m == 1 && one.ld == 1);
            ("laswp", pieces && first + ipiv.iter().map(|one| one.m * one.n).sum::<usize>() <= a.m)
        }
        Call::Larfb { side, op, v, t, c } => {
            let (m, k) = v.shape();
            let fits = m >= k && order(*side, *c) == (m, m) && t.n == k && (1..=k.max(1)).contains(&t.m);
            ("larfb", (fits || k == 0) && (!T::COMPLEX || *op != Op::Trans))
        }
        Call::Copy { op, a, b } => ("copy", op.shape(a.shape()) == b.shape()),
        Call::Scale { .. } => ("scale", true),
    };
    if agree { Ok(()) } else { Err(DeviceError::new(format!("{name}: the operands do not agree: {call:?}"))) }
}

/// Fails unless all operands lie in the first so many bytes of the heap, and the scratch memory, too.
pub(super) fn check_bounds<T: Scalar>(
    call: &Call<T>,
    scratch: &Range<usize>,
    heap_bytes: usize,
) -> Result<(), DeviceError> {
    let operands: Vec<Mat<T>> = match call {
        Call::Gemm { a, b, c, .. } | Call::Symm { a, b, c, .. } | Call::Rank2k { a, b, c, .. } => vec![*a, *b, *c],
        Call::RankK { a, c, .. } => vec![*a, *c],
        Call::Trmm(Triangle { a, b, .. }) | Call::Trsm(Triangle { a, b, .. }) | Call::Copy { a, b, .. } => vec![*a, *b],
        Call::Larfb { v, t, c, .. } => vec![*v, *t, *c],
        Call::Potrf { a, .. } | Call::Laswp { a, .. } | Call::Scale { a, .. } => vec![*a],
    };
    let indices = if let Call::Laswp { ipiv, .. } = call { &ipiv[..] } else { &[] };
    let is_inside = operands.into_iter().all(|a| ends_within(a, heap_bytes))
        && indices.iter().all(|&one| ends_within(one, heap_bytes))
        && scratch.start <= scratch.end
        && scratch.end <= heap_bytes;
    if is_inside {
        return Ok(());
    }
    Err(DeviceError::new(format!(
        "operands or scratch memory {scratch:?} leave the heap of {heap_bytes} bytes: {call:?}"
    )))
}

/// Whether the last element of a matrix, if it has one, lies in so many bytes.
fn ends_within<E>(a: Mat<E>, bytes: usize) -> bool {
    if a.m == 0 || a.n == 0 {
        return true;
    }
    let end = (a.n - 1).checked_mul(a.ld).and_then(|last| last.checked_add(a.m)?.checked_add(a.offset));
    end.and_then(|end| end.checked_mul(size_of::<E>())).is_some_and(|end| end <= bytes)
}

/// The shape of a square matrix on this side of B.
fn order<T>(side: Side, b: Mat<T>) -> (usize, usize) {
    let n = if side == Side::Left { b.m } else { b.n };
    (n, n)
}

/// Of complex matrices, syrk takes no conjugate transpose and herk no plain one.
fn rank_k<T: Scalar>(hermitian: bool, op: Op, a: Mat<T>, c: Mat<T>) -> bool {
    let n = op.shape(a.shape()).0;
    let taken = !T::COMPLEX || op != if hermitian { Op::Trans } else { Op::ConjTrans };
    c.shape() == (n, n) && taken
}
