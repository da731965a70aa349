//! Two results side by side, element by element.

use crate::bound::{largest, ratio};
use superscalar_kernels::{Real, Scalar};

/// Equal, or NaN both. Sentinels may be NaN, so that a kernel that reads them shows.
pub fn identical<T: Scalar>(x: T, y: T) -> bool {
    x == y || (x.is_nan() && y.is_nan())
}

/// Whether both parts are finite.
pub fn is_finite<T: Scalar>(x: T) -> bool {
    x.re().to_f64().is_finite() && x.im().to_f64().is_finite()
}

/// The largest distance of two elements, in roundoffs of the largest element that was expected.
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
    assert_eq!(found.len(), expected.len(), "as many elements");
    let size = largest(expected.iter().map(|x| x.abs().to_f64()));
    // Scaled first: a difference of the largest or smallest numbers has an absolute value, its square has not.
    let scaled = |x: T| (ratio(x.re().to_f64(), size), ratio(x.im().to_f64(), size));
    let apart = |(&x, &y): (&T, &T)| {
        let (x, y) = (scaled(x), scaled(y));
        (x.0 - y.0).hypot(x.1 - y.1)
    };
    largest(found.iter().zip(expected).map(apart)) / T::EPSILON.to_f64()
}

/// How near a result must be to what was expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nearness {
    /// Equal, or NaN both. Zeros may have either sign.
    Exact,
    /// Equal where both parts are finite, and not finite at the same elements: how Inf and NaN mix in the parts of a
    /// complex number depends on the order of operations.
    Finite,
    /// Within so many roundoffs of the largest finite element that was expected, or NaN both.
    Roundoffs(f64),
}

impl Nearness {
    /// Whether an element is that near, where `size` is the largest modulus that was expected.
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

/// Fails unless all elements are that near.
///
/// # Example
/// ```
/// use superscalar_oracle::{Nearness, assert_near};
///
/// assert_near(&[1.0, f64::NAN], &[1.0, f64::NAN], Nearness::Exact, || "copy".to_owned());
/// ```
#[track_caller]
pub fn assert_near<T: Scalar>(found: &[T], expected: &[T], nearness: Nearness, what: impl Fn() -> String) {
    assert_eq!(found.len(), expected.len(), "{}: other lengths", what());
    let size = largest(expected.iter().map(|x| x.abs().to_f64()).filter(|x| x.is_finite()));
    for (at, (&x, &y)) in found.iter().zip(expected).enumerate() {
        assert!(nearness.fits(x, y, size), "{}: {x} for {y} at {at}, {nearness:?} of {size:e}", what());
    }
}

/// An error of zero if the numbers of each pair are equal, NaN with NaN, otherwise ∞.
pub fn mismatch<T: Scalar>(pairs: impl IntoIterator<Item = (T, T)>) -> f64 {
    if pairs.into_iter().all(|(x, y)| identical(x, y)) { 0.0 } else { f64::INFINITY }
}
