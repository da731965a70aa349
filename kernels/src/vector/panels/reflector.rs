//! One elementary reflector H = I - tau v vᴴ, with Hᴴ x = beta e1 and v[0] = 1: LAPACK's xLARFG.
//!
//! beta is real and its sign is the opposite of that of the real part of x[0], so that nothing cancels. If x is a real
//! multiple of e1 already, H is the identity, with tau = 0.

use super::columns::Columns;
use crate::scalar::division::reciprocal;
use crate::{Real, Scalar};

/// The reflector of x = (alpha, rest): v is (1, rest · scale).
pub(crate) struct ElementaryReflector<T> {
    pub beta: T,
    pub tau: T,
    pub scale: T,
}

fn abs<R: Real>(x: R) -> R {
    if x < R::ZERO { -x } else { x }
}

impl<T: Scalar> ElementaryReflector<T> {
    /// Returns the reflector of a vector whose first element is `alpha` and whose other elements have this sum of
    /// squares.
    #[inline(always)]
    fn new(alpha: T, squares: T::Real) -> Self {
        let norm = (alpha.re() * alpha.re() + alpha.im() * alpha.im() + squares).sqrt();
        let beta = if alpha.re() < T::Real::ZERO { norm } else { -norm };
        let tau = T::from_parts((beta - alpha.re()) / beta, -alpha.im() / beta);
        Self { beta: T::from_real(beta), tau, scale: reciprocal(alpha - T::from_real(beta)) }
    }
}

/// Returns the reflector, or None if the squares or their products with another column come near the limits of the
/// range.
#[inline(always)]
pub(crate) fn unscaled_reflector<T: Scalar>(alpha: T, squares: T::Real, product: T) -> Option<ElementaryReflector<T>> {
    let least = T::Real::MIN_POSITIVE / (T::EPSILON * T::EPSILON);
    let most = T::Real::ONE / least;
    let largest = if abs(alpha.re()) > abs(alpha.im()) { abs(alpha.re()) } else { abs(alpha.im()) };
    let product = if abs(product.re()) > abs(product.im()) { abs(product.re()) } else { abs(product.im()) };
    let ordinary = squares > least && squares < most && largest * largest < most && product < most;
    ordinary.then(|| ElementaryReflector::new(alpha, squares))
}

/// Returns the reflector of column j from row j on, whatever its scale, and overwrites the rows below j with v.
///
/// # Safety
/// The column has m rows.
pub(crate) unsafe fn scaled_reflector<T: Scalar>(columns: Columns<T>, m: usize, j: usize) -> ElementaryReflector<T> {
    // SAFETY: the caller guarantees rows j .. m of the column.
    unsafe {
        let alpha = columns.get(j, j);
        let (mut largest, mut nan) = (T::Real::ZERO, false);
        for i in j + 1..m {
            let x = columns.get(i, j);
            nan |= x.is_nan();
            for part in [abs(x.re()), abs(x.im())] {
                largest = if part > largest { part } else { largest };
            }
        }
        if largest == T::Real::ZERO && !nan && alpha.im() == T::Real::ZERO {
            return ElementaryReflector { beta: alpha, tau: T::ZERO, scale: T::ZERO };
        }
        for part in [abs(alpha.re()), abs(alpha.im())] {
            largest = if part > largest { part } else { largest };
        }
        // The largest value is zero if all values are NaN or zero; do not divide by it.
        let by = if largest > T::Real::ZERO { largest } else { T::Real::ONE };
        let divide = |x: T| T::from_parts(x.re() / by, x.im() / by);
        let mut squares = T::Real::ZERO;
        for i in j + 1..m {
            let x = divide(columns.get(i, j));
            squares += x.re() * x.re() + x.im() * x.im();
        }
        let scaled = ElementaryReflector::new(divide(alpha), squares);
        for i in j + 1..m {
            columns.set(i, j, divide(columns.get(i, j)) * scaled.scale);
        }
        ElementaryReflector { beta: T::from_real(scaled.beta.re() * by), ..scaled }
    }
}
