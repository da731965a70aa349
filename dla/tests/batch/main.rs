//! Routines on batches: every problem is solved, whatever chunk it is in, and a bad one changes no other.

mod scopes;

use superscalar_dla::{
    BatchMut, BatchRef, ErrorKind, MatMut, Options, Scalar,
    batch::{self, Outcomes},
    getrf, potrf,
};
use superscalar_kernels::{
    Diag, Op, Real as _, Scalar as _, Side, Uplo, c32, c64,
    operations::{BatchOperands, BatchOperation},
};
use superscalar_oracle::{Storage, Stored, Wide, residual, wide};
use superscalar_runtime::Runtime;

/// The bound of LAPACK's scaled residuals.
const RESIDUAL_MAX: f64 = 30.0;
/// Orders that are computed in lanes, by tiles, and not at all; equal ones beside each other and alone.
const ORDERS: [usize; 14] = [4, 4, 4, 4, 4, 0, 1, 33, 33, 2, 16, 16, 31, 70];

macro_rules! four_types {
    ($($name:ident)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn s() {
                super::$name::<f32>();
            }
            #[test]
            fn d() {
                super::$name::<f64>();
            }
            #[test]
            fn c() {
                super::$name::<c32>();
            }
            #[test]
            fn z() {
                super::$name::<c64>();
            }
        }
    )*};
}

fn runtime() -> Runtime {
    Runtime::builder().workers(2).bind(false).build().expect("threads")
}

/// One task; a task for three problems each.
fn options() -> [Options; 2] {
    [Options::default(), Options::default().nb(3)]
}

fn assert_small(residual: f64, what: &str) {
    assert!(residual <= RESIDUAL_MAX, "{what}: residual {residual}");
}

fn gathered<T: Scalar>(matrices: &mut [Stored<T>]) -> BatchMut<'_, T> {
    BatchMut::gathered(matrices.iter_mut().map(Stored::view_mut).collect())
}

fn read<T: Scalar>(matrices: &[Stored<T>]) -> BatchRef<'_, T> {
    BatchRef::gathered(matrices.iter().map(Stored::view).collect())
}

/// A column of numbers for each problem.
struct Columns<T>(Vec<Vec<T>>);

impl<T: Copy> Columns<T> {
    fn new(lengths: impl Iterator<Item = usize>, value: T) -> Self {
        Self(lengths.map(|len| vec![value; len]).collect())
    }

    fn batch(&mut self) -> BatchMut<'_, T> {
        let columns = self.0.iter_mut().map(|x| {
            let len = x.len();
            MatMut::from_col_major(x, len, 1, len.max(1)).expect("a column")
        });
        BatchMut::gathered(columns.collect())
    }
}

fn cholesky_of_each_order<T: Scalar>() {
    let rt = runtime();
    for (options, uplo) in
        options().into_iter().flat_map(|options| [Uplo::Lower, Uplo::Upper].map(|uplo| (options, uplo)))
    {
        let before: Vec<_> =
            ORDERS.iter().enumerate().map(|(p, &n)| Stored::<T>::positive_definite(n, p as u64)).collect();
        let sides: Vec<_> = ORDERS.iter().map(|&n| Stored::<T>::random((n, 2), n as u64 + 100)).collect();
        let (mut a, mut x) = (before.clone(), sides.clone());
        let outcomes = batch::potrf(&rt, uplo, gathered(&mut a), &options).expect("square matrices");
        assert!(outcomes.are_all_good());
        batch::potrs(&rt, uplo, read(&a), gathered(&mut x), &options).expect("shapes that fit");
        let (mut other, mut y) = (before.clone(), sides.clone());
        let outcomes =
            batch::posv(&rt, uplo, gathered(&mut other), gathered(&mut y), &options).expect("shapes that fit");
        assert!(outcomes.are_all_good() && other == a, "posv factors as potrf does");
        for (p, n) in ORDERS.into_iter().enumerate() {
            let what = &format!("problem {p}, {} of order {n}, {uplo}", T::LETTER);
            let factor = Wide::stored(Storage::Triangle(uplo, Diag::NonUnit), a[p].view());
            let lower = if uplo == Uplo::Lower { factor } else { factor.adjoint() };
            assert_small(residual::cholesky::<T>(&before[p].wide(), &lower), what);
            assert_small(residual::solve::<T>(&before[p].wide(), &x[p].wide(), &sides[p].wide()), what);
            assert_small(residual::solve::<T>(&before[p].wide(), &y[p].wide(), &sides[p].wide()), what);
            [&a[p], &x[p], &y[p]].into_iter().for_each(|matrix| matrix.assert_padding(what));
        }
    }
}

