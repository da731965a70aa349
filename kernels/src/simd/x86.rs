//! Vectors of AVX2 and AVX-512: register types and the intrinsics that implement them. Operations without an
//! instruction of their own are defined here. Like all code on vectors, such functions are always inlined into a
//! function that enables the instructions. So they do not enable them, but require them in their contracts.

use super::squares::{
    transpose_f32, transpose_f64, transpose_f64_8, transpose_four_f32, transpose_four_f64, transpose_four_f64_8,
};
use super::{Avx2, Avx512, Part, Rows, Vector, tile};
use std::arch::x86_64::*;

/// Implements [`Vector`] for register types. One entry per type: its name, the register, its instruction set, its real
/// type, its lanes, the target features of its parts, and the intrinsics.
macro_rules! vectors {
    ($($name:ident, $v:ty, $isa:ident, $real:ty, $lanes:literal, $features:literal, $splat:ident, $load:ident,
        $store:ident, $mul:ident, $add:ident, $sub:ident, |$x:ident, $i:ident| $lane:expr, $mask:ident,
        $mask_load:ident, $mask_store:ident, $blend:ident, $square:literal, $transpose:ident, $four:ident,
        $interleave:ident, $swap:path, $abs:ident, $larger:ident, $sum:ident, $plus:ident, $minus:ident, $div:ident,
        $sqrt:ident, $select:ident
        $(, $real_tile:path, $complex_tile:path)?;)*) => {$(
        /// A vector register. Its field is private, so a value exists only if the processor has the instructions.
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub struct $name($v);

        // "The witness" in the notes below is a value of this type or of its instruction set. Such a value exists only
        // if the processor has the instructions.
        impl Vector for $name {
            type Real = $real;
            type Isa = $isa;
            const LANES: usize = $lanes;
            const SQUARE: usize = $square;

            #[inline(always)]
            fn splat(_isa: $isa, x: $real) -> Self {
                // SAFETY: the witness proves that the processor has the instruction.
                Self(unsafe { $splat(x) })
            }
            #[inline(always)]
            fn isa(self) -> $isa {
                // SAFETY: this value exists, so the processor has the instructions.
                unsafe { $isa::assume() }
            }
            #[inline(always)]
            unsafe fn load(_isa: $isa, from: *const $real) -> Self {
                // SAFETY: the caller guarantees LANES reals; the load takes any alignment.
                Self(unsafe { $load(from) })
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $real) {
                // SAFETY: the caller guarantees room for LANES reals; the store takes any alignment.
                unsafe { $store(to, self.0) }
            }
            #[inline(always)]
            unsafe fn load_lanes(_isa: $isa, from: *const $real, first: usize, end: usize) -> Self {
                // SAFETY: the caller guarantees the lanes of the mask; the instruction does not access the others.
                Self(unsafe { $mask_load($mask(first, end), from) })
            }
            #[inline(always)]
            unsafe fn store_lanes(self, to: *mut $real, first: usize, end: usize) {
                // SAFETY: the caller guarantees room for the lanes of the mask; the instruction does not access the
                // others.
                unsafe { $mask_store(to, $mask(first, end), self.0) }
            }
            #[inline(always)]
            fn add(self, x: Self) -> Self {
                // SAFETY: the witness proves that the processor has the instruction.
                Self(unsafe { $plus(self.0, x.0) })
            }
            #[inline(always)]
            fn sub(self, x: Self) -> Self {
                // SAFETY: the witness proves that the processor has the instruction.
                Self(unsafe { $minus(self.0, x.0) })
            }
            #[inline(always)]
            fn div(self, by: Self) -> Self {
                // SAFETY: the witness proves that the processor has the instruction.
                Self(unsafe { $div(self.0, by.0) })
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                // SAFETY: the witness proves that the processor has the instruction.
                Self(unsafe { $sqrt(self.0) })
            }
            #[inline(always)]
            fn select_greater(self, limit: Self, yes: Self, no: Self) -> Self {
                // SAFETY: the witness proves that the processor has the instructions.
                Self(unsafe { $select(self.0, limit.0, yes.0, no.0) })
            }
            #[inline(always)]
            fn mul(self, by: Self) -> Self {
                // SAFETY: the witness proves that the processor has the instruction.
                Self(unsafe { $mul(self.0, by.0) })
            }
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                // SAFETY: the witness proves that the processor has the instruction.
                Self(unsafe { $add(a.0, b.0, self.0) })
            }
            #[inline(always)]
            fn mul_sub(self, a: Self, b: Self) -> Self {
                // SAFETY: the witness proves that the processor has the instruction.
                Self(unsafe { $sub(a.0, b.0, self.0) })
            }
            #[inline(always)]
            fn abs(self) -> Self {
                // SAFETY: the witness proves that the processor has the instruction.
                Self(unsafe { $abs(self.0) })
            }
            #[inline(always)]
            fn larger(best: (Self, Self), x: (Self, Self)) -> (Self, Self) {
                // SAFETY: the witness proves that the processor has the instructions.
                let (value, with) = unsafe { $larger((best.0.0, best.1.0), (x.0.0, x.1.0)) };
                (Self(value), Self(with))
            }
            #[inline(always)]
            fn blend(self, other: Self, first: usize, end: usize) -> Self {
                // SAFETY: the witness proves that the processor has the instructions.
                Self(unsafe { $blend($mask(first, end), self.0, other.0) })
            }
            #[inline(always)]
            fn sum(self) -> $real {
                // SAFETY: the witness proves that the processor has the instructions.
                unsafe { $sum(self.0) }
            }
            #[inline(always)]
            fn lane(self, i: usize) -> $real {
                let ($x, $i) = (self.0, i as i32);
                // SAFETY: the witness proves that the processor has the instructions, which take an index modulo the
                // lanes.
                unsafe { $lane }
            }
            #[inline(always)]
            fn interleave(re: Self, im: Self) -> (Self, Self) {
                // SAFETY: the witness proves that the processor has the instructions.
                let (low, high) = unsafe { $interleave(re.0, im.0) };
                (Self(low), Self(high))
            }
            #[inline(always)]
            fn swap_pairs(self) -> Self {
                // SAFETY: the witness proves that the processor has the instruction.
                Self(unsafe { $swap(self.0) })
            }
            #[inline(never)]
            #[target_feature(enable = $features)]
            unsafe fn enter<P: Part<Self>>(part: P) -> P::Output {
                // SAFETY: this function enables the instructions; the caller guarantees what the part requires.
                unsafe { part.run($isa::assume()) }
            }
            #[inline(always)]
            unsafe fn transpose_rows(_isa: $isa, from: impl Rows<$real>, to: impl Rows<$real>) {
                // SAFETY: the caller guarantees the squares; the witness proves that the processor has the
                // instructions.
                unsafe { $transpose(from, to) }
            }
            $(
                #[inline(always)]
                unsafe fn eliminate<const NV: usize, const ROWS: usize>(
                    acc: &mut [[[Self; 2]; NV]; ROWS],
                    depth: usize,
                    (x, b): (*const $real, *const $real),
                    next: *const u8,
                    (is_complex, conj): (bool, bool),
                ) -> usize {
                    let times = depth / 4;
                    if times == 0 || NV != 3 || ROWS != if is_complex { 4 } else { 8 } {
                        return 0;
                    }
                    let acc: *mut [[[Self; 2]; NV]; ROWS] = acc;
                    // SAFETY: x and b hold 4 `times` adjacent steps, and `times` is not zero. The casts change only the
                    // type: NV and ROWS are those of the tile, as checked, and a vector has the layout of its register.
                    // The vectors prove that the processor has the instructions.
                    unsafe {
                        if is_complex {
                            $complex_tile(&mut *acc.cast(), times, (x, b), next, conj);
                        } else {
                            $real_tile(&mut *acc.cast(), times, (x, b), next);
                        }
                    }
                    4 * times
                }
            )?
            #[inline(always)]
            unsafe fn transpose_four(_isa: $isa, from: *const $real, from_step: usize, to: *mut $real, to_step: usize) {
                // SAFETY: the caller guarantees the rows and the room; the witness proves that the processor has the
                // instructions.
                unsafe { $four(from, from_step, to, to_step) }
            }
        }
    )*};
}

