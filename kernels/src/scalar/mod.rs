//! The four element types of dense linear algebra behind one trait, so that each routine is written once.
//!
//! [`Scalar`] is implemented for `f32`, `f64`, [`c32`] and [`c64`] only, because the kernels choose instructions by
//! type. One macro at the end of this file lists the four.

pub(crate) mod choice;
pub(crate) mod division;

use crate::simd::Lanes;
use choice::Choose;
use num_complex::{Complex32, Complex64};
use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// Single precision complex, LAPACK's letter c.
#[allow(non_camel_case_types)]
pub type c32 = Complex32;
/// Double precision complex, LAPACK's letter z.
#[allow(non_camel_case_types)]
pub type c64 = Complex64;

/// An element of a matrix: `f32`, `f64`, [`c32`] or [`c64`]. Sealed.
///
/// It has no operator `/`, because the complex operator squares the divisor, which overflows or underflows for half of
/// all exponents. Use [`Scalar::quotient`].
///
/// ```compile_fail,E0369
/// fn divide<T: superscalar::kernels::Scalar>(x: T, y: T) -> T {
///     x / y
/// }
/// ```
///
/// # Example
/// ```
/// use superscalar::kernels::{Scalar, c64};
///
/// fn norm2<T: Scalar>(x: &[T]) -> T {
///     x.iter().map(|&v| v.conj() * v).sum()
/// }
/// assert_eq!(norm2(&[c64::new(3.0, 4.0)]), c64::from_f64(25.0));
/// assert_eq!(<c64 as Scalar>::LETTER, 'z');
/// ```
pub trait Scalar:
    Choose
    + bytemuck::Pod
    + Copy
    + Send
    + Sync
    + Debug
    + Display
    + Default
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Sum
    + 'static
{
    /// The type of a modulus: `f32` or `f64`.
    type Real: Real;

    /// LAPACK's letter: 's', 'd', 'c' or 'z'.
    const LETTER: char;
    /// Whether the type has an imaginary part.
    const COMPLEX: bool;
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// The unit roundoff u, LAPACK's `eps`: half the distance from 1 to the next number, so `f64::EPSILON / 2` for
    /// doubles. (Rust's `EPSILON` is the whole distance.)
    const EPSILON: Self::Real;
    /// The real operations that one multiplication counts as: 1, or 6 for complex types.
    const FLOPS_MUL: u32;
    /// The real operations that one addition counts as: 1, or 2 for complex types.
    const FLOPS_ADD: u32;

    /// Makes the number with these parts. A real type ignores `im`.
    fn from_parts(re: Self::Real, im: Self::Real) -> Self;

    /// Returns the real part.
    fn re(self) -> Self::Real;

    /// Returns the imaginary part, which is zero for a real type.
    fn im(self) -> Self::Real;

    /// Returns the modulus, without undue overflow.
    fn abs(self) -> Self::Real;

    /// Divides this number by another one. The result is accurate to a few roundoffs of its modulus wherever both
    /// numbers and the modulus of the quotient are finite, including subnormal numbers and the largest ones. Division
    /// by zero gives Inf or NaN.
    ///
    /// ```
    /// use superscalar::kernels::{Scalar, c64};
    /// let z = c64::new(3e-200, 4e-200);
    /// assert!((z.quotient(z) - c64::ONE).abs() <= 4.0 * c64::EPSILON);
    /// ```
    fn quotient(self, by: Self) -> Self;

    /// Returns the number nearest to `x`.
    fn from_f64(x: f64) -> Self;

    /// Returns the complex conjugate; the number itself for a real type.
    #[inline(always)]
    fn conj(self) -> Self {
        Self::from_parts(self.re(), -self.im())
    }

    /// Makes the number with this real part and no imaginary part.
    #[inline(always)]
    fn from_real(re: Self::Real) -> Self {
        Self::from_parts(re, Self::Real::ZERO)
    }

    /// Returns whether a part is NaN.
    #[inline(always)]
    fn is_nan(self) -> bool {
        #[allow(clippy::eq_op)]
        {
            self.re() != self.re() || self.im() != self.im()
        }
    }
}

/// A real [`Scalar`]: `f32` or `f64`. It is ordered, and its [`Scalar::Real`] is itself.
///
/// # Example
/// ```
/// use superscalar::kernels::Real;
///
/// fn relative<R: Real>(error: R, norm: R) -> f64 {
///     (error / norm).to_f64()
/// }
/// assert_eq!(relative(1.0f32, 4.0f32), 0.25);
/// ```
pub trait Real: Scalar<Real = Self> + Lanes + PartialOrd + Div<Output = Self> + DivAssign {
    /// The smallest positive normal number.
    const MIN_POSITIVE: Self;

    /// Converts this number to a double, exactly.
    fn to_f64(self) -> f64;

    /// Returns the square root; NaN below zero.
    fn sqrt(self) -> Self;
}

