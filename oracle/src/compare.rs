//! Compares two results element by element.

use crate::bound::{largest, ratio};
use superscalar_kernels::{Real, Scalar};

/// Returns whether two numbers are equal, or both NaN. Sentinels may be NaN, to reveal kernels that read them.
pub fn identical<T: Scalar>(x: T, y: T) -> bool {
    x == y || (x.is_nan() && y.is_nan())
}

/// Returns whether both parts are finite.
pub fn is_finite<T: Scalar>(x: T) -> bool {
    x.re().to_f64().is_finite() && x.im().to_f64().is_finite()
}

/// Returns the largest distance of two elements, in roundoffs of the largest expected element.
///
/// # Panics
/// If the lengths differ.
///
/// # Example
/// ```
/// use superscalar_oracle::roundoffs;
///
/// assert_eq!(roundoffs(&[2.0, 1.0 + f64::EPSILON], &[2.0, 1.0]), 1.0);
/// assert!(roundoffs(&[2.0, f64::NAN], &[2.0, 1.0]).is_nan());
/// ```
pub fn roundoffs<T: Scalar>(found: &[T], expected: &[T]) -> f64 {
    assert_eq!(found.len(), expected.len(), "lengths of the two results");
    let size = largest(expected.iter().map(|x| x.abs().to_f64()));
    // Scaled first: the difference of two huge or tiny numbers has a representable modulus, but not its square.
    let scaled = |x: T| (ratio(x.re().to_f64(), size), ratio(x.im().to_f64(), size));
    let apart = |(&x, &y): (&T, &T)| {
        let (x, y) = (scaled(x), scaled(y));
        (x.0 - y.0).hypot(x.1 - y.1)
    };
    largest(found.iter().zip(expected).map(apart)) / T::EPSILON.to_f64()
}

/// How near a result must be to the expected one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nearness {
    /// Equal, or both NaN. Zeros may have either sign.
    Exact,
    /// Equal where both parts are finite, and not finite at the same elements. How Inf and NaN spread over the parts of
    /// a complex number depends on the order of operations.
    Finite,
    /// Within this many roundoffs of the largest finite expected element, or both NaN.
    Roundoffs(f64),
}

impl Nearness {
    /// Returns whether an element is near enough; `size` is the largest expected modulus.
    pub fn fits<T: Scalar>(self, found: T, expected: T, size: f64) -> bool {
        match self {
            Self::Exact => identical(found, expected),
            Self::Finite => is_finite(found) == is_finite(expected) && (!is_finite(found) || found == expected),
            Self::Roundoffs(bound) => {
                let is_near = || (found - expected).abs().to_f64() <= bound * T::EPSILON.to_f64() * size;
                identical(found, expected) || is_near()
            }
        }
    }
}

/// Panics unless all elements are near enough.
///
/// # Example
/// ```
/// use superscalar_oracle::{Nearness, assert_near};
///
/// assert_near(&[1.0, f64::NAN], &[1.0, f64::NAN], Nearness::Exact, || "copy".to_owned());
/// ```
#[track_caller]
pub fn assert_near<T: Scalar>(found: &[T], expected: &[T], nearness: Nearness, what: impl Fn() -> String) {
    assert_eq!(found.len(), expected.len(), "{}: the lengths differ", what());
    let size = largest(expected.iter().map(|x| x.abs().to_f64()).filter(|x| x.is_finite()));
    for (at, (&x, &y)) in found.iter().zip(expected).enumerate() {
        assert!(nearness.fits(x, y, size), "{}: {x} at {at}, expected {y}, {nearness:?} of {size:e}", what());
    }
}

/// Returns an error of zero if the numbers of each pair are equal or both NaN, otherwise ∞.
pub fn mismatch<T: Scalar>(pairs: impl IntoIterator<Item = (T, T)>) -> f64 {
    if pairs.into_iter().all(|(x, y)| identical(x, y)) { 0.0 } else { f64::INFINITY }
}