// A permutation with a computed index moves a lane to the front: three cycles, without a store and a load.
vectors! {
    F32x16, __m512, Avx512, f32, 16, "avx512f,avx2,fma", _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps,
        _mm512_mul_ps, _mm512_fmadd_ps, _mm512_fnmadd_ps,
        |x, i| _mm512_cvtss_f32(_mm512_permutexvar_ps(_mm512_set1_epi32(i), x)),
        bits_16, _mm512_maskz_loadu_ps, _mm512_mask_storeu_ps, _mm512_mask_blend_ps, 8, transpose_f32,
        transpose_four_f32, interleave_f32_16,
        _mm512_permute_ps::<0xb1>, _mm512_abs_ps, larger_f32_16, _mm512_reduce_add_ps,
        _mm512_add_ps, _mm512_sub_ps, _mm512_div_ps, _mm512_sqrt_ps, select_f32_16,
        tile::real_f32, tile::complex_f32;
    F64x8, __m512d, Avx512, f64, 8, "avx512f,avx2,fma", _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd,
        _mm512_mul_pd, _mm512_fmadd_pd, _mm512_fnmadd_pd,
        |x, i| _mm512_cvtsd_f64(_mm512_permutexvar_pd(_mm512_set1_epi64(i64::from(i)), x)),
        bits_8, _mm512_maskz_loadu_pd, _mm512_mask_storeu_pd, _mm512_mask_blend_pd, 8, transpose_f64_8,
        transpose_four_f64_8, interleave_f64_8,
        _mm512_permute_pd::<0x55>, _mm512_abs_pd, larger_f64_8, _mm512_reduce_add_pd,
        _mm512_add_pd, _mm512_sub_pd, _mm512_div_pd, _mm512_sqrt_pd, select_f64_8,
        tile::real_f64, tile::complex_f64;
    F32x8, __m256, Avx2, f32, 8, "avx2,fma", _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_mul_ps,
        _mm256_fmadd_ps, _mm256_fnmadd_ps,
        |x, i| _mm256_cvtss_f32(_mm256_permutevar8x32_ps(x, _mm256_set1_epi32(i))),
        lane_mask_8, load_masked_f32, _mm256_maskstore_ps, blend_f32_8, 8, transpose_f32, transpose_four_f32,
        interleave_f32_8,
        _mm256_permute_ps::<0xb1>, abs_f32_8, larger_f32_8, sum_f32_8, _mm256_add_ps, _mm256_sub_ps, _mm256_div_ps,
        _mm256_sqrt_ps, select_f32_8;
    F64x4, __m256d, Avx2, f64, 4, "avx2,fma", _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_mul_pd,
        _mm256_fmadd_pd, _mm256_fnmadd_pd,
        |x, i| _mm256_cvtsd_f64(_mm256_castps_pd(_mm256_permutevar8x32_ps(
            _mm256_castpd_ps(x),
            _mm256_set1_epi64x(i64::from(2 * i) | i64::from(2 * i + 1) << 32),
        ))), lane_mask_4, load_masked_f64, _mm256_maskstore_pd, blend_f64_4, 4, transpose_f64, transpose_four_f64,
        interleave_f64_4,
        _mm256_permute_pd::<0x5>, abs_f64_4, larger_f64_4, sum_f64_4, _mm256_add_pd, _mm256_sub_pd, _mm256_div_pd,
        _mm256_sqrt_pd, select_f64_4;
}