fn lu_of_each_order<T: Scalar>() {
    let rt = runtime();
    for options in options() {
        let before: Vec<_> = ORDERS.iter().enumerate().map(|(p, &n)| Stored::<T>::random((n, n), p as u64)).collect();
        let sides: Vec<_> = ORDERS.iter().map(|&n| Stored::<T>::random((n, 3), n as u64 + 100)).collect();
        let (mut a, mut pivots) = (before.clone(), Columns::new(ORDERS.into_iter(), 0));
        let outcomes = batch::getrf(&rt, gathered(&mut a), pivots.batch(), &options).expect("shapes that fit");
        assert!(outcomes.are_all_good());
        let (mut b, mut y, mut again) = (before.clone(), sides.clone(), Columns::new(ORDERS.into_iter(), 0));
        let solved = batch::gesv(&rt, gathered(&mut b), again.batch(), gathered(&mut y), &options);
        assert!(solved.expect("shapes that fit").are_all_good() && b == a && again.0 == pivots.0);
        for op in [Op::None, Op::Trans, Op::ConjTrans] {
            let mut x = sides.clone();
            let ipiv = pivots.batch();
            batch::getrs(&rt, op, read(&a), ipiv.as_ref(), gathered(&mut x), &options).expect("shapes that fit");
            for (p, n) in ORDERS.into_iter().enumerate() {
                let what = &format!("problem {p}, {} of order {n}, {op}", T::LETTER);
                assert_small(residual::solve::<T>(&before[p].wide().op(op), &x[p].wide(), &sides[p].wide()), what);
                x[p].assert_padding(what);
            }
        }
        for (p, n) in ORDERS.into_iter().enumerate() {
            let what = &format!("problem {p}, {} of order {n}", T::LETTER);
            assert_small(residual::lu(&before[p].wide(), a[p].view(), &pivots.0[p]), what);
            let (mut single, mut ipiv) = (before[p].clone(), vec![0; n]);
            getrf(&rt, single.view_mut(), &mut ipiv, &Options::default()).expect("no pivot is zero");
            assert_eq!(pivots.0[p], ipiv, "{what}");
            [&a[p], &y[p]].into_iter().for_each(|matrix| matrix.assert_padding(what));
        }
        // Matrices whose diagonal dominates need no interchanges.
        let before: Vec<_> = ORDERS.iter().map(|&n| Stored::<T>::positive_definite(n, n as u64)).collect();
        let mut a = before.clone();
        assert!(batch::getrf_nopiv(&rt, gathered(&mut a), &options).expect("a plan").are_all_good());
        for (p, n) in ORDERS.into_iter().enumerate() {
            let none: Vec<i32> = (1..=n as i32).collect();
            assert_small(residual::lu(&before[p].wide(), a[p].view(), &none), &format!("nopiv, problem {p}"));
        }
    }
}

