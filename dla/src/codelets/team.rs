//! A team of workers on one large tile.
//!
//! Tiles that are large enough for a device are too large for one worker: while it has such a tile, everybody else may have
//! to wait for it (BLASX paper, section IV.C, whose CPU computation thread is a multithreaded BLAS). So where a runtime has devices,
//! a host implementation hands out rows or columns of large tiles.

use super::{Outcome, tiles::Part};
use crate::{
    Scalar,
    parts::{by_columns, by_rows, rows_of_op},
    plan,
};
use superscalar_kernels::{
    MatMut, Side, Symmetry, Uplo,
    cpu::{self, Operand},
    operations::{Gemm, Lacpy, Operation, Potrf, Rank2k, RankK, Scale, Symm, Triangular},
};
use superscalar_runtime::{Cost, Error, Nesting, Scope};

/// What it takes to share work of this cost, if it is to be shared.
pub(super) fn of<'s, T: Scalar>(s: &'s Scope<'s, '_>, cost: Cost) -> Option<Nesting<'s>> {
    if cost.flops < plan::TEAM as f64 * f64::from(T::FLOPS_MUL + T::FLOPS_ADD) {
        return None;
    }
    let nesting = s.nesting();
    (nesting.has_devices() && nesting.workers() > 1).then_some(nesting)
}

/// An operation on parts of tiles whose work several workers may share.
pub(crate) trait Shared<T: Scalar>: Operation<Element = T, Operand = Part<T>> + Send + 'static {
    /// Carries it out with whoever has nothing else to do; on this worker alone, where there are no parts to hand out.
    fn share(on: Self::On<Operand<'_, T>, MatMut<'_, T>>, _: Nesting<'_>) -> Outcome {
        Ok(Self::run(on)?)
    }
}

impl<T: Scalar> Shared<T> for Symm<T, Part<T>> {}
impl<T: Scalar> Shared<T> for Rank2k<T, Part<T>> {}
impl<T: Scalar> Shared<T> for Lacpy<Part<T>> {}
impl<T: Scalar> Shared<T> for Scale<T, Part<T>> {}

impl<T: Scalar> Shared<T> for Gemm<T, Part<T>> {
    fn share(on: Gemm<T, Operand<'_, T>, MatMut<'_, T>>, nesting: Nesting<'_>) -> Outcome {
        if on.part.is_some() {
            on.multiply();
            return Ok(());
        }
        Ok(gemm(on, nesting)?)
    }
}

/// By rows of C.
fn gemm<T: Scalar>(on: Gemm<T, Operand<'_, T>, MatMut<'_, T>>, nesting: Nesting<'_>) -> Result<(), Error> {
    let Gemm { op_a, op_b, alpha, a, b, beta, c, .. } = on;
    let ((a, b), n) = ((a.view(), b.view()), c.ncols());
    by_rows(nesting, "part of gemm", c, op_a.shape(a.shape()).1 * n, |rows, c| {
        cpu::gemm(alpha, op_a, rows_of_op(op_a, a, rows), op_b, b, beta, c);
    })
}

impl<T: Scalar> Shared<T> for RankK<T, Part<T>> {
    /// By rows of C: what is beside the diagonal is a product, and so is what is beside the triangle of a trapezoid.
    fn share(on: RankK<T, Operand<'_, T>, MatMut<'_, T>>, nesting: Nesting<'_>) -> Outcome {
        let n = on.c.ncols();
        if on.c.nrows() != n {
            return on.update(|beside| gemm(beside, nesting)).map_or(Ok(()), |shared| Ok(shared?));
        }
        let RankK { symmetry, uplo, op, alpha, a, beta, c } = on;
        let (a, (alpha, beta)) = (a.view(), (symmetry.factor(alpha), symmetry.factor(beta)));
        let k = op.shape(a.shape()).1;
        Ok(by_rows(nesting, "part of rank-k", c, (n * k).div_ceil(2), |rows, c| {
            let (before, here, after) = (0..rows.start, rows.clone(), rows.end..n);
            let (left, rest) = c.split_at_col(here.start);
            let (diagonal, right) = rest.split_at_col(here.len());
            let (beside, columns) = if uplo == Uplo::Lower { (left, before) } else { (right, after) };
            let a_here = rows_of_op(op, a, here);
            if !columns.is_empty() {
                let other = rows_of_op(op, a, columns);
                cpu::gemm(alpha, op, a_here, symmetry.other(op), other, beta, beside);
            }
            match symmetry {
                Symmetry::Symmetric => cpu::syrk(uplo, op, alpha, a_here, beta, diagonal),
                Symmetry::Hermitian => cpu::herk(uplo, op, alpha.re(), a_here, beta.re(), diagonal),
            }
        })?)
    }
}

impl<T: Scalar> Shared<T> for Triangular<T, Part<T>> {
    fn share(on: Triangular<T, Operand<'_, T>, MatMut<'_, T>>, nesting: Nesting<'_>) -> Outcome {
        Ok(triangular(on, nesting, "part of trxm")?)
    }
}

/// Columns of B from the left, rows from the right, do not touch each other.
fn triangular<T: Scalar>(
    on: Triangular<T, Operand<'_, T>, MatMut<'_, T>>,
    nesting: Nesting<'_>,
    name: &'static str,
) -> Result<(), Error> {
    let Triangular { action, side, uplo, op, diag, alpha, a, b } = on;
    let work = (a.view().nrows() * a.view().nrows()).div_ceil(2);
    let apply = |b: MatMut<'_, T>| Triangular { action, side, uplo, op, diag, alpha, a, b }.apply();
    match side {
        Side::Left => by_columns(nesting, name, b, work, apply),
        Side::Right => by_rows(nesting, name, b, work, |_, b| apply(b)),
    }
}

impl<T: Scalar> Shared<T> for Potrf<Part<T>> {
    /// The rows below the triangle of a panel.
    fn share(on: Potrf<MatMut<'_, T>>, nesting: Nesting<'_>) -> Outcome {
        let Some(rest) = on.factor()? else { return Ok(()) };
        Ok(triangular(rest, nesting, "trsm in panel")?)
    }
}
