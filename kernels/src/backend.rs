//! The vector kernels of each element type, compiled.
//!
//! [`backend`] is the door between the routines of [`cpu`](crate::cpu), which are generic and compiled by whoever calls
//! them, and the [vector kernels](crate::vector), which take most of a build's time and are compiled here, once for
//! each of the four types. In goes an operation as a value; what becomes of it is said where the operation is declared.

use crate::Scalar;
use crate::scalar::choice::ByType;
use crate::scalar::{c32, c64};
#[cfg(not(test))]
use crate::vector::dispatch;
use crate::vector::loops::{ChooseVectors, VectorParts};
use crate::vector::{
    Blocks, Factorization, LuPanel, Pack, Packed, QrPanel, Small, SmallRank, Thin, Triangular, TriangularProduct,
};
use std::sync::OnceLock;

/// The vector kernels of an element type.
pub(crate) trait Backend<T: Scalar> {
    fn small_product(&self, product: &Small<'_, T>);
    fn product(&self, product: Blocks<'_, T>);
    fn thin_product(&self, product: Thin<'_, T>);
    fn small_rank(&self, update: SmallRank<'_, T>);
    fn pack(&self, pack: Pack<'_, T>) -> Packed;
    fn triangular(&self, triangular: Triangular<'_, T>);
    fn triangular_product(&self, product: TriangularProduct<'_, T>);
    fn factor(&self, factorization: Factorization<'_, T>) -> usize;
    fn lu_panel(&self, panel: LuPanel<'_, T>) -> Option<usize>;
    fn qr_panel(&self, panel: QrPanel<'_, T>);
    /// The loops of the Level-1 and Level-2 BLAS.
    fn vectors(&self) -> &'static VectorParts<T>;
    /// The same, looked up for the instructions in use.
    fn choose_vectors(&self) -> &'static VectorParts<T>;
}

/// The vector kernels of `T`.
#[inline(always)]
pub(crate) fn backend<T: Scalar>() -> &'static dyn Backend<T> {
    T::choose::<Compiled>()
}

/// The loops of the Level-1 and Level-2 BLAS for `T`.
#[inline(always)]
pub(crate) fn vectors<T: Scalar>() -> &'static VectorParts<T> {
    backend::<T>().vectors()
}

/// Integration tests run the kernels; here they would only be compiled once more.
#[cfg(test)]
fn dispatch<T: Scalar, K: crate::vector::Kernel<T>>(_: K) -> K::Output {
    unreachable!("no unit test runs a kernel through its backend")
}

struct Compiled;

macro_rules! compiled {
    ($($t:ty, $letter:ident;)*) => {
        impl ByType for Compiled {
            type Of<T: Scalar> = dyn Backend<T>;
            $(
                #[inline(always)]
                fn $letter() -> &'static dyn Backend<$t> {
                    &Compiled
                }
            )*
        }
        $(
            impl Backend<$t> for Compiled {
                fn small_product(&self, product: &Small<'_, $t>) {
                    dispatch::<$t, _>(product);
                }
                fn product(&self, product: Blocks<'_, $t>) {
                    dispatch::<$t, _>(product);
                }
                fn thin_product(&self, product: Thin<'_, $t>) {
                    dispatch::<$t, _>(product);
                }
                fn small_rank(&self, update: SmallRank<'_, $t>) {
                    dispatch::<$t, _>(update);
                }
                fn pack(&self, pack: Pack<'_, $t>) -> Packed {
                    dispatch::<$t, _>(pack)
                }
                fn triangular(&self, triangular: Triangular<'_, $t>) {
                    dispatch::<$t, _>(triangular);
                }
                fn triangular_product(&self, product: TriangularProduct<'_, $t>) {
                    dispatch::<$t, _>(product);
                }
                fn factor(&self, factorization: Factorization<'_, $t>) -> usize {
                    dispatch::<$t, _>(factorization)
                }
                fn lu_panel(&self, panel: LuPanel<'_, $t>) -> Option<usize> {
                    dispatch::<$t, _>(panel)
                }
                fn qr_panel(&self, panel: QrPanel<'_, $t>) {
                    dispatch::<$t, _>(panel);
                }
                #[inline]
                fn vectors(&self) -> &'static VectorParts<$t> {
                    static CHOSEN: OnceLock<&VectorParts<$t>> = OnceLock::new();
                    CHOSEN.get_or_init(|| Backend::<$t>::choose_vectors(self))
                }
                // A function of its own, or callers would compile the loops again.
                fn choose_vectors(&self) -> &'static VectorParts<$t> {
                    dispatch::<$t, _>(ChooseVectors)
                }
            }
        )*
    };
}

compiled! {
    f32, s;
    f64, d;
    c32, c;
    c64, z;
}
