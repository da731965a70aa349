//! gecon and pocon, compared with condition numbers computed from inverses.

use crate::{
    four_types,
    norms::norm_of,
    powers::{least, powers_of_two, times_power_of_two},
    runs::{Runtimes, assert_refused, runtime},
};
use superscalar_dla::{ErrorKind, Options, Scalar, Tiled, gecon, getrf, lange, pocon, potrf, serial, spawn};
use superscalar_kernels::{Norm, Real, Scalar as _, Uplo, c64};
use superscalar_oracle::{Stored, Wide, element, narrow, residual, tries_scale, whole, wide};

const NORMS: [Norm; 2] = [Norm::One, Norm::Inf];

/// Checks that an estimate is at least the exact number up to rounding, and at most three times it.
fn assert_estimates(estimate: f64, rcond: f64, what: &str) {
    assert!(estimate >= 0.999 * rcond && estimate <= 3.0 * rcond, "{what}: estimate {estimate:e} of {rcond:e}");
}

fn real<T: Scalar>(x: f64) -> T::Real {
    T::from_f64(x).re()
}

fn general_estimates<T: Scalar>() {
    let runtimes = Runtimes::new();
    for (n, seed) in (1..=12).map(|n| (n, n as u64)).chain([(31, 20), (64, 21)]) {
        // Rows of different sizes make the two norms differ.
        let graded = |i: usize, j: usize| element::<T>(seed, i, j) * T::from_f64(1.0 / (1 + i % 5) as f64);
        let a = Stored::<T>::new((n, n), graded);
        let (whole, inverse) = (a.wide(), a.wide().inverse());
        assert!(whole.times(&inverse).minus(&Wide::identity(n)).norm_max() < 1e-9, "the test's own inverse");
        let call = |rt: &_, options: &Options| {
            let (mut lu, mut ipiv) = (a.clone(), vec![0; n]);
            getrf(rt, lu.view_mut(), &mut ipiv, options).expect("no pivot is zero");
            NORMS.map(|norm| {
                gecon(norm, lu.view(), real::<T>(norm_of(norm, &whole))).expect("the arguments fit").to_f64()
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

fn positive_definite_estimates<T: Scalar>() {
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
            pocon(uplo, factor.view(), norm).expect("the arguments fit").to_f64()
        };
        runtimes.on_all(n, call, |&estimate, what| {
            assert_estimates(estimate, rcond, &format!("pocon {}{uplo} n {n} {what}", T::LETTER));
        });
    }
}

/// Estimates of diagonal matrices of powers of two are exact.
fn diagonal_matrices_are_exact<T: Scalar>() {
    for n in [1, 2, 7, 40] {
        let a = Stored::<T>::new((n, n), |i, j| T::from_f64(if i == j { [1.0, 0.25, 8.0][i % 3] } else { 0.0 }));
        let (norm, least) = (a.wide().norm_max(), (0..n).map(|i| a.at(i, i).abs().to_f64()).fold(8.0, f64::min));
        for norm_kind in NORMS {
            let rcond = gecon(norm_kind, a.view(), real::<T>(norm)).expect("the arguments fit");
            assert_eq!(rcond.to_f64(), least / norm, "{} n {n}", T::LETTER);
        }
    }
}

/// The estimate terminates whatever the factors hold: it is zero without an inverse, and NaN for NaN.
fn special_values_terminate<T: Scalar>() {
    let rt = runtime();
    for n in [1, 2, 9] {
        for bad in [0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for (i, j) in (0..n).flat_map(|i| [(i, i), (i, 0), (0, i)]) {
                let mut a = Stored::<T>::positive_definite(n, 3);
                a.set(i, j, T::from_f64(bad));
                let check = |rcond: T::Real, is_read: bool, what: &str| {
                    let is_right = match rcond.to_f64() {
                        rcond if bad.is_nan() && is_read => rcond.is_nan(),
                        rcond if i == j && (bad == 0.0 || n == 1) && !bad.is_nan() => rcond == 0.0,
                        rcond => rcond >= 0.0,
                    };
                    assert!(is_right, "{} {what} n {n} {bad} ({i}, {j}): {rcond}", T::LETTER);
                };
                for norm in NORMS {
                    check(gecon(norm, a.view(), T::Real::ONE).expect("the arguments fit"), true, "gecon");
                }
                for uplo in [Uplo::Lower, Uplo::Upper] {
                    let is_read = if uplo == Uplo::Lower { i >= j } else { i <= j };
                    check(pocon(uplo, a.view(), T::Real::ONE).expect("the arguments fit"), is_read, "pocon");
                }
                let mut b = a.clone();
                let spawned = rt.scope(|s| {
                    let (columns, tiles) = (Tiled::columns(s, b.view_mut(), 4), Tiled::new(s, a.view_mut(), 4, 4));
                    let anorm = s.compute("norm", (), |()| T::Real::ONE);
                    let estimates = [
                        spawn::gecon(s, Norm::Inf, &columns, anorm),
                        spawn::pocon(s, Uplo::Lower, &tiles, anorm),
                        spawn::pocon(s, Uplo::Upper, &tiles, anorm),
                    ];
                    estimates.map(|rcond| s.get(rcond).copied().expect("the task succeeds"))
                });
                for (rcond, is_read) in spawned.expect("the scope succeeds").into_iter().zip([true, i >= j, i <= j]) {
                    check(rcond, is_read, "spawned");
                }
            }
        }
    }
}

/// The workspace holds the product of the inverse with a vector; their norms give the estimate.
fn workspace_holds_null_vector<T: Scalar>() {
    let (rt, o, n) = (runtime(), Options::default(), 7);
    let a = Stored::<T>::random((n, n), 8);
    let mut lu = a.clone();
    getrf(&rt, lu.view_mut(), &mut vec![0; n], &o).expect("no pivot is zero");
    let anorm = real::<T>(a.wide().norm_one());
    let mut work = vec![T::from_f64(f64::NAN); 2 * n];
    let rcond = serial::gecon(Norm::One, lu.view(), anorm, &mut work);
    let v = Stored::<T>::new((n, 1), |i, _| work[n + i]);
    // L U v = c P w: ‖v‖₁ / ‖c w‖₁ is the estimate of ‖A⁻¹‖₁.
    let part = |i: usize, j: usize, is_in: bool| if is_in { wide(lu.at(i, j)) } else { c64::ZERO };
    let l = Wide::new((n, n), |i, j| if i == j { c64::ONE } else { part(i, j, i > j) });
    let w = l.times(&Wide::new((n, n), |i, j| part(i, j, i <= j))).times(&v.wide());
    let estimate = v.wide().norm_one() / w.norm_one();
    let expected = 1.0 / (rcond.to_f64() * anorm.to_f64());
    assert!(
        (estimate / expected - 1.0).abs() <= 1e3 * residual::epsilon::<T>() / rcond.to_f64(),
        "{estimate}, not {expected}"
    );
}

/// Returns L and U in one matrix, with U times 2ᵏ. The diagonal of U is 1, 2, 4, and the other elements are multiples
/// of 1/8, so nothing is rounded down to the subnormal numbers. L U needs no interchanges.
fn exact_factors<T: Scalar>(n: usize, k: i32) -> Stored<T> {
    let half = |i, j| wide(whole::<T>(5, i, j)) / 8.0;
    let times = |x: c64, k| narrow(c64::new(times_power_of_two(x.re, k), times_power_of_two(x.im, k)));
    Stored::new((n, n), |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Equal => times(c64::from([1.0, 4.0, 2.0][i % 3]), k),
        std::cmp::Ordering::Greater => times(half(i, j), 0),
        std::cmp::Ordering::Less => times(half(i, j), k),
    })
}

/// Returns the exponents for which these factors and their product are exact.
fn exact_powers<T: Scalar>() -> std::ops::RangeInclusive<i32> {
    powers_of_two::<T>().start() + 8..=powers_of_two::<T>().end() - 4
}

/// The condition number does not depend on the scale, although elements of the inverse overflow.
fn every_power_of_two<T: Scalar>() {
    for n in [1, 2, 9] {
        for norm in NORMS {
            let rcond = |k: i32| {
                let anorm = real::<T>(times_power_of_two(16.0, k));
                gecon(norm, exact_factors::<T>(n, k).view(), anorm).expect("the arguments fit").to_f64()
            };
            let expected = rcond(0);
            assert!(expected > 1e-4);
            for k in exact_powers::<T>().filter(|&k| tries_scale::<T::Real>(k)) {
                let error = (rcond(k) / expected - 1.0).abs();
                assert!(error <= 16.0 * residual::epsilon::<T>(), "gecon {} {norm} n {n} 2^{k}: {error:e}", T::LETTER);
            }
        }
        for uplo in [Uplo::Lower, Uplo::Upper] {
            // A is 4ᵏ times as large. Only one triangle of the factor is read.
            let rcond = |k: i32| {
                let all = exact_factors::<T>(n, k);
                let factor =
                    Stored::<T>::new((n, n), |i, j| if uplo == Uplo::Upper { all.at(i, j) } else { all.at(j, i) });
                let anorm = real::<T>(times_power_of_two(16.0, 2 * k));
                pocon(uplo, factor.view(), anorm).expect("the arguments fit").to_f64()
            };
            let expected = rcond(0);
            assert!(expected > 1e-8);
            let powers = (exact_powers::<T>().start() / 2)..=(exact_powers::<T>().end() / 2);
            for k in powers.filter(|&k| tries_scale::<T::Real>(2 * k)) {
                let error = (rcond(k) / expected - 1.0).abs();
                assert!(error <= 16.0 * residual::epsilon::<T>(), "pocon {}{uplo} n {n} 4^{k}: {error:e}", T::LETTER);
            }
        }
    }
}

/// The norm, the factorization and the estimate, by blocking routines and in a scope.
fn full_estimate_at_every_scale<T: Scalar>() {
    let (rt, n) = (runtime(), 9);
    let o = Options::default().nb(4);
    let parts = exact_factors::<T>(n, 0).wide();
    let l = Wide::new((n, n), |i, j| if i > j { parts.at(i, j) } else { c64::from(f64::from(u8::from(i == j))) });
    let u = Wide::new((n, n), |i, j| if i <= j { parts.at(i, j) } else { c64::ZERO });
    let product = l.times(&u);
    let expected = 1.0 / (product.norm_one() * product.inverse().norm_one());
    for k in exact_powers::<T>().filter(|&k| tries_scale::<T::Real>(k)) {
        let part = |x: f64| times_power_of_two(x, k);
        let a = Stored::<T>::new((n, n), |i, j| narrow(c64::new(part(product.at(i, j).re), part(product.at(i, j).im))));
        let (mut lu, mut ipiv) = (a.clone(), vec![0; n]);
        getrf(&rt, lu.view_mut(), &mut ipiv, &o).expect("no pivot is zero");
        let anorm = lange(&rt, Norm::One, a.view(), &o).expect("no error");
        let rcond = gecon(Norm::One, lu.view(), anorm).expect("the arguments fit").to_f64();
        // A norm of subnormal size has fewer digits.
        let error = (rcond / expected - 1.0).abs();
        let allowed = 1e-3 + least::<T>() / anorm.to_f64();
        assert!(
            rcond >= expected * (1.0 - allowed) && error <= 2.0,
            "{} 2^{k}: {rcond:e}, not {expected:e}",
            T::LETTER
        );
        let mut b = a.clone();
        let spawned = rt.scope(|s| {
            let b = Tiled::columns(s, b.view_mut(), 4);
            let anorm = spawn::lange(s, Norm::One, &b);
            spawn::getrf(s, &b, &mut ipiv);
            let rcond = spawn::gecon(s, Norm::One, &b, anorm);
            s.get(rcond).copied()
        });
        let spawned = spawned.expect("the scope succeeds").expect("the task succeeds").to_f64();
        assert!((spawned / rcond - 1.0).abs() <= 16.0 * residual::epsilon::<T>(), "{} 2^{k}: {spawned:e}", T::LETTER);
    }
}

/// The estimate is finite for finite factors, whatever norm is given.
fn estimates_are_finite<T: Scalar>() {
    let (least, most) = (*powers_of_two::<T>().start(), *powers_of_two::<T>().end());
    for (of_a, of_norm) in
        (least..=most).step_by(23).flat_map(|a| (least..=most).step_by(41).map(move |norm| (a, norm)))
    {
        for n in [1, 5] {
            let a = Stored::<T>::new((n, n), |i, j| {
                narrow(c64::from(times_power_of_two((1 + (i + 2 * j) % 5) as f64, of_a)))
            });
            let anorm = real::<T>(times_power_of_two(1.0, of_norm));
            for rcond in [
                gecon(Norm::One, a.view(), anorm).expect("the arguments fit").to_f64(),
                gecon(Norm::Inf, a.view(), anorm).expect("the arguments fit").to_f64(),
                pocon(Uplo::Lower, a.view(), anorm).expect("the arguments fit").to_f64(),
            ] {
                assert!(rcond >= 0.0 && rcond.is_finite(), "{} n {n} A 2^{of_a}, norm 2^{of_norm}: {rcond}", T::LETTER);
            }
        }
    }
}

four_types! {
    general_estimates positive_definite_estimates diagonal_matrices_are_exact special_values_terminate
    workspace_holds_null_vector every_power_of_two full_estimate_at_every_scale
    estimates_are_finite
}

/// A matrix whose rank is n - 1 up to rounding.
#[test]
fn nearly_singular_estimates_are_tiny() {
    let (rt, o, n) = (runtime(), Options::default(), 6);
    let row = |i: usize, j: usize| wide(element::<f64>(4, i, j));
    let last = |j: usize| (0..n - 1).map(|i| row(i, j)).sum::<c64>();
    let a = Stored::<f64>::new((n, n), |i, j| narrow(if i < n - 1 { row(i, j) } else { last(j) }));
    let mut lu = a.clone();
    // Rounding may produce a pivot of exactly zero, which is accepted as well.
    let outcome = getrf(&rt, lu.view_mut(), &mut [0; 6], &o);
    let rcond = gecon(Norm::One, lu.view(), a.wide().norm_one()).expect("the arguments fit");
    assert!(rcond < 1e-14 && (outcome.is_ok() || rcond == 0.0), "{rcond:e}");
}

#[test]
fn empty_matrices_and_norms() {
    let (none, one) = (Stored::<f64>::random((0, 0), 1), Stored::<f64>::new((1, 1), |_, _| 2.0));
    assert_eq!(gecon(Norm::One, none.view(), 0.0).expect("the arguments fit"), 1.0);
    assert_eq!(pocon(Uplo::Lower, none.view(), 0.0).expect("the arguments fit"), 1.0);
    assert_eq!(gecon(Norm::One, one.view(), 0.0).expect("the arguments fit"), 0.0);
    assert_eq!(gecon(Norm::One, one.view(), f64::INFINITY).expect("the arguments fit"), 0.0);
}

#[test]
fn invalid_arguments_are_refused() {
    let (wide, square) = (Stored::<f64>::random((4, 5), 1), Stored::<f64>::random((4, 4), 1));
    assert_refused(gecon(Norm::One, wide.view(), 1.0), ErrorKind::Shape);
    assert_refused(pocon(Uplo::Lower, wide.view(), 1.0), ErrorKind::Shape);
    for norm in [Norm::Max, Norm::Frobenius] {
        assert_refused(gecon(norm, square.view(), 1.0), ErrorKind::Argument);
    }
    for anorm in [-1.0, f64::NAN] {
        assert_refused(gecon(Norm::Inf, square.view(), anorm), ErrorKind::Argument);
        assert_refused(pocon(Uplo::Upper, square.view(), anorm), ErrorKind::Argument);
    }
}