fn qr_of_each_shape<T: Scalar>() {
    const SHAPES: [(usize, usize); 12] =
        [(4, 4), (4, 4), (9, 4), (9, 4), (9, 4), (0, 0), (1, 1), (40, 33), (16, 16), (3, 0), (31, 30), (70, 8)];
    let rt = runtime();
    for options in options() {
        let before: Vec<_> =
            SHAPES.iter().enumerate().map(|(p, &shape)| Stored::<T>::random(shape, p as u64)).collect();
        let (mut a, mut tau) = (before.clone(), Columns::new(SHAPES.iter().map(|shape| shape.1), T::ZERO));
        batch::geqrf(&rt, gathered(&mut a), tau.batch(), &options).expect("shapes that fit");
        let mut q = a.clone();
        batch::ungqr(&rt, gathered(&mut q), tau.batch().as_ref(), &options).expect("shapes that fit");
        let mut products = before.clone();
        let factors = tau.batch();
        batch::unmqr(&rt, Op::ConjTrans, read(&a), factors.as_ref(), gathered(&mut products), &options)
            .expect("shapes that fit");
        for (p, (m, n)) in SHAPES.into_iter().enumerate() {
            let what = &format!("problem {p}, {} of {m} x {n}", T::LETTER);
            let r = Wide::stored(Storage::UPPER, a[p].view().submatrix(0..n, 0..n));
            let q_wide = q[p].wide();
            assert_small(residual::orthogonality::<T>(&q_wide), what);
            assert_small(residual::difference::<T>(&before[p].wide(), &q_wide.times(&r)), what);
            // Qᴴ A = R
            let product = products[p].wide().submatrix(0..n, 0..n);
            let size = before[p].wide().norm_one();
            assert_small(residual::scaled::<T>(product.minus(&r).norm_one(), size, m), what);
            [&a[p], &q[p], &products[p]].into_iter().for_each(|matrix| matrix.assert_padding(what));
        }
        let sides: Vec<_> = SHAPES.iter().map(|&(m, _)| Stored::<T>::random((m, 2), m as u64 + 50)).collect();
        let (mut a, mut x) = (before.clone(), sides.clone());
        let outcomes = batch::gels(&rt, gathered(&mut a), gathered(&mut x), &options).expect("shapes that fit");
        assert!(outcomes.are_all_good());
        for (p, (m, n)) in SHAPES.into_iter().enumerate() {
            // Aᴴ (B − A X) = 0
            let (a, x) = (before[p].wide(), x[p].wide().submatrix(0..n, 0..2));
            let rest = sides[p].wide().minus(&a.times(&x));
            let size = a.norm_one() * a.norm_one() * (x.norm_one() + 1.0) + a.norm_one();
            let gradient = a.adjoint().times(&rest).norm_one();
            assert_small(residual::scaled::<T>(gradient, size, m), &format!("gels, problem {p}, {m} x {n}"));
        }
    }
}

/// Wide matrices, some tall ones among them, and one without full rank.
fn least_norm_of_each_shape<T: Scalar>() {
    const SHAPES: [(usize, usize); 13] = [
        (4, 9),
        (4, 9),
        (4, 9),
        (9, 4),
        (2, 9),
        (0, 3),
        (1, 1),
        (30, 33),
        (8, 70),
        (16, 20),
        (16, 20),
        (1, 5),
        (40, 41),
    ];
    const SINGULAR: usize = 1;
    let rt = runtime();
    for options in options() {
        let mut before: Vec<_> =
            SHAPES.iter().enumerate().map(|(p, &shape)| Stored::<T>::random(shape, p as u64)).collect();
        (0..9).for_each(|j| before[SINGULAR].set(2, j, T::ZERO));
        let mut sides: Vec<_> = SHAPES.iter().map(|&(m, n)| Stored::<T>::random((m.max(n), 2), n as u64)).collect();
        for ((m, n), b) in SHAPES.into_iter().zip(&mut sides) {
            // These rows are only written.
            (m..n).for_each(|i| (0..2).for_each(|j| b.set(i, j, T::from_f64(f64::NAN))));
        }
        let (mut a, mut x) = (before.clone(), sides.clone());
        let outcomes = batch::gels(&rt, gathered(&mut a), gathered(&mut x), &options).expect("shapes that fit");
        assert_eq!(outcomes.failed().collect::<Vec<_>>(), [(SINGULAR, 3)]);
        let rows_of_adjoint = |p: usize| {
            let mut adjoint = Stored::<T>::random((SHAPES[p].1, SHAPES[p].0), 0);
            let wide = before[p].view();
            (0..SHAPES[p].0).for_each(|i| (0..SHAPES[p].1).for_each(|j| adjoint.set(j, i, wide.at(i, j).conj())));
            adjoint
        };
        for p in (0..SHAPES.len()).filter(|&p| p != SINGULAR && SHAPES[p].0 <= SHAPES[p].1) {
            let ((m, n), what) = (SHAPES[p], &format!("gels, problem {p}, {} of {:?}", T::LETTER, SHAPES[p]));
            let (wide, b, found) = (before[p].wide(), sides[p].wide().submatrix(0..m, 0..2), x[p].wide());
            assert_small(residual::solve::<T>(&wide, &found, &b), what);
            // X is in the range of Aᴴ = Q R: X = Q Qᴴ X.
            let (mut q, mut tau) = ([rows_of_adjoint(p)], Columns::new([m].into_iter(), T::ZERO));
            batch::geqrf(&rt, gathered(&mut q), tau.batch(), &options).expect("shapes that fit");
            batch::ungqr(&rt, gathered(&mut q), tau.batch().as_ref(), &options).expect("shapes that fit");
            let q = q[0].wide();
            let rest = found.minus(&q.times(&q.adjoint().times(&found))).norm_one();
            assert_small(residual::scaled::<T>(rest, found.norm_one(), n), what);
            [&a[p], &x[p]].into_iter().for_each(|matrix| matrix.assert_padding(what));
        }
    }
}