/// Lists the element types: type, its real type, letter, flops of a multiplication and of an addition, how to take a
/// number apart and put it together, and how to divide two numbers.
macro_rules! scalars {
    ($($t:ty, $real:ty, $letter:literal, $complex:literal, $mul:literal, $add:literal,
        |$x:ident| ($re:expr, $im:expr, $abs:expr), |$r:ident, $i:ident| $build:expr, $quotient:path;)*) => {
        /// The letters of all element types.
        ///
        /// ```
        /// use superscalar::kernels::{Scalar, c32, scalar::LETTERS};
        /// assert_eq!(LETTERS[2], <c32 as Scalar>::LETTER);
        /// ```
        pub const LETTERS: [char; 4] = [$($letter),*];

        $(
        impl Scalar for $t {
            type Real = $real;
            const LETTER: char = $letter;
            const COMPLEX: bool = $complex;
            const ZERO: Self = { let ($r, $i) = (0.0, 0.0); let _: $real = $i; $build };
            const ONE: Self = { let ($r, $i) = (1.0, 0.0); let _: $real = $i; $build };
            const EPSILON: $real = <$real>::EPSILON / 2.0;
            const FLOPS_MUL: u32 = $mul;
            const FLOPS_ADD: u32 = $add;

            #[inline(always)]
            fn from_parts($r: $real, $i: $real) -> Self { let _ = $i; $build }
            #[inline(always)]
            fn from_f64(x: f64) -> Self { Self::from_real(x as $real) }
            #[inline(always)]
            fn re(self) -> $real { let $x = self; $re }
            #[inline(always)]
            fn im(self) -> $real { let $x = self; let _ = $x; $im }
            #[inline(always)]
            fn abs(self) -> $real { let $x = self; $abs }
            #[inline(always)]
            fn quotient(self, by: Self) -> Self { $quotient(self, by) }
        }
        )*
    };
}

/// Returns the place of a type among [`LETTERS`].
#[cfg(feature = "cuda")]
pub(crate) fn index_of<T: Scalar>() -> usize {
    LETTERS.iter().position(|&letter| letter == T::LETTER).unwrap_or_default()
}

/// Computes in double precision, where the squares of single-precision numbers cannot overflow.
#[inline(always)]
fn modulus_c32(z: c32) -> f32 {
    let (re, im) = (f64::from(z.re), f64::from(z.im));
    (re * re + im * im).sqrt() as f32
}

/// Uses the plain sum of squares where it neither overflows nor underflows, because `hypot` is much slower.
#[inline(always)]
fn modulus_c64(z: c64) -> f64 {
    let square = z.re * z.re + z.im * z.im;
    let is_safe = square > f64::MIN_POSITIVE / f64::EPSILON && square < f64::INFINITY;
    // A sum of squares with a NaN part is NaN; hypot would return Inf if the other part is infinite.
    if is_safe || square.is_nan() { square.sqrt() } else { z.re.hypot(z.im) }
}

scalars! {
    f32, f32, 's', false, 1, 1, |x| (x, 0.0, x.abs()), |r, i| r, Div::div;
    f64, f64, 'd', false, 1, 1, |x| (x, 0.0, x.abs()), |r, i| r, Div::div;
    c32, f32, 'c', true, 6, 2, |z| (z.re, z.im, modulus_c32(z)), |r, i| c32 { re: r, im: i }, division::quotient_c32;
    c64, f64, 'z', true, 6, 2, |z| (z.re, z.im, modulus_c64(z)), |r, i| c64 { re: r, im: i }, division::quotient_c64;
}

macro_rules! reals {
    ($($t:ty)*) => {$(
        impl Real for $t {
            const MIN_POSITIVE: Self = <$t>::MIN_POSITIVE;
            #[inline(always)]
            fn to_f64(self) -> f64 { f64::from(self) }
            #[inline(always)]
            fn sqrt(self) -> Self { <$t>::sqrt(self) }
        }
    )*};
}

reals! { f32 f64 }

/// Computes beta x. A real beta multiplies the parts separately: a complex product would make NaN of 0 * Inf in the
/// other part.
#[inline(always)]
pub(crate) fn scaled<T: Scalar>(beta: T, x: T) -> T {
    if beta.im() == T::Real::ZERO { T::from_parts(x.re() * beta.re(), x.im() * beta.re()) } else { beta * x }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Scalar>(letter: char, epsilon: f64, flops: (u32, u32)) {
        assert_eq!(T::LETTER, letter);
        assert_eq!(T::EPSILON.to_f64(), epsilon);
        assert_eq!((T::FLOPS_MUL, T::FLOPS_ADD), flops);
        assert_eq!(T::ONE + T::ZERO, T::from_f64(1.0));
        let z = T::from_parts(T::Real::from_f64(3.0), T::Real::from_f64(4.0));
        assert_eq!(z.abs().to_f64(), if T::COMPLEX { 5.0 } else { 3.0 });
        assert_eq!((z * z.conj()).re(), z.abs() * z.abs());
        assert!(T::from_f64(f64::NAN).is_nan() && !z.is_nan());
    }

    #[test]
    fn moduli_neither_overflow_nor_vanish() {
        for size in [1e-320, 1e-200, 1.0, 1e200, 1e307] {
            let (z, wanted) = (c64::new(3.0 * size, -4.0 * size).abs(), 5.0 * size);
            assert!((z - wanted).abs() <= wanted * 4.0 * f64::EPSILON + f64::from_bits(4), "{z} {wanted}");
        }
        for size in [1e-40, 1.0, 6e37] {
            let (z, wanted) = (c32::new(3.0 * size, -4.0 * size).abs(), 5.0 * size);
            assert!((z - wanted).abs() <= wanted * 4.0 * f32::EPSILON, "{z} {wanted}");
        }
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        assert_eq!((c64::new(inf, 1.0).abs(), c64::new(1.0, -inf).abs(), c64::ZERO.abs()), (inf, inf, 0.0));
        assert!(c64::new(nan, 1.0).abs().is_nan() && c32::new(1.0, f32::NAN).abs().is_nan());
        assert!(c64::new(nan, inf).abs().is_nan() && c32::new(f32::INFINITY, f32::NAN).abs().is_nan());
    }

    #[test]
    fn constants_of_the_four_types() {
        check::<f32>('s', f64::powi(2.0, -24), (1, 1));
        check::<f64>('d', f64::powi(2.0, -53), (1, 1));
        check::<c32>('c', f64::powi(2.0, -24), (6, 2));
        check::<c64>('z', f64::powi(2.0, -53), (6, 2));
    }
}
