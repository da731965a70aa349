//! gemm, symm, hemm, syrk, herk, syr2k, her2k: exact for small integers.

use crate::{Diag, OPS, SIDES, UPLOS, four_types, heap::Heap, image::Image, scalars};
use superscalar_kernels::{
    Op, Scalar, Side, Symmetry, Uplo,
    device::{Call, Mat},
    opencl::Parameters,
    operations::{Gemm, Rank2k, RankK, Symm},
    reference,
};
use superscalar_oracle::Nearness;

four_types! { gemm symm rank_k rank_2k nan_and_inf_propagate nothing_unneeded_is_read }

/// Empty, one, odd, whole register tiles, more than one block, more than one pass over k.
const SHAPES: [(usize, usize, usize); 13] = [
    (0, 3, 2),
    (3, 0, 2),
    (3, 2, 0),
    (1, 1, 1),
    (7, 5, 3),
    (48, 24, 8),
    (25, 16, 33),
    (49, 50, 51),
    (97, 24, 13),
    (64, 64, 64),
    (100, 70, 400),
    (130, 530, 5),
    (5, 9, 1030),
];

/// A matrix that is m x n once `op` is applied.
fn factor<T: Scalar>(image: &mut Image<T>, op: Op, shape: (usize, usize)) -> Mat<T> {
    image.integers(op.shape(shape))
}

fn gemm<T: Scalar>(heap: &Heap, parameters: &Parameters) {
    let mut image = Image::<T>::new(1);
    for (m, n, k) in SHAPES {
        for (at, (op_a, op_b)) in OPS.iter().flat_map(|&a| OPS.map(|b| (a, b))).enumerate() {
            image.data.clear();
            let (a, b) = (factor(&mut image, op_a, (m, k)), factor(&mut image, op_b, (k, n)));
            let part = [None, Some(Uplo::Lower), Some(Uplo::Upper)][at % 3];
            let n = if part.is_some() { m.min(n) } else { n };
            let (m, c) = if part.is_some() { (n, image.integers((n, n))) } else { (m, image.integers((m, n))) };
            // A triangle takes as much of op(A) and op(B) as it has rows and columns.
            let cut = |op: Op, x: Mat<T>, shape| {
                let (rows, cols) = op.shape(shape);
                x.submatrix(0..rows, 0..cols)
            };
            let (a, b) = (cut(op_a, a, (m, k)), cut(op_b, b, (k, n)));
            let (alpha, beta) = scalars()[(at + m + k) % 5];
            let call = Call::Gemm(Gemm { part, op_a, op_b, alpha, a, b, beta, c });
            image.agrees(heap, parameters, (&call, c), Nearness::Exact, |old, out| match part {
                None => reference::gemm(alpha, op_a, old.view(a), op_b, old.view(b), beta, out),
                Some(uplo) => reference::gemmt(uplo, alpha, op_a, old.view(a), op_b, old.view(b), beta, out),
            });
        }
    }
}

fn symm<T: Scalar>(heap: &Heap, parameters: &Parameters) {
    let mut image = Image::<T>::new(2);
    for (at, (m, n)) in
        [(0, 2), (2, 0), (1, 1), (5, 7), (30, 17), (65, 50), (100, 33), (20, 110)].into_iter().enumerate()
    {
        for (side, uplo, symmetry) in
            SIDES.iter().flat_map(|&s| UPLOS.map(|u| (s, u))).flat_map(|(s, u)| Symmetry::ALL.map(|h| (s, u, h)))
        {
            image.data.clear();
            let order = if side == Side::Left { m } else { n };
            let a = triangle(&mut image, uplo, Diag::NonUnit, order);
            let (b, c) = (image.integers((m, n)), image.integers((m, n)));
            let (alpha, beta) = scalars()[(at + symmetry as usize) % 5];
            let call = Call::Symm(Symm { symmetry, side, uplo, alpha, a, b, beta, c });
            image.agrees(heap, parameters, (&call, c), Nearness::Exact, |old, out| {
                let product = if symmetry == Symmetry::Hermitian { reference::hemm } else { reference::symm };
                product(side, uplo, alpha, old.view(a), old.view(b), beta, out);
            });
        }
    }
}

/// A triangle of small integers; NaN in the other one, and on a unit diagonal.
pub fn triangle<T: Scalar>(image: &mut Image<T>, uplo: Uplo, diag: Diag, n: usize) -> Mat<T> {
    image.place((n, n), |image, i, j| {
        let inside = if uplo == Uplo::Lower { i > j } else { i < j };
        let is_stored = inside || (i == j && diag == Diag::NonUnit);
        if is_stored { image.integer() } else { T::from_f64(f64::NAN) }
    })
}

/// Which of syrk and herk take the option.
fn kinds<T: Scalar>(op: Op) -> impl Iterator<Item = Symmetry> {
    Symmetry::ALL.into_iter().filter(move |&symmetry| !T::COMPLEX || [Op::None, symmetry.mirror()].contains(&op))
}