fn bidiagonal_of_each_shape<T: Scalar>() {
    const SHAPES: [(usize, usize); 9] = [(4, 4), (4, 4), (9, 4), (4, 9), (0, 3), (1, 1), (33, 30), (12, 12), (2, 1)];
    let rt = runtime();
    for options in options() {
        let before: Vec<_> =
            SHAPES.iter().enumerate().map(|(p, &shape)| Stored::<T>::random(shape, p as u64)).collect();
        let orders = || SHAPES.iter().map(|shape| shape.0.min(shape.1));
        let (mut a, zero) = (before.clone(), T::Real::ZERO);
        let (mut d, mut e) = (Columns::new(orders(), zero), Columns::new(orders().map(|k| k.saturating_sub(1)), zero));
        let (mut tauq, mut taup) = (Columns::new(orders(), T::ZERO), Columns::new(orders(), T::ZERO));
        let (to_d, to_e, to_tauq, to_taup) = (d.batch(), e.batch(), tauq.batch(), taup.batch());
        batch::gebrd(&rt, gathered(&mut a), to_d, to_e, to_tauq, to_taup, &options).expect("shapes that fit");
        for (p, (m, n)) in SHAPES.into_iter().enumerate() {
            let what = &format!("problem {p}, {} of {m} x {n}", T::LETTER);
            a[p].assert_padding(what);
            // Unitary transformations keep the sum of squares, and the sum of fourth powers of the singular values.
            let k = m.min(n);
            let b = Wide::new((m, n), |i, j| match (m >= n, j.wrapping_sub(i), i.wrapping_sub(j)) {
                (_, 0, _) => c64::new(d.0[p][i].to_f64(), 0.0),
                (true, 1, _) if i < k => c64::new(e.0[p][i].to_f64(), 0.0),
                (false, _, 1) if j < k => c64::new(e.0[p][j].to_f64(), 0.0),
                _ => c64::ZERO,
            });
            let original = before[p].wide();
            let fourth = |x: &Wide| x.adjoint().times(x).frobenius();
            let near =
                |x: f64, y: f64, what: &str| assert_small(residual::scaled::<T>((x - y).abs(), x, m.max(n)), what);
            near(original.frobenius(), b.frobenius(), what);
            near(fourth(&original), fourth(&b), what);
        }
    }
}

