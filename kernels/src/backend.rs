//! What a scalar type must bring for the kernels beyond arithmetic. Private, so [`Scalar`] is sealed.
//!
//! [`Scalar`]: crate::Scalar

use crate::Scalar;
use crate::cpu::{
    Blocks, ChooseVectors, Factorization, LuPanel, Mirror, Pack, Packed, Packs, QrPanel, Small, SmallRank, Thin,
    Triangular, TriangularProduct, VectorParts,
};
use crate::scalar::{c32, c64};
use crate::simd::dispatch;
use crate::view::MatRef;
use std::sync::OnceLock;

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
/// most of a build's time.
pub trait Backend: Sized {
    fn small_product(product: &Small<'_, Self>);
    fn product(product: Blocks<'_, Self>);
    fn thin_product(product: Thin<'_, Self>);
    fn small_rank(update: SmallRank<'_, Self>);
    fn pack(pack: Pack<'_, Self>) -> Packed;
    fn triangular(triangular: Triangular<'_, Self>);
    fn triangular_product(product: TriangularProduct<'_, Self>);
    fn factor(factorization: Factorization<'_, Self>) -> usize;
    fn lu_panel(panel: LuPanel<'_, Self>) -> Option<usize>;
    fn qr_panel(panel: QrPanel<'_, Self>);
    /// The loops of the Level-1 and Level-2 BLAS.
    fn vectors() -> &'static VectorParts<Self>
    where
        Self: Scalar;
}

macro_rules! backends {
    ($($t:ty)*) => {$(
        impl Backend for $t {
            fn small_product(product: &Small<'_, $t>) {
                dispatch::<$t, _>(product);
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
            #[inline]
            fn vectors() -> &'static VectorParts<$t> {
                static CHOSEN: OnceLock<&VectorParts<$t>> = OnceLock::new();
                // Tests choose the instruction set anew.
                if cfg!(test) {
                    return dispatch::<$t, _>(ChooseVectors);
                }
                CHOSEN.get_or_init(|| dispatch::<$t, _>(ChooseVectors))
            }
        }
    )*};
}

backends!(f32 f64 c32 c64);
