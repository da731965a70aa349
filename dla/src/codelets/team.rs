//! Teams of workers on one large tile.
//!
//! A tile that is large enough for a device takes one worker so long that the other workers may have to wait for it
//! (BLASX paper, section IV.C, whose CPU computation thread is a multithreaded BLAS). So if a runtime has devices, host
//! implementations split large tiles by rows or columns.

use super::{HostResult, tiles::TilePart};
use crate::{
    Scalar, plan,
    subtasks::{rows_of_op, split_columns, split_rows},
};
use superscalar_kernels::{
    MatMut, Side, Uplo,
    cpu::{self, Operand},
    operations::{Geadd, Gemm, Lacpy, Operation, Potrf, Rank2k, RankK, Scale, Symm, Triangular},
};
use superscalar_runtime::{Cost, Error, Nesting, Scope};

/// Returns the means to insert subtasks if work of this cost should be shared.
pub(super) fn nesting_for<'s, T: Scalar>(s: &'s Scope<'s, '_>, cost: Cost) -> Option<Nesting<'s>> {
    if cost.flops < plan::TEAM_MULTIPLICATIONS_MIN as f64 * f64::from(T::FLOPS_MUL + T::FLOPS_ADD) {
        return None;
    }
    let nesting = s.nesting();
    (nesting.has_devices() && nesting.workers() > 1).then_some(nesting)
}

/// An operation on parts of tiles whose work several workers may share.
pub(crate) trait SharedWork<T: Scalar>: Operation<Element = T, Operand = TilePart<T>> + Send + 'static {
    /// Runs the operation and lets idle workers run parts of it. By default it runs on the current worker alone.
    fn share(on: Self::On<Operand<'_, T>, MatMut<'_, T>>, _: Nesting<'_>) -> HostResult {
        Ok(Self::run(on)?)
    }
}

impl<T: Scalar> SharedWork<T> for Symm<T, TilePart<T>> {}
impl<T: Scalar> SharedWork<T> for Rank2k<T, TilePart<T>> {}
impl<T: Scalar> SharedWork<T> for Lacpy<TilePart<T>> {}
impl<T: Scalar> SharedWork<T> for Geadd<T, TilePart<T>> {}
impl<T: Scalar> SharedWork<T> for Scale<T, TilePart<T>> {}

impl<T: Scalar> SharedWork<T> for Gemm<T, TilePart<T>> {
    fn share(on: Gemm<T, Operand<'_, T>, MatMut<'_, T>>, nesting: Nesting<'_>) -> HostResult {
        if on.part.is_some() {
            on.multiply();
            return Ok(());
        }
        Ok(gemm(on, nesting)?)
    }
}

/// Splits a product by rows of C.
fn gemm<T: Scalar>(on: Gemm<T, Operand<'_, T>, MatMut<'_, T>>, nesting: Nesting<'_>) -> Result<(), Error> {
    let Gemm { op_a, op_b, alpha, a, b, beta, c, .. } = on;
    let ((a, b), n) = ((a.view(), b.view()), c.ncols());
    split_rows(nesting, "part of gemm", c, op_a.shape(a.shape()).1 * n, |rows, c| {
        cpu::gemm(alpha, op_a, rows_of_op(op_a, a, rows), op_b, b, beta, c);
    })
}

