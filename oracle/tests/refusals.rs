//! Each check accepts a right result and rejects one with a wrong element, a NaN, a transposed factor, a wrong
//! interchange or a column with the wrong sign.

use superscalar_kernels::{Diag, Direction, MatMut, MatRef, Op, Scalar, Side, Uplo, c32, c64, reference};
use superscalar_oracle::{
    Factor, Layout, Nearness, ROUNDINGS_MAX, Random, Storage, Stored, Sum, Wide, assert_near, at_most, general,
    interchange, largest, mismatch, narrow, residual, roundoffs, stored, transformed, triangle, wide,
};

/// The bound in dla's tests.
const BOUND: f64 = 8.0;
const N: usize = 31;
/// More rows than the limit up to which every element is tested.
const PROBED: usize = 130;

/// Defines a test for each of the four types.
macro_rules! four_types {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            judged::$name::<f32>();
            judged::$name::<f64>();
            judged::$name::<c32>();
            judged::$name::<c64>();
        }
    )*};
}

four_types! { cholesky lu qr solutions inverses sums sums_of_reflectors sums_of_interchanges }

fn refused(figure: f64, bound: f64, what: &str) {
    assert!(at_most("residual", figure, bound).is_err(), "{what} is accepted: {figure}");
}

fn accepted(figure: f64, bound: f64, what: &str) {
    assert!(at_most("residual", figure, bound).is_ok(), "{what} is rejected: {figure}");
}

/// Returns some positions in an m x n matrix, including its corners and diagonal.
fn places((m, n): (usize, usize)) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |j| (0..m).map(move |i| (i, j))).filter(|(i, j)| (i + 3 * j) % 7 == 0 || i == j)
}

/// Checks a right result, and results with one wrong element: at each position it is off by ten thousand roundings of
/// the matrix's norm, and then NaN.
fn judge<T: Scalar>(
    right: &Stored<T>,
    places: impl Iterator<Item = (usize, usize)>,
    bound: f64,
    what: &str,
    residual: impl Fn(&Stored<T>) -> f64,
) {
    accepted(residual(right), bound, what);
    let size = right.part(|_, _| true).norm_one();
    for (i, j) in places {
        for by in [1e4 * residual::epsilon::<T>() * size, f64::NAN] {
            let mut spoilt = right.clone();
            spoilt.set(i, j, right.at(i, j) + T::from_f64(by));
            refused(residual(&spoilt), bound, &format!("{what} {}: {by:e} at ({i}, {j})", T::LETTER));
        }
    }
}

mod judged {
    use super::*;

    fn factor<T: Scalar>(n: usize) -> (Stored<T>, Stored<T>) {
        let a = Stored::<T>::positive_definite(n, 1);
        let mut l = a.clone();
        reference::potrf(Uplo::Lower, l.view_mut()).expect("positive definite");
        (a, l)
    }

    pub fn cholesky<T: Scalar>() {
        let (a, l) = factor::<T>(N);
        let of = |l: &Stored<T>| residual::cholesky::<T>(&a.wide(), &Wide::stored(Storage::LOWER, l.view()));
        judge(&l, places((N, N)).filter(|(i, j)| i >= j), BOUND, "potrf", of);
        let lower = Wide::stored(Storage::LOWER, l.view());
        refused(residual::cholesky::<T>(&a.wide(), &lower.op(Op::Trans)), BOUND, "a transposed factor");
        for by in [c64::new(-1.0, 0.0), c64::new(0.0, 1.0)] {
            let mut turned = l.clone();
            (N / 2..N).for_each(|i| turned.set(i, N / 2, l.at(i, N / 2) * narrow::<T>(by)));
            refused(of(&turned), BOUND, "a column of the wrong sign or phase");
        }
        let mut lost = a.clone();
        lost.set(3, 2, T::from_f64(f64::NAN));
        refused(residual::cholesky::<T>(&lost.wide(), &lower), BOUND, "NaN in A");
    }

    fn lu_of<T: Scalar>(n: usize) -> (Stored<T>, Stored<T>, Vec<i32>) {
        let a = Stored::<T>::random((n, n), 2);
        let (mut lu, mut ipiv) = (a.clone(), vec![0; n]);
        reference::getrf(lu.view_mut(), &mut ipiv).expect("regular");
        (a, lu, ipiv)
    }

