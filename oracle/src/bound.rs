//! Decides whether an error is small enough. `tests/architecture.rs` forbids comparisons that accept NaN in such code.

use std::{
    error::Error,
    fmt::{self, Debug, Display, Formatter},
};
use superscalar_kernels::Real;

/// Returns the largest of some nonnegative magnitudes: zero if there are none, NaN if one of them is NaN.
///
/// # Example
/// ```
/// use superscalar_oracle::largest;
///
/// assert_eq!(largest([0.5, 2.0, 1.0]), 2.0);
/// assert!(largest([0.5, f64::NAN, 1.0]).is_nan());
/// assert_eq!(largest::<f64>([]), 0.0);
/// ```
pub fn largest<R: Real>(magnitudes: impl IntoIterator<Item = R>) -> R {
    let more = |most: R, next: R| if most.is_nan() || next <= most { most } else { next };
    magnitudes.into_iter().fold(R::ZERO, more)
}

/// Returns error / size: zero if both are zero, NaN if `size` is not finite.
pub fn ratio(error: f64, size: f64) -> f64 {
    let least = f64::from_bits(1);
    if size.is_finite() { error / largest([size, least]) } else { f64::NAN }
}

/// Accepts a figure that is at most its bound. NaN is not accepted.
///
/// # Errors
/// [`Exceeded`], with the figure and the bound, unless `figure <= bound`.
///
/// # Example
/// ```
/// use superscalar_oracle::at_most;
///
/// let bound = 100.0 * f64::EPSILON;
/// assert!(at_most("backward error", 1e-15, bound).is_ok());
/// let error = at_most("backward error", f64::NAN, bound).unwrap_err();
/// assert_eq!(error.to_string(), "backward error: NaN, not at most 2.2e-14");
/// ```
pub fn at_most(what: &'static str, figure: f64, bound: f64) -> Result<(), Exceeded> {
    if figure <= bound { Ok(()) } else { Err(Exceeded { what, figure, bound }) }
}

/// A figure that exceeds its bound, or is NaN.
#[derive(Clone, Copy, PartialEq)]
pub struct Exceeded {
    what: &'static str,
    figure: f64,
    bound: f64,
}

impl Display for Exceeded {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "{}: {:.1e}, not at most {:.1e}", self.what, self.figure, self.bound)
    }
}

/// Same text as `Display`, because a program prints `Debug` if its `main` returns the error.
impl Debug for Exceeded {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, to)
    }
}

impl Error for Exceeded {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_the_largest() {
        for at in 0..4 {
            let mut values = [1.0, 3.0, f64::INFINITY, 2.0];
            values[at] = f64::NAN;
            assert!(largest(values).is_nan(), "{values:?}");
        }
        assert_eq!(largest([1.0f32, 3.0, 2.0]), 3.0);
        assert_eq!(largest([1.0, f64::INFINITY, 2.0]), f64::INFINITY);
    }

    #[test]
    fn figures_above_bound_are_rejected() {
        assert_eq!(at_most("error", 1.0, 1.0), Ok(()));
        for (figure, bound) in [(1.5, 1.0), (f64::NAN, 1.0), (f64::INFINITY, 1.0), (0.0, f64::NAN)] {
            assert!(at_most("error", figure, bound).is_err(), "{figure} and {bound}");
        }
        assert_eq!(format!("{:?}", at_most("error", 1.5, 1.0).unwrap_err()), "error: 1.5e0, not at most 1.0e0");
    }
}