/// Selects lanes of `y` where the sign bit of the mask is set, and lanes of `x` elsewhere.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn blend_f32_8(mask: __m256i, x: __m256, y: __m256) -> __m256 {
    // SAFETY: the caller guarantees AVX2.
    unsafe { _mm256_blendv_ps(x, y, _mm256_castsi256_ps(mask)) }
}

/// Selects lanes of `y` where the sign bit of the mask is set, and lanes of `x` elsewhere.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn blend_f64_4(mask: __m256i, x: __m256d, y: __m256d) -> __m256d {
    // SAFETY: the caller guarantees AVX2.
    unsafe { _mm256_blendv_pd(x, y, _mm256_castsi256_pd(mask)) }
}

/// Returns sixteen pairs.
///
/// # Safety
/// The processor has AVX-512F.
#[inline(always)]
unsafe fn interleave_f32_16(re: __m512, im: __m512) -> (__m512, __m512) {
    // A pair is as wide as a double: the pairs within 128-bit parts are formed first, then the parts are ordered.
    // SAFETY: the caller guarantees AVX-512F.
    unsafe {
        let (low, high) = (_mm512_unpacklo_ps(re, im), _mm512_unpackhi_ps(re, im));
        let (low, high) = alternate_parts(_mm512_castps_pd(low), _mm512_castps_pd(high));
        (_mm512_castpd_ps(low), _mm512_castpd_ps(high))
    }
}

