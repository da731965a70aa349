//! Symmetric and Hermitian: what they have in common, and what not.

use superscalar_kernels::{Op, Scalar};

/// Whether a matrix equals its transpose or its conjugate transpose. For real types both are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symmetry {
    Symmetric,
    Hermitian,
}

impl Symmetry {
    /// How a block of one triangle becomes its mirror image.
    pub(crate) fn mirror(self) -> Op {
        match self {
            Self::Symmetric => Op::Trans,
            Self::Hermitian => Op::ConjTrans,
        }
    }

    /// What takes `op(A)` to the other side of a product: its own op if it was none.
    pub(crate) fn other(self, op: Op) -> Op {
        if op == Op::None { self.mirror() } else { Op::None }
    }

    /// The rank-k update of this kind.
    pub(crate) fn rank_k(self) -> &'static str {
        if self == Self::Hermitian { "herk" } else { "syrk" }
    }

    /// The rank-2k update of this kind.
    pub(crate) fn rank_2k(self) -> &'static str {
        if self == Self::Hermitian { "her2k" } else { "syr2k" }
    }

    /// The product with a matrix of this kind.
    pub(crate) fn mm(self) -> &'static str {
        if self == Self::Hermitian { "hemm" } else { "symm" }
    }

    /// What alpha becomes when a product is mirrored.
    pub(crate) fn conj<T: Scalar>(self, x: T) -> T {
        if self == Self::Hermitian { x.conj() } else { x }
    }
}
