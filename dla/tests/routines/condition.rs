//! gecon and pocon, beside condition numbers computed from inverses.

use crate::{
    four_types,
    matrices::{Stored, Wide, narrow, random, wide},
    runs::{Runtimes, assert_refused, runtime},
};
use superscalar_dla::{ErrorKind, Options, gecon, getrf, pocon, potrf};
use superscalar_kernels::{Norm, Real, Scalar, Uplo, c64};

const NORMS: [Norm; 2] = [Norm::One, Norm::Inf];

fn norm_of(norm: Norm, a: &Wide) -> f64 {
    if norm == Norm::One { a.norm_one() } else { a.norm_inf() }
}

/// An estimate is no less than the true number but for rounding, and hardly ever more than three times it.
fn assert_estimates(estimate: f64, rcond: f64, what: &str) {
    assert!(estimate >= 0.999 * rcond && estimate <= 3.0 * rcond, "{what}: estimate {estimate:e} of {rcond:e}");
}

fn real<T: Scalar>(x: f64) -> T::Real {
    T::from_f64(x).re()
}

fn estimates_are_near<T: Scalar>() {
    let runtimes = Runtimes::new();
    for (n, seed) in (1..=12).map(|n| (n, n as u64)).chain([(31, 20), (64, 21)]) {
        // Rows of different sizes make the two norms differ.
        let graded = |i: usize, j: usize| random::<T>(seed, i, j) * T::from_f64(1.0 / (1 + i % 5) as f64);
        let a = Stored::<T>::new((n, n), graded);
        let (whole, inverse) = (a.wide(), a.wide().inverse());
        assert!(whole.times(&inverse).minus(&Wide::identity(n)).norm_max() < 1e-9, "the test's own inverse");
        let call = |rt: &_, options: &Options| {
            let (mut lu, mut ipiv) = (a.clone(), vec![0; n]);
            getrf(rt, lu.view_mut(), &mut ipiv, options).expect("no pivot is zero");
            NORMS.map(|norm| {
                gecon(rt, norm, lu.view(), real::<T>(norm_of(norm, &whole)), options)
                    .expect("the arguments fit")
                    .to_f64()
            })
        };
        runtimes.on_all(n, call, |estimates, what| {
            for (norm, &estimate) in NORMS.into_iter().zip(estimates) {
                let rcond = 1.0 / (norm_of(norm, &whole) * norm_of(norm, &inverse));
                assert_estimates(estimate, rcond, &format!("gecon {} {norm} n {n} {what}", T::LETTER));
            }
        });
    }
}

fn estimates_of_positive_definite_matrices_are_near<T: Scalar>() {
    let runtimes = Runtimes::new();
    for (n, uplo) in [1, 2, 3, 5, 8, 31].into_iter().flat_map(|n| [(n, Uplo::Lower), (n, Uplo::Upper)]) {
        let a = Stored::<T>::positive_definite(n, 2);
        let rcond = 1.0 / (a.wide().norm_one() * a.wide().inverse().norm_one());
        let call = |rt: &_, options: &Options| {
            let mut factor = a.clone();
            potrf(rt, uplo, factor.view_mut(), options).expect("the matrix is positive definite");
            let other = |i, j| if uplo == Uplo::Lower { i < j } else { i > j };
            let factor = Stored::new((n, n), |i, j| if other(i, j) { T::from_f64(f64::NAN) } else { factor.at(i, j) });
            let norm = real::<T>(a.wide().norm_one());
            pocon(rt, uplo, factor.view(), norm, options).expect("the arguments fit").to_f64()
        };
        runtimes.on_all(n, call, |&estimate, what| {
            assert_estimates(estimate, rcond, &format!("pocon {}{uplo} n {n} {what}", T::LETTER));
        });
    }
}

/// For diagonal matrices of powers of two nothing is estimated and nothing rounded.
fn diagonal_matrices_are_exact<T: Scalar>() {
    let (rt, o) = (runtime(), Options::default());
    for n in [1, 2, 7, 40] {
        let a = Stored::<T>::new((n, n), |i, j| T::from_f64(if i == j { [1.0, 0.25, 8.0][i % 3] } else { 0.0 }));
        let (norm, least) = (a.wide().norm_max(), (0..n).map(|i| a.at(i, i).abs().to_f64()).fold(8.0, f64::min));
        for norm_kind in NORMS {
            let rcond = gecon(&rt, norm_kind, a.view(), real::<T>(norm), &o).expect("the arguments fit");
            assert_eq!(rcond.to_f64(), least / norm, "{} n {n}", T::LETTER);
        }
    }
}