/// Returns eight pairs.
///
/// # Safety
/// The processor has AVX-512F.
#[inline(always)]
unsafe fn interleave_f64_8(re: __m512d, im: __m512d) -> (__m512d, __m512d) {
    // SAFETY: the caller guarantees AVX-512F.
    unsafe { alternate_parts(_mm512_unpacklo_pd(re, im), _mm512_unpackhi_pd(re, im)) }
}

/// Returns the 128-bit parts of two registers, alternating.
///
/// # Safety
/// The processor has AVX-512F.
#[inline(always)]
unsafe fn alternate_parts(low: __m512d, high: __m512d) -> (__m512d, __m512d) {
    // SAFETY: the caller guarantees AVX-512F.
    unsafe {
        let first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
        let second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
        (_mm512_permutex2var_pd(low, first, high), _mm512_permutex2var_pd(low, second, high))
    }
}

/// Returns eight pairs.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn interleave_f32_8(re: __m256, im: __m256) -> (__m256, __m256) {
    // SAFETY: the caller guarantees AVX2.
    unsafe {
        let (low, high) = (_mm256_unpacklo_ps(re, im), _mm256_unpackhi_ps(re, im));
        (_mm256_permute2f128_ps::<0x20>(low, high), _mm256_permute2f128_ps::<0x31>(low, high))
    }
}

/// Returns four pairs.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn interleave_f64_4(re: __m256d, im: __m256d) -> (__m256d, __m256d) {
    // SAFETY: the caller guarantees AVX2.
    unsafe {
        let (low, high) = (_mm256_unpacklo_pd(re, im), _mm256_unpackhi_pd(re, im));
        (_mm256_permute2f128_pd::<0x20>(low, high), _mm256_permute2f128_pd::<0x31>(low, high))
    }
}

/// Defines [`Vector::larger`] and [`Vector::select_greater`] for register types of AVX-512, with mask registers.
macro_rules! larger_by_mask {
    ($($name:ident, $select:ident, $v:ty, $compare:ident, $blend:ident;)*) => {$(
        /// Selects the larger pair of each lane: see [`Vector::larger`].
        ///
        /// # Safety
        /// The processor has AVX-512F.
        #[inline(always)]
        unsafe fn $name(best: ($v, $v), x: ($v, $v)) -> ($v, $v) {
            // SAFETY: the caller guarantees AVX-512F.
            unsafe {
                let mask = $compare::<_CMP_GT_OQ>(x.0, best.0);
                ($blend(mask, best.0, x.0), $blend(mask, best.1, x.1))
            }
        }

        /// Selects `yes` where x is greater than the limit: see [`Vector::select_greater`].
        ///
        /// # Safety
        /// The processor has AVX-512F.
        #[inline(always)]
        unsafe fn $select(x: $v, limit: $v, yes: $v, no: $v) -> $v {
            // SAFETY: the caller guarantees AVX-512F.
            unsafe { $blend($compare::<_CMP_GT_OQ>(x, limit), no, yes) }
        }
    )*};
}

larger_by_mask! {
    larger_f32_16, select_f32_16, __m512, _mm512_cmp_ps_mask, _mm512_mask_blend_ps;
    larger_f64_8, select_f64_8, __m512d, _mm512_cmp_pd_mask, _mm512_mask_blend_pd;
}

