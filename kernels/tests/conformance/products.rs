//! gemm, symm, rank-k and rank-2k updates: exact on small integers, with every option.

use super::{Image, Nearness, OPS, SIDES, Suite, UPLOS, oracle};
use superscalar_kernels::{
    Op, Scalar, Side, Symmetry, Uplo,
    device::{Call, Mat},
    operations::{Gemm, Rank2k, RankK, Symm},
};

/// Shapes (m, n, k): empty, one, odd; near the sizes of register tiles and of OpenCL work-groups; long in one
/// direction, and deeper than what is packed at once.
const SHAPES: [(usize, usize, usize); 16] = [
    (0, 3, 2),
    (3, 0, 2),
    (3, 2, 0),
    (1, 1, 1),
    (2, 3, 1),
    (7, 5, 3),
    (8, 8, 8),
    (17, 9, 4),
    (16, 32, 16),
    (33, 16, 20),
    (31, 64, 33),
    (65, 67, 50),
    (130, 34, 21),
    (20, 131, 9),
    (6, 5, 140),
    (5, 9, 1030),
];

const PARTS: [Option<Uplo>; 3] = [None, Some(Uplo::Lower), Some(Uplo::Upper)];

pub fn gemm<T: Scalar>(suite: &mut Suite<'_, T>) {
    for (m, n, k) in SHAPES {
        for (op_a, op_b) in OPS.iter().flat_map(|&a| OPS.map(|b| (a, b))) {
            for part in PARTS {
                let n = if part.is_some() { m } else { n };
                let (alpha, beta) = suite.factors();
                let mut image = Image::default();
                let a = suite.integers(&mut image, op_a.shape((m, k)), alpha == T::ZERO);
                let b = suite.integers(&mut image, op_b.shape((k, n)), alpha == T::ZERO);
                let c = suite.integers(&mut image, (m, n), beta == T::ZERO);
                let call = Call::Gemm(Gemm { part, op_a, op_b, alpha, a, b, beta, c });
                suite.judge(&call, &image, Nearness::Exact);
            }
        }
    }
}

/// Every pair of alpha and beta with every pair of operations, at one shape that is ragged in all directions.
pub fn gemm_factors<T: Scalar>(suite: &mut Suite<'_, T>) {
    for (op_a, op_b) in OPS.iter().flat_map(|&a| OPS.map(|b| (a, b))) {
        for part in PARTS {
            for _ in 0..9 {
                let (alpha, beta) = suite.factors();
                let mut image = Image::default();
                let a = suite.integers(&mut image, op_a.shape((19, 5)), alpha == T::ZERO);
                let b = suite.integers(&mut image, op_b.shape((5, 19)), alpha == T::ZERO);
                let c = suite.integers(&mut image, (19, 19), beta == T::ZERO);
                let call = Call::Gemm(Gemm { part, op_a, op_b, alpha, a, b, beta, c });
                suite.judge(&call, &image, Nearness::Exact);
            }
        }
    }
}

/// One NaN or Inf in a factor, which is also multiplied by zeros. Exactly its row or column of C is not finite.
pub fn gemm_propagates<T: Scalar>(suite: &mut Suite<'_, T>) {
    for (m, n, k) in [(1, 1, 1), (7, 9, 5), (40, 33, 35)] {
        for (op_a, op_b) in OPS.iter().flat_map(|&a| OPS.map(|b| (a, b))) {
            for value in [f64::NAN, f64::INFINITY] {
                let mut image = Image::default();
                let a = suite.integers(&mut image, op_a.shape((m, k)), false);
                let b = suite.integers(&mut image, op_b.shape((k, n)), false);
                let c = suite.integers(&mut image, (m, n), false);
                let (mat, turn) = if suite.turn().is_multiple_of(2) { (a, m / 2) } else { (b, k / 2) };
                image.set(mat, turn % mat.m, turn % mat.n, T::from_f64(value));
                let call = Call::Gemm(Gemm { part: None, op_a, op_b, alpha: T::ONE, a, b, beta: T::ONE, c });
                suite.judge(&call, &image, Nearness::Finite);
            }
        }
    }
}

