//! laswp, larfb, lacpy, geadd and scaling, and calls that are refused.

use super::{Image, Nearness, OPS, SIDES, Suite, UPLOS, oracle};
use superscalar_kernels::{
    Direction, Op, Scalar, Side, Symmetry, Uplo,
    device::{Call, Mat},
    operations::{Geadd, Lacpy, Larfb, Laswp, Potrf, RankK, Scale},
};
use superscalar_oracle::is_finite;

const SHAPES: [(usize, usize); 11] =
    [(0, 3), (3, 0), (1, 1), (2, 5), (5, 2), (8, 8), (16, 33), (33, 17), (65, 64), (130, 7), (3, 150)];

pub fn laswp<T: Scalar>(suite: &mut Suite<'_, T>) {
    for shape @ (m, _) in SHAPES {
        for direction in [Direction::Forward, Direction::Backward] {
            for first in [0, m / 3, m] {
                // The rows below in blocks: none, all in one, a few at a time with a rest.
                for block in [0, (m - first).max(1), 4] {
                    let mut image = Image::default();
                    let a = suite.integers(&mut image, shape, false);
                    let rows = if block == 0 { 0 } else { m - first };
                    let blocks = (0..rows).step_by(block.max(1)).map(|start| block.min(rows - start));
                    let interchange = |numbers: &mut super::Random, _, _| numbers.below(m.max(1)) as i32 + 1;
                    let ipiv = blocks.map(|rows| image.place(&mut suite.numbers, (rows, 1), interchange)).collect();
                    suite.judge(&Call::Laswp(Laswp { a, first, ipiv, direction }), &image, Nearness::Exact);
                }
            }
        }
    }
}

/// An interchange outside of A's rows is an error whose message names the call.
pub fn laswp_outside<T: Scalar>(suite: &mut Suite<'_, T>) {
    for shape @ (m, _) in SHAPES.into_iter().filter(|&(m, n)| m > 1 && n > 0) {
        for (direction, row) in [Direction::Forward, Direction::Backward]
            .into_iter()
            .flat_map(|d| [0, m as i32 + 1, -1].map(|row| (d, row)))
        {
            let mut image = Image::default();
            let a = suite.integers(&mut image, shape, false);
            let ipiv = vec![image.place(&mut suite.numbers, (m / 2, 1), |_, i, _| if i == 0 { row } else { 1 })];
            let call = Call::Laswp(Laswp { a, first: m / 4, ipiv, direction });
            let error = suite.attempt(&call, &mut image).expect_err("a row outside");
            assert!(error.to_string().contains("laswp") && !error.is_lost(), "{error}");
        }
    }
}

/// Returns the operations of a block reflector that the type supports.
fn operations<T: Scalar>() -> impl Iterator<Item = Op> {
    OPS.into_iter().filter(|&op| !T::COMPLEX || op != Op::Trans)
}

/// Applies reflectors whose T is in blocks of `block` reflectors, with every option.
fn apply<T: Scalar>(suite: &mut Suite<'_, T>, (m, n, k): (usize, usize, usize), block: usize) {
    for (side, op) in SIDES.into_iter().flat_map(|side| operations::<T>().map(move |op| (side, op))) {
        let mut image = Image::default();
        let (v, t) = oracle::reflectors::<T>(&mut suite.numbers, (m, k), block);
        // R is on and above V's diagonal, and must not be read here.
        let hidden = T::from_f64(f64::NAN);
        let v = image.place(&mut suite.numbers, (m, k), |_, i, j| if i > j { v[i + j * m] } else { hidden });
        let t = image.place(&mut suite.numbers, (block, k), |_, i, j| t[i + j * block]);
        let shape = if side == Side::Left { (m, n) } else { (n, m) };
        let c = image.place(&mut suite.numbers, shape, |numbers, _, _| numbers.fraction());
        let call = Call::Larfb(Larfb { side, op, v, t, c });
        suite.judge(&call, &image, Nearness::Roundoffs(20.0 * (m + k) as f64));
    }
}

pub fn larfb<T: Scalar>(suite: &mut Suite<'_, T>) {
    for (m, n) in SHAPES.map(|(m, n)| (m.max(n), m.min(n))) {
        for k in [0, 1, m.min(8), m.min(n)] {
            if k <= m {
                apply(suite, (m, n, k), k);
            }
        }
    }
}

/// T has fewer rows than there are reflectors, so Q is a product of block reflectors.
pub fn larfb_in_blocks<T: Scalar>(suite: &mut Suite<'_, T>) {
    for (m, n, k, block) in [(5, 4, 3, 1), (9, 5, 9, 4), (40, 17, 33, 8), (70, 9, 48, 16)] {
        apply(suite, (m, n, k), block);
    }
}

