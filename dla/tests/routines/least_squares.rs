//! gels: least squares and minimum norm solutions, with a matrix and with its adjoint.

use crate::{
    four_types,
    powers::{assert_scaled, powers_of_two, times_power_of_two, tried_powers_of_two},
    runs::{Runtimes, assert_info, assert_refused, assert_small, ops_of_q, runtime},
};
use superscalar_dla::{Error, ErrorKind, Options, Scalar, Tiled, gelqf, gels, geqrf, spawn};
use superscalar_kernels::{Op, c64};
use superscalar_oracle::{Stored, Wide, element, narrow, residual, whole, wide};
use superscalar_runtime::Runtime;

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
            runtimes.on_all_worker_dependent(m.min(n), call, |(factors, x), what| {
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
                    let size = matrix.norm_one() * found.norm_one();
                    assert_small(residual::scaled::<T>(residual.norm_one(), size, rows.max(cols)), what);
                    assert_in_range(&a, factors, &found, what);
                }
            });
        }
    }
}

/// Checks ‖Aᴴ r‖ / (m ‖A‖ ‖b‖ ε): the residual is orthogonal to the range of A.
fn assert_least<T: Scalar>(a: &Wide, b: &Wide, residual: &Wide, what: &str) {
    let gradient = a.adjoint().times(residual);
    assert_small(residual::scaled::<T>(gradient.norm_one(), a.norm_one() * b.norm_one(), a.shape().0), what);
}

/// Checks that the rows below the solution have the norm of the residual.
fn assert_remainder<T: Scalar>(x: &Stored<T>, b: &Wide, residual: &Wide, cols: usize, what: &str) {
    let rows = b.shape().0;
    for j in 0..b.shape().1 {
        let rest = x.wide().submatrix(cols..rows, j..j + 1).frobenius();
        let error = (rest - residual.submatrix(0..rows, j..j + 1).frobenius()).abs();
        let size = b.submatrix(0..rows, j..j + 1).frobenius();
        assert_small(residual::scaled::<T>(error, size, rows), &format!("{what}: the remainder of column {j}"));
    }
}

/// Checks that a minimum norm solution is a combination of the first columns of Q (A = Q R) or rows of Q (A = L Q).
fn assert_in_range<T: Scalar>(a: &Stored<T>, factors: &Stored<T>, x: &Wide, what: &str) {
    let ((m, n), k) = (factors.shape(), factors.shape().0.min(factors.shape().1));
    let (mut again, mut tau) = (a.clone(), vec![T::ZERO; k]);
    let (rt, o) = (runtime(), Options::default());
    let q = if m >= n {
        geqrf(&rt, again.view_mut(), &mut tau, &o).expect("the shapes fit");
        again.wide().q_of_columns(&tau).submatrix(0..m, 0..k)
    } else {
        gelqf(&rt, again.view_mut(), &mut tau, &o).expect("the shapes fit");
        again.wide().q_of_rows(&tau).submatrix(0..k, 0..n).adjoint()
    };
    let outside = x.minus(&q.times(&q.adjoint().times(x))).norm_one();
    assert_small(residual::scaled::<T>(outside, x.norm_one(), m.max(n)), &format!("{what}: not of least norm"));
    // The factors equal those of geqrf or gelqf up to rounding.
    let error = again.wide().minus(&factors.wide()).norm_max();
    let error = residual::scaled::<T>(error, again.wide().norm_one(), m.max(n));
    assert_small(error, &format!("{what}: other factors"));
}

/// If the triangular factor is a diagonal matrix of powers of two, the solution is exact.
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
            runtimes.on_all_worker_dependent(m.min(n), call, |x, what| {
                for (i, j) in (0..cols).flat_map(|i| [(i, 0), (i, 1)]) {
                    let expected =
                        if i < rows { b.at(i, j).quotient(a.at(i.min(m - 1), i.min(n - 1))) } else { T::ZERO };
                    assert!(x.at(i, j) == expected, "{} {m} x {n} {op} ({i}, {j}) {what}: {}", T::LETTER, x.at(i, j));
                }
            });
        }
    }
}