/// Defines [`Vector::larger`], [`Vector::select_greater`] and [`Vector::abs`] for register types of AVX2, whose masks
/// are vector registers.
macro_rules! larger_by_register {
    ($(
        $larger:ident, $select:ident, $abs:ident, $v:ty, $compare:ident, $blend:ident, $splat:ident, $andnot:ident;
    )*) => {$(
        /// Selects the larger pair of each lane: see [`Vector::larger`].
        ///
        /// # Safety
        /// The processor has AVX2.
        #[inline(always)]
        unsafe fn $larger(best: ($v, $v), x: ($v, $v)) -> ($v, $v) {
            // SAFETY: the caller guarantees AVX2.
            unsafe {
                let mask = $compare::<_CMP_GT_OQ>(x.0, best.0);
                ($blend(best.0, x.0, mask), $blend(best.1, x.1, mask))
            }
        }

        /// Selects `yes` where x is greater than the limit: see [`Vector::select_greater`].
        ///
        /// # Safety
        /// The processor has AVX2.
        #[inline(always)]
        unsafe fn $select(x: $v, limit: $v, yes: $v, no: $v) -> $v {
            // SAFETY: the caller guarantees AVX2.
            unsafe { $blend(no, yes, $compare::<_CMP_GT_OQ>(x, limit)) }
        }

        /// Returns x without the sign bits.
        ///
        /// # Safety
        /// The processor has AVX2.
        #[inline(always)]
        unsafe fn $abs(x: $v) -> $v {
            // SAFETY: the caller guarantees AVX2.
            unsafe { $andnot($splat(-0.0), x) }
        }
    )*};
}

larger_by_register! {
    larger_f32_8, select_f32_8, abs_f32_8, __m256, _mm256_cmp_ps, _mm256_blendv_ps, _mm256_set1_ps, _mm256_andnot_ps;
    larger_f64_4, select_f64_4, abs_f64_4, __m256d, _mm256_cmp_pd, _mm256_blendv_pd, _mm256_set1_pd, _mm256_andnot_pd;
}

/// Returns the sum of eight floats.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn sum_f32_8(x: __m256) -> f32 {
    // SAFETY: the caller guarantees AVX2.
    unsafe {
        let four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
        let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
    }
}

/// Returns the sum of four doubles.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn sum_f64_4(x: __m256d) -> f64 {
    // SAFETY: the caller guarantees AVX2.
    unsafe {
        let two = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd::<1>(x));
        _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
    }
}

/// Returns a mask of bits first .. end, where `end` is at most 16.
#[inline(always)]
fn bits_16(first: usize, end: usize) -> __mmask16 {
    debug_assert!(end <= 16);
    ((1_u32 << end) - (1_u32 << first.min(end))) as __mmask16
}

/// Returns a mask of bits first .. end, where `end` is at most 8.
#[inline(always)]
fn bits_8(first: usize, end: usize) -> __mmask8 {
    bits_16(first, end) as __mmask8
}

/// Returns -1 in lanes first .. end and 0 in the others, the form of a mask in AVX2.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn lane_mask_8(first: usize, end: usize) -> __m256i {
    // SAFETY: the caller guarantees AVX2.
    unsafe {
        let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let before = _mm256_cmpgt_epi32(_mm256_set1_epi32(first as i32), lanes);
        _mm256_andnot_si256(before, _mm256_cmpgt_epi32(_mm256_set1_epi32(end as i32), lanes))
    }
}

/// Returns -1 in lanes first .. end of four lanes, each as wide as two of [`lane_mask_8`].
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn lane_mask_4(first: usize, end: usize) -> __m256i {
    // SAFETY: the caller guarantees AVX2.
    unsafe { lane_mask_8(2 * first, 2 * end) }
}

/// Loads the lanes of the mask; AVX2's load takes the arguments in the opposite order.
///
/// # Safety
/// The lanes of the mask are valid for reads, and the processor has AVX2.
#[inline(always)]
unsafe fn load_masked_f32(mask: __m256i, from: *const f32) -> __m256 {
    // SAFETY: the caller guarantees the lanes of the mask; the instruction does not access the others.
    unsafe { _mm256_maskload_ps(from, mask) }
}

/// Loads the lanes of the mask; AVX2's load takes the arguments in the opposite order.
///
/// # Safety
/// The lanes of the mask are valid for reads, and the processor has AVX2.
#[inline(always)]
unsafe fn load_masked_f64(mask: __m256i, from: *const f64) -> __m256d {
    // SAFETY: the caller guarantees the lanes of the mask; the instruction does not access the others.
    unsafe { _mm256_maskload_pd(from, mask) }
}
