//! Powers of two that scale a matrix without rounding, from the least to the largest number of a type.

use superscalar_dla::Scalar;
use superscalar_kernels::{Real, c64};
use superscalar_oracle::{tries_scale, wide};

/// Returns whether the type has single precision.
pub fn is_single<T: Scalar>() -> bool {
    size_of::<T::Real>() == size_of::<f32>()
}

/// Returns the least positive number of the type.
pub fn least<T: Scalar>() -> f64 {
    if is_single::<T>() { f64::from(f32::from_bits(1)) } else { f64::from_bits(1) }
}

/// Returns the exponents k for which 2ᵏ times the integers from 1 to 7 are exact.
pub fn powers_of_two<T: Scalar>() -> std::ops::RangeInclusive<i32> {
    if is_single::<T>() { -149..=125 } else { -1074..=1021 }
}

/// Returns the exponents to test: all of them in single precision; some in double precision, unless FULL=1.
pub fn tried_powers_of_two<T: Scalar>() -> impl Iterator<Item = i32> {
    powers_of_two::<T>().filter(|&k| tries_scale::<T::Real>(k))
}

/// Returns 2ᵏ x, which is rounded only if it is subnormal or overflows.
pub fn times_power_of_two(x: f64, k: i32) -> f64 {
    let (mut x, mut left) = (x, k);
    while left != 0 {
        let step = left.clamp(-1022, 1022);
        x *= 2f64.powi(step);
        left -= step;
    }
    x
}

/// Checks that x is 2ᵏ times `expected`, up to 2ᵏ times `error` and rounding to the least number. A part that is not
/// representable must have overflowed.
#[track_caller]
pub fn assert_scaled<T: Scalar>(x: T, expected: c64, error: f64, k: i32, what: &str) {
    for (found, expected) in [(wide(x).re, expected.re), (wide(x).im, expected.im)] {
        let scaled = times_power_of_two(expected, k);
        let is_number = T::from_f64(times_power_of_two(expected.abs() + error, k)).re().to_f64().is_finite();
        let near = (found - scaled).abs() <= times_power_of_two(error, k) + 4.0 * least::<T>();
        assert!(if is_number { near } else { found.is_infinite() || near }, "{what}: {found:e}, not {scaled:e}");
    }
}