/// A column of zeros (or a row, if A is wide) leaves a zero on the diagonal of the triangular factor.
fn rank_deficient_matrices<T: Scalar>() {
    let runtimes = Runtimes::new();
    for (m, n, zero) in [(40, 33, 0), (40, 33, 20), (40, 33, 32), (33, 40, 0), (33, 40, 20)] {
        let is_zero = |i, j| (if m >= n { j } else { i }) == zero;
        let a = Stored::<T>::new((m, n), |i, j| if is_zero(i, j) { T::ZERO } else { element(3, i, j) });
        for op in ops_of_q::<T>() {
            let call = |rt: &_, options: &Options| {
                let (mut factors, mut x) = (a.clone(), Stored::<T>::random((m.max(n), 2), 4));
                let outcome = gels(rt, op, factors.view_mut(), x.view_mut(), options);
                assert_info(outcome, ErrorKind::Singular, zero + 1);
                factors
            };
            runtimes.on_all_worker_dependent(m.min(n), call, |factors, what| factors.assert_padding(what));
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
                runtimes.on_all_worker_dependent(m.min(n), call, |(factors, x, outcome), what| {
                    let what = format!("{} {m} x {n} {op} {bad} at ({i}, {j}) {what}", T::LETTER);
                    assert!(outcome.is_err() || x.has_nan(), "{what}: no trace of it in the solution");
                    factors.assert_padding(&what);
                    x.assert_padding(&what);
                });
            }
        }
    }
}

/// Returns a well conditioned matrix of full rank whose elements have integer parts from -3 to 7.
fn well_conditioned<T: Scalar>(shape: (usize, usize)) -> Stored<T> {
    Stored::new(shape, |i, j| whole::<T>(8, i, j) + T::from_f64(if i == j { 4.0 } else { 0.0 }))
}

/// Returns 2ᵏ A.
fn times<T: Scalar>(a: &Stored<T>, k: i32) -> Stored<T> {
    let part = |x: f64| times_power_of_two(x, k);
    Stored::new(a.shape(), |i, j| narrow(c64::new(part(wide(a.at(i, j)).re), part(wide(a.at(i, j)).im))))
}

/// A form of gels, blocking or not, with a block size.
struct Variant {
    name: &'static str,
    nb: usize,
    is_blocking: bool,
}

const VARIANTS: [Variant; 3] = [
    Variant { name: "at once", nb: 50, is_blocking: true },
    Variant { name: "in tiles", nb: 2, is_blocking: true },
    Variant { name: "spawned", nb: 2, is_blocking: false },
];

impl Variant {
    /// Solves. Returns `None` if this form does not support the shape.
    fn call<T: Scalar>(&self, rt: &Runtime, op: Op, a: &mut Stored<T>, b: &mut Stored<T>) -> Option<Result<(), Error>> {
        if self.is_blocking {
            return Some(gels(rt, op, a.view_mut(), b.view_mut(), &Options::default().nb(self.nb)));
        }
        let (m, n) = a.shape();
        let mut tau = vec![T::ZERO; n];
        (m >= n).then(|| {
            let outcome = rt.scope(|s| {
                let a = Tiled::columns(s, a.view_mut(), self.nb);
                spawn::gels(s, op, &a, &mut tau, &Tiled::columns(s, b.view_mut(), 1));
            });
            Ok(outcome?)
        })
    }
}

