//! The choice of the instruction set at run time.
//!
//! A [`Kernel`] is a body written once over [`Vector`]; [`dispatch`] compiles it once per instruction set and runs the
//! best version that the processor supports. Every function on vectors that a body calls must be `#[inline(always)]`,
//! and no closure may touch a vector. Only then is this code compiled inside the function that enables the
//! instructions, and a vector operation is one instruction instead of a call, which is about a hundred times slower.
//! Long code that is used in several places is a [`Part`](crate::simd::Part), which enables the instructions itself.

use crate::Scalar;
use crate::simd::{self, Lanes, Vector};

/// A body to be compiled once per instruction set.
///
/// `ROWS` is the number of rows of a register tile that is three vectors wide: as many as leave the accumulators, the
/// three vectors and one broadcast in registers.
pub(crate) trait Kernel<T: Scalar> {
    type Output;

    /// Implementations are `#[inline(always)]`.
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) -> Self::Output;

    /// Returns whether vectors of [`AVX2_BYTES`] are better than longer ones.
    #[cfg_attr(any(test, not(target_arch = "x86_64")), expect(dead_code, reason = "only portable kernels exist"))]
    fn prefers_avx2(&self) -> bool {
        false
    }
}

/// The bytes of a vector of AVX2.
pub(crate) const AVX2_BYTES: usize = 32;

/// Runs `kernel` with the best instruction set of this processor.
pub(crate) fn dispatch<T: Scalar, K: Kernel<T>>(kernel: K) -> K::Output {
    match simd::best() {
        #[cfg(all(target_arch = "x86_64", not(test)))]
        // SAFETY: `best` returns a set that the processor supports: AVX-512F, AVX2 and FMA.
        simd::InstructionSet::Avx512 if !kernel.prefers_avx2() => unsafe { with_avx512::<T, K>(kernel) },
        #[cfg(all(target_arch = "x86_64", not(test)))]
        // SAFETY: `best` returns a set that the processor supports, and both contain AVX2 and FMA.
        simd::InstructionSet::Avx512 | simd::InstructionSet::Avx2 => unsafe { with_avx2::<T, K>(kernel) },
        _ => with_portable::<T, K>(kernel),
    }
}

/// Uses 32 registers: 8 x 3 accumulators of a real type, 4 x 3 pairs of a complex one.
#[cfg(all(target_arch = "x86_64", not(test)))]
#[target_feature(enable = "avx512f,avx2,fma")]
fn with_avx512<T: Scalar, K: Kernel<T>>(kernel: K) -> K::Output {
    // SAFETY: this function enables AVX-512F, AVX2 and FMA, which are the whole set.
    let isa = unsafe { simd::Avx512::assume() };
    if T::COMPLEX {
        kernel.run::<<T::Real as Lanes>::Avx512, 4>(isa)
    } else {
        kernel.run::<<T::Real as Lanes>::Avx512, 8>(isa)
    }
}

/// Uses 16 registers: 4 x 3 accumulators of a real type, 2 x 3 pairs of a complex one (with a few spills).
#[cfg(all(target_arch = "x86_64", not(test)))]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<T: Scalar, K: Kernel<T>>(kernel: K) -> K::Output {
    // SAFETY: this function enables AVX2 and FMA, which are the whole set.
    let isa = unsafe { simd::Avx2::assume() };
    if T::COMPLEX {
        kernel.run::<<T::Real as Lanes>::Avx2, 2>(isa)
    } else {
        kernel.run::<<T::Real as Lanes>::Avx2, 4>(isa)
    }
}

/// Uses two rows: two vectors of four fill most registers of the oldest processors.
fn with_portable<T: Scalar, K: Kernel<T>>(kernel: K) -> K::Output {
    kernel.run::<<T::Real as Lanes>::Portable, 2>(simd::Baseline::PROOF)
}
