//! The compiled vector kernels of each element type.
//!
//! The routines of [`cpu`](crate::cpu) are generic and compiled by their callers. The [vector kernels](crate::vector)
//! take most of the build time, so they are compiled here, once for each of the four types. [`backend`] connects the
//! two: a routine passes it an operation as a value, and the type of that value documents what the kernel does with it.

use crate::Scalar;
use crate::scalar::choice::ByType;
use crate::scalar::{c32, c64};
#[cfg(not(test))]
use crate::vector::dispatch;
use crate::vector::loops::{ChooseVectors, VectorParts};
use crate::vector::{
    Blocks, Factorization, InterleavedCholesky, InterleavedGemm, InterleavedLu, InterleavedQ, InterleavedQProduct,
    InterleavedQr, InterleavedSolve, LuPanel, Pack, Packed, Progress, QrPanel, Small, SmallRank, Thin,
    TriangularKernel, TriangularProduct,
};
use std::sync::OnceLock;

/// Declares one method for each operation that has a kernel, without a body or with this one.
macro_rules! methods {
    ($T:ty, $operation:ident => $body:tt) => {
        fn small_product(&self, $operation: &Small<'_, $T>) $body
        fn product(&self, $operation: Blocks<'_, $T>) $body
        fn thin_product(&self, $operation: Thin<'_, $T>) $body
        fn small_rank(&self, $operation: SmallRank<'_, $T>) $body
        fn pack(&self, $operation: Pack<'_, $T>) -> Packed $body
        fn triangular(&self, $operation: TriangularKernel<'_, $T>) $body
        fn triangular_product(&self, $operation: TriangularProduct<'_, $T>) $body
        fn factor(&self, $operation: Factorization<'_, $T>) -> usize $body
        fn lu_panel(&self, $operation: LuPanel<'_, $T>) -> Option<usize> $body
        fn qr_panel(&self, $operation: QrPanel<'_, $T>) $body
        fn group_gemm(&self, $operation: InterleavedGemm<'_, '_, $T>) -> Progress $body
        fn group_solve(&self, $operation: InterleavedSolve<'_, '_, $T>) -> Progress $body
        fn group_cholesky(&self, $operation: InterleavedCholesky<'_, '_, $T>) -> Progress $body
        fn group_lu(&self, $operation: InterleavedLu<'_, '_, '_, $T>) -> Progress $body
        fn group_qr(&self, $operation: InterleavedQr<'_, '_, '_, $T>) -> Progress $body
        fn group_q(&self, $operation: InterleavedQ<'_, '_, $T>) -> Progress $body
        fn group_q_product(&self, $operation: InterleavedQProduct<'_, '_, $T>) -> Progress $body
    };
}

/// The vector kernels of an element type.
pub(crate) trait Backend<T: Scalar> {
    methods!(T, operation => ;);
    /// Returns the loops of the Level-1 and Level-2 BLAS.
    fn vectors(&self) -> &'static VectorParts<T>;
    /// Looks up the loops for the instruction set in use. [`Self::vectors`] caches the result.
    fn choose_vectors(&self) -> &'static VectorParts<T>;
}

/// Returns the vector kernels of `T`.
#[inline(always)]
pub(crate) fn backend<T: Scalar>() -> &'static dyn Backend<T> {
    T::choose::<Compiled>()
}

/// Returns the loops of the Level-1 and Level-2 BLAS for `T`.
#[inline(always)]
pub(crate) fn vectors<T: Scalar>() -> &'static VectorParts<T> {
    backend::<T>().vectors()
}

/// Replaces the real function in unit tests, which run no kernel: integration tests do, and compiling them twice is
/// slow.
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
                methods!($t, operation => { dispatch::<$t, _>(operation) });
                #[inline]
                fn vectors(&self) -> &'static VectorParts<$t> {
                    static CHOSEN: OnceLock<&VectorParts<$t>> = OnceLock::new();
                    CHOSEN.get_or_init(|| Backend::<$t>::choose_vectors(self))
                }
                // A separate function: inlined, callers would compile the loops again.
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