fn rank_k<T: Scalar>(heap: &Heap, parameters: &Parameters) {
    let mut image = Image::<T>::new(3);
    for (at, (n, _, k)) in SHAPES.into_iter().enumerate() {
        for (uplo, op) in UPLOS.iter().flat_map(|&u| OPS.map(|o| (u, o))) {
            for symmetry in kinds::<T>(op) {
                image.data.clear();
                let (a, c) = (factor(&mut image, op, (n, k)), image.integers((n, n)));
                let (alpha, beta) = scalars::<T>()[(at + op as usize) % 5];
                let call = Call::RankK(RankK { symmetry, uplo, op, alpha, a, beta, c });
                image.agrees(heap, parameters, (&call, c), Nearness::Exact, |old, out| {
                    if symmetry == Symmetry::Hermitian {
                        reference::herk(uplo, op, alpha.re(), old.view(a), beta.re(), out);
                    } else {
                        reference::syrk(uplo, op, alpha, old.view(a), beta, out);
                    }
                });
            }
        }
    }
}

fn rank_2k<T: Scalar>(heap: &Heap, parameters: &Parameters) {
    let mut image = Image::<T>::new(4);
    for (at, (n, _, k)) in SHAPES.into_iter().enumerate() {
        for (uplo, op) in UPLOS.iter().flat_map(|&u| OPS.map(|o| (u, o))) {
            for symmetry in kinds::<T>(op) {
                image.data.clear();
                let (a, b) = (factor(&mut image, op, (n, k)), factor(&mut image, op, (n, k)));
                let c = image.integers((n, n));
                let (alpha, beta) = scalars::<T>()[(at + op as usize) % 5];
                let call = Call::Rank2k(Rank2k { symmetry, uplo, op, alpha, a, b, beta, c });
                image.agrees(heap, parameters, (&call, c), Nearness::Exact, |old, out| {
                    if symmetry == Symmetry::Hermitian {
                        reference::her2k(uplo, op, alpha, old.view(a), old.view(b), beta.re(), out);
                    } else {
                        reference::syr2k(uplo, op, alpha, old.view(a), old.view(b), beta, out);
                    }
                });
            }
        }
    }
}

/// One element of A or B that is not finite spoils a row or a column, and no padding spoils more.
fn nan_and_inf_propagate<T: Scalar>(heap: &Heap, parameters: &Parameters) {
    let mut image = Image::<T>::new(5);
    for (m, n, k) in [(1, 1, 1), (5, 3, 7), (33, 29, 40), (97, 50, 65)] {
        for (odd, op) in [f64::NAN, f64::INFINITY].into_iter().flat_map(|odd| OPS.map(|op| (odd, op))) {
            image.data.clear();
            let (a, b) = (factor(&mut image, op, (m, k)), factor(&mut image, op, (k, n)));
            let c = image.integers((m, n));
            let last = image.numbers.below(1 << 20);
            image.view_mut(a)[(a.m - 1, last % a.n)] = T::from_f64(odd);
            image.view_mut(b)[(last % b.m, b.n - 1)] = T::from_f64(odd);
            let call = Call::Gemm(Gemm { part: None, op_a: op, op_b: op, alpha: T::ONE, a, b, beta: T::ONE, c });
            image.agrees(heap, parameters, (&call, c), Nearness::Finite, |old, out| {
                reference::gemm(T::ONE, op, old.view(a), op, old.view(b), T::ONE, out);
            });
        }
    }
}

/// beta = 0 overwrites NaN, and alpha = 0 does not see it in A and B.
fn nothing_unneeded_is_read<T: Scalar>(heap: &Heap, parameters: &Parameters) {
    let nan = T::from_f64(f64::NAN);
    for (m, n, k) in [(1, 1, 1), (30, 20, 10), (97, 50, 65)] {
        let mut image = Image::<T>::new(6);
        let (a, b) = (image.integers((m, k)), image.integers((k, n)));
        let c = image.place((m, n), |_, _, _| nan);
        let call = |alpha, beta| Call::Gemm(Gemm { part: None, op_a: Op::None, op_b: Op::None, alpha, a, b, beta, c });
        image.agrees(heap, parameters, (&call(T::ONE, T::ZERO), c), Nearness::Exact, |old, out| {
            reference::gemm(T::ONE, Op::None, old.view(a), Op::None, old.view(b), T::ZERO, out);
        });
        image.view_mut(a).fill(nan);
        image.view_mut(b).fill(nan);
        image.agrees(heap, parameters, (&call(T::ZERO, T::ZERO), c), Nearness::Exact, |_, mut out| out.fill(T::ZERO));
        image.view_mut(c).fill(T::from_f64(3.0));
        image.agrees(heap, parameters, (&call(T::ZERO, T::from_f64(2.0)), c), Nearness::Exact, |_, mut out| {
            out.fill(T::from_f64(6.0));
        });
    }
}