fn products_and_solves<T: Scalar>() {
    let (rt, alpha, beta) = (runtime(), T::from_f64(0.5), T::from_f64(-2.0));
    let ops = [(Op::None, Op::ConjTrans), (Op::Trans, Op::None)];
    for (options, (op_a, op_b)) in options().into_iter().flat_map(|options| ops.map(|ops| (options, ops))) {
        let shape = |n: usize| (n, n / 2 + 1, n + 3);
        let of = |f: &dyn Fn((usize, usize, usize)) -> (usize, usize), seed: u64| -> Vec<Stored<T>> {
            ORDERS.iter().enumerate().map(|(p, &n)| Stored::random(f(shape(n)), seed + p as u64)).collect()
        };
        let (a, b) = (of(&|(m, _, k)| op_a.shape((m, k)), 1), of(&|(_, n, k)| op_b.shape((k, n)), 100));
        let before = of(&|(m, n, _)| (m, n), 200);
        let mut c = before.clone();
        batch::gemm(&rt, alpha, op_a, read(&a), op_b, read(&b), beta, gathered(&mut c), &options)
            .expect("shapes that fit");
        let (x, sums) = (of(&|(m, _, k)| (op_a.shape(op_a.shape((m, k))).1, 1), 300), of(&|(m, _, _)| (m, 1), 400));
        let mut y = sums.clone();
        batch::gemv(&rt, alpha, op_a, read(&a), read(&x), beta, gathered(&mut y), &options).expect("shapes that fit");
        for p in 0..ORDERS.len() {
            let what = &format!("problem {p}, {} of order {}", T::LETTER, ORDERS[p]);
            let check = |factors: (&Wide, &Wide), before: &Stored<T>, after: &Stored<T>| {
                let product = factors.0.times(factors.1);
                let expected = Wide::new(before.shape(), |i, j| {
                    wide(alpha) * product.at(i, j) + wide(beta) * wide(before.at(i, j))
                });
                let size = factors.0.norm_one() * factors.1.norm_one() + before.wide().norm_one();
                let error = after.wide().minus(&expected).norm_one();
                assert_small(residual::scaled::<T>(error, size, factors.0.shape().1), what);
                after.assert_padding(what);
            };
            let (a, b) = (a[p].wide().op(op_a), b[p].wide().op(op_b));
            check((&a, &b), &before[p], &c[p]);
            check((&a, &x[p].wide()), &sums[p], &y[p]);
        }
        let uplo = if op_a == Op::None { Uplo::Lower } else { Uplo::Upper };
        let triangles: Vec<_> = ORDERS.iter().map(|&n| Stored::<T>::positive_definite(n, n as u64)).collect();
        for side in [Side::Left, Side::Right] {
            let before = of(&|(m, n, _)| if side == Side::Left { (m, n) } else { (n, m) }, 500);
            let (mut x, diag) = (before.clone(), Diag::NonUnit);
            batch::trsm(&rt, side, uplo, op_a, diag, alpha, read(&triangles), gathered(&mut x), &options)
                .expect("shapes that fit");
            for p in 0..ORDERS.len() {
                let triangle = Wide::stored(Storage::Triangle(uplo, diag), triangles[p].view()).op(op_a);
                let b = Wide::new(before[p].shape(), |i, j| wide(alpha) * wide(before[p].at(i, j)));
                let (triangle, x, b) = match side {
                    Side::Left => (triangle, x[p].wide(), b),
                    Side::Right => (triangle.op(Op::Trans), x[p].wide().op(Op::Trans), b.op(Op::Trans)),
                };
                assert_small(residual::solve::<T>(&triangle, &x, &b), &format!("trsm {side}, problem {p}"));
            }
        }
        let mut z = sums.clone();
        batch::trsv(&rt, uplo, op_a, Diag::Unit, read(&triangles), gathered(&mut z), &options)
            .expect("shapes that fit");
        for p in 0..ORDERS.len() {
            let triangle = Wide::stored(Storage::Triangle(uplo, Diag::Unit), triangles[p].view()).op(op_a);
            assert_small(residual::solve::<T>(&triangle, &z[p].wide(), &sums[p].wide()), &format!("trsv, problem {p}"));
        }
    }
}

