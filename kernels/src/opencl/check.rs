//! Whether the shapes of a call agree: kernels that go by them must not leave the operands.

use crate::{
    Op, Scalar, Side,
    device::{Call, Mat, Triangle},
};
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
