//! Scaling by powers of two, which is exact, for matrices whose elements are so large or small that computations would
//! overflow or underflow.
//!
//! The criterion is that of LAPACK's drivers: a matrix is not scaled if its largest element is between s / ε and ε / s,
//! where s is the smallest normal number.

use superscalar_kernels::{MatMut, MatRef, Real, Scalar};

/// Returns ⌊log₂ |x|⌋. x must be finite and not zero.
pub(crate) fn exponent<R: Real>(x: R) -> i32 {
    // Lifts subnormal numbers to normal ones.
    const LIFT: i32 = 128;
    let x = x.to_f64();
    let (x, lift) = if x.is_normal() { (x, 0) } else { (x * 2f64.powi(LIFT), LIFT) };
    ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023 - lift
}

/// Returns 2ᵏ for |k| up to [`exponent_max`], so that 2ᵏ and 2⁻ᵏ are normal numbers.
pub(crate) fn power_of_two<R: Real>(k: i32) -> R {
    R::from_f64(f64::from_bits(((k + 1023) as u64) << 52))
}

/// Returns the largest k for which 2ᵏ and 2⁻ᵏ are normal numbers.
pub(crate) fn exponent_max<R: Real>() -> i32 {
    -exponent(R::MIN_POSITIVE)
}

/// Computes A := 2ᵏ A. Results are rounded only where they are subnormal.
pub(crate) fn scale<T: Scalar>(a: MatMut<'_, T>, k: i32) {
    // Iterate along contiguous columns.
    let mut a = if a.row_stride() > a.col_stride() { a.transpose() } else { a };
    let (most, mut left) = (exponent_max::<T::Real>(), k);
    while left != 0 {
        let step = left.clamp(-most, most);
        let factor = power_of_two::<T::Real>(step);
        // Scale real and imaginary parts separately: a complex factor would turn Inf into NaN.
        let scaled = |x: T| T::from_parts(x.re() * factor, x.im() * factor);
        for j in 0..a.ncols() {
            match a.col_as_slice_mut(j) {
                Some(column) => column.iter_mut().for_each(|x| *x = scaled(*x)),
                None => (0..a.nrows()).for_each(|i| a[(i, j)] = scaled(a[(i, j)])),
            }
        }
        left -= step;
    }
}

/// Computes A := 2ᵏ A for the upper triangle or trapezoid. Column 0 of A is column `first` of the whole matrix.
pub(crate) fn scale_upper<T: Scalar>(mut a: MatMut<'_, T>, first: usize, k: i32) {
    for j in 0..if k == 0 { 0 } else { a.ncols() } {
        let rows = 0..(first + j + 1).min(a.nrows());
        scale(a.rb_mut().submatrix(rows, j..j + 1), k);
    }
}

/// Returns the largest absolute real or imaginary part in A, or NaN if A contains a NaN. Unlike a modulus, it cannot
/// overflow.
pub(crate) fn largest_part<T: Scalar>(a: MatRef<'_, T>) -> T::Real {
    /// Independent accumulators, to shorten the chain of comparisons.
    const ACCUMULATORS: usize = 16;
    let of = |x: T| if T::COMPLEX { max_or_nan(x.re().abs(), x.im().abs()) } else { x.re().abs() };
    let a = if a.row_stride() > a.col_stride() { a.transpose() } else { a };
    let mut parts = [T::Real::ZERO; ACCUMULATORS];
    for j in 0..if a.nrows() == 0 { 0 } else { a.ncols() } {
        let Some(column) = a.col_as_slice(j) else {
            (0..a.nrows()).for_each(|i| parts[0] = max_or_nan(parts[0], of(a.at(i, j))));
            continue;
        };
        let chunks = column.chunks_exact(ACCUMULATORS);
        chunks.remainder().iter().for_each(|&x| parts[0] = max_or_nan(parts[0], of(x)));
        for chunk in chunks {
            parts.iter_mut().zip(chunk).for_each(|(part, &x)| *part = max_or_nan(*part, of(x)));
        }
    }
    parts.into_iter().fold(T::Real::ZERO, max_or_nan)
}

/// Returns the larger number, or NaN if either is NaN.
pub(crate) fn max_or_nan<R: Real>(x: R, y: R) -> R {
    if x.is_nan() || x > y { x } else { y }
}

