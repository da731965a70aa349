//! Division of complex numbers over the whole range of exponents.
//!
//! The textbook formula x / y = x conj(y) / |y|² is accurate as long as the squares of y's parts neither overflow nor
//! underflow, which holds for half of all exponents. For the others, y and x are first scaled by a power of two.
//!
//! [`Scalar::quotient`] divides one number; [`Divisor`] divides many numbers by one divisor.

use crate::{Real, Scalar, c32, c64};

/// Divides in double precision, where the squares of single-precision numbers cannot overflow.
#[inline(always)]
pub(crate) fn quotient_c32(x: c32, y: c32) -> c32 {
    if y.re.is_infinite() || y.im.is_infinite() {
        return Divisor::of(y).divide(x);
    }
    let wide = |z: c32| c64::new(z.re.into(), z.im.into());
    let quotient = textbook(wide(x), wide(y));
    c32::new(quotient.re as f32, quotient.im as f32)
}

/// Uses the textbook formula where none of its products overflows or loses digits.
#[inline(always)]
pub(crate) fn quotient_c64(x: c64, y: c64) -> c64 {
    const LEAST: f64 = f64::from_bits((1023 - 480) << 52);
    const MOST: f64 = f64::from_bits((1023 + 480) << 52);
    let is_safe = |size: f64| size > LEAST && size < MOST;
    let of_x = size(x);
    if is_safe(size(y)) && (of_x == 0.0 || is_safe(of_x)) { textbook(x, y) } else { Divisor::of(y).divide(x) }
}

#[inline(always)]
fn textbook(x: c64, y: c64) -> c64 {
    let square = y.re * y.re + y.im * y.im;
    c64::new((x.re * y.re + x.im * y.im) / square, (x.im * y.re - x.re * y.im) / square)
}

#[inline(always)]
fn abs<R: Real>(x: R) -> R {
    if x < R::ZERO { -x } else { x }
}

/// Returns |re| + |im|, LAPACK's measure of a pivot. It is infinite for the very largest numbers.
#[inline(always)]
pub(crate) fn size<T: Scalar>(x: T) -> T::Real {
    if T::COMPLEX { abs(x.re()) + abs(x.im()) } else { abs(x.re()) }
}

/// The factors that replace a division by y: x / y is (x · scale) · inverse.
///
/// The reciprocal of a tiny number may overflow, and that of a huge one loses digits. Then `scale` is a power of two
/// that moves both y and x. Scaling x overflows only if the quotient does, and digits lost by it would be lost in the
/// quotient, too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor<T: Scalar> {
    pub scale: T::Real,
    pub inverse: T,
}

impl<T: Scalar> Divisor<T> {
    #[inline(always)]
    pub fn of(y: T) -> Self {
        let scale = scale_of(y).unwrap_or(T::Real::ONE);
        Self { scale, inverse: reciprocal(times(y, scale)) }
    }

    #[inline(always)]
    fn divide(self, x: T) -> T {
        times(x, self.scale) * self.inverse
    }
}

/// Returns the scale for a divisor whose reciprocal alone is not accurate, or `None` if no scale is needed.
#[inline(always)]
pub(crate) fn scale_of<T: Scalar>(y: T) -> Option<T::Real> {
    let (tiny, size) = (T::Real::MIN_POSITIVE, size(y));
    if size < tiny + tiny {
        Some(T::Real::ONE / tiny)
    } else {
        (size > T::Real::from_f64(0.0625) / tiny).then(|| T::Real::from_f64(0.015625))
    }
}

#[inline(always)]
fn times<T: Scalar>(x: T, by: T::Real) -> T {
    T::from_parts(x.re() * by, x.im() * by)
}

