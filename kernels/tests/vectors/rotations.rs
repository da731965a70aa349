//! The conventions of rotg and rotmg.

use super::test_vector::number;
use superscalar_kernels::cpu::{self, ModifiedRotation};
use superscalar_kernels::{Real, Scalar};
use superscalar_oracle::at_most;

fn assert_close(what: &'static str, found: f64, wanted: f64, bound: f64) {
    at_most(what, (found - wanted).abs(), bound * wanted.abs().max(1.0)).unwrap();
}

/// Checks the signs of r and the values of z.
pub fn signs_of_rotations<T: Scalar>() {
    let real = |x: f64| <T::Real as Scalar>::from_f64(x);
    // a, b, c, s, r, z.
    let cases = [
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [2.0, 0.0, 1.0, 0.0, 2.0, 0.0],
        [-2.0, 0.0, 1.0, 0.0, -2.0, 0.0],
        [0.0, -2.0, 0.0, 1.0, -2.0, 1.0],
        [3.0, 4.0, 0.6, 0.8, 5.0, 1.0 / 0.6],
        [4.0, 3.0, 0.8, 0.6, 5.0, 0.6],
        [-3.0, 4.0, -0.6, 0.8, 5.0, -1.0 / 0.6],
        [3.0, -4.0, -0.6, 0.8, -5.0, -1.0 / 0.6],
        [-4.0, 3.0, 0.8, -0.6, -5.0, -0.6],
    ];
    for [a, b, c, s, r, z] in cases {
        let found = cpu::rotg(real(a), real(b));
        for (found, wanted) in [(found.c, c), (found.s, s), (found.r, r), (found.z, z)] {
            assert_close("rotg", found.to_f64(), wanted, 4.0 * T::EPSILON.to_f64());
        }
    }
    if T::COMPLEX {
        // r has the phase of a, and c is not negative.
        let found = cpu::rotg(number::<T>(0.0, 3.0), number::<T>(4.0, 0.0));
        let parts = [found.c, found.s.re(), found.s.im(), found.r.re(), found.r.im()].map(Real::to_f64);
        for (found, wanted) in parts.into_iter().zip([0.6, 0.0, 0.8, 0.0, 5.0]) {
            assert_close("rotg", found, wanted, 4.0 * T::EPSILON.to_f64());
        }
        let found = cpu::rotg(T::ZERO, number::<T>(0.0, 2.0));
        assert_eq!((found.c, found.s, found.r), (real(0.0), number(0.0, -1.0), number(2.0, 0.0)));
    }
}

/// Checks that H (x1, y1)ᵀ is (x, 0)ᵀ, that the weighted norm is preserved, and that the weights are in range.
pub fn modified_rotations<T: Scalar>() {
    let real = |x: f64| <T::Real as Scalar>::from_f64(x);
    let values = [1.0, 3.0, 1e-3, 700.0, 1e-9, 5e9];
    for d1 in values {
        for d2 in values.into_iter().chain([-1e-12]) {
            for (x, y) in [(1.0, 2.0), (-3.0, 0.5), (40.0, 1e-2)] {
                let (mut e1, mut e2, mut x1) = (real(d1), real(d2), real(x));
                let (of_1, of_2) = (e1.to_f64(), e2.to_f64());
                let h = cpu::rotmg(&mut e1, &mut e2, &mut x1, real(y));
                let [h11, h12, h21, h22] = h.rows().map(Real::to_f64);
                let (x, y, eps) = (real(x).to_f64(), real(y).to_f64(), 20.0 * T::EPSILON.to_f64());
                at_most("y", (h21 * x + h22 * y).abs(), eps * ((h21 * x).abs() + (h22 * y).abs())).unwrap();
                at_most("x", (h11 * x + h12 * y - x1.to_f64()).abs(), eps * ((h11 * x).abs() + (h12 * y).abs()))
                    .unwrap();
                let norm = of_1 * x * x + of_2 * y * y;
                let found = e1.to_f64() * x1.to_f64() * x1.to_f64();
                at_most("norm", (found - norm).abs(), eps * norm.abs()).unwrap();
                for d in [e1, e2].map(|d| d.abs().to_f64()) {
                    assert!((f64::powi(2.0, -24)..=f64::powi(2.0, 24)).contains(&d), "{d1} {d2}: {d}");
                }
            }
        }
    }
    let (mut d1, mut d2, mut x1) = (real(-1.0), real(1.0), real(1.0));
    let zero = real(0.0);
    let full = ModifiedRotation::Full { h11: zero, h21: zero, h12: zero, h22: zero };
    assert_eq!(cpu::rotmg(&mut d1, &mut d2, &mut x1, real(1.0)), full);
    assert_eq!((d1, d2, x1), (zero, zero, zero));
    let (mut d1, mut d2, mut x1) = (real(2.0), real(3.0), real(4.0));
    assert_eq!(cpu::rotmg(&mut d1, &mut d2, &mut x1, zero), ModifiedRotation::Identity);
    assert_eq!((d1, d2, x1), (real(2.0), real(3.0), real(4.0)));
}