/// Places a square matrix of which only one triangle, including the diagonal, may be read.
pub fn triangle<T: Scalar>(suite: &mut Suite<'_, T>, image: &mut Image, uplo: Uplo, n: usize, hidden: bool) -> Mat<T> {
    trapezoid(suite, image, (uplo, (n, n)), hidden)
}

/// Like [`triangle`], with rows below it, or columns beside it.
fn trapezoid<T: Scalar>(
    suite: &mut Suite<'_, T>,
    image: &mut Image,
    (uplo, shape): (Uplo, (usize, usize)),
    hidden: bool,
) -> Mat<T> {
    let nan = T::from_f64(f64::NAN);
    image.place(&mut suite.numbers, shape, |numbers, i, j| {
        if hidden || !oracle::is_in(Some(uplo), i, j) { nan } else { numbers.integer() }
    })
}

pub fn symm<T: Scalar>(suite: &mut Suite<'_, T>) {
    for (m, n, _) in SHAPES {
        for (side, uplo) in SIDES.iter().flat_map(|&s| UPLOS.map(|u| (s, u))) {
            for symmetry in Symmetry::ALL {
                for _ in 0..5 {
                    let (alpha, beta) = suite.factors();
                    let mut image = Image::default();
                    let order = if side == Side::Left { m } else { n };
                    let a = triangle(suite, &mut image, uplo, order, alpha == T::ZERO);
                    let b = suite.integers(&mut image, (m, n), alpha == T::ZERO);
                    let c = suite.integers(&mut image, (m, n), beta == T::ZERO);
                    let call = Call::Symm(Symm { symmetry, side, uplo, alpha, a, b, beta, c });
                    suite.judge(&call, &image, Nearness::Exact);
                }
            }
        }
    }
}

/// Returns the updates that the type supports.
fn updates<T: Scalar>() -> impl Iterator<Item = (Symmetry, Op)> {
    let all = Symmetry::ALL.into_iter().flat_map(|symmetry| OPS.map(|op| (symmetry, op)));
    all.filter(|&(symmetry, op)| !T::COMPLEX || [Op::None, symmetry.mirror()].contains(&op))
}

/// Returns whether the update does not read C. herk and her2k use the real part of beta.
fn overwrites<T: Scalar>(symmetry: Symmetry, beta: T) -> bool {
    symmetry.factor(beta) == T::ZERO
}

pub fn rank_k<T: Scalar>(suite: &mut Suite<'_, T>) {
    for (n, _, k) in SHAPES {
        for (symmetry, op) in updates::<T>() {
            for turn in 0..10 {
                let (uplo, (alpha, beta)) = (UPLOS[turn % 2], suite.factors());
                let mut image = Image::default();
                let (all, hidden) = (n + [0, 0, 1, 7, 40][turn / 2], overwrites(symmetry, beta));
                let a = suite.integers(&mut image, op.shape((all, k)), alpha == T::ZERO);
                let shape = if uplo == Uplo::Lower { (all, n) } else { (n, all) };
                let c = trapezoid(suite, &mut image, (uplo, shape), hidden);
                let call = Call::RankK(RankK { symmetry, uplo, op, alpha, a, beta, c });
                suite.judge(&call, &image, Nearness::Exact);
            }
        }
    }
}

pub fn rank_2k<T: Scalar>(suite: &mut Suite<'_, T>) {
    for (n, _, k) in SHAPES {
        for (symmetry, op) in updates::<T>() {
            for turn in 0..10 {
                let (uplo, (alpha, beta)) = (UPLOS[turn % 2], suite.factors());
                let mut image = Image::default();
                let a = suite.integers(&mut image, op.shape((n, k)), alpha == T::ZERO);
                let b = suite.integers(&mut image, op.shape((n, k)), alpha == T::ZERO);
                let c = triangle(suite, &mut image, uplo, n, overwrites(symmetry, beta));
                let call = Call::Rank2k(Rank2k { symmetry, uplo, op, alpha, a, b, beta, c });
                suite.judge(&call, &image, Nearness::Exact);
            }
        }
    }
}