/// Checks that 2ᵖ A X = 2ᑫ B has the solution 2ᑫ⁻ᵖ X, residuals 2ᑫ R and factors scaled by 2ᵖ.
fn assert_scales<T: Scalar>(rt: &Runtime, shape: (usize, usize), scales: &[(i32, i32)]) {
    let ((m, n), nrhs) = (shape, 2);
    for (op, variant) in
        [Op::None, Op::ConjTrans].into_iter().flat_map(|op| VARIANTS.iter().map(move |variant| (op, variant)))
    {
        let (rows, cols) = op.shape((m, n));
        let a = well_conditioned::<T>((m, n));
        let b = Stored::<T>::new((m.max(n), nrhs), |i, j| if i < rows { whole(9, i, j) } else { T::ONE });
        let (mut factors, mut x) = (a.clone(), b.clone());
        let Some(outcome) = variant.call(rt, op, &mut factors, &mut x) else { continue };
        outcome.expect("A has full rank");
        let (first, last) = (powers_of_two::<T>().start() + 160, powers_of_two::<T>().end() - 120);
        // Where nothing is scaled, the tasks are those of any other matrix, so some of these scales suffice.
        let is_usual = |p: i32, q: i32| p == q && p % 16 != 0 && (first..last).contains(&p);
        for &(p, q) in scales.iter().filter(|&&(p, q)| variant.nb > n || !is_usual(p, q)) {
            let what = format!("gels {}{op} {m} x {n} {} A 2^{p} B 2^{q}", T::LETTER, variant.name);
            let (mut scaled, mut y) = (times(&a, p), times(&b, q));
            variant.call(rt, op, &mut scaled, &mut y).expect("there is such a form").expect("A has full rank");
            scaled.assert_padding(&what);
            y.assert_padding(&what);
            let tolerance = |of: &Stored<T>| 200.0 * residual::epsilon::<T>() * of.wide().norm_max();
            for (i, j) in (0..m.max(n)).flat_map(|i| [(i, 0), (i, 1)]) {
                let k = if i < cols { q - p } else { q };
                assert_scaled(y.at(i, j), wide(x.at(i, j)), tolerance(&x), k, &format!("{what}, X ({i}, {j})"));
            }
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let k = if (m >= n && i <= j) || (m < n && i >= j) { p } else { 0 };
                let expected = wide(factors.at(i, j));
                assert_scaled(scaled.at(i, j), expected, tolerance(&factors), k, &format!("{what}, A ({i}, {j})"));
            }
        }
    }
}

fn every_power_of_two<T: Scalar>() {
    let rt = runtime();
    let scales: Vec<_> = tried_powers_of_two::<T>().map(|k| (k, k)).collect();
    for shape in [(5, 3), (3, 5), (4, 4)] {
        assert_scales::<T>(&rt, shape, &scales);
    }
}

/// A and B of very different scales, as long as the solution does not overflow.
fn independent_scales_of_a_and_b<T: Scalar>() {
    let rt = runtime();
    let (least, most) = (*powers_of_two::<T>().start(), *powers_of_two::<T>().end());
    let some: Vec<_> = (least..=most).step_by((most - least) as usize / 20).chain([most - 1, most]).collect();
    let pairs = some.iter().flat_map(|&p| some.iter().map(move |&q| (p, q)));
    let scales: Vec<_> = pairs.filter(|(p, q)| (least..=most).contains(&(q - p))).collect();
    assert!(scales.len() > 200);
    for shape in [(5, 3), (3, 5), (4, 4)] {
        assert_scales::<T>(&rt, shape, &scales);
    }
}

/// As in LAPACK, B becomes zero if A is zero; A is unchanged.
fn zero_matrices<T: Scalar>() {
    let rt = runtime();
    for (m, n) in [(1, 1), (5, 3), (3, 5), (4, 4), (40, 33), (0, 0), (4, 0), (0, 4)] {
        for (op, variant) in
            ops_of_q::<T>().into_iter().flat_map(|op| VARIANTS.iter().map(move |variant| (op, variant)))
        {
            for bad in [1.0, f64::NAN] {
                let zero = Stored::<T>::new((m, n), |_, _| T::ZERO);
                let (mut a, mut b) = (zero.clone(), Stored::<T>::new((m.max(n), 3), |_, _| T::from_f64(bad)));
                let Some(outcome) = variant.call(&rt, op, &mut a, &mut b) else { continue };
                outcome.expect("its solution is zero");
                let what = format!("gels {}{op} {m} x {n} {}", T::LETTER, variant.name);
                a.assert_padding(&what);
                b.assert_padding(&what);
                assert!(b.wide() == Wide::new(b.shape(), |_, _| c64::ZERO), "{what}: {b:?}");
                assert!(a.wide() == zero.wide(), "{what}: {a:?}");
            }
        }
    }
}