impl<T: Scalar> SharedWork<T> for RankK<T, TilePart<T>> {
    /// Splits C, a triangle or trapezoid, by rows. The part beside the diagonal is a product.
    fn share(on: RankK<T, Operand<'_, T>, MatMut<'_, T>>, nesting: Nesting<'_>) -> HostResult {
        let RankK { symmetry, uplo, op, alpha, a, beta, c } = on;
        let (a, n) = (a.view(), c.ncols());
        let k = op.shape(a.shape()).1;
        Ok(split_rows(nesting, "part of rank-k", c, (n * k).div_ceil(2), |rows, c| {
            // Columns whose diagonal element is in these rows; none below the triangle of a trapezoid.
            let here = rows.start.min(n)..rows.end.min(n);
            let (left, rest) = c.split_at_col(here.start);
            let (diagonal, right) = rest.split_at_col(here.len());
            let (beside, columns) = if uplo == Uplo::Lower { (left, 0..here.start) } else { (right, here.end..n) };
            let a_here = rows_of_op(op, a, rows);
            if !columns.is_empty() {
                let (alpha, beta) = (symmetry.factor(alpha), symmetry.factor(beta));
                cpu::gemm(alpha, op, a_here, symmetry.other(op), rows_of_op(op, a, columns), beta, beside);
            }
            if !here.is_empty() {
                RankK { symmetry, uplo, op, alpha, a: a_here.into(), beta, c: diagonal }.update();
            }
        })?)
    }
}

impl<T: Scalar> SharedWork<T> for Triangular<T, TilePart<T>> {
    fn share(on: Triangular<T, Operand<'_, T>, MatMut<'_, T>>, nesting: Nesting<'_>) -> HostResult {
        Ok(triangular(on, nesting, "part of trxm")?)
    }
}

/// Splits B by columns if A is on the left, by rows if A is on the right: these are independent.
fn triangular<T: Scalar>(
    on: Triangular<T, Operand<'_, T>, MatMut<'_, T>>,
    nesting: Nesting<'_>,
    name: &'static str,
) -> Result<(), Error> {
    let Triangular { action, side, uplo, op, diag, alpha, a, b } = on;
    let work = (a.view().nrows() * a.view().nrows()).div_ceil(2);
    let apply = |b: MatMut<'_, T>| Triangular { action, side, uplo, op, diag, alpha, a, b }.apply();
    match side {
        Side::Left => split_columns(nesting, name, b, work, apply),
        Side::Right => split_rows(nesting, name, b, work, |_, b| apply(b)),
    }
}

impl<T: Scalar> SharedWork<T> for Potrf<TilePart<T>> {
    /// Splits the triangular solve of the rows below the diagonal block.
    fn share(on: Potrf<MatMut<'_, T>>, nesting: Nesting<'_>) -> HostResult {
        let Some(rest) = on.factor()? else { return Ok(()) };
        Ok(triangular(rest, nesting, "trsm in panel")?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;
    use superscalar_kernels::{Diag, Op, Symmetry, c64, operations::TriangularAction};
    use superscalar_runtime::Runtime;

    /// Returns a matrix of small integers, whose sums are exact.
    fn integers<T: Scalar>(m: usize, n: usize) -> Matrix<T> {
        let part = |x: usize| <T::Real as superscalar_kernels::Scalar>::from_f64(x as f64 - 3.0);
        Matrix::from_fn(m, n, |i, j| T::from_parts(part((3 * i + 5 * j) % 7), part((2 * i + j) % 5)))
    }

    /// An operation on this C.
    type On<'a, T, O> =
        dyn for<'c> Fn(MatMut<'c, T>) -> <O as Operation>::On<Operand<'a, T>, MatMut<'c, T>> + Sync + 'a;

    /// Checks that three workers split the operation into parts of this name, and that the result equals the serial
    /// one.
    fn agree<'a, T: Scalar, O: SharedWork<T>>((part, c): (&str, &Matrix<T>), on: &'a On<'a, T, O>) {
        let (m, n) = (c.nrows(), c.ncols());
        let rt = Runtime::builder().workers(3).bind(false).trace(true).build().expect("threads can be started");
        let (mut shared, mut alone) = (c.clone().into_vec(), c.clone());
        let outcome = rt.scope(|s| {
            let (nesting, c) = (s.nesting(), s.lend(&mut shared));
            s.spawn("shared", c.read_write(), move |c: &mut Vec<T>| {
                let c = MatMut::from_col_major(c, m, n, m).expect("as many elements");
                O::share(on(c), nesting).map_err(std::io::Error::other)
            });
        });
        outcome.expect("every part is done");
        O::run(on(alone.as_mut())).expect("it is carried out");
        let parts = rt.take_recording().expect("it is recorded").tasks.iter().filter(|task| task.name == part).count();
        assert!(parts > 1, "{parts} of {part}");
        assert!(shared == alone.into_vec(), "{part} of {m} x {n}");
    }