    /// Returns interchanges of which one is off by one, or is not a row.
    fn wrong(ipiv: &[i32]) -> impl Iterator<Item = Vec<i32>> + '_ {
        let others = |at: usize| [ipiv[at] - 1, ipiv[at] + 1, 0, -1, ipiv.len() as i32 + 1].map(|row| (at, row));
        (0..ipiv.len()).flat_map(others).map(|(at, row)| {
            let mut wrong = ipiv.to_vec();
            wrong[at] = row;
            wrong
        })
    }

    pub fn lu<T: Scalar>() {
        let (a, lu, ipiv) = lu_of::<T>(N);
        judge(&lu, places((N, N)), BOUND, "getrf", |lu| residual::lu(&a.wide(), lu.view(), &ipiv));
        let view = lu.view();
        refused(residual::lu(&a.wide(), view.transpose(), &ipiv), BOUND, "transposed factors");
        for ipiv in wrong(&ipiv) {
            refused(residual::lu(&a.wide(), view, &ipiv), BOUND, &format!("{ipiv:?}"));
        }
    }

    pub fn qr<T: Scalar>() {
        let a = Stored::<T>::random((N, N - 4), 3);
        let (mut qr, mut tau, mut t) = (a.clone(), vec![T::ZERO; N - 4], Stored::zeros((N - 4, N - 4)));
        reference::geqrf(qr.view_mut(), &mut tau, t.view_mut());
        let r = Wide::stored(Storage::UPPER, qr.view());
        judge(&qr, places((N, N - 4)), BOUND, "geqrf", |qr| {
            let (q, r) = (qr.wide().q_of_columns(&tau), Wide::stored(Storage::UPPER, qr.view()));
            largest([residual::difference::<T>(&a.wide(), &q.times(&r)), residual::orthogonality::<T>(&q)])
        });
        let q = qr.wide().q_of_columns(&tau);
        refused(residual::difference::<T>(&a.wide(), &q.adjoint().times(&r)), BOUND, "a transposed Q");
        for at in 0..tau.len() {
            for by in [1e-2, f64::NAN] {
                let mut tau = tau.clone();
                tau[at] += T::from_f64(by);
                refused(residual::orthogonality::<T>(&qr.wide().q_of_columns(&tau)), BOUND, "a wrong scalar");
            }
        }
        // A = L Q, from the adjoint: L = Rᴴ, with the reflectors in rows.
        let rows = qr.wide().adjoint().q_of_rows(&tau);
        accepted(residual::difference::<T>(&a.wide().adjoint(), &r.adjoint().times(&rows)), BOUND, "Q by rows");
    }

    pub fn solutions<T: Scalar>() {
        let (a, lu, ipiv) = lu_of::<T>(N);
        let b = Stored::<T>::random((N, 3), 4);
        let mut x = b.clone();
        reference::laswp(x.view_mut(), &ipiv, Direction::Forward);
        for (uplo, diag) in [(Uplo::Lower, Diag::Unit), (Uplo::Upper, Diag::NonUnit)] {
            reference::trsm(Side::Left, uplo, Op::None, diag, T::ONE, lu.view(), x.view_mut());
        }
        judge(&x, places((N, 3)), BOUND, "gesv", |x| residual::solve::<T>(&a.wide(), &x.wide(), &b.wide()));
        let bound = N as f64 * residual::epsilon::<T>();
        judge(&x, places((N, 3)), bound, "gesv", |x| residual::backward_error(a.view(), x.view(), b.view()));
        refused(residual::solve::<T>(&a.wide().op(Op::Trans), &x.wide(), &b.wide()), BOUND, "a transposed matrix");
        refused(residual::backward_error(a.view().transpose(), x.view(), b.view()), bound, "a transposed matrix");
        // A large column does not hide the error of a small one.
        let [large, small] = [1e3, 1e-3].map(T::from_f64);
        let scaled = |a: &Stored<T>| Stored::new((N, 3), |i, j| a.at(i, j) * if j == 0 { large } else { small });
        let (mut x, b) = (scaled(&x), scaled(&b));
        accepted(residual::solve::<T>(&a.wide(), &x.wide(), &b.wide()), BOUND, "columns of several sizes");
        x.set(4, 2, x.at(4, 2) * T::from_f64(1.01));
        refused(residual::solve::<T>(&a.wide(), &x.wide(), &b.wide()), BOUND, "a small wrong column");
    }

    pub fn inverses<T: Scalar>() {
        let a = Stored::<T>::positive_definite(N, 5).wide();
        let exact = a.inverse();
        let x = Stored::<T>::new((N, N), |i, j| narrow(exact.at(i, j)));
        judge(&x, places((N, N)).take(20), BOUND, "getri", |x| residual::inverse::<T>(&a, &x.wide()));
    }

    /// Checks small and large matrices with the same sums: L Lᴴ − A, element by element and with random vectors.
    pub fn sums<T: Scalar>() {
        for n in [N, PROBED] {
            let (a, l) = factor::<T>(n);
            let sum = |l: MatRef<'_, T>| {
                let [l, adjoint] = [Op::None, Op::ConjTrans].map(|op| triangle(Uplo::Lower, op, Diag::NonUnit, l));
                let of_a = stored(Storage::Hermitian(Uplo::Lower), a.view());
                let sum = Sum::new(n).plus(T::ONE, [l, adjoint]).minus([of_a]);
                (sum.columnwise(), sum.componentwise())
            };
            let spoilt = || places((n, n)).filter(|(i, j)| i >= j).step_by(if n == N { 1 } else { 50 });
            judge(&l, spoilt(), ROUNDINGS_MAX, "potrf", |l| sum(l.view()).0);
            refused(sum(l.view().transpose()).0, ROUNDINGS_MAX, "a transposed factor");
            refused(sum(l.view().transpose()).1, ROUNDINGS_MAX, "a transposed factor");
        }
        let (a, b) = (Stored::<T>::random((N, 9), 6), Stored::<T>::random((9, N), 7));
        let mut c = Stored::<T>::zeros((N, N));
        reference::gemm(T::ONE, Op::None, a.view(), Op::None, b.view(), T::ZERO, c.view_mut());
        judge(&c, places((N, N)), ROUNDINGS_MAX, "gemm", |c| {
            Sum::new(N).plus(T::ONE, [general(a.view()), general(b.view())]).minus([general(c.view())]).componentwise()
        });
    }

    pub fn sums_of_reflectors<T: Scalar>() {
        let (mut v, mut tau) = (Stored::<T>::zeros((N, 5)), Stored::<T>::zeros((5, 1)));
        Random::new(8).reflectors(v.view_mut());
        Random::new(9).reflector_scalars(v.view(), tau.view_mut());
        let unitary = |v: MatRef<'_, T>, tau: MatRef<'_, T>| {
            let q = |adjoint| Factor::Reflectors { v, tau, by_rows: false, adjoint };
            // Whether Qᴴ Q is the identity depends on the scalars of the reflectors.
            Sum::new(N).plus(T::ONE, [q(true), q(false)]).minus([]).columnwise()
        };
        judge(&tau, places((5, 1)), ROUNDINGS_MAX, "tau", |tau| unitary(v.view(), tau.view()));
        let c = Stored::<T>::random((N, 4), 10);
        let apply = |adjoint: bool| -> Stored<T> {
            let q = Factor::Reflectors { v: v.view(), tau: tau.view(), by_rows: false, adjoint: !adjoint };
            let columns: Vec<Vec<T>> = (0..4).map(|j| q.adjoint_times(c.view().col(j).to_vec())).collect();
            Stored::new((N, 4), |i, j| columns[j][i])
        };
        let residual = |product: &Stored<T>| {
            let q = Factor::Reflectors { v: v.view(), tau: tau.view(), by_rows: false, adjoint: false };
            Sum::new(N).plus(T::ONE, [q, general(c.view())]).minus([general(product.view())]).columnwise()
        };
        judge(&apply(false), places((N, 4)), ROUNDINGS_MAX, "unmqr", residual);
        refused(residual(&apply(true)), ROUNDINGS_MAX, "a transposed Q");
        assert!(apply(false).wide().minus(&wide_product(&v, &tau, &c)).norm_max() <= 1e2 * residual::epsilon::<T>());
    }

    /// Computes Q C by [`Wide`], for comparison.
    fn wide_product<T: Scalar>(v: &Stored<T>, tau: &Stored<T>, c: &Stored<T>) -> Wide {
        v.wide().q_of_columns(&tau.view().to_vec()).times(&c.wide())
    }

    pub fn sums_of_interchanges<T: Scalar>() {
        let (a, lu, ipiv) = lu_of::<T>(N);
        let sum = |pivots: &[i32], op: Op| {
            let lower = triangle(Uplo::Lower, Op::None, Diag::Unit, lu.view());
            let upper = triangle(Uplo::Upper, Op::None, Diag::NonUnit, lu.view());
            let factors = [Factor::Interchanges { pivots, inverse: false }, lower, upper];
            Sum::new(N).plus(T::ONE, [transformed(op, a.view())]).minus(factors).columnwise()
        };
        accepted(sum(&ipiv, Op::None), ROUNDINGS_MAX, "getrf");
        refused(sum(&ipiv, Op::Trans), ROUNDINGS_MAX, "a transposed matrix");
        for ipiv in wrong(&ipiv) {
            refused(sum(&ipiv, Op::None), ROUNDINGS_MAX, &format!("{ipiv:?}"));
        }
    }
}