/// A singular matrix that is not zero is reported at every scale and by all forms.
fn singular_matrices_at_every_scale<T: Scalar>() {
    let rt = runtime();
    for k in tried_powers_of_two::<T>() {
        for ((m, n), variant) in
            [(5, 3), (3, 5)].into_iter().flat_map(|shape| VARIANTS.iter().map(move |variant| (shape, variant)))
        {
            let is_zero = |i, j| (if m >= n { j } else { i }) == 2;
            let a = Stored::<T>::new((m, n), |i, j| if is_zero(i, j) { T::ZERO } else { whole::<T>(8, i, j) });
            let (mut a, mut b) = (times(&a, k), Stored::<T>::random((m.max(n), 1), 4));
            if let Some(outcome) = variant.call(&rt, Op::None, &mut a, &mut b) {
                assert_info(outcome, ErrorKind::Singular, 3);
            }
        }
    }
}

/// A NaN prevents scaling, and is not lost if scaling happens.
fn nan_propagates_at_every_scale<T: Scalar>() {
    let rt = runtime();
    let (least, most) = (*powers_of_two::<T>().start(), *powers_of_two::<T>().end());
    for (k, bad) in [least, 0, most].into_iter().flat_map(|k| [(k, f64::NAN), (k, f64::INFINITY)]) {
        for ((m, n), variant) in
            [(5, 3), (3, 5)].into_iter().flat_map(|shape| VARIANTS.iter().map(move |variant| (shape, variant)))
        {
            for (in_a, op) in
                [true, false].into_iter().flat_map(|in_a| ops_of_q::<T>().into_iter().map(move |op| (in_a, op)))
            {
                let (mut a, mut b) =
                    (times(&well_conditioned::<T>((m, n)), k), times(&well_conditioned((m.max(n), 1)), k));
                if in_a { &mut a } else { &mut b }.set(1, 0, T::from_f64(bad));
                let Some(outcome) = variant.call(&rt, op, &mut a, &mut b) else { continue };
                let what = format!("{}{op} {m} x {n} {} {bad} in A: {in_a}, 2^{k}", T::LETTER, variant.name);
                assert!(outcome.is_err() || !b.is_finite(), "{what}: no trace of it in the solution");
            }
        }
    }
}

four_types! {
    least_squares_and_least_norm exact_solutions rank_deficient_matrices nan_propagates every_power_of_two
    independent_scales_of_a_and_b zero_matrices singular_matrices_at_every_scale nan_propagates_at_every_scale
}

/// A refusal changes nothing, although a wide matrix is conjugated before it is factored.
#[test]
fn refused_wide_matrix_is_unchanged() {
    let rt = runtime();
    let (a, b) = (Stored::<c64>::random((4, 5), 1), Stored::<c64>::random((5, 2), 2));
    let (mut x, mut y) = (a.clone(), b.clone());
    assert_refused(gels(&rt, Op::None, x.view_mut(), y.view_mut(), &Options::default().nb(0)), ErrorKind::Shape);
    assert!(x == a && y == b);
}

#[test]
fn empty_matrices_give_zero() {
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
fn invalid_arguments_are_refused() {
    let (rt, o) = (runtime(), Options::default());
    let (a, b) = (Stored::<c64>::random((5, 4), 1), Stored::<c64>::random((4, 2), 2));
    let (mut x, mut y, mut z) = (a.clone(), b.clone(), Stored::<c64>::random((5, 2), 3));
    let known = z.clone();
    assert_refused(gels(&rt, Op::None, x.view_mut(), y.view_mut(), &o), ErrorKind::Shape);
    assert_refused(gels(&rt, Op::Trans, x.view_mut(), z.view_mut(), &o), ErrorKind::Argument);
    assert_refused(gels(&rt, Op::None, x.view_mut(), z.view_mut(), &o.nb(0)), ErrorKind::Shape);
    assert!(x == a && y == b && z == known, "a refusal changes nothing");
}
