//! Vectors of AVX2 and AVX-512.

use super::Vector;
use std::arch::x86_64::*;

/// One line per register type: its real, its lanes, and the intrinsics by name.
macro_rules! vectors {
    ($($v:ty, $real:ty, $lanes:literal, $splat:ident, $load:ident, $store:ident, $mul:ident, $add:ident, $sub:ident;)*) => {$(
        impl Vector for $v {
            type Real = $real;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn splat(x: $real) -> Self {
                // SAFETY: the caller vouches for the instruction set.
                unsafe { $splat(x) }
            }
            #[inline(always)]
            unsafe fn load(from: *const $real) -> Self {
                // SAFETY: the caller vouches for the instruction set and gives LANES reals.
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $real) {
                // SAFETY: the caller vouches for the instruction set and gives room for LANES reals.
                unsafe { $store(to, self) }
            }
            #[inline(always)]
            unsafe fn mul(self, by: Self) -> Self {
                // SAFETY: the caller vouches for the instruction set.
                unsafe { $mul(self, by) }
            }
            #[inline(always)]
            unsafe fn mul_add(self, a: Self, b: Self) -> Self {
                // SAFETY: the caller vouches for the instruction set.
                unsafe { $add(a, b, self) }
            }
            #[inline(always)]
            unsafe fn mul_sub(self, a: Self, b: Self) -> Self {
                // SAFETY: the caller vouches for the instruction set.
                unsafe { $sub(a, b, self) }
            }
        }
    )*};
}

vectors! {
    __m512, f32, 16, _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_mul_ps, _mm512_fmadd_ps, _mm512_fnmadd_ps;
    __m512d, f64, 8, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_mul_pd, _mm512_fmadd_pd, _mm512_fnmadd_pd;
    __m256, f32, 8, _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_mul_ps, _mm256_fmadd_ps, _mm256_fnmadd_ps;
    __m256d, f64, 4, _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_mul_pd, _mm256_fmadd_pd, _mm256_fnmadd_pd;
}