pub fn copy<T: Scalar>(suite: &mut Suite<'_, T>) {
    for shape @ (m, n) in SHAPES {
        for op in OPS {
            for value in [1.0, f64::NAN, f64::INFINITY] {
                let mut image = Image::default();
                let a = image.place(&mut suite.numbers, op.shape(shape), |numbers, _, _| numbers.fraction());
                let b = suite.integers(&mut image, shape, true);
                if m * n > 0 {
                    image.set(a, a.m / 2, a.n / 2, T::from_f64(value));
                }
                suite.judge(&Call::Lacpy(Lacpy { op, a, b }), &image, Nearness::Exact);
            }
        }
    }
}

/// All pairs of factors. An operand that is multiplied by zero is NaN.
pub fn geadd<T: Scalar>(suite: &mut Suite<'_, T>) {
    for shape in SHAPES {
        for op in OPS {
            for _ in 0..9 {
                let (alpha, beta) = suite.factors();
                let mut image = Image::default();
                let a = suite.integers(&mut image, op.shape(shape), alpha == T::ZERO);
                let b = suite.integers(&mut image, shape, beta == T::ZERO);
                suite.judge(&Call::Geadd(Geadd { op, alpha, a, beta, b }), &image, Nearness::Exact);
            }
        }
    }
}

/// NaN and infinities of both operands reach the sum.
pub fn geadd_propagates<T: Scalar>(suite: &mut Suite<'_, T>) {
    for shape @ (m, n) in SHAPES.into_iter().filter(|&(m, n)| m * n > 1) {
        for (op, value) in OPS.into_iter().flat_map(|op| [f64::NAN, f64::INFINITY].map(|value| (op, value))) {
            for in_b in [false, true] {
                let (alpha, beta) = (T::from_f64(2.0), T::from_f64(-3.0));
                let mut image = Image::default();
                let a = suite.integers(&mut image, op.shape(shape), false);
                let b = suite.integers(&mut image, shape, false);
                let place = if in_b { b } else { a };
                image.set(place, place.m / 2, place.n / 2, T::from_f64(value));
                let after =
                    suite.judge(&Call::Geadd(Geadd { op, alpha, a, beta, b }), &image, Nearness::Roundoffs(4.0));
                assert!(!is_finite(after.at(b, m / 2, n / 2)), "{value} in {}", if in_b { "B" } else { "A" });
            }
        }
    }
}

pub fn scale<T: Scalar>(suite: &mut Suite<'_, T>) {
    let triangles = UPLOS.into_iter().flat_map(|uplo| Symmetry::ALL.map(|symmetry| Some((symmetry, uplo))));
    let parts: Vec<_> = triangles.chain([None]).collect();
    for (m, n) in SHAPES {
        for &part in &parts {
            for _ in 0..9 {
                let (_, beta) = suite.factors();
                let mut image = Image::default();
                let hidden = part.map_or(beta, |(symmetry, _)| symmetry.factor(beta)) == T::ZERO;
                let shape = if part.is_some() { (m, m) } else { (m, n) };
                let a = suite.integers(&mut image, shape, hidden);
                suite.judge(&Call::Scale(Scale { part, beta, a }), &image, Nearness::Exact);
            }
        }
    }
}

/// Invalid calls are refused with a message, change nothing, and do not affect the next call.
pub fn refusals<T: Scalar>(suite: &mut Suite<'_, T>) {
    let mut image = Image::default();
    let a = suite.integers(&mut image, (6, 4), false);
    let b = suite.integers(&mut image, (6, 4), false);
    let (alpha, beta, symmetry, uplo) = (T::ONE, T::ZERO, Symmetry::Symmetric, Uplo::Upper);
    let part = None;
    let geadd = |op, a, b| Call::Geadd(Geadd { op, alpha, a, beta, b });
    let refused = [
        (Call::Lacpy(Lacpy { op: Op::Trans, a, b }), "lacpy: shapes do not agree: B 6 x 4, A 6 x 4"),
        (Call::Lacpy(Lacpy { op: Op::None, a, b: a }), "lacpy: B overlaps A"),
        (geadd(Op::ConjTrans, a, b), "geadd: shapes do not agree: B 6 x 4, A 6 x 4"),
        (geadd(Op::None, a, a), "geadd: B overlaps A"),
        (geadd(Op::None, Mat::at(a.offset, a.shape(), 5), b), "geadd: the columns of A overlap"),
        (Call::Potrf(Potrf { uplo, first: 0, a }), "potrf: shapes do not agree: A 6 x 4"),
        (Call::Scale(Scale { part, beta, a: Mat::at(a.offset, a.shape(), 5) }), "scale: the columns of A overlap"),
        (
            Call::RankK(RankK { symmetry, uplo, op: Op::None, alpha, a, beta, c: b }),
            "syrk: shapes do not agree: C 6 x 4, A 6 x 4",
        ),
    ];
    for (call, message) in refused {
        let mut after = image.clone();
        let error = suite.attempt(&call, &mut after).expect_err(message);
        // A device puts its name in front.
        assert!(error.to_string().ends_with(message), "{error}");
        assert!(!error.is_lost() && after.bytes() == image.bytes());
        suite.judge(&Call::Lacpy(Lacpy { op: Op::None, a, b }), &image, Nearness::Exact);
    }
}
