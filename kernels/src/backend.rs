//! What a scalar type must bring for the kernels beyond arithmetic. Private, so [`Scalar`] is sealed.
//!
//! [`Scalar`]: crate::Scalar

use crate::cpu::{
    Blocks, Factorization, LuPanel, Mirror, Pack, Packed, Packs, QrPanel, SmallRank, Thin, Triangular,
    TriangularProduct,
};
use crate::scalar::{c32, c64};
use crate::simd::dispatch;
use crate::view::{MatMut, MatRef};
use faer::linalg::matmul::matmul_with_conj;
use faer::{Accum, Conj, Par};

/// A factor of a product: a view, whether its elements are conjugated when read, and what is remembered of it.
#[derive(Clone, Copy, Debug)]
pub struct Factor<'a, T> {
    pub view: MatRef<'a, T>,
    pub conj: bool,
    pub packs: Option<&'a Packs>,
    /// Where the diagonal is, if it is a part of a matrix of which one triangle is stored: elements of the view may lie in the other one.
    pub mirror: Option<Mirror>,
}

/// What is compiled once per element type, here, and not again in every crate that uses it: the vector kernels, which take
/// most of a build's time, and the product of operands too small to pack (see `cpu::gemm`), by faer.
pub trait Backend: Sized {
    /// C = alpha A B, or C = C + alpha A B when `accumulate`. Without it C is written and not read. Shapes must agree.
    fn small_product(alpha: Self, a: Factor<'_, Self>, b: Factor<'_, Self>, accumulate: bool, c: MatMut<'_, Self>);
    fn product(product: Blocks<'_, Self>);
    fn thin_product(product: Thin<'_, Self>);
    fn small_rank(update: SmallRank<'_, Self>);
    fn pack(pack: Pack<'_, Self>) -> Packed;
    fn triangular(triangular: Triangular<'_, Self>);
    fn triangular_product(product: TriangularProduct<'_, Self>);
    fn factor(factorization: Factorization<'_, Self>) -> usize;
    fn lu_panel(panel: LuPanel<'_, Self>) -> Option<usize>;
    fn qr_panel(panel: QrPanel<'_, Self>);
}

macro_rules! backends {
    ($($t:ty)*) => {$(
        impl Backend for $t {
            fn small_product(alpha: $t, a: Factor<'_, $t>, b: Factor<'_, $t>, accumulate: bool, c: MatMut<'_, $t>) {
                let conj = |yes| if yes { Conj::Yes } else { Conj::No };
                let accum = if accumulate { Accum::Add } else { Accum::Replace };
                let (left, right) = (faer::MatRef::from(a.view), faer::MatRef::from(b.view));
                matmul_with_conj(faer::MatMut::from(c), accum, left, conj(a.conj), right, conj(b.conj), alpha, Par::Seq);
            }
            fn product(product: Blocks<'_, $t>) {
                dispatch::<$t, _>(product);
            }
            fn thin_product(product: Thin<'_, $t>) {
                dispatch::<$t, _>(product);
            }
            fn small_rank(update: SmallRank<'_, $t>) {
                dispatch::<$t, _>(update);
            }
            fn pack(pack: Pack<'_, $t>) -> Packed {
                dispatch::<$t, _>(pack)
            }
            fn triangular(triangular: Triangular<'_, $t>) {
                dispatch::<$t, _>(triangular);
            }
            fn triangular_product(product: TriangularProduct<'_, $t>) {
                dispatch::<$t, _>(product);
            }
            fn factor(factorization: Factorization<'_, $t>) -> usize {
                dispatch::<$t, _>(factorization)
            }
            fn lu_panel(panel: LuPanel<'_, $t>) -> Option<usize> {
                dispatch::<$t, _>(panel)
            }
            fn qr_panel(panel: QrPanel<'_, $t>) {
                dispatch::<$t, _>(panel);
            }
        }
    )*};
}

backends!(f32 f64 c32 c64);
