//! Runs every kernel of a GPU's programs, few times and on small operands, for tools under which the other tests take
//! too long. Only errors are checked here; the other tests check the results.

use crate::{Image, SIDES, Suite, UPLOS, batch_case::Case, triangles};
use superscalar_kernels::{
    Diag, Direction, MatMut, NotPositiveDefinite, Op, Scalar, Side, Symmetry, Uplo,
    device::{Call, Mat},
    operations::{
        BatchOperation, Geadd, Gemm, Geqrf, Getrf, Lacpy, Larfb, Laswp, Potrf, Scale, Triangular, TriangularAction,
    },
};
use superscalar_oracle::Random;

fn fractions<T: Scalar>(suite: &mut Suite<'_, T>, image: &mut Image, shape: (usize, usize)) -> Mat<T> {
    image.place(&mut suite.numbers, shape, |numbers, _, _| numbers.fraction())
}

fn run<T: Scalar>(suite: &mut Suite<'_, T>, call: &Call<T>, mut image: Image) {
    suite.attempt(call, &mut image).unwrap_or_else(|error| panic!("{call:?}: {error}"));
}

/// Runs `copy`, `transpose`, `geadd`, `geadd_transposed`, `scale`, `laswp`, `complete`.
pub fn elements<T: Scalar>(suite: &mut Suite<'_, T>) {
    let (alpha, beta) = (T::from_f64(2.0), T::from_f64(-0.5));
    for op in [Op::None, Op::ConjTrans] {
        let mut image = Image::default();
        let (a, b) = (fractions(suite, &mut image, op.shape((70, 37))), fractions(suite, &mut image, (70, 37)));
        run(suite, &Call::Lacpy(Lacpy { op, a, b }), image.clone());
        run(suite, &Call::Geadd(Geadd { op, alpha, a, beta, b }), image);
    }
    for part in [None, Some((Symmetry::Hermitian, Uplo::Lower)), Some((Symmetry::Symmetric, Uplo::Upper))] {
        let mut image = Image::default();
        let a = fractions(suite, &mut image, (70, 70));
        run(suite, &Call::Scale(Scale { part, beta, a }), image);
    }
    for direction in [Direction::Forward, Direction::Backward] {
        let mut image = Image::default();
        let a = fractions(suite, &mut image, (300, 9));
        let ipiv = [200, 60].map(|rows| image.place(&mut suite.numbers, (rows, 1), |x, _, _| x.below(300) as i32 + 1));
        run(suite, &Call::Laswp(Laswp { a, first: 7, ipiv: ipiv.to_vec(), direction }), image);
    }
    for side in SIDES {
        let mut image = Image::default();
        let (v, t) = (fractions(suite, &mut image, (60, 20)), fractions(suite, &mut image, (20, 20)));
        let c = fractions(suite, &mut image, if side == Side::Left { (60, 9) } else { (9, 60) });
        run(suite, &Call::Larfb(Larfb { side, op: Op::ConjTrans, v, t, c }), image);
    }
    for uplo in UPLOS {
        let mut image = Image::default();
        let (a, b) = (fractions(suite, &mut image, (300, 5)), fractions(suite, &mut image, (5, 300)));
        let c = fractions(suite, &mut image, (300, 300));
        let (part, op_a, op_b) = (Some(uplo), Op::None, Op::None);
        run(suite, &Call::Gemm(Gemm { part, op_a, op_b, alpha, a, b, beta, c }), image);
    }
}

/// Runs `multiply`, and `solve` by four calls in different queues, of which the one in an urgent queue is
/// `solve_urgent`.
pub fn triangular<T: Scalar>(suite: &mut Suite<'_, T>) {
    for (side, uplo) in SIDES.into_iter().flat_map(|side| UPLOS.map(|uplo| (side, uplo))) {
        for (op, diag) in [(Op::None, Diag::Unit), (Op::ConjTrans, Diag::NonUnit)] {
            let mut image = Image::default();
            let a = fractions(suite, &mut image, (150, 150));
            let b = fractions(suite, &mut image, if side == Side::Left { (150, 21) } else { (21, 150) });
            run(
                suite,
                &Call::Triangular(Triangular {
                    action: TriangularAction::Multiply,
                    side,
                    uplo,
                    op,
                    diag,
                    alpha: T::from_f64(2.0),
                    a,
                    b,
                }),
                image,
            );
        }
    }
    for order in [40, 150] {
        for _ in 0..4 {
            let mut image = Image::default();
            let (side, uplo, op, diag) = (Side::Left, Uplo::Lower, Op::None, Diag::Unit);
            let (a, b) = (fractions(suite, &mut image, (order, order)), fractions(suite, &mut image, (order, 21)));
            run(
                suite,
                &Call::Triangular(Triangular {
                    action: TriangularAction::Solve,
                    side,
                    uplo,
                    op,
                    diag,
                    alpha: T::ONE,
                    a,
                    b,
                }),
                image,
            );
        }
    }
}

