//! Squares of numbers transposed in the registers of AVX2 and AVX-512.

use std::arch::x86_64::*;

/// Eight by eight doubles in AVX-512. Rows i and i + 4 share a register, which loads do on their own; what is left are
/// two transposes of four by four, two shuffles per row.
///
/// # Safety
/// As for [`Vector::transpose`](super::Vector::transpose); the processor has AVX-512.
#[inline(always)]
pub(super) unsafe fn transpose_f64_8(from: *const f64, from_step: usize, to: *mut f64, to_step: usize) {
    // SAFETY: each half reads four columns of eight rows and writes four rows of eight, all of them in the squares. The
    // processor has AVX-512, by this function's contract.
    unsafe {
        let low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
        let high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
        for half in [0, 4] {
            let (from, to) = (from.add(half), to.add(half * to_step));
            let (a, b) = (two_rows(from, from_step), two_rows(from.add(from_step), from_step));
            let (c, d) = (two_rows(from.add(2 * from_step), from_step), two_rows(from.add(3 * from_step), from_step));
            let (even_ab, odd_ab) = (_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
            let (even_cd, odd_cd) = (_mm512_unpacklo_pd(c, d), _mm512_unpackhi_pd(c, d));
            _mm512_storeu_pd(to, _mm512_permutex2var_pd(even_ab, low, even_cd));
            _mm512_storeu_pd(to.add(to_step), _mm512_permutex2var_pd(odd_ab, low, odd_cd));
            _mm512_storeu_pd(to.add(2 * to_step), _mm512_permutex2var_pd(even_ab, high, even_cd));
            _mm512_storeu_pd(to.add(3 * to_step), _mm512_permutex2var_pd(odd_ab, high, odd_cd));
        }
    }
}

/// Four by four doubles in AVX: one shuffle in each of two stages, half of what moving element by element takes.
///
/// # Safety
/// As for [`Vector::transpose`](super::Vector::transpose); the processor has AVX2.
#[inline(always)]
pub(super) unsafe fn transpose_f64(from: *const f64, from_step: usize, to: *mut f64, to_step: usize) {
    // SAFETY: rows 0 .. 4 of four doubles are in both squares; all are read before the first is written. The processor
    // has AVX2, by this function's contract.
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

/// Four doubles of a row and of the fourth row after it.
///
/// # Safety
/// They are there, and the processor has AVX-512.
#[inline(always)]
unsafe fn two_rows(from: *const f64, step: usize) -> __m512d {
    // SAFETY: a row of four doubles and the fourth one after it are there, and the processor has AVX-512.
    unsafe {
        let top = _mm512_castpd256_pd512(_mm256_loadu_pd(from));
        _mm512_insertf64x4::<1>(top, _mm256_loadu_pd(from.add(4 * step)))
    }
}

/// Eight by eight floats in AVX: two halves of four rows, then their 128-bit parts exchanged.
///
/// # Safety
/// As for [`Vector::transpose`](super::Vector::transpose); the processor has AVX2.
#[inline(always)]
pub(super) unsafe fn transpose_f32(from: *const f32, from_step: usize, to: *mut f32, to_step: usize) {
    // SAFETY: two times four rows of eight floats are in the square at `from`, and rows i and i + 4 in that at `to`.
    // The processor has AVX2, by this function's contract.
    unsafe {
        let (top, bottom) = (four_rows(from, from_step), four_rows(from.add(4 * from_step), from_step));
        for i in 0..4 {
            let (x, y) = (top[i], bottom[i]);
            _mm256_storeu_ps(to.add(i * to_step), _mm256_permute2f128_ps::<0x20>(x, y));
            _mm256_storeu_ps(to.add((i + 4) * to_step), _mm256_permute2f128_ps::<0x31>(x, y));
        }
    }
}

/// Four rows of eight floats in AVX.
///
/// # Safety
/// As for [`Vector::transpose_four`](super::Vector::transpose_four); the processor has AVX2.
#[inline(always)]
pub(super) unsafe fn four_f32(from: *const f32, from_step: usize, to: *mut f32, to_step: usize) {
    // SAFETY: four rows of eight floats are at `from`; rows i and i + 4 at `to` have room for four. The processor has
    // AVX2, by this function's contract.
    unsafe {
        for (i, x) in four_rows(from, from_step).into_iter().enumerate() {
            _mm_storeu_ps(to.add(i * to_step), _mm256_castps256_ps128(x));
            _mm_storeu_ps(to.add((i + 4) * to_step), _mm256_extractf128_ps::<1>(x));
        }
    }
}

/// Four rows of eight doubles in AVX: two squares.
///
/// # Safety
/// As for [`Vector::transpose_four`](super::Vector::transpose_four); the processor has AVX2.
#[inline(always)]
pub(super) unsafe fn four_f64_8(from: *const f64, from_step: usize, to: *mut f64, to_step: usize) {
    // SAFETY: two squares of four by four are at `from`; the left one becomes rows 0 .. 4 at `to`, for eight of which
    // there is room, and the right one rows 4 .. 8. The processor has AVX2.
    unsafe {
        transpose_f64(from, from_step, to, to_step);
        transpose_f64(from.add(4), from_step, to.add(4 * to_step), to_step);
    }
}

/// Four rows of eight floats; element i of the result has column i in its lower half and column i + 4 in its upper.
///
/// # Safety
/// They are there, and the processor has AVX2.
#[inline(always)]
unsafe fn four_rows(from: *const f32, step: usize) -> [__m256; 4] {
    // SAFETY: four rows of eight floats are there, and the processor has AVX2.
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
