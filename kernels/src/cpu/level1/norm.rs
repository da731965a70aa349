//! nrm2.

use super::{adjacent, place};
use crate::backend::vectors;
use crate::vector::loops::Dot;
use crate::{Real, Scalar, VecRef};

/// The Euclidean norm: the square root of the sum of the squares of all parts.
///
/// It is right to a few roundoffs wherever it is a number, NaN if a part is NaN, and otherwise Inf if a part is
/// infinite.
///
/// The squares are summed as they are first; only a sum near the ends of the range is computed anew, of scaled numbers.
///
/// # Example
/// ```
/// use superscalar::kernels::{VecRef, cpu};
/// assert_eq!(cpu::nrm2(VecRef::from_slice(&[3e300, 4e300])), 5e300);
/// ```
pub fn nrm2<T: Scalar>(x: VecRef<'_, T>) -> T::Real {
    let n = x.len();
    let squares = match adjacent(place(x), place(x), n) {
        Some((x, _)) => {
            let n = n * size_of::<T>() / size_of::<T::Real>();
            let x = x.cast_const().cast();
            // SAFETY: so many reals are there.
            unsafe { (vectors::<T>().dot_reals)(Dot { n, conj: false, x, y: x }) }
        }
        None => (0..n).map(|i| x.at(i).re() * x.at(i).re() + x.at(i).im() * x.at(i).im()).sum(),
    };
    // What is lost of squares below the range is less than a roundoff of a sum above the first bound.
    let least = T::Real::MIN_POSITIVE / (T::EPSILON * T::EPSILON);
    let most = T::Real::ONE / T::Real::MIN_POSITIVE;
    if (squares > least && squares < most) || squares.is_nan() {
        return squares.sqrt();
    }
    scaled(x, squares > least)
}

/// The norm of huge numbers, or of tiny ones, as doubles scaled by a power of two. Squares of singles are doubles
/// without that.
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