/// Runs `potrf` of as many columns as one warp factors, `solve`, and for the last order `solve_many`. Then a minor
/// fails.
pub fn potrf_of_few_warps<T: Scalar>(suite: &mut Suite<'_, T>) {
    potrf(suite, if T::COMPLEX { &[5, 16] } else { &[9, 32] }, 9700);
}

/// Runs `potrf` of more columns, which several warps factor, and for the last order `rank_k`.
pub fn potrf_of_many_warps<T: Scalar>(suite: &mut Suite<'_, T>) {
    potrf(suite, &[40, 64, 130], 70);
}

fn potrf<T: Scalar>(suite: &mut Suite<'_, T>, orders: &[usize], most: usize) {
    for (uplo, &n) in UPLOS.into_iter().flat_map(|uplo| orders.iter().map(move |n| (uplo, n))) {
        let rest = if Some(&n) == orders.last() { most } else { 20 };
        let mut image = Image::default();
        let a = triangles::with_rest(suite, &mut image, uplo, (n, rest));
        let call = Call::Potrf(Potrf { uplo, first: 0, a });
        run(suite, &call, image.clone());
        image.set(a, n - 2, n - 2, -T::ONE);
        let error = suite.attempt(&call, &mut image).expect_err("not positive definite");
        assert!(error.outcome_ref::<NotPositiveDefinite>().is_some(), "{error}");
    }
}

/// Runs `getrf` and `geqrf` for one to eight groups of threads, in a cluster or a grid of a few blocks, and `shift`.
pub fn panels<T: Scalar>(suite: &mut Suite<'_, T>) {
    panels_of(suite, &[(90, 3), (90, 7), (90, 12), (90, 20), (90, 40), (900, 70)]);
}

/// Runs the panels for more rows than a cluster has, and for more than blocks keep in registers: in a grid, and in
/// place. Runs `clear`, too.
pub fn tall_panels<T: Scalar>(suite: &mut Suite<'_, T>) {
    panels_of(suite, &[(40_000, 4), (400_000, 3)]);
}

fn panels_of<T: Scalar>(suite: &mut Suite<'_, T>, shapes: &[(usize, usize)]) {
    for &shape in shapes {
        let (mut image, k) = (Image::default(), shape.0.min(shape.1));
        let a = fractions(suite, &mut image, shape);
        let ipiv = image.place(&mut suite.numbers, (k, 1), |_, _, _| -1_i32);
        run(suite, &Call::Getrf(Getrf { a, first: 5, ipiv }), image.clone());
        let (t, tau) = (fractions(suite, &mut image, (k, k)), fractions(suite, &mut image, (k, 1)));
        run(suite, &Call::Geqrf(Geqrf { a, t, tau }), image);
    }
}

/// Runs the kernels that factor batches: `potrf`, `getrf`, `getrf_nopiv`, `geqrf`, `orgqr` and `ormqr` by rows, columns
/// and blocks, with panels of fewer and of more rows than threads. Panels of eight columns are for GPUs with little
/// shared memory.
pub fn batched_factors<T: Scalar>(suite: &mut Suite<'_, T>) {
    for (m, n) in [(5, 4), (13, 12), (30, 30), (50, 40), (70, 66), (150, 33), (600, 35)] {
        let (shape, column, count) = (vec![(m, n); 3], vec![(n, 1); 3], 3);
        let general = |numbers: &mut Random, _: usize, a: MatMut<'_, T>| numbers.full_rank(a);
        for uplo in UPLOS {
            let mut case = Case::new(suite, BatchOperation::Potrf { uplo }, count, false);
            case.update(&vec![(m, m); 3], |numbers, _, a| numbers.positive_definite(uplo, a));
            case.with_info();
            case.run();
        }
        for operation in [BatchOperation::Getrf, BatchOperation::GetrfNopiv] {
            let mut case = Case::new(suite, operation, count, false);
            case.update(&shape, general);
            case.call.pivots = (operation == BatchOperation::Getrf).then(|| case.write([n; 3].into_iter()));
            case.with_info();
            case.run();
        }
        let mut case = Case::new(suite, BatchOperation::Geqrf, count, false);
        case.update(&shape, general);
        let tau = case.write([n; 3].into_iter());
        case.call.written.push(tau);
        case.run();
        let mut case = Case::new(suite, BatchOperation::Ungqr, count, false);
        case.read(&column, general);
        case.update(&shape, general);
        case.run();
        let mut case = Case::new(suite, BatchOperation::Unmqr { op: Op::ConjTrans }, count, false);
        case.read(&shape, general);
        case.read(&column, general);
        case.update(&vec![(m, 20); 3], general);
        case.run();
    }
}
