//! [`Call`]: one operation on matrices in a device's heap.

use super::{
    Gemm, Geqrf, Getrf, Lacpy, Larfb, Laswp, Mat, Potrf, Rank2k, RankK, Scale, Symm, Triangular, check::Placed,
};
use crate::Scalar;

/// One operation on matrices in a device's heap. The meaning, the rules for alpha and beta, and what is read and written are
/// those of the host's kernel of the name (see [`cpu`](crate::cpu)); matrices that are written overlap no others.
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
    /// A copy, perhaps transposed.
    Lacpy(Lacpy<Mat<T>>),
    /// A scaling.
    Scale(Scale<T, Mat<T>>),
}

impl<T: Scalar> Call<T> {
    /// The operation itself.
    pub(super) fn placed(&self) -> &dyn Placed<T> {
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
            Self::Scale(operation) => operation,
        }
    }

    /// A call on a trapezoid as one on its triangle, and one on what is below or beside that, in this order.
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