/// No inverse, no condition number: zero. The estimate ends whatever the factors hold.
fn nothing_hangs<T: Scalar>() {
    let (rt, o) = (runtime(), Options::default());
    for n in [1, 2, 9] {
        for bad in [0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for (i, j) in (0..n).flat_map(|i| [(i, i), (i, 0), (0, i)]) {
                let mut a = Stored::<T>::positive_definite(n, 3);
                a.set(i, j, T::from_f64(bad));
                let singular = bad.is_nan() || (bad == 0.0 && i == j);
                for norm in NORMS {
                    let rcond = gecon(&rt, norm, a.view(), T::Real::ONE, &o).expect("the arguments fit").to_f64();
                    assert!(
                        if singular { rcond == 0.0 } else { rcond >= 0.0 },
                        "{} {bad} ({i}, {j}): {rcond}",
                        T::LETTER
                    );
                }
                for uplo in [Uplo::Lower, Uplo::Upper] {
                    let is_read = if uplo == Uplo::Lower { i >= j } else { i <= j };
                    let rcond = pocon(&rt, uplo, a.view(), T::Real::ONE, &o).expect("the arguments fit").to_f64();
                    let zero = singular && is_read;
                    assert!(
                        if zero { rcond == 0.0 } else { rcond >= 0.0 },
                        "{} {uplo} {bad} ({i}, {j}): {rcond}",
                        T::LETTER
                    );
                }
            }
        }
    }
}

four_types! {
    estimates_are_near estimates_of_positive_definite_matrices_are_near diagonal_matrices_are_exact nothing_hangs
}

/// A matrix of rank one less, and one that is so to the last digit only.
#[test]
fn nearly_singular_matrices_have_a_number_of_rounding_size() {
    let (rt, o, n) = (runtime(), Options::default(), 6);
    let row = |i: usize, j: usize| wide(random::<f64>(4, i, j));
    let last = |j: usize| (0..n - 1).map(|i| row(i, j)).sum::<c64>();
    let a = Stored::<f64>::new((n, n), |i, j| narrow(if i < n - 1 { row(i, j) } else { last(j) }));
    let mut lu = a.clone();
    // A pivot of zero, should rounding make one, is as good.
    let outcome = getrf(&rt, lu.view_mut(), &mut [0; 6], &o);
    let rcond = gecon(&rt, Norm::One, lu.view(), a.wide().norm_one(), &o).expect("the arguments fit");
    assert!(rcond < 1e-14 && (outcome.is_ok() || rcond == 0.0), "{rcond:e}");
}

#[test]
fn empty_matrices_and_norms() {
    let (rt, o) = (runtime(), Options::default());
    let (none, one) = (Stored::<f64>::random((0, 0), 1), Stored::<f64>::new((1, 1), |_, _| 2.0));
    assert_eq!(gecon(&rt, Norm::One, none.view(), 0.0, &o).expect("the arguments fit"), 1.0);
    assert_eq!(pocon(&rt, Uplo::Lower, none.view(), 0.0, &o).expect("the arguments fit"), 1.0);
    assert_eq!(gecon(&rt, Norm::One, one.view(), 0.0, &o).expect("the arguments fit"), 0.0);
    assert_eq!(gecon(&rt, Norm::One, one.view(), f64::INFINITY, &o).expect("the arguments fit"), 0.0);
}

#[test]
fn what_does_not_fit_is_refused() {
    let (rt, o) = (runtime(), Options::default());
    let (wide, square) = (Stored::<f64>::random((4, 5), 1), Stored::<f64>::random((4, 4), 1));
    assert_refused(gecon(&rt, Norm::One, wide.view(), 1.0, &o), ErrorKind::Shape);
    assert_refused(pocon(&rt, Uplo::Lower, wide.view(), 1.0, &o), ErrorKind::Shape);
    for norm in [Norm::Max, Norm::Frobenius] {
        assert_refused(gecon(&rt, norm, square.view(), 1.0, &o), ErrorKind::Argument);
    }
    for anorm in [-1.0, f64::NAN] {
        assert_refused(gecon(&rt, Norm::Inf, square.view(), anorm, &o), ErrorKind::Argument);
        assert_refused(pocon(&rt, Uplo::Upper, square.view(), anorm, &o), ErrorKind::Argument);
    }
}
