//! rotg and rotmg: compute the rotation that makes the second of two numbers zero.

use super::ModifiedRotation;
use crate::{Real, Scalar};

/// The result of [`rotg`]: [c s; -conj(s) c] (a, b)ᵀ = (r, 0)ᵀ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotation<T: Scalar> {
    /// The cosine, which is real.
    pub c: T::Real,
    /// The sine.
    pub s: T,
    /// The value that a becomes.
    pub r: T,
    /// For real types, the number from which c and s can be recovered. For complex types zero, because their BLAS
    /// routine does not change b.
    pub z: T,
}

/// Computes the rotation that takes (a, b) to (r, 0), without undue overflow or underflow (Anderson, *Safe scaling in
/// the Level 1 BLAS*, 2017).
///
/// # Example
/// ```
/// use superscalar::kernels::cpu;
/// let found = cpu::rotg(3e300f64, 4e300);
/// assert!((found.c - 0.6f64).abs() < 1e-15 && (found.s - 0.8f64).abs() < 1e-15);
/// assert!((found.r / 5e300 - 1.0f64).abs() < 1e-15);
/// ```
pub fn rotg<T: Scalar>(a: T, b: T) -> Rotation<T> {
    if T::COMPLEX { of_complex(a, b) } else { of_real(a, b) }
}

fn of_real<T: Scalar>(a: T, b: T) -> Rotation<T> {
    let (zero, one) = (T::Real::ZERO, T::Real::ONE);
    let real = T::from_real;
    let (a, b) = (a.re(), b.re());
    if b == zero {
        return Rotation { c: one, s: T::ZERO, r: real(a), z: T::ZERO };
    }
    if a == zero {
        return Rotation { c: zero, s: T::ONE, r: real(b), z: T::ONE };
    }
    let (of_a, of_b) = (a.abs(), b.abs());
    let is_a = of_a > of_b;
    let least = T::Real::MIN_POSITIVE;
    let larger = if is_a { of_a } else { of_b };
    let scale = match (larger > least, larger < one / least) {
        (false, _) => least,
        (_, true) => larger,
        _ => one / least,
    };
    let (x, y) = (a / scale, b / scale);
    let norm = scale * (x * x + y * y).sqrt();
    let r = if (if is_a { a } else { b }) < zero { -norm } else { norm };
    let (c, s) = (a / r, b / r);
    let z = match is_a {
        true => s,
        false if c != zero => one / c,
        false => one,
    };
    Rotation { c, s: real(s), r: real(r), z: real(z) }
}

/// Computes a complex rotation. u and w are the powers of two at or below a and b; each number is scaled by its own, so
/// that neither phase is lost.
fn of_complex<T: Scalar>(a: T, b: T) -> Rotation<T> {
    let (zero, one) = (T::Real::ZERO, T::Real::ONE);
    if b == T::ZERO {
        return Rotation { c: one, s: T::ZERO, r: a, z: T::ZERO };
    }
    let times = |x: T, by: T::Real| T::from_parts(x.re() * by, x.im() * by);
    let over = |x: T, by: T::Real| T::from_parts(x.re() / by, x.im() / by);
    let w = power_below(b);
    let y = over(b, w);
    if a == T::ZERO {
        let modulus = y.abs();
        return Rotation { c: zero, s: over(y.conj(), modulus), r: T::from_real(modulus * w), z: T::ZERO };
    }
    let u = power_below(a);
    let x = over(a, u);
    let most = if u > w { u } else { w };
    let (of_x, of_y) = (x.abs() * (u / most), y.abs() * (w / most));
    let norm = (of_x * of_x + of_y * of_y).sqrt();
    let phase = over(x, x.abs());
    let s = over(times(y.conj(), w / most) * phase, norm);
    Rotation { c: of_x / norm, s, r: times(times(phase, norm), most), z: T::ZERO }
}

