//! Determinants as products that neither overflow nor vanish on the way.

use crate::kernels::{Real, Scalar};

/// The logarithm of a determinant: det A = sign · exp(log_abs), in the form of NumPy's `slogdet`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogDeterminant<T: Scalar> {
    /// The determinant divided by its modulus: 1 or −1 for real matrices, on the unit circle for complex ones; 0 if
    /// the matrix is singular.
    pub sign: T,
    /// The natural logarithm of the modulus; minus infinity if the matrix is singular.
    pub log_abs: T::Real,
}

impl<T: Scalar> LogDeterminant<T> {
    /// The logarithm of zero.
    pub(crate) fn singular() -> Self {
        Self { sign: T::ZERO, log_abs: T::Real::from_f64(f64::NEG_INFINITY) }
    }
}

/// A product of complex numbers as a mantissa and a power of two, so that a thousand factors of 10³ do not overflow.
struct Product {
    re: f64,
    im: f64,
    exponent: i64,
}

impl Product {
    fn times(self, x: impl Scalar) -> Self {
        let (re, im, exponent) = normalized(x.re().to_f64(), x.im().to_f64());
        let (re, im) = match (self.im, im) {
            // Infinity times the imaginary zero of a real number would be NaN.
            (0.0, 0.0) => (self.re * re, 0.0),
            _ => (self.re * re - self.im * im, self.re * im + self.im * re),
        };
        let (re, im, more) = normalized(re, im);
        Self { re, im, exponent: self.exponent + exponent + more }
    }
}

/// Scales a complex number by a power of two, so that the larger part is in [1, 2). Zero, infinities and NaN stay as
/// they are.
fn normalized(re: f64, im: f64) -> (f64, f64, i64) {
    let size = re.abs().max(im.abs());
    if size == 0.0 || !(re.is_finite() && im.is_finite()) {
        return (re, im, 0);
    }
    // Subnormal numbers have no exponent of their own.
    let shift = if size < f64::MIN_POSITIVE { 60 } else { 0 };
    let up = 2f64.powi(shift);
    let (re, im) = (re * up, im * up);
    let exponent = ((size * up).to_bits() >> 52) as i64 - 1023;
    let scale = |x: f64| scaled(x, -exponent);
    (scale(re), scale(im), exponent - i64::from(shift))
}

/// Returns the point of the unit circle in the direction of a complex number; zero for zero, NaN for NaN.
fn direction(re: f64, im: f64) -> (f64, f64) {
    let finite = |x: f64| if x.is_infinite() { 1f64.copysign(x) } else { 0.0 };
    let (re, im) = if re.is_infinite() || im.is_infinite() { (finite(re), finite(im)) } else { (re, im) };
    match re.hypot(im) {
        0.0 => (0.0, 0.0),
        modulus => (re / modulus, im / modulus),
    }
}

/// Returns x 2^exponent, rounded once: overflow is infinite, underflow gradual.
fn scaled(x: f64, exponent: i64) -> f64 {
    let exponent = exponent.clamp(-2200, 2200) as i32;
    // In steps that are representable; only the last one may round.
    let first = exponent.clamp(-1000, 1000);
    let second = (exponent - first).clamp(-1000, 1000);
    x * 2f64.powi(first) * 2f64.powi(second) * 2f64.powi(exponent - first - second)
}

/// Returns the product of the factors, with the opposite sign if `is_negated`.
pub(super) fn product<T: Scalar>(factors: impl Iterator<Item = T>, is_negated: bool) -> T {
    let start = Product { re: if is_negated { -1.0 } else { 1.0 }, im: 0.0, exponent: 0 };
    let Product { re, im, exponent } = factors.fold(start, Product::times);
    let part = |x: f64| T::Real::from_f64(scaled(x, exponent));
    T::from_parts(part(re), part(im))
}

