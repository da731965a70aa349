//! gels: least squares and solutions of least norm, with a matrix and with its adjoint.

use crate::{
    factors::{q_of_columns, q_of_rows},
    four_types,
    matrices::{Stored, TINY, Wide, epsilon, random},
    runs::{Runtimes, assert_info, assert_refused, assert_small, ops_of_q, runtime},
};
use superscalar_dla::{ErrorKind, Options, gelqf, gels, geqrf};
use superscalar_kernels::{Op, Scalar, c64};

/// Shapes of A, and numbers of right-hand sides.
const CASES: [(usize, usize, usize); 12] = [
    (1, 1, 1),
    (2, 1, 3),
    (1, 2, 3),
    (3, 3, 0),
    (31, 31, 2),
    (31, 3, 1),
    (3, 31, 1),
    (64, 31, 5),
    (31, 64, 5),
    (100, 64, 40),
    (64, 100, 40),
    (100, 100, 1),
];

fn least_squares_and_least_norm<T: Scalar>() {
    let runtimes = Runtimes::new();
    for (m, n, nrhs) in CASES {
        let (a, b) = (Stored::<T>::random((m, n), 1), Stored::<T>::random((m.max(n), nrhs), 2));
        for op in ops_of_q::<T>() {
            let call = |rt: &_, options: &Options| {
                let (mut factors, mut x) = (a.clone(), b.clone());
                gels(rt, op, factors.view_mut(), x.view_mut(), options).expect("A has full rank");
                (factors, x)
            };
            runtimes.on_all_that_divide(m.min(n), call, |(factors, x), what| {
                let what = &format!("gels {}{op} {m} x {n} nrhs {nrhs} {what}", T::LETTER);
                factors.assert_padding(what);
                x.assert_padding(what);
                let matrix = a.wide().op(op);
                let (rows, cols) = matrix.shape();
                let given = b.wide().submatrix(0..rows, 0..nrhs);
                let found = x.wide().submatrix(0..cols, 0..nrhs);
                let residual = given.minus(&matrix.times(&found));
                if rows > cols {
                    assert_least::<T>(&matrix, &given, &residual, what);
                    assert_remainder::<T>(x, &given, &residual, cols, what);
                } else {
                    let size = (rows.max(cols) as f64 * matrix.norm_one() * found.norm_one()).max(TINY);
                    assert_small(residual.norm_one() / (size * epsilon::<T>()), what);
                    assert_in_range(&a, factors, &found, what);
                }
            });
        }
    }
}

/// ‖Aᴴ r‖ / (m ‖A‖ ‖b‖ ε): the residual is orthogonal to what A spans.
fn assert_least<T: Scalar>(a: &Wide, b: &Wide, residual: &Wide, what: &str) {
    let size = (a.shape().0 as f64 * a.norm_one() * b.norm_one()).max(TINY);
    assert_small(a.adjoint().times(residual).norm_one() / (size * epsilon::<T>()), what);
}

/// What gels leaves below the solution has the residual's norm.
fn assert_remainder<T: Scalar>(x: &Stored<T>, b: &Wide, residual: &Wide, cols: usize, what: &str) {
    let rows = b.shape().0;
    for j in 0..b.shape().1 {
        let rest = x.wide().submatrix(cols..rows, j..j + 1).frobenius();
        let error = (rest - residual.submatrix(0..rows, j..j + 1).frobenius()).abs();
        let size = rows as f64 * b.submatrix(0..rows, j..j + 1).frobenius().max(TINY);
        assert_small(error / (size * epsilon::<T>()), &format!("{what}: the remainder of column {j}"));
    }
}

/// A solution of least norm is a combination of the first columns of Q, where A = Q R, or of the first rows, where A = L Q.
fn assert_in_range<T: Scalar>(a: &Stored<T>, factors: &Stored<T>, x: &Wide, what: &str) {
    let ((m, n), k) = (factors.shape(), factors.shape().0.min(factors.shape().1));
    let (mut again, mut tau) = (a.clone(), vec![T::ZERO; k]);
    let (rt, o) = (runtime(), Options::default());
    let q = if m >= n {
        geqrf(&rt, again.view_mut(), &mut tau, &o).expect("the shapes fit");
        q_of_columns(&again.wide(), &tau).submatrix(0..m, 0..k)
    } else {
        gelqf(&rt, again.view_mut(), &mut tau, &o).expect("the shapes fit");
        q_of_rows(&again.wide(), &tau).submatrix(0..k, 0..n).adjoint()
    };
    let outside = x.minus(&q.times(&q.adjoint().times(x))).norm_one();
    let size = (m.max(n) as f64 * x.norm_one()).max(TINY);
    assert_small(outside / (size * epsilon::<T>()), &format!("{what}: not of least norm"));
    // gels leaves the factors that geqrf or gelqf make, up to rounding.
    let size = (m.max(n) as f64 * again.wide().norm_one()).max(TINY);
    let error = again.wide().minus(&factors.wide()).norm_max() / (size * epsilon::<T>());
    assert_small(error, &format!("{what}: other factors"));
}

