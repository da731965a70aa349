//! What a scalar type must bring for the kernels beyond arithmetic: a matrix product. Private, so [`Scalar`] is sealed.
//!
//! [`Scalar`]: crate::Scalar

use crate::cpu::Packs;
use crate::view::{MatMut, MatRef};
use faer::linalg::matmul::matmul_with_conj;
use faer::{Accum, Conj, Par};

/// A factor of a product: a view, whether its elements are conjugated when read, and what is remembered of it.
#[derive(Clone, Copy, Debug)]
pub struct Factor<'a, T> {
    pub view: MatRef<'a, T>,
    pub conj: bool,
    pub packs: Option<&'a Packs>,
}

/// The product of operands too small to pack (see `cpu::gemm`), by faer.
pub trait Backend: Sized {
    /// C = alpha A B, or C = C + alpha A B when `accumulate`. Without it C is written and not read. Shapes must agree.
    fn product(alpha: Self, a: Factor<'_, Self>, b: Factor<'_, Self>, accumulate: bool, c: MatMut<'_, Self>);
}

impl<T: faer::traits::ComplexField> Backend for T {
    #[inline]
    fn product(alpha: T, a: Factor<'_, T>, b: Factor<'_, T>, accumulate: bool, c: MatMut<'_, T>) {
        let conj = |yes| if yes { Conj::Yes } else { Conj::No };
        matmul_with_conj(
            faer::MatMut::from(c),
            if accumulate { Accum::Add } else { Accum::Replace },
            faer::MatRef::from(a.view),
            conj(a.conj),
            faer::MatRef::from(b.view),
            conj(b.conj),
            alpha,
            Par::Seq,
        );
    }
}
