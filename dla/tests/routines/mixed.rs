//! gesv_mixed and posv_mixed: accuracy, numbers of refinement steps, and fallbacks.

use crate::runs::{ORDERS, Runtimes, assert_info, assert_refused, assert_small, runtime};
use superscalar_dla::{Error, ErrorKind, MixedPrecision, Options, gesv, gesv_mixed, posv_mixed};
use superscalar_kernels::{Uplo, c64};
use superscalar_oracle::{Stored, narrow, residual};
use superscalar_runtime::Runtime;

const OVERFLOW: i32 = -2;
const NO_FACTORS: i32 = -3;
const NO_CONVERGENCE: i32 = -31;

/// A solver that takes A and B, and returns the final A and X, and `ITER`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Solver {
    General,
    PositiveDefinite(Uplo),
}

const SOLVERS: [Solver; 3] =
    [Solver::General, Solver::PositiveDefinite(Uplo::Lower), Solver::PositiveDefinite(Uplo::Upper)];

impl Solver {
    fn solve<T: MixedPrecision>(
        self,
        rt: &Runtime,
        a: &Stored<T>,
        b: &Stored<T>,
        options: &Options,
    ) -> (Stored<T>, Stored<T>, Result<i32, Error>) {
        let (mut a, mut x) = (a.clone(), Stored::new(b.shape(), |_, _| T::from_f64(f64::NAN)));
        let outcome = match self {
            Self::General => {
                let mut ipiv = vec![0; a.shape().0];
                gesv_mixed(rt, a.view_mut(), &mut ipiv, b.view(), x.view_mut(), options)
            }
            Self::PositiveDefinite(uplo) => posv_mixed(rt, uplo, a.view_mut(), b.view(), x.view_mut(), options),
        };
        (a, x, outcome)
    }
}

fn solutions_have_high_precision<T: MixedPrecision>() {
    let runtimes = Runtimes::new();
    for (n, nrhs) in ORDERS.into_iter().zip([2, 1, 5, 0, 3, 20, 9]) {
        for solver in SOLVERS {
            let whole = Stored::<T>::positive_definite(n, 1);
            let hidden = |i, j| match solver {
                Solver::General => false,
                Solver::PositiveDefinite(uplo) => {
                    if uplo == Uplo::Lower {
                        i < j
                    } else {
                        i > j
                    }
                }
            };
            let nan = T::from_f64(f64::NAN);
            let a = Stored::<T>::new((n, n), |i, j| if hidden(i, j) { nan } else { whole.at(i, j) });
            let b = Stored::<T>::random((n, nrhs), 2);
            let call = |rt: &_, options: &Options| {
                let (after, x, steps) = solver.solve(rt, &a, &b, options);
                (after, x, steps.expect("the matrix is positive definite"))
            };
            runtimes.on_all_worker_dependent(n, call, |(after, x, steps), what| {
                let what = &format!("{solver:?} {} n {n} nrhs {nrhs} {what}", T::LETTER);
                assert!((0..=3).contains(steps), "{what}: {steps} steps");
                assert!(n == 0 || nrhs == 0 || *steps > 0, "{what}: no step was needed");
                assert!(*after == a, "{what}: A is what it was");
                x.assert_padding(what);
                assert_small(residual::solve::<T>(&whole.wide(), &x.wide(), &b.wide()), what);
            });
        }
    }
}

#[test]
fn solutions_have_high_precision_d() {
    solutions_have_high_precision::<f64>();
}

#[test]
fn solutions_have_high_precision_z() {
    solutions_have_high_precision::<c64>();
}

/// Scales within the range of single precision need no extra refinement steps, for any number of right-hand sides.
fn steps_are_independent_of_scale<T: MixedPrecision>() {
    let rt = runtime();
    let (a, n) = (Stored::<T>::positive_definite(20, 1), 20);
    for (scale, nrhs, solver) in [1e20, 1e-20]
        .into_iter()
        .flat_map(|scale| (1..=12).flat_map(move |nrhs| SOLVERS.map(|solver| (scale, nrhs, solver))))
    {
        let a = Stored::<T>::new((n, n), |i, j| a.at(i, j) * T::from_f64(scale));
        let b = Stored::<T>::random((n, nrhs), 2);
        let (_, x, steps) = solver.solve(&rt, &a, &b, &Options::default());
        let what = &format!("{solver:?} {}, {scale}, {nrhs} right-hand sides", T::LETTER);
        let steps = steps.expect("the matrix is positive definite");
        assert!((1..=3).contains(&steps), "{what}: {steps} steps");
        assert_small(residual::solve::<T>(&a.wide(), &x.wide(), &b.wide()), what);
    }
}

#[test]
fn steps_are_independent_of_scale_d() {
    steps_are_independent_of_scale::<f64>();
}

#[test]
fn steps_are_independent_of_scale_z() {
    steps_are_independent_of_scale::<c64>();
}

/// Checks a fallback: X has the higher precision, and A holds its factors.
fn falls_back<T: MixedPrecision>(solvers: &[Solver], reason: i32, a: &Stored<T>, b: &Stored<T>) {
    let runtimes = Runtimes::new();
    let n = a.shape().0;
    for solver in solvers {
        let call = |rt: &_, options: &Options| {
            let (after, x, steps) = solver.solve(rt, a, b, options);
            (after, x, steps.expect("the higher precision solves it"))
        };
        runtimes.on_all_worker_dependent(n, call, |(after, x, steps), what| {
            let what = &format!("{solver:?} {} {what}", T::LETTER);
            assert_eq!(*steps, reason, "{what}");
            assert!(after != a, "{what}: A holds no factors");
            after.assert_padding(what);
            x.assert_padding(what);
            assert_small(residual::solve::<T>(&a.wide(), &x.wide(), &b.wide()), what);
        });
        if *solver == Solver::General {
            let (rt, o) = (runtime(), Options::default().nb(7));
            let (mut lu, mut ipiv, mut x) = (a.clone(), vec![0; n], b.clone());
            gesv(&rt, lu.view_mut(), &mut ipiv, x.view_mut(), &o).expect("no pivot is zero");
            let (mut after, mut found, mut y) = (a.clone(), vec![0; n], b.clone());
            gesv_mixed(&rt, after.view_mut(), &mut found, b.view(), y.view_mut(), &o).expect("no pivot is zero");
            assert!(after == lu && found == ipiv, "{}: the factors and interchanges of gesv", T::LETTER);
        }
    }
}

