//! Vectors of AVX2 and AVX-512.

use super::Vector;
use std::arch::x86_64::*;

/// One line per register type: its real, its lanes, and the intrinsics by name.
macro_rules! vectors {
    ($($v:ty, $real:ty, $lanes:literal, $splat:ident, $load:ident, $store:ident, $mul:ident, $add:ident, $sub:ident,
        |$x:ident, $i:ident| $lane:expr, $square:literal, $transpose:ident;)*) => {$(
        impl Vector for $v {
            type Real = $real;
            const LANES: usize = $lanes;
            const SQUARE: usize = $square;

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
            #[inline(always)]
            unsafe fn lane(self, i: usize) -> $real {
                let ($x, $i) = (self, i as i32);
                // SAFETY: the caller vouches for the instruction set.
                unsafe { $lane }
            }
            #[inline(always)]
            unsafe fn transpose(from: *const $real, from_step: usize, to: *mut $real, to_step: usize) {
                // SAFETY: the caller vouches for the instruction set and for both squares.
                unsafe { $transpose(from, from_step, to, to_step) }
            }
        }
    )*};
}

// A lane is moved to the front by a permutation whose index may be computed: three cycles, without a detour by memory.
vectors! {
    __m512, f32, 16, _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_mul_ps, _mm512_fmadd_ps, _mm512_fnmadd_ps,
        |x, i| _mm512_cvtss_f32(_mm512_permutexvar_ps(_mm512_set1_epi32(i), x)), 8, transpose_f32;
    __m512d, f64, 8, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_mul_pd, _mm512_fmadd_pd, _mm512_fnmadd_pd,
        |x, i| _mm512_cvtsd_f64(_mm512_permutexvar_pd(_mm512_set1_epi64(i64::from(i)), x)), 4, transpose_f64;
    __m256, f32, 8, _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_mul_ps, _mm256_fmadd_ps, _mm256_fnmadd_ps,
        |x, i| _mm256_cvtss_f32(_mm256_permutevar8x32_ps(x, _mm256_set1_epi32(i))), 8, transpose_f32;
    __m256d, f64, 4, _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_mul_pd, _mm256_fmadd_pd, _mm256_fnmadd_pd,
        |x, i| _mm256_cvtsd_f64(_mm256_castps_pd(_mm256_permutevar8x32_ps(
            _mm256_castpd_ps(x),
            _mm256_set1_epi64x(i64::from(2 * i) | i64::from(2 * i + 1) << 32),
        ))), 4, transpose_f64;
}

/// Four by four doubles in AVX: one shuffle in each of two stages, half of what moving element by element takes.
///
/// # Safety
/// As for [`Vector::transpose`].
#[inline(always)]
unsafe fn transpose_f64(from: *const f64, from_step: usize, to: *mut f64, to_step: usize) {
    // SAFETY: the caller's promises.
    unsafe {
        let (a, b) = (_mm256_loadu_pd(from), _mm256_loadu_pd(from.add(from_step)));
        let (c, d) = (_mm256_loadu_pd(from.add(2 * from_step)), _mm256_loadu_pd(from.add(3 * from_step)));
        let (even_ab, odd_ab) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
        let (even_cd, odd_cd) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
        _mm256_storeu_pd(to, _mm256_permute2f128_pd::<0x20>(even_ab, even_cd));
        _mm256_storeu_pd(to.add(to_step), _mm256_permute2f128_pd::<0x20>(odd_ab, odd_cd));
        _mm256_storeu_pd(to.add(2 * to_step), _mm256_permute2f128_pd::<0x31>(even_ab, even_cd));
        _mm256_storeu_pd(to.add(3 * to_step), _mm256_permute2f128_pd::<0x31>(odd_ab, odd_cd));
    }
}

/// Eight by eight floats in AVX: two halves of four rows, then their 128-bit parts exchanged.
///
/// # Safety
/// As for [`Vector::transpose`].
#[inline(always)]
unsafe fn transpose_f32(from: *const f32, from_step: usize, to: *mut f32, to_step: usize) {
    // SAFETY: the caller's promises.
    unsafe {
        let (top, bottom) = (four_rows(from, from_step), four_rows(from.add(4 * from_step), from_step));
        for i in 0..4 {
            let (x, y) = (top[i], bottom[i]);
            _mm256_storeu_ps(to.add(i * to_step), _mm256_permute2f128_ps::<0x20>(x, y));
            _mm256_storeu_ps(to.add((i + 4) * to_step), _mm256_permute2f128_ps::<0x31>(x, y));
        }
    }
}

/// Four rows of eight floats; element i of the result has column i in its lower half and column i + 4 in its upper.
///
/// # Safety
/// As for [`Vector::transpose`].
#[inline(always)]
unsafe fn four_rows(from: *const f32, step: usize) -> [__m256; 4] {
    // SAFETY: the caller's promises.
    unsafe {
        let (a, b) = (_mm256_loadu_ps(from), _mm256_loadu_ps(from.add(step)));
        let (c, d) = (_mm256_loadu_ps(from.add(2 * step)), _mm256_loadu_ps(from.add(3 * step)));
        let (low_ab, high_ab) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
        let (low_cd, high_cd) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
        [
            _mm256_shuffle_ps::<0x44>(low_ab, low_cd),
            _mm256_shuffle_ps::<0xee>(low_ab, low_cd),
            _mm256_shuffle_ps::<0x44>(high_ab, high_cd),
            _mm256_shuffle_ps::<0xee>(high_ab, high_cd),
        ]
    }
}