/// With op(A) = (R 0)ᵀ or so and R of powers of two nothing is rounded: the solution is known to the last bit.
fn exact_solutions<T: Scalar>() {
    let runtimes = Runtimes::new();
    for (m, n) in [(40, 33), (33, 40), (9, 9)] {
        let a = Stored::<T>::new((m, n), |i, j| T::from_f64(if i == j { [2.0, 4.0, 0.5][i % 3] } else { 0.0 }));
        for op in ops_of_q::<T>() {
            let (rows, cols) = op.shape((m, n));
            let b =
                Stored::<T>::new((m.max(n), 2), |i, j| T::from_f64(if i < rows { (i + j) as f64 } else { f64::NAN }));
            let call = |rt: &_, options: &Options| {
                let (mut factors, mut x) = (a.clone(), b.clone());
                gels(rt, op, factors.view_mut(), x.view_mut(), options).expect("A has full rank");
                x
            };
            runtimes.on_all_that_divide(m.min(n), call, |x, what| {
                for (i, j) in (0..cols).flat_map(|i| [(i, 0), (i, 1)]) {
                    let expected =
                        if i < rows { b.at(i, j).quotient(a.at(i.min(m - 1), i.min(n - 1))) } else { T::ZERO };
                    assert!(x.at(i, j) == expected, "{} {m} x {n} {op} ({i}, {j}) {what}: {}", T::LETTER, x.at(i, j));
                }
            });
        }
    }
}

/// A column of zeros, or a row where A is wide, leaves a zero on the diagonal of the triangular factor.
fn rank_deficient_matrices<T: Scalar>() {
    let runtimes = Runtimes::new();
    for (m, n, zero) in [(1, 1, 0), (40, 33, 0), (40, 33, 20), (40, 33, 32), (33, 40, 0), (33, 40, 20)] {
        let is_zero = |i, j| (if m >= n { j } else { i }) == zero;
        let a = Stored::<T>::new((m, n), |i, j| if is_zero(i, j) { T::ZERO } else { random(3, i, j) });
        for op in ops_of_q::<T>() {
            let call = |rt: &_, options: &Options| {
                let (mut factors, mut x) = (a.clone(), Stored::<T>::random((m.max(n), 2), 4));
                let outcome = gels(rt, op, factors.view_mut(), x.view_mut(), options);
                assert_info(outcome, ErrorKind::Singular, zero + 1);
                factors
            };
            runtimes.on_all_that_divide(m.min(n), call, |factors, what| factors.assert_padding(what));
        }
    }
}

fn nan_propagates<T: Scalar>() {
    let runtimes = Runtimes::new();
    for (m, n) in [(40, 33), (33, 40)] {
        for ((i, j), bad) in
            [(0, 0), (32, 32), (20, 5), (5, 20)].into_iter().flat_map(|at| [(at, f64::NAN), (at, f64::INFINITY)])
        {
            let mut a = Stored::<T>::random((m, n), 5);
            a.set(i, j, T::from_f64(bad));
            for op in ops_of_q::<T>() {
                let call = |rt: &_, options: &Options| {
                    let (mut factors, mut x) = (a.clone(), Stored::<T>::random((m.max(n), 1), 6));
                    let outcome = gels(rt, op, factors.view_mut(), x.view_mut(), options).map_err(|error| error.kind());
                    (factors, x, outcome)
                };
                runtimes.on_all_that_divide(m.min(n), call, |(factors, x, outcome), what| {
                    let what = format!("{} {m} x {n} {op} {bad} at ({i}, {j}) {what}", T::LETTER);
                    assert!(outcome.is_err() || x.has_nan(), "{what}: no trace of it in the solution");
                    factors.assert_padding(&what);
                    x.assert_padding(&what);
                });
            }
        }
    }
}

four_types! { least_squares_and_least_norm exact_solutions rank_deficient_matrices nan_propagates }

#[test]
fn without_rows_or_columns_the_solution_is_zero() {
    let rt = runtime();
    for (m, n) in [(0, 0), (4, 0), (0, 4)] {
        for op in [Op::None, Op::ConjTrans] {
            let (mut a, mut x) = (Stored::<c64>::random((m, n), 1), Stored::<c64>::random((m.max(n), 2), 2));
            gels(&rt, op, a.view_mut(), x.view_mut(), &Options::default()).expect("the shapes fit");
            assert_eq!(x.wide().norm_max(), 0.0);
            x.assert_padding("gels");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (rt, o) = (runtime(), Options::default());
    let (a, b) = (Stored::<c64>::random((5, 4), 1), Stored::<c64>::random((4, 2), 2));
    let (mut x, mut y, mut z) = (a.clone(), b.clone(), Stored::<c64>::random((5, 2), 3));
    let known = z.clone();
    assert_refused(gels(&rt, Op::None, x.view_mut(), y.view_mut(), &o), ErrorKind::Shape);
    assert_refused(gels(&rt, Op::Trans, x.view_mut(), z.view_mut(), &o), ErrorKind::Argument);
    assert_refused(gels(&rt, Op::None, x.view_mut(), z.view_mut(), &o.nb(0)), ErrorKind::Shape);
    assert!(x == a && y == b && z == known, "a refusal changes nothing");
}