    fn updates<T: Scalar>() {
        let (alpha, beta) = (integers::<T>(2, 1).at(1, 0), integers::<T>(3, 1).at(2, 0));
        for (symmetry, uplo) in Symmetry::ALL.into_iter().flat_map(|s| [Uplo::Lower, Uplo::Upper].map(|u| (s, u))) {
            for (op, (m, n)) in
                [Op::None, symmetry.mirror()].into_iter().flat_map(|op| [(300, 300), (300, 128)].map(|c| (op, c)))
            {
                let (m, n) = if uplo == Uplo::Lower { (m, n) } else { (n, m) };
                let (rows, k) = op.shape((300, 128));
                let (a, c) = (integers::<T>(rows, k), integers::<T>(m, n));
                agree::<T, RankK<T, TilePart<T>>>(("part of rank-k", &c), &|c| RankK {
                    symmetry,
                    uplo,
                    op,
                    alpha,
                    a: a.as_ref().into(),
                    beta,
                    c,
                });
            }
        }
    }

    #[test]
    fn rank_k_updates_are_shared() {
        updates::<f64>();
        updates::<c64>();
    }

    #[test]
    fn products_are_shared() {
        let (a, b, c) = (integers::<f64>(128, 300), integers(128, 120), integers(300, 120));
        agree::<f64, Gemm<f64, TilePart<f64>>>(("part of gemm", &c), &|c| {
            Gemm::new((Op::Trans, Op::None), 2.0, (a.as_ref().into(), b.as_ref().into()), -1.0, c)
        });
    }

    /// Returns a bidiagonal matrix of ones: a solve only adds and subtracts.
    fn bidiagonal(uplo: Uplo) -> Matrix<f64> {
        let is_beside = |i: usize, j: usize| if uplo == Uplo::Lower { i == j + 1 } else { j == i + 1 };
        Matrix::from_fn(128, 128, |i, j| f64::from(i == j || is_beside(i, j)))
    }

    #[test]
    fn triangles_are_shared() {
        for (side, uplo) in
            [Side::Left, Side::Right].into_iter().flat_map(|s| [Uplo::Lower, Uplo::Upper].map(|u| (s, u)))
        {
            let a = bidiagonal(uplo);
            let b = if side == Side::Left { integers::<f64>(128, 400) } else { integers(400, 128) };
            for (action, op) in [(TriangularAction::Multiply, Op::None), (TriangularAction::Solve, Op::Trans)] {
                let (diag, alpha) = (Diag::NonUnit, 2.0);
                agree::<f64, Triangular<f64, TilePart<f64>>>(("part of trxm", &b), &|b| Triangular {
                    action,
                    side,
                    uplo,
                    op,
                    diag,
                    alpha,
                    a: a.as_ref().into(),
                    b,
                });
            }
        }
    }

    #[test]
    fn panel_solves_are_shared() {
        for uplo in [Uplo::Lower, Uplo::Upper] {
            let (m, n) = if uplo == Uplo::Lower { (600, 128) } else { (128, 600) };
            let square = |i: usize, j: usize| if i == j { 4.0 } else { 0.0 };
            let rest = integers::<f64>(m, n);
            let a = Matrix::from_fn(m, n, |i, j| if i.max(j) < 128 { square(i, j) } else { rest.at(i, j) });
            agree::<f64, Potrf<TilePart<f64>>>(("trsm in panel", &a), &|a| Potrf { uplo, first: 0, a });
        }
    }
}