/// Computes 1 / y, for a y whose reciprocal is a normal number. For zero the result is Inf or NaN, for Inf zero.
#[inline(always)]
pub(crate) fn reciprocal<T: Scalar>(y: T) -> T {
    if !T::COMPLEX {
        return T::from_real(T::Real::ONE / y.re());
    }
    let largest = if abs(y.re()) > abs(y.im()) { abs(y.re()) } else { abs(y.im()) };
    if largest == T::Real::ONE / T::Real::ZERO {
        return T::ZERO;
    }
    let (re, im) = (y.re() / largest, y.im() / largest);
    let norm = re * re + im * im;
    T::from_parts(re / norm / largest, -im / norm / largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2^e x, with powers split so that no intermediate overflows.
    fn scaled<T: Scalar>(x: (f64, f64), e: i32) -> T {
        let power = |e: i32| 2f64.powi(e / 2) * 2f64.powi(e - e / 2);
        let part = |x: f64| T::Real::from_f64(x * power(e / 2) * power(e - e / 2));
        T::from_parts(part(x.0), part(x.1))
    }

    /// Checks quotients of small integers, at all pairs of scales.
    fn check<T: Scalar>((most, least): (i32, i32)) {
        let cases = [
            ((-5.0, 10.0), (1.0, 2.0), (3.0, 4.0)),
            ((0.0, -2.0), (0.0, -2.0), (1.0, 0.0)),
            ((4.0, 0.0), (2.0, 0.0), (2.0, 0.0)),
        ];
        for ((x, y, quotient), of_x, of_y) in cases
            .into_iter()
            .flat_map(|case| {
                (least..=most - 3).step_by(7).flat_map(move |x| (least..=most - 1).map(move |y| (case, x, y)))
            })
            .filter(|(_, x, y)| (least..=most - 2).contains(&(x - y)))
        {
            let (x, y) = if T::COMPLEX { (x, y) } else { ((y.0 * quotient.0, 0.0), (y.0, 0.0)) };
            let (x, y, wanted) = (scaled::<T>(x, of_x), scaled::<T>(y, of_y), scaled::<T>(quotient, of_x - of_y));
            if y == T::ZERO {
                continue;
            }
            let found = x.quotient(y);
            let least = scaled::<T>((1.0, 0.0), least).re();
            let bound = T::Real::from_f64(8.0) * T::EPSILON * size(wanted) + least;
            assert!(size(found - wanted) <= bound, "{x} / {y} is {found}, not {wanted}");
            // Kernels multiply many numbers by one `Divisor`.
            let found = Divisor::of(y).divide(x);
            assert!(size(found - wanted) <= bound + least, "{x} / {y} is {found}, not {wanted}");
        }
    }

    #[test]
    fn quotients_of_all_scales_s() {
        check::<f32>((127, -149));
    }

    #[test]
    fn quotients_of_all_scales_d() {
        check::<f64>((1023, -1074));
    }

    #[test]
    fn quotients_of_all_scales_c() {
        check::<c32>((127, -149));
    }

    #[test]
    fn quotients_of_all_scales_z() {
        check::<c64>((1023, -1074));
    }

    #[test]
    fn quotients_of_the_largest_numbers() {
        let most = f64::MAX;
        let near = |found: c64, re: f64, im: f64| {
            let bound = 4.0 * f64::EPSILON * re.abs().max(im.abs());
            assert!((found.re - re).abs() <= bound && (found.im - im).abs() <= bound, "{found}");
        };
        near(c64::new(most, most).quotient(c64::new(most, most)), 1.0, 0.0);
        near(c64::new(most, most).quotient(c64::new(1.0, 1.0)), most, 0.0);
        near(c64::new(most, -most).quotient(c64::new(2.0, 0.0)), most / 2.0, -most / 2.0);
        near(c64::new(1.0, 0.0).quotient(c64::new(most, 0.0)), 1.0 / most, 0.0);
        let most = f32::MAX;
        assert_eq!(c32::new(most, most).quotient(c32::new(most, most)), c32::ONE);
        assert!(c64::ONE.quotient(c64::ZERO).is_nan() && 1.0f32.quotient(0.0) == f32::INFINITY);
        assert_eq!(c64::ZERO.quotient(c64::new(0.0, 1e-320)), c64::ZERO);
        for (re, im) in [(f64::INFINITY, 0.0), (1.0, f64::NEG_INFINITY), (f64::INFINITY, f64::INFINITY)] {
            assert_eq!(c64::new(3.0, -4.0).quotient(c64::new(re, im)), c64::ZERO);
            assert_eq!(c32::new(3.0, -4.0).quotient(c32::new(re as f32, im as f32)), c32::ZERO);
            assert_eq!(reciprocal(c64::new(re, im)), c64::ZERO);
            assert!(c64::new(re, im).quotient(c64::new(re, im)).is_nan());
        }
        assert!(
            c64::ONE.quotient(c64::new(f64::NAN, 1.0)).is_nan() && c32::new(0.0, f32::NAN).quotient(c32::ONE).is_nan()
        );
    }
}