/// Returns the logarithm of the product of the factors, with the opposite sign if `is_negated`.
pub(super) fn log_product<T: Scalar>(factors: impl Iterator<Item = T>, is_negated: bool) -> LogDeterminant<T> {
    let (mut log_abs, mut sign) = (0.0, (if is_negated { -1.0 } else { 1.0 }, 0.0));
    for x in factors {
        let (re, im, exponent) = normalized(x.re().to_f64(), x.im().to_f64());
        log_abs += re.hypot(im).ln() + exponent as f64 * std::f64::consts::LN_2;
        let unit = direction(re, im);
        // Directed anew after each factor, so that roundings do not leave the circle.
        sign = direction(sign.0 * unit.0 - sign.1 * unit.1, sign.0 * unit.1 + sign.1 * unit.0);
    }
    let part = T::Real::from_f64;
    LogDeterminant { sign: T::from_parts(part(sign.0), part(sign.1)), log_abs: part(log_abs) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{c32, c64};

    #[test]
    fn products_do_not_overflow_on_the_way() {
        let factors = || [1e300, 1e300, 1e-300, -1e-300, 3.0].into_iter();
        assert!((product(factors(), false) + 3.0_f64).abs() < 1e-14);
        assert!((product(factors(), true) - 3.0_f64).abs() < 1e-14);
        assert_eq!(product([1e300, 1e300].into_iter(), true), f64::NEG_INFINITY);
        assert_eq!(product([1e-300, 1e-300].into_iter(), false), 0.0);
        assert_eq!(product([f64::from_bits(1), 2f64.powi(1000), 2f64.powi(74)].into_iter(), false), 1.0);
        assert_eq!(product([2f64.powi(-600), 2f64.powi(-460)].into_iter(), false), 2f64.powi(-1060));
        assert_eq!(product([1e30_f32, 1e30, 1e-30, 1e-30].into_iter(), false), 1.0);
        assert!(product([f64::NAN, 0.0].into_iter(), false).is_nan());
        assert_eq!(product([f64::INFINITY, 2.0].into_iter(), false), f64::INFINITY);
        assert_eq!(product([2.0, f64::NEG_INFINITY, 3.0].into_iter(), false), f64::NEG_INFINITY);
        assert!(product([f64::INFINITY, 0.0].into_iter(), false).is_nan());
        assert_eq!(product(std::iter::empty::<f64>(), false), 1.0);
    }

    #[test]
    fn complex_products_have_a_sign_on_the_circle() {
        let i = c64::new(0.0, 1e200);
        let log = log_product([i, i, i].into_iter(), false);
        assert!((log.sign - c64::new(0.0, -1.0)).abs() < 1e-15);
        assert!((log.log_abs - 600.0 * 10f64.ln()).abs() < 1e-9);
        assert_eq!(product([c32::new(0.0, 2.0), c32::new(0.0, 2.0)].into_iter(), false), c32::new(-4.0, 0.0));
        assert_eq!(product([i, i].into_iter(), false).re(), f64::NEG_INFINITY);
        let large = c64::new(1.7e308, 1.7e308);
        let modest = product([large, large, c64::new(1e-300, 0.0), c64::new(1e-300, 0.0)].into_iter(), false);
        assert!((modest - c64::new(0.0, 2.0 * 1.7e8 * 1.7e8)).abs() < 1e3);
        let log = log_product([large].into_iter(), false);
        assert!((log.log_abs - (1.7e308_f64.ln() + 0.5 * 2f64.ln())).abs() < 1e-12);
        assert!((log.sign - c64::new(0.5f64.sqrt(), 0.5f64.sqrt())).abs() < 1e-15);
        // A thousand turns by a hundredth of a circle.
        let turn = c32::from_polar(3.0, std::f32::consts::TAU / 100.0);
        let log = log_product(std::iter::repeat_n(turn, 1000), false);
        assert!((log.sign - c32::new(1.0, 0.0)).abs() < 1e-3 && (log.sign.abs() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn logarithms_of_zero_and_nan() {
        let zero = log_product([2.0, 0.0].into_iter(), false);
        assert_eq!((zero.sign, zero.log_abs), (0.0, f64::NEG_INFINITY));
        assert!(log_product([2.0, f64::NAN].into_iter(), false).log_abs.is_nan());
        let infinite = log_product([f64::NEG_INFINITY].into_iter(), false);
        assert_eq!((infinite.sign, infinite.log_abs), (-1.0, f64::INFINITY));
    }
}
