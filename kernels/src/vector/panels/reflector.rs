//! One elementary reflector H = I - tau v vᴴ, with Hᴴ x = beta e1 and v[0] = 1: LAPACK's xLARFG.
//!
//! beta is real, and its sign is the opposite of the real part's of x[0], so that nothing cancels. H is the identity,
//! with tau = 0, when x is already a real multiple of e1.

use super::columns::Columns;
use crate::scalar::division::reciprocal;
use crate::{Real, Scalar};

/// What becomes of x = (alpha, rest): v is (1, rest · scale).
pub(crate) struct Reflector<T> {
    pub beta: T,
    pub tau: T,
    pub scale: T,
}

fn abs<R: Real>(x: R) -> R {
    if x < R::ZERO { -x } else { x }
}

impl<T: Scalar> Reflector<T> {
    /// The reflector of a vector with this first element and with this sum of squares of the others.
    #[inline(always)]
    fn new(alpha: T, squares: T::Real) -> Self {
        let norm = (alpha.re() * alpha.re() + alpha.im() * alpha.im() + squares).sqrt();
        let beta = if alpha.re() < T::Real::ZERO { norm } else { -norm };
        let tau = T::from_parts((beta - alpha.re()) / beta, -alpha.im() / beta);
        Self { beta: T::from_real(beta), tau, scale: reciprocal(alpha - T::from_real(beta)) }
    }
}

/// The reflector, if neither the squares nor their products with another column came near the ends of the range.
#[inline(always)]
pub(crate) fn fast<T: Scalar>(alpha: T, squares: T::Real, product: T) -> Option<Reflector<T>> {
    let least = T::Real::MIN_POSITIVE / (T::EPSILON * T::EPSILON);
    let most = T::Real::ONE / least;
    let largest = if abs(alpha.re()) > abs(alpha.im()) { abs(alpha.re()) } else { abs(alpha.im()) };
    let product = if abs(product.re()) > abs(product.im()) { abs(product.re()) } else { abs(product.im()) };
    let ordinary = squares > least && squares < most && largest * largest < most && product < most;
    ordinary.then(|| Reflector::new(alpha, squares))
}

/// The reflector of rows j and on of column j, whose rows below the first are overwritten by v's, whatever their scale.
///
/// # Safety
/// The m rows of the column are there.
pub(crate) unsafe fn careful<T: Scalar>(columns: Columns<T>, m: usize, j: usize) -> Reflector<T> {
    // SAFETY: rows j .. m of the column.
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
            return Reflector { beta: alpha, tau: T::ZERO, scale: T::ZERO };
        }
        for part in [abs(alpha.re()), abs(alpha.im())] {
            largest = if part > largest { part } else { largest };
        }
        // NaN alone, or nothing but zeros: not to be divided by.
        let by = if largest > T::Real::ZERO { largest } else { T::Real::ONE };
        let divide = |x: T| T::from_parts(x.re() / by, x.im() / by);
        let mut squares = T::Real::ZERO;
        for i in j + 1..m {
            let x = divide(columns.get(i, j));
            squares += x.re() * x.re() + x.im() * x.im();
        }
        let scaled = Reflector::new(divide(alpha), squares);
        for i in j + 1..m {
            columns.set(i, j, divide(columns.get(i, j)) * scaled.scale);
        }
        Reflector { beta: T::from_real(scaled.beta.re() * by), ..scaled }
    }
}
