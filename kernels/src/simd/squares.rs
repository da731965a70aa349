//! Transposes of square blocks in the registers of AVX2 and AVX-512.

use super::{Rows, Spaced};
use std::arch::x86_64::*;

/// Transposes eight by eight doubles with AVX-512. Loads put rows i and i + 4 into one register without a shuffle. What
/// remains is two transposes of four by four, with two shuffles per row.
///
/// # Safety
/// Same as for [`Vector::transpose_rows`](super::Vector::transpose_rows); in addition, the processor has AVX-512.
#[inline(always)]
pub(super) unsafe fn transpose_f64_8(from: impl Rows<f64>, to: impl Rows<f64>) {
    // SAFETY: each half reads four columns of eight rows and writes four rows of eight, within the squares that the
    // caller guarantees. The caller also guarantees AVX-512.
    unsafe {
        let low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
        let high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
        for half in [0, 4] {
            let to = to.after(half);
            let (a, b) = (two_rows(from, 0, half), two_rows(from, 1, half));
            let (c, d) = (two_rows(from, 2, half), two_rows(from, 3, half));
            let (even_ab, odd_ab) = (_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
            let (even_cd, odd_cd) = (_mm512_unpacklo_pd(c, d), _mm512_unpackhi_pd(c, d));
            _mm512_storeu_pd(to.row(0), _mm512_permutex2var_pd(even_ab, low, even_cd));
            _mm512_storeu_pd(to.row(1), _mm512_permutex2var_pd(odd_ab, low, odd_cd));
            _mm512_storeu_pd(to.row(2), _mm512_permutex2var_pd(even_ab, high, even_cd));
            _mm512_storeu_pd(to.row(3), _mm512_permutex2var_pd(odd_ab, high, odd_cd));
        }
    }
}

/// Transposes four by four doubles with AVX: two stages of one shuffle, half the time of moving single elements.
///
/// # Safety
/// Same as for [`Vector::transpose_rows`](super::Vector::transpose_rows); in addition, the processor has AVX2.
#[inline(always)]
pub(super) unsafe fn transpose_f64(from: impl Rows<f64>, to: impl Rows<f64>) {
    // SAFETY: both squares have rows 0 .. 4 of four doubles; all are read before the first is written. The caller
    // guarantees AVX2.
    unsafe {
        let (a, b) = (_mm256_loadu_pd(from.row(0)), _mm256_loadu_pd(from.row(1)));
        let (c, d) = (_mm256_loadu_pd(from.row(2)), _mm256_loadu_pd(from.row(3)));
        let (even_ab, odd_ab) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
        let (even_cd, odd_cd) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
        _mm256_storeu_pd(to.row(0), _mm256_permute2f128_pd::<0x20>(even_ab, even_cd));
        _mm256_storeu_pd(to.row(1), _mm256_permute2f128_pd::<0x20>(odd_ab, odd_cd));
        _mm256_storeu_pd(to.row(2), _mm256_permute2f128_pd::<0x31>(even_ab, even_cd));
        _mm256_storeu_pd(to.row(3), _mm256_permute2f128_pd::<0x31>(odd_ab, odd_cd));
    }
}

/// Loads four doubles of row i, from column j on, and of the fourth row after it.
///
/// # Safety
/// `from` has both rows of four doubles from column j on, and the processor has AVX-512.
#[inline(always)]
unsafe fn two_rows(from: impl Rows<f64>, i: usize, j: usize) -> __m512d {
    // SAFETY: the caller guarantees a row of four doubles and the fourth one after it, and AVX-512.
    unsafe {
        let top = _mm512_castpd256_pd512(_mm256_loadu_pd(from.row(i).add(j)));
        _mm512_insertf64x4::<1>(top, _mm256_loadu_pd(from.row(i + 4).add(j)))
    }
}

/// Transposes eight by eight floats with AVX: two halves of four rows, whose 128-bit parts are then exchanged.
///
/// # Safety
/// Same as for [`Vector::transpose_rows`](super::Vector::transpose_rows); in addition, the processor has AVX2.
#[inline(always)]
pub(super) unsafe fn transpose_f32(from: impl Rows<f32>, to: impl Rows<f32>) {
    // SAFETY: the square at `from` has twice four rows of eight floats, and that at `to` has rows i and i + 4. The
    // caller guarantees AVX2.
    unsafe {
        let (top, bottom) = (four_rows(from), four_rows(from.after(4)));
        for i in 0..4 {
            let (x, y) = (top[i], bottom[i]);
            _mm256_storeu_ps(to.row(i), _mm256_permute2f128_ps::<0x20>(x, y));
            _mm256_storeu_ps(to.row(i + 4), _mm256_permute2f128_ps::<0x31>(x, y));
        }
    }
}

/// Transposes four rows of eight floats with AVX.
///
/// # Safety
/// Same as for [`Vector::transpose_four`](super::Vector::transpose_four); in addition, the processor has AVX2.
#[inline(always)]
pub(super) unsafe fn transpose_four_f32(from: *const f32, from_step: usize, to: *mut f32, to_step: usize) {
    // SAFETY: `from` has four rows of eight floats; rows i and i + 4 at `to` have room for four. The caller guarantees
    // AVX2.
    unsafe {
        for (i, x) in four_rows(Spaced { first: from.cast_mut(), step: from_step }).into_iter().enumerate() {
            _mm_storeu_ps(to.add(i * to_step), _mm256_castps256_ps128(x));
            _mm_storeu_ps(to.add((i + 4) * to_step), _mm256_extractf128_ps::<1>(x));
        }
    }
}

/// Transposes four rows of four doubles with AVX: one square.
///
/// # Safety
/// Same as for [`Vector::transpose_four`](super::Vector::transpose_four); in addition, the processor has AVX2.
#[inline(always)]
pub(super) unsafe fn transpose_four_f64(from: *const f64, from_step: usize, to: *mut f64, to_step: usize) {
    let (from, to) = (Spaced { first: from.cast_mut(), step: from_step }, Spaced { first: to, step: to_step });
    // SAFETY: the caller guarantees the square, the room for it, and AVX2.
    unsafe { transpose_f64(from, to) }
}

/// Transposes four rows of eight doubles with AVX, as two squares.
///
/// # Safety
/// Same as for [`Vector::transpose_four`](super::Vector::transpose_four); in addition, the processor has AVX2.
#[inline(always)]
pub(super) unsafe fn transpose_four_f64_8(from: *const f64, from_step: usize, to: *mut f64, to_step: usize) {
    // SAFETY: `from` has two squares of four by four; `to` has room for eight rows of four, of which the left square
    // becomes rows 0 .. 4, and the right one rows 4 .. 8. The caller guarantees AVX2.
    unsafe {
        transpose_four_f64(from, from_step, to, to_step);
        transpose_four_f64(from.add(4), from_step, to.add(4 * to_step), to_step);
    }
}

/// Loads four rows of eight floats; element i of the result has column i in its lower half and column i + 4 in its
/// upper.
///
/// # Safety
/// `from` has these rows, and the processor has AVX2.
#[inline(always)]
unsafe fn four_rows(from: impl Rows<f32>) -> [__m256; 4] {
    // SAFETY: the caller guarantees four rows of eight floats, and AVX2.
    unsafe {
        let (a, b) = (_mm256_loadu_ps(from.row(0)), _mm256_loadu_ps(from.row(1)));
        let (c, d) = (_mm256_loadu_ps(from.row(2)), _mm256_loadu_ps(from.row(3)));
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