/// Returns the power of two at or below the larger part, but at least the smallest normal number.
fn power_below<T: Scalar>(x: T) -> T::Real {
    const EXPONENT: u64 = 0x7ff << 52;
    let (re, im) = (x.re().abs(), x.im().abs());
    let larger = if im > re { im } else { re };
    let power = T::Real::from_f64(f64::from_bits(larger.to_f64().to_bits() & EXPONENT));
    if power < T::Real::MIN_POSITIVE { T::Real::MIN_POSITIVE } else { power }
}

/// Computes the modified rotation H that makes the second component of (sqrt(d1) x1, sqrt(d2) y1) zero, and overwrites
/// d1, d2 and x1 by their new values.
///
/// H is scaled to keep the factors d1 and d2 between 2^-24 and 2^24.
///
/// # Example
/// ```
/// use superscalar::kernels::{cpu, cpu::ModifiedRotation};
///
/// let (mut d1, mut d2, mut x1) = (1.0, 1.0, 2.0);
/// let h = cpu::rotmg(&mut d1, &mut d2, &mut x1, 1.0);
/// assert_eq!(h, ModifiedRotation::OnesOnDiagonal { h21: -0.5, h12: 0.5 });
/// assert_eq!((d1, d2, x1), (0.8, 0.8, 2.5));
/// ```
pub fn rotmg<R: Real>(d1: &mut R, d2: &mut R, x1: &mut R, y1: R) -> ModifiedRotation<R> {
    let (zero, one) = (R::ZERO, R::ONE);
    let p2 = *d2 * y1;
    let is_negative = *d1 < zero;
    if !is_negative && p2 == zero {
        return ModifiedRotation::Identity;
    }
    let p1 = *d1 * *x1;
    let (q1, q2) = (p1 * *x1, p2 * y1);
    let h = if is_negative {
        None
    } else if q1.abs() > q2.abs() {
        let (h21, h12) = (-y1 / *x1, p2 / p1);
        let u = one - h12 * h21;
        (u > zero).then(|| {
            (*d1, *d2, *x1) = (*d1 / u, *d2 / u, *x1 * u);
            ModifiedRotation::OnesOnDiagonal { h21, h12 }
        })
    } else {
        let is_negative = q2 < zero;
        (!is_negative).then(|| {
            let (h11, h22) = (p1 / p2, *x1 / y1);
            let u = one + h11 * h22;
            (*d1, *d2, *x1) = (*d2 / u, *d1 / u, y1 * u);
            ModifiedRotation::OnesOffDiagonal { h11, h22 }
        })
    };
    let Some(h) = h else {
        (*d1, *d2, *x1) = (zero, zero, zero);
        return ModifiedRotation::Full { h11: zero, h21: zero, h12: zero, h22: zero };
    };
    let first = rescaling_steps(*d1);
    let second = rescaling_steps(*d2);
    if first == 0 && second == 0 {
        return h;
    }
    let [mut h11, mut h12, mut h21, mut h22] = h.rows();
    for scaled in [&mut *x1, &mut h11, &mut h12] {
        *scaled = power(*scaled, -first);
    }
    for scaled in [&mut h21, &mut h22] {
        *scaled = power(*scaled, -second);
    }
    (*d1, *d2) = (power(*d1, 2 * first), power(*d2, 2 * second));
    ModifiedRotation::Full { h11, h21, h12, h22 }
}

/// Returns how many times d must be multiplied by 4096² to come into range; negative for divisions.
fn rescaling_steps<R: Real>(d: R) -> i32 {
    let least = R::from_f64(f64::powi(2.0, -24));
    let most = R::from_f64(f64::powi(2.0, 24));
    let (mut size, mut steps) = (d.abs(), 0);
    let is_number = size > R::ZERO && size < R::ONE / R::ZERO;
    while is_number && size <= least {
        (size, steps) = (size * most, steps + 1);
    }
    while is_number && size >= most {
        (size, steps) = (size * least, steps - 1);
    }
    steps
}

/// Computes x 4096^e.
fn power<R: Real>(x: R, e: i32) -> R {
    let step = R::from_f64(if e < 0 { 1.0 / 4096.0 } else { 4096.0 });
    (0..e.unsigned_abs()).fold(x, |x, _| x * step)
}
