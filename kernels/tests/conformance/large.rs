//! Operands that backends cut into blocks, levels of blocks, chunks and grids. They are large in one direction only, to
//! limit the time of the textbook loops.

use super::{Image, Nearness, OPS, Random, SIDES, Suite, UPLOS, products, sets, triangles};
use superscalar_kernels::{
    Diag, Direction, Op, Scalar, Side, Symmetry,
    device::Call,
    operations::{Geadd, Gemm, Lacpy, Laswp, Potrf, RankK, Scale, Symm, Triangular, TriangularAction},
};

/// One triangle of a product: full blocks on the diagonal, a ragged one, several levels beside it.
pub fn gemmt_in_blocks<T: Scalar>(suite: &mut Suite<'_, T>) {
    for (n, k) in [(257, 3), (600, 5), (1030, 2)] {
        // All pairs of operations for all but the largest triangle, which has three.
        let pairs = OPS.iter().flat_map(|&a| OPS.map(|b| (a, b))).step_by(if n > 1000 { 4 } else { 1 });
        for (op_a, op_b) in pairs {
            let (part, (alpha, beta)) = (Some(UPLOS[suite.turn() % 2]), suite.factors());
            let mut image = Image::default();
            let a = suite.integers(&mut image, op_a.shape((n, k)), alpha == T::ZERO);
            let b = suite.integers(&mut image, op_b.shape((k, n)), alpha == T::ZERO);
            let c = suite.integers(&mut image, (n, n), beta == T::ZERO);
            suite.judge(&Call::Gemm(Gemm { part, op_a, op_b, alpha, a, b, beta, c }), &image, Nearness::Exact);
        }
    }
}

/// More than one block of the host's caches in two directions each: 2048 columns, a depth of 384, rows for three
/// eighths of a second-level cache. The runs with small blocks have several blocks in all three directions.
pub fn products_beyond_blocks<T: Scalar>(suite: &mut Suite<'_, T>) {
    for (turn, shape @ (m, n)) in [(20, 2100), (1000, 33), (2100, 20), (33, 1000)].into_iter().enumerate() {
        // All three operations for the second shape; one for each of the others.
        for op_a in OPS.into_iter().enumerate().filter(|(at, _)| turn == 1 || *at == turn % 3).map(|(_, op)| op) {
            let (op_b, k) = (OPS[suite.turn() % 3], 400);
            let mut image = Image::default();
            let a = suite.integers(&mut image, op_a.shape((m, k)), false);
            let b = suite.integers(&mut image, op_b.shape((k, n)), false);
            let c = suite.integers(&mut image, shape, false);
            let call = Call::Gemm(Gemm { part: None, op_a, op_b, alpha: -T::ONE, a, b, beta: T::ONE, c });
            suite.judge(&call, &image, Nearness::Exact);
        }
        for (side, uplo) in SIDES.into_iter().flat_map(|side| UPLOS.map(|uplo| (side, uplo))) {
            // One triangle for long orders, and none for the longest, which some heaps have no room for.
            let order = if side == Side::Left { m } else { n };
            if order > 1000 || order > 500 && (uplo == UPLOS[0]) != turn.is_multiple_of(2) {
                continue;
            }
            let (mut image, symmetry) = (Image::default(), Symmetry::ALL[suite.turn() % 2]);
            let a = products::triangle(suite, &mut image, uplo, order, false);
            let b = suite.integers(&mut image, shape, false);
            let c = suite.integers(&mut image, shape, false);
            let call = Call::Symm(Symm { symmetry, side, uplo, alpha: T::ONE, a, b, beta: T::ONE, c });
            suite.judge(&call, &image, Nearness::Exact);
        }
    }
    for (turn, uplo) in UPLOS.into_iter().enumerate() {
        let (n, k, symmetry) = (500, 400, Symmetry::ALL[1 - turn]);
        let op = [Op::None, symmetry.mirror()][turn];
        let mut image = Image::default();
        let a = suite.integers(&mut image, op.shape((n, k)), false);
        let c = products::triangle(suite, &mut image, uplo, n, false);
        let call = Call::RankK(RankK { symmetry, uplo, op, alpha: T::ONE, a, beta: -T::ONE, c });
        suite.judge(&call, &image, Nearness::Exact);
    }
}

/// Triangles of several blocks, from either side.
pub fn trmm_in_blocks<T: Scalar>(suite: &mut Suite<'_, T>) {
    for (order, beside) in [(128, 21), (300, 21), (800, 21), (40, 2100)] {
        let sides = SIDES.into_iter().flat_map(|side| UPLOS.map(|uplo| (side, uplo)));
        for ((side, uplo), op) in sides.flat_map(|option| OPS.map(|op| (option, op))) {
            // The largest triangles have one operation each.
            let turn = 2 * usize::from(side == Side::Right) + usize::from(uplo == UPLOS[1]);
            if order == 800 && op != OPS[turn % 3] {
                continue;
            }
            let (diag, alpha) = ([Diag::NonUnit, Diag::Unit][suite.turn() % 2], T::from_f64(-2.0));
            let mut image = Image::default();
            let a = triangles::integers(suite, &mut image, (uplo, diag), order, false);
            let shape = if side == Side::Left { (order, beside) } else { (beside, order) };
            let b = suite.integers(&mut image, shape, false);
            let call =
                Call::Triangular(Triangular { action: TriangularAction::Multiply, side, uplo, op, diag, alpha, a, b });
            suite.judge(&call, &image, Nearness::Exact);
        }
    }
}