fn all_fallbacks<T: MixedPrecision>() {
    let b = Stored::<T>::random((10, 2), 3);
    let good = Stored::<T>::positive_definite(10, 4);
    // An element that overflows in single precision, in A and in B.
    for place in [0, 9] {
        let mut large = good.clone();
        large.set(place, place, T::from_f64(1e60));
        falls_back(&SOLVERS, OVERFLOW, &large, &b);
        let mut large = b.clone();
        large.set(place, 1, narrow(if T::COMPLEX { c64::new(1.0, 1e60) } else { c64::from(1e60) }));
        falls_back(&SOLVERS, OVERFLOW, &good, &large);
    }
    // Two rows that are equal in single precision.
    let near = Stored::<T>::new((10, 10), |i, j| match (i.min(j), i.max(j)) {
        (4, 4) | (4, 5) => T::ONE,
        (5, 5) => T::from_f64(1.0 + f64::powi(2.0, -40)),
        (i, j) if i == j => T::from_f64(2.0),
        _ => T::ZERO,
    });
    falls_back(&SOLVERS, NO_FACTORS, &near, &b);
    // Hilbert's matrix, scaled to integers that are exact in both precisions, so that only its condition number
    // matters.
    let hilbert = Stored::<T>::new((10, 10), |i, j| T::from_f64(232_792_560.0 / (i + j + 1) as f64));
    falls_back(&[Solver::General], NO_CONVERGENCE, &hilbert, &b);
}

#[test]
fn all_fallbacks_d() {
    all_fallbacks::<f64>();
}

#[test]
fn all_fallbacks_z() {
    all_fallbacks::<c64>();
}

#[test]
fn singular_matrices_are_errors() {
    let runtimes = Runtimes::new();
    let b = Stored::<f64>::random((40, 2), 3);
    let singular = Stored::<f64>::new((40, 40), |i, j| if i == j && i != 12 { 1.0 } else { 0.0 });
    let call = |rt: &Runtime, options: &Options| {
        for solver in SOLVERS {
            let kind = if solver == Solver::General { ErrorKind::Singular } else { ErrorKind::NotPositiveDefinite };
            assert_info(solver.solve(rt, &singular, &b, options).2, kind, 13);
        }
    };
    runtimes.on_all(40, call, |(), _| {});
}

#[test]
fn nan_reaches_solution_or_error() {
    let runtimes = Runtimes::new();
    let b = Stored::<f64>::random((33, 2), 5);
    for bad in [f64::NAN, f64::INFINITY] {
        for (i, j) in [(0, 0), (32, 5), (32, 32)] {
            let mut a = Stored::<f64>::positive_definite(33, 6);
            a.set(i, j, bad);
            a.set(j, i, bad);
            let mut spoilt = b.clone();
            spoilt.set(i, 1, bad);
            let call = |rt: &Runtime, options: &Options| {
                for solver in SOLVERS {
                    for (a, b) in [(&a, &b), (&Stored::positive_definite(33, 6), &spoilt)] {
                        let (_, x, outcome) = solver.solve(rt, a, b, options);
                        let what = format!("{solver:?} {bad} at ({i}, {j}): {outcome:?}");
                        assert!(outcome.as_ref().map_or(true, |&steps| steps < 0), "{what}");
                        assert!(outcome.is_err() || !bad.is_nan() || x.has_nan(), "{what}: no trace of it");
                    }
                }
            };
            runtimes.on_all(33, call, |(), _| {});
        }
    }
}

#[test]
fn invalid_arguments_are_refused() {
    let (rt, o) = (runtime(), Options::default());
    let (a, b) = (Stored::<f64>::random((4, 4), 1), Stored::<f64>::random((4, 2), 2));
    for (a, b, x) in [((4, 5), (4, 2), (4, 2)), ((4, 4), (5, 2), (5, 2)), ((4, 4), (4, 2), (4, 3))] {
        let (a, b, x) = (Stored::<f64>::random(a, 1), Stored::<f64>::random(b, 1), Stored::<f64>::random(x, 1));
        let (mut y, mut z) = (a.clone(), x.clone());
        let outcome = gesv_mixed(&rt, y.view_mut(), &mut [9; 4], b.view(), z.view_mut(), &o);
        assert_refused(outcome, ErrorKind::Shape);
        assert_refused(posv_mixed(&rt, Uplo::Lower, y.view_mut(), b.view(), z.view_mut(), &o), ErrorKind::Shape);
        assert!(y == a && z == x, "a refusal changes nothing");
    }
    let (mut y, mut x) = (a.clone(), b.clone());
    let outcome = gesv_mixed(&rt, y.view_mut(), &mut [9; 3], b.view(), x.view_mut(), &o);
    assert_refused(outcome, ErrorKind::Shape);
    assert_refused(posv_mixed(&rt, Uplo::Lower, y.view_mut(), b.view(), x.view_mut(), &o.nb(0)), ErrorKind::Shape);
    assert!(y == a && x == b, "a refusal changes nothing");
}