#[test]
fn comparisons() {
    let right = [1.0, -2.0, f64::INFINITY, f64::NAN];
    for nearness in [Nearness::Exact, Nearness::Finite, Nearness::Roundoffs(1e3)] {
        assert_near(&right, &right, nearness, String::new);
        for (at, wrong) in [(0, 1.1), (1, 2.0), (0, f64::NAN), (1, f64::INFINITY), (2, 1.0), (3, 0.0)] {
            let mut spoilt = right;
            spoilt[at] = wrong;
            let outcome = std::panic::catch_unwind(|| assert_near(&spoilt, &right, nearness, String::new));
            assert!(outcome.is_err(), "{wrong} at {at} passes {nearness:?}");
        }
    }
    assert_eq!(roundoffs(&[1.0, 2.0], &[1.0, 2.0]), 0.0);
    assert!(roundoffs(&[1.0, f64::NAN], &[1.0, 2.0]).is_nan() && roundoffs(&[1.0], &[f64::NAN]).is_nan());
    assert_eq!((mismatch([(1.0, 1.0), (f64::NAN, f64::NAN)]), mismatch([(1.0, f64::NAN)])), (0.0, f64::INFINITY));
    assert!(interchange(&[4], false, vec![1.0, 2.0]).iter().any(|x| x.is_nan()));
}