/// Every fourth matrix is indefinite, singular or has a NaN. Its outcome is that of the single routine, and the others
/// have the results that they have without it.
fn bad_problems_stay_alone<T: Scalar>() {
    let rt = runtime();
    for n in [3, 8, 20, 40] {
        let good: Vec<_> = (0..40).map(|p| Stored::<T>::positive_definite(n, p)).collect();
        let mut bad = good.clone();
        for p in (0..40).step_by(4) {
            let at = p % n;
            let value = if p % 8 == 0 { -1.0 } else { f64::NAN };
            bad[p].set(at, at, T::from_f64(value));
        }
        let (mut a, mut b) = (good.clone(), bad.clone());
        let sides: Vec<_> = (0..40).map(|p| Stored::<T>::random((n, 1), p)).collect();
        let mut x = sides.clone();
        let fine = batch::potrf(&rt, Uplo::Lower, gathered(&mut a), &Options::default()).expect("square");
        let found =
            batch::posv(&rt, Uplo::Lower, gathered(&mut b), gathered(&mut x), &Options::default()).expect("square");
        assert!(fine.are_all_good());
        assert_eq!(found.failed().count(), 10, "order {n}");
        for p in 0..40 {
            let single = potrf(&rt, Uplo::Lower, bad[p].clone().view_mut(), &Options::default());
            let info = single.err().map_or(0, |error| error.info().expect("a numerical outcome"));
            assert_eq!(found[p] as usize, info, "problem {p} of order {n}");
            if info == 0 {
                assert!(a[p] == b[p], "problem {p} of order {n} depends on its neighbours");
            } else {
                assert!(x[p] == sides[p], "the right-hand side of problem {p} was changed");
            }
        }
        let mut singular: Vec<_> = (0..40).map(|p| Stored::<T>::random((n, n), p)).collect();
        for p in (0..40).step_by(4) {
            (0..n).for_each(|i| singular[p].set(i, n / 2, T::ZERO));
        }
        let (mut pivots, mut x) = (Columns::new((0..40).map(|_| n), 0), sides.clone());
        let found = batch::gesv(&rt, gathered(&mut singular), pivots.batch(), gathered(&mut x), &Options::default());
        let found: Outcomes = found.expect("shapes that fit");
        let expected: Vec<_> = (0..40).step_by(4).map(|p| (p, n / 2 + 1)).collect();
        assert_eq!(found.failed().collect::<Vec<_>>(), expected, "order {n}");
        assert!((0..40).step_by(4).all(|p| x[p] == sides[p]), "right-hand sides of order {n}");
    }
}

four_types! {
    cholesky_of_each_order lu_of_each_order qr_of_each_shape least_norm_of_each_shape bidiagonal_of_each_shape
    products_and_solves bad_problems_stay_alone
}

/// A strided batch with gaps between columns and between matrices, which stay as they are.
#[test]
fn gaps_are_left_alone() {
    let (rt, count, n, ld, stride) = (runtime(), 50, 5, 7, 40);
    let mut data = vec![9.0; count * stride];
    for p in 0..count {
        for (i, j) in (0..n).flat_map(|j| (0..n).map(move |i| (i, j))) {
            data[p * stride + i + j * ld] = if i == j { 4.0 } else { 1.0 };
        }
    }
    for options in options() {
        let mut a = data.clone();
        let batch = BatchMut::strided(&mut a, (n, n), ld, stride, count).expect("it fits");
        assert!(batch::potrf(&rt, Uplo::Lower, batch, &options).expect("square").are_all_good());
        let is_inside = |at: usize| at % stride < ld * n && at % stride % ld < n;
        assert!(a.iter().enumerate().all(|(at, &x)| is_inside(at) || x == 9.0));
        assert!(a.chunks(stride).all(|matrix| matrix == &a[..stride]), "equal matrices have equal factors");
        assert_eq!(a[0], 2.0);
    }
}