/// Several levels of halves, and a failing minor in one of the last.
pub fn potrf_in_blocks<T: Scalar>(suite: &mut Suite<'_, T>) {
    // The largest order is meant for GPUs; the reference takes long for it.
    let orders = [200, 321, 600].into_iter().chain(suite.is_gpu().then_some(1100));
    for (n, uplo) in orders.flat_map(|n| UPLOS.map(|uplo| (n, uplo))) {
        // One triangle for the largest order.
        if n > 1000 && (uplo == super::Uplo::Upper) != T::COMPLEX {
            continue;
        }
        let mut image = Image::default();
        let a = triangles::positive_definite(suite, &mut image, uplo, n);
        let (call, nearness) = (Call::Potrf(Potrf { uplo, first: 3, a }), Nearness::Roundoffs(8.0 * n as f64));
        let after = suite.judge(&Call::Potrf(Potrf { uplo, first: 0, a }), &image, nearness);
        assert!((0..n).all(|i| after.at(a, i, i).re() > T::Real::ZERO), "a positive diagonal");
        image.set(a, n - 9, n - 9, -T::ONE);
        let error = suite.attempt(&call, &mut image.clone()).expect_err("not positive definite");
        let minor = error.outcome_ref::<superscalar_kernels::NotPositiveDefinite>().map(|outcome| outcome.minor);
        assert_eq!(minor, Some(3 + n - 8), "{error}");
    }
}

/// Panels with more work below the triangle, or beside it, than in it; on a GPU more than a large one solves for at
/// once. Also a failing minor in the last block.
pub fn potrf_with_much_beside<T: Scalar>(suite: &mut Suite<'_, T>) {
    let (n, rest, uplo) = (200, if suite.is_gpu() { 9700 } else { 1500 }, UPLOS[usize::from(T::COMPLEX)]);
    let mut image = Image::default();
    let a = triangles::with_rest(suite, &mut image, uplo, (n, rest));
    suite.judge(&Call::Potrf(Potrf { uplo, first: 0, a }), &image, Nearness::Roundoffs(8.0 * n as f64));
    image.set(a, n - 9, n - 9, -T::ONE);
    let error =
        suite.attempt(&Call::Potrf(Potrf { uplo, first: 3, a }), &mut image).expect_err("not positive definite");
    let minor = error.outcome_ref::<superscalar_kernels::NotPositiveDefinite>().map(|outcome| outcome.minor);
    assert_eq!(minor, Some(3 + n - 8), "{error}");
}

/// More interchanges than are made at once, with rows that are moved repeatedly.
pub fn laswp_in_chunks<T: Scalar>(suite: &mut Suite<'_, T>) {
    for (m, n, block) in [(700, 9, 300), (300, 5, 129), (2000, 3, 512)] {
        for (direction, first) in [Direction::Forward, Direction::Backward].into_iter().flat_map(|d| [(d, 0), (d, 77)])
        {
            let mut image = Image::default();
            let a = suite.integers(&mut image, (m, n), false);
            let rows = (m - first).min(2 * block - 7);
            // Half of the interchanges are with one of a few rows.
            let interchange = |numbers: &mut Random, _, _| {
                let among = if numbers.below(2) == 0 { 9 } else { m };
                numbers.below(among) as i32 + 1
            };
            let blocks = (0..rows).step_by(block).map(|start| block.min(rows - start));
            let ipiv = blocks.map(|rows| image.place(&mut suite.numbers, (rows, 1), interchange)).collect();
            suite.judge(&Call::Laswp(Laswp { a, first, ipiv, direction }), &image, Nearness::Exact);
        }
    }
}

/// More columns than the second dimension of a grid has blocks.
pub fn copy_beyond_a_grid<T: Scalar>(suite: &mut Suite<'_, T>) {
    // The host has no grids, so its kernels run this once, and not with every instruction set.
    if sets::is_one_of_each() {
        return;
    }
    for shape in [(2, 66_000), (66_000, 2)] {
        for op in OPS {
            let mut image = Image::default();
            let a = image.place(&mut suite.numbers, op.shape(shape), |numbers, _, _| numbers.fraction());
            let b = suite.integers(&mut image, shape, true);
            suite.judge(&Call::Lacpy(Lacpy { op, a, b }), &image, Nearness::Exact);
            let (mut image, (alpha, beta)) = (Image::default(), (T::from_f64(2.0), -T::ONE));
            let a = suite.integers(&mut image, op.shape(shape), false);
            let b = suite.integers(&mut image, shape, false);
            suite.judge(&Call::Geadd(Geadd { op, alpha, a, beta, b }), &image, Nearness::Exact);
        }
        let mut image = Image::default();
        let a = suite.integers(&mut image, shape, false);
        suite.judge(&Call::Scale(Scale { part: None, beta: T::from_f64(3.0), a }), &image, Nearness::Exact);
    }
}

/// The product of whole matrices with a depth of several hundred.
pub fn products_of_some_depth<T: Scalar>(suite: &mut Suite<'_, T>) {
    for (op_a, op_b) in OPS.iter().flat_map(|&a| OPS.map(|b| (a, b))) {
        let (alpha, beta) = (T::ONE, -T::ONE);
        let mut image = Image::default();
        let a = suite.integers(&mut image, op_a.shape((70, 700)), false);
        let b = suite.integers(&mut image, op_b.shape((700, 45)), false);
        let c = suite.integers(&mut image, (70, 45), false);
        suite.judge(&Call::Gemm(Gemm { part: None, op_a, op_b, alpha, a, b, beta, c }), &image, Nearness::Exact);
    }
}
