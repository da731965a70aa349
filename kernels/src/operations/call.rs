//! [`Call`]: one operation on matrices in a device's heap.

use super::{
    BatchCall, Geadd, Gemm, Geqrf, Getrf, Lacpy, Larfb, Laswp, Mat, Potrf, Rank2k, RankK, Scale, Symm, Triangular,
    check::HeapOperation,
};
use crate::Scalar;

/// One operation on matrices in a device's heap. Its meaning, the rules for alpha and beta, and which elements are read
/// and written are those of the host kernel of the same name (see [`cpu`](crate::cpu)). A matrix that is written must
/// not overlap another one.
#[derive(Clone, Debug)]
pub enum Call<T: Scalar> {
    /// gemm and gemmt.
    Gemm(Gemm<T, Mat<T>>),
    /// symm and hemm.
    Symm(Symm<T, Mat<T>>),
    /// syrk and herk.
    RankK(RankK<T, Mat<T>>),
    /// syr2k and her2k.
    Rank2k(Rank2k<T, Mat<T>>),
    /// trmm and trsm.
    Triangular(Triangular<T, Mat<T>>),
    /// potrf.
    Potrf(Potrf<Mat<T>>),
    /// getrf.
    Getrf(Getrf<T>),
    /// geqrf.
    Geqrf(Geqrf<T>),
    /// laswp.
    Laswp(Laswp<T>),
    /// larfb.
    Larfb(Larfb<T>),
    /// A copy, optionally transposed.
    Lacpy(Lacpy<Mat<T>>),
    /// A sum of two matrices, the first optionally transposed.
    Geadd(Geadd<T, Mat<T>>),
    /// Scales a matrix.
    Scale(Scale<T, Mat<T>>),
    /// An operation on every problem of a batch.
    Batch(Box<BatchCall<T>>),
}

impl<T: Scalar> Call<T> {
    /// Returns the operation itself.
    pub(super) fn operation(&self) -> &dyn HeapOperation<T> {
        match self {
            Self::Gemm(operation) => operation,
            Self::Symm(operation) => operation,
            Self::RankK(operation) => operation,
            Self::Rank2k(operation) => operation,
            Self::Triangular(operation) => operation,
            Self::Potrf(operation) => operation,
            Self::Getrf(operation) => operation,
            Self::Geqrf(operation) => operation,
            Self::Laswp(operation) => operation,
            Self::Larfb(operation) => operation,
            Self::Lacpy(operation) => operation,
            Self::Geadd(operation) => operation,
            Self::Scale(operation) => operation,
            Self::Batch(call) => &**call,
        }
    }

    /// Splits a call on a trapezoid into one on its triangle and one on the rest below or beside it, to be run in this
    /// order. Returns `None` if the call has no trapezoid.
    pub(crate) fn triangle_and_rest(&self) -> Option<[Self; 2]> {
        match *self {
            Self::RankK(update) => {
                let (triangle, rest) = update.triangle_and_rest();
                Some([Self::RankK(triangle), Self::Gemm(rest?)])
            }
            Self::Potrf(factorization) => {
                let (triangle, rest) = factorization.triangle_and_rest();
                Some([Self::Potrf(triangle), Self::Triangular(rest?)])
            }
            _ => None,
        }
    }
}