/// One matrix for all problems, and a million problems of order one.
#[test]
fn extreme_batches() {
    let rt = runtime();
    let (one, mut x) = ([2.0], vec![6.0; 1_000_000]);
    let same = BatchRef::strided(&one, (1, 1), 1, 0, x.len()).expect("they overlap");
    let sides = BatchMut::packed(&mut x, (1, 1)).expect("as many");
    batch::trsv(&rt, Uplo::Lower, Op::None, Diag::NonUnit, same, sides, &Options::default()).expect("shapes that fit");
    assert!(x.iter().all(|&x| x == 3.0));
    let mut a = vec![4.0; 1_000_000];
    let outcomes =
        batch::potrf(&rt, Uplo::Upper, BatchMut::packed(&mut a, (1, 1)).expect("as many"), &Options::default());
    assert_eq!(outcomes.expect("square").info().len(), a.len());
    assert!(a.iter().all(|&x| x == 2.0));
    let none = BatchMut::<f64>::gathered(Vec::new());
    assert!(batch::potrf(&rt, Uplo::Lower, none, &Options::default()).expect("nothing to do").info().is_empty());
    let mut empty: [f64; 0] = [];
    let zeros = BatchMut::strided(&mut empty, (0, 0), 1, 0, 10).expect("no elements");
    assert_eq!(batch::potrf(&rt, Uplo::Lower, zeros, &Options::default()).expect("square").info(), [0; 10]);
}

#[test]
fn wrong_calls_are_refused() {
    let (rt, o) = (runtime(), Options::default());
    let (mut a, mut b, mut ipiv) = (vec![1.0; 24], vec![1.0; 12], vec![1; 4]);
    let kind = |result: Result<(), superscalar_dla::Error>| result.expect_err("it is refused").kind();
    let mut refused = |shape: (usize, usize), of_b: (usize, usize)| {
        let (a, b) = (BatchMut::packed(&mut a, shape).expect("whole"), BatchMut::packed(&mut b, of_b).expect("whole"));
        batch::posv(&rt, Uplo::Lower, a, b, &o).map(drop)
    };
    assert_eq!(kind(refused((2, 3), (2, 1))), ErrorKind::Shape, "not square");
    assert_eq!(kind(refused((2, 2), (3, 1))), ErrorKind::Shape, "another order");
    assert_eq!(kind(refused((2, 2), (2, 3))), ErrorKind::Shape, "fewer problems");
    let message = refused((2, 2), (3, 1)).expect_err("it is refused").to_string();
    assert!(message.starts_with("posv: "), "{message}");
    ipiv[1] = 3;
    let (lu, pivots) =
        (BatchRef::packed(&a[..4], (2, 2)).expect("one"), BatchRef::packed(&ipiv[..2], (2, 1)).expect("one"));
    let side = BatchMut::packed(&mut b[..2], (2, 1)).expect("one");
    assert_eq!(kind(batch::getrs(&rt, Op::None, lu, pivots, side, &o)), ErrorKind::Argument);
    let nothing = batch::potrf(&rt, Uplo::Lower, BatchMut::packed(&mut a, (2, 2)).expect("six"), &o.nb(0));
    assert_eq!(kind(nothing.map(drop)), ErrorKind::Shape);
    let without_info =
        BatchOperands { updated: vec![BatchMut::packed(&mut a, (2, 2)).expect("six")], ..BatchOperands::default() };
    let potrf = BatchOperation::Potrf { uplo: Uplo::Lower };
    assert_eq!(kind(batch::run(&rt, potrf, without_info, &o)), ErrorKind::Argument);
    assert_eq!(kind(batch::run_serial(potrf, BatchOperands::<f64>::default())), ErrorKind::Argument);
    assert!(BatchMut::strided(&mut a, (2, 2), 2, 3, 2).is_err(), "matrices that overlap");
    assert!(BatchMut::packed(&mut a, (5, 5)).is_err() && BatchRef::packed(&b, (0, 3)).is_err());
    let wide = BatchMut::packed(&mut a[..6], (2, 3)).expect("one");
    let error = batch::gels(&rt, wide, BatchMut::packed(&mut b[..2], (2, 1)).expect("one"), &o).expect_err("m < n");
    assert!(error.to_string().contains("max(m, n) rows"), "{error}");
}