/// Returns the k for which scaling by 2ᵏ brings a matrix with this largest part into the safe range. Returns 0 if it is
/// already safe, zero, infinite or NaN.
pub(crate) fn safe_scaling_exponent<R: Real>(largest: R) -> i32 {
    let (precision, most) = (exponent(R::EPSILON) + 1, exponent_max::<R>());
    // The exponents of LAPACK's smlnum and bignum.
    let (least_safe, greatest_safe) = (-most - precision, most + precision);
    if largest == R::ZERO || largest * R::ZERO != R::ZERO {
        return 0;
    }
    match exponent(largest) {
        // Scale the largest element up to about one, in the middle of the range.
        k if k < least_safe => -k,
        // Scale down as little as possible: smaller elements may become subnormal.
        k if k >= greatest_safe => greatest_safe - 1 - k,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use superscalar_kernels::{c32, c64};

    #[test]
    fn exponents_of_all_powers_of_two() {
        for k in -1074..=1023 {
            let x = 2f64.powi(k / 2) * 2f64.powi(k - k / 2);
            assert_eq!((exponent(x), exponent(-x), exponent(x * 1.5)), (k, k, if k == -1074 { k + 1 } else { k }));
        }
        for k in -149..=127 {
            assert_eq!(exponent(2f64.powi(k) as f32), k);
        }
        assert_eq!((exponent_max::<f32>(), exponent_max::<f64>()), (126, 1022));
        for k in -126..=126 {
            assert_eq!(f64::from(power_of_two::<f32>(k)), power_of_two::<f64>(k));
            assert_eq!(power_of_two::<f64>(k), 2f64.powi(k));
        }
    }

    #[test]
    fn scaling_round_trips() {
        fn check<R: Real>() {
            let most = exponent_max::<R>();
            let precision = exponent(R::EPSILON) + 1;
            for k in -most + precision..=most + 1 {
                let mut x = [R::ONE];
                scale(MatMut::from_col_major(&mut x, 1, 1, 1).expect("one element"), k);
                assert_eq!(exponent(x[0]), k, "2^{k}");
                let to = safe_scaling_exponent(x[0]);
                let safe = -most - precision..most + precision;
                assert_eq!(to == 0, safe.contains(&k), "2^{k} by 2^{to}");
                scale(MatMut::from_col_major(&mut x, 1, 1, 1).expect("one element"), to);
                assert!(safe.contains(&exponent(x[0])), "2^{k} by 2^{to}");
                scale(MatMut::from_col_major(&mut x, 1, 1, 1).expect("one element"), -to - k);
                assert!(x[0] == R::ONE, "2^{k} by 2^{to}");
            }
        }
        check::<f32>();
        check::<f64>();
        for bad in [0.0, f64::NAN, f64::INFINITY, 1.0] {
            assert_eq!((safe_scaling_exponent(bad), safe_scaling_exponent(bad as f32)), (0, 0));
        }
    }

    #[test]
    fn largest_parts() {
        for (m, n) in [(1, 1), (40, 3), (3, 40)] {
            let size = |i: usize, j: usize| (1 + (7 * i + 3 * j) % 11) as f32;
            let data: Vec<c32> = (0..m * n).map(|at| c32::new(-size(at % m, at / m), 0.5)).collect();
            let a = MatRef::from_col_major(&data, m, n, m).expect("it fits");
            let wanted = (0..m * n).map(|at| size(at % m, at / m)).fold(0.0, max_or_nan);
            assert_eq!((largest_part(a), largest_part(a.transpose())), (wanted, wanted));
        }
        let of = |x: c64| largest_part(MatRef::from_col_major(&[c64::ONE, x, c64::ONE], 3, 1, 3).expect("it fits"));
        assert_eq!(of(c64::new(f64::MAX, f64::MAX)), f64::MAX, "the modulus overflows");
        assert_eq!(of(c64::new(1.0, f64::NEG_INFINITY)), f64::INFINITY);
        assert!(of(c64::new(f64::INFINITY, f64::NAN)).is_nan() && of(c64::new(f64::NAN, f64::INFINITY)).is_nan());
        assert_eq!(largest_part::<f64>(MatRef::from_col_major(&[], 0, usize::MAX, 1).expect("it fits")), 0.0);
    }
}
