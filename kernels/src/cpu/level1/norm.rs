//! nrm2.

use super::{address, adjacent};
use crate::backend::vectors;
use crate::vector::loops::Dot;
use crate::{Real, Scalar, VecRef};

/// Computes the Euclidean norm: the square root of the sum of the squares of all parts.
///
/// The result is accurate to a few roundoffs wherever it is finite. It is NaN if a part is NaN, and otherwise Inf if a
/// part is infinite.
///
/// The squares are first summed without scaling; only a sum near the ends of the range is computed again, of scaled
/// numbers.
///
/// # Example
/// ```
/// use superscalar::kernels::{VecRef, cpu};
/// assert_eq!(cpu::nrm2(VecRef::from_slice(&[3e300, 4e300])), 5e300);
/// ```
pub fn nrm2<T: Scalar>(x: VecRef<'_, T>) -> T::Real {
    let n = x.len();
    let squares = match adjacent(address(x), address(x), n) {
        Some((x, _)) => {
            let n = n * size_of::<T>() / size_of::<T::Real>();
            let x = x.cast_const().cast();
            // SAFETY: the adjacent elements of x consist of n reals.
            unsafe { (vectors::<T>().dot_reals)(Dot { n, conj: false, x, y: x }) }
        }
        None => (0..n).map(|i| x.at(i).re() * x.at(i).re() + x.at(i).im() * x.at(i).im()).sum(),
    };
    // Above the first bound, the squares that underflow change the sum by less than a roundoff.
    let least = T::Real::MIN_POSITIVE / (T::EPSILON * T::EPSILON);
    let most = T::Real::ONE / T::Real::MIN_POSITIVE;
    if (squares > least && squares < most) || squares.is_nan() {
        return squares.sqrt();
    }
    scaled(x, squares > least)
}

/// Computes the norm of huge or of tiny numbers, in doubles scaled by a power of two. Single-precision numbers need no
/// scale, because their squares are within the range of doubles.
#[cold]
fn scaled<T: Scalar>(x: VecRef<'_, T>, is_huge: bool) -> T::Real {
    let power = match (T::Real::LETTER, is_huge) {
        ('s', _) => 0,
        (_, true) => -600,
        (_, false) => 600,
    };
    let scale = f64::powi(2.0, power);
    let square = |part: T::Real| {
        let part = part.to_f64() * scale;
        part * part
    };
    let sum: f64 = (0..x.len()).map(|i| square(x.at(i).re()) + square(x.at(i).im())).sum();
    T::Real::from_f64(sum.sqrt() / scale)
}