#[test]
fn norms_of_nan() {
    for at in 0..4 {
        let a = Wide::new((2, 2), |i, j| if i + 2 * j == at { c64::from(f64::NAN) } else { wide(1.0) });
        let norms = [a.norm_one(), a.norm_inf(), a.norm_max(), a.frobenius(), a.times(&Wide::identity(2)).norm_one()];
        assert!(norms.iter().all(|norm| norm.is_nan()), "{at}: {norms:?}");
        let zero = Wide::new((2, 2), |_, _| c64::ZERO);
        let figures = [residual::difference::<f64>(&a, &zero), residual::solve::<f64>(&a, &zero, &zero)];
        assert!(figures.iter().all(|figure| figure.is_nan()), "{figures:?}");
    }
}

/// The smallest numbers are valid sizes; infinity is not.
#[test]
fn sizes_at_the_ends_of_the_range() {
    for size in [f64::from_bits(9), f64::MIN_POSITIVE / 8.0, 1e-290, 1e300] {
        let column = |last: f64| Wide::new((2, 1), |i, _| c64::from(size * [1.0, last][i]));
        refused(residual::difference::<f64>(&column(1.0), &column(0.5)), BOUND, &format!("half of {size:e}"));
        accepted(residual::difference::<f64>(&column(1.0), &column(1.0)), BOUND, &format!("{size:e}"));
        refused(roundoffs(&[size, 0.0], &[size, size]), BOUND, &format!("zero for {size:e}"));
    }
    refused(residual::scaled::<f64>(1.0, f64::INFINITY, 1), BOUND, "an infinite size");
    refused(residual::scaled::<f64>(1e-320, 0.0, 1), BOUND, "something for zero");
}

/// Writes beside a matrix, or to elements that must be kept, are detected in every layout.
#[test]
fn trespasses() {
    let layouts = [Layout::PLAIN, Layout::PADDED, Layout { padding: 1, row_stride: 3, transposed: true }];
    for layout in layouts {
        let before = Stored::<f64>::fractions(&mut Random::new(1), (4, 3), layout);
        let is_kept = |i, j| i > j;
        before.assert_kept(&before, "nothing", is_kept);
        let seen = (0..before.memory().len()).filter(|&at| {
            let mut after = before.clone();
            after.memory_mut()[at] += 1.0;
            assert!(after != before);
            std::panic::catch_unwind(|| after.assert_kept(&before, "one", is_kept)).is_err()
        });
        // All except the six elements that may be written.
        assert_eq!(seen.count(), before.memory().len() - 6, "{layout:?}");
    }
    let mut view = Stored::<f64>::zeros((2, 2));
    MatMut::fill(&mut view.view_mut(), 1.0);
    view.assert_padding("fill");
    // A changed sign of zero is detected by its bits.
    let mut signed = Stored::<c64>::zeros((2, 2));
    signed.memory_mut().last_mut().expect("a sentinel").im = -0.0;
    assert!(std::panic::catch_unwind(|| signed.assert_padding("a sign")).is_err());
    // Sentinels must be unchanged exactly, and do not count as a size for the elements' tolerance.
    let right = Stored::<f64>::new((2, 2), |_, _| 1e-3);
    let (mut near, far) = (right.clone(), Stored::<f64>::new((2, 2), |_, _| 1e-3 * (1.0 + 1e-13)));
    let fails = |x: &Stored<f64>| {
        std::panic::catch_unwind(|| x.assert_near(&right, Nearness::Roundoffs(100.0), String::new)).is_err()
    };
    assert!(!fails(&near) && fails(&far));
    *near.memory_mut().last_mut().expect("a sentinel") += 1e-13;
    assert!(fails(&near));
}
