//! Norms and rotations at the limits of the range of exponents.

use super::test_vector::{TestVector, number};
use superscalar_kernels::{Real, Scalar, VecRef, cpu};
use superscalar_oracle::at_most;

/// Returns the exponents of the least subnormal number, of the least normal one, and of the largest number.
fn exponents<T: Scalar>() -> (i32, i32, i32) {
    if T::Real::LETTER == 's' { (-149, -126, 127) } else { (-1074, -1022, 1023) }
}

/// Returns 2^e, even if it is subnormal.
fn power(e: i32) -> f64 {
    f64::powi(2.0, e / 2) * f64::powi(2.0, e - e / 2)
}

fn epsilon<T: Scalar>() -> f64 {
    T::EPSILON.to_f64()
}

pub fn norms<T: Scalar>() {
    let (least, _, most) = exponents::<T>();
    for n in [1, 3, 17, 100] {
        for inc in [1, 2, -1] {
            // n elements (3, 4), or 5 for a real type, scaled so that the norm is representable.
            for e in (least..=most - 7).step_by(11).chain([least, most - 7]) {
                let size = power(e);
                let element = if T::COMPLEX { number(3.0 * size, -4.0 * size) } else { number(-5.0 * size, 0.0) };
                let x = TestVector::<T>::new(n, inc, || element);
                let found = cpu::nrm2(x.view()).to_f64() / size;
                let wanted = 5.0 * (n as f64).sqrt();
                // A subnormal result has no digits below the least number.
                let bound = wanted * 4.0 * epsilon::<T>() * (n as f64).sqrt() + power(least - e);
                at_most("nrm2", (found - wanted).abs(), bound).unwrap_or_else(|error| panic!("n {n} 2^{e}: {error}"));
            }
        }
    }
    // Elements of all sizes: the largest dominates.
    let mut data = vec![number::<T>(power(most - 1), 0.0); 1];
    data.extend((least..most - 60).step_by(3).map(|e| number::<T>(power(e), power(e))));
    let found = cpu::nrm2(VecRef::from_slice(&data)).to_f64() / power(most - 1);
    at_most("nrm2", (found - 1.0).abs(), 1e-6).unwrap();
}

pub fn norms_of_special_numbers<T: Scalar>() {
    for n in [1, 2, 9, 100] {
        for inc in [1, 2, -1] {
            for at in [0, n / 2, n - 1] {
                for size in [power(exponents::<T>().0), 1.0, power(exponents::<T>().2)] {
                    let mut x = TestVector::<T>::new(n, inc, || number(size, 0.0));
                    x.set(at, number(f64::NEG_INFINITY, 0.0));
                    assert_eq!(cpu::nrm2(x.view()).to_f64(), f64::INFINITY);
                    x.set(at, if T::COMPLEX { number(f64::INFINITY, f64::NAN) } else { number(f64::NAN, 0.0) });
                    assert!(cpu::nrm2(x.view()).is_nan());
                }
            }
            assert_eq!(cpu::nrm2(TestVector::<T>::new(n, inc, || T::ZERO).view()), T::Real::ZERO);
        }
    }
    assert_eq!(cpu::nrm2(VecRef::<T>::from_slice(&[])), T::Real::ZERO);
}

/// Checks c² + |s|² = 1, c a + s b = r and c b = conj(s) a, with a and b scaled by powers of two.
fn check_rotation<T: Scalar>(a: (f64, f64), b: (f64, f64), (of_a, of_b): (i32, i32)) {
    let (x, y) = (number::<T>(a.0 * power(of_a), a.1 * power(of_a)), number::<T>(b.0 * power(of_b), b.1 * power(of_b)));
    let found = cpu::rotg(x, y);
    // In doubles, whose range exceeds that of singles.
    let wide = |z: T, e: i32| {
        let part = |x: T::Real| x.to_f64() * power(-e / 2) * power(-e - -e / 2);
        superscalar_kernels::c64::new(part(z.re()), part(z.im()))
    };
    let e = of_a.max(of_b);
    let (x, y, r) = (wide(x, e), wide(y, e), wide(found.r, e));
    let (c, s) = (found.c.to_f64(), wide(found.s, 0));
    let (least, ..) = exponents::<T>();
    let bound = 40.0 * epsilon::<T>() + power((least - e).max(-1000)) * 8.0;
    let case = || format!("{a:?} 2^{of_a} {b:?} 2^{of_b}: {found:?}");
    let check = |what, error: f64| at_most(what, error, bound).unwrap_or_else(|error| panic!("{}: {error}", case()));
    check("c² + |s|² - 1", (c * c + s.norm_sqr() - 1.0).abs());
    check("c a + s b - r", (x * c + s * y - r).norm());
    check("c b - conj(s) a", (y * c - s.conj() * x).norm());
}

pub fn rotations_at_all_scales<T: Scalar>() {
    let (least, _, most) = exponents::<T>();
    let scales: Vec<i32> = (least + 3..most - 4).step_by(41).chain([least + 3, most - 5]).collect();
    for &of_a in &scales {
        for &of_b in &scales {
            for (a, b) in [((3.0, 1.0), (4.0, -2.0)), ((-1.0, 5.0), (2.0, 2.0)), ((3.0, -4.0), (-4.0, 0.0))] {
                check_rotation::<T>(a, b, (of_a, of_b));
            }
        }
    }
    let nan = number::<T>(f64::NAN, 0.0);
    for (a, b) in [(nan, T::ONE), (T::ONE, nan), (nan, nan)] {
        let found = cpu::rotg(a, b);
        assert!(found.c.is_nan() && found.s.is_nan() && found.r.is_nan(), "{found:?}");
    }
}
