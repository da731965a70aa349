//! A team of workers on one large tile.
//!
//! Tiles that are large enough for a device are too large for one worker: while it has such a tile, everybody else may have
//! to wait for it (BLASX paper, section IV.C, whose CPU computation thread is a multithreaded BLAS). So where a runtime has devices,
//! a host implementation hands out rows or columns of large tiles.

use super::level3::{Apply, Triangle};
use crate::{
    Scalar,
    parts::{self, by_columns, by_rows},
    plan,
    symmetry::Symmetry,
};
use superscalar_kernels::{MatMut, MatRef, Op, Side, Uplo, cpu};
use superscalar_runtime::{Error, Nesting, Scope};

/// Who may work on a tile: a worker alone, or several.
#[derive(Clone, Copy)]
pub(crate) struct Team<'s>(Option<Nesting<'s>>);

impl<'s> Team<'s> {
    /// One worker.
    pub(crate) const ALONE: Self = Self(None);

    /// Who works on a tile with so many multiplications.
    pub(crate) fn of(s: &'s Scope<'s, '_>, multiplications: usize) -> Self {
        if multiplications < plan::TEAM {
            return Self::ALONE;
        }
        let nesting = s.nesting();
        Self((nesting.has_devices() && nesting.workers() > 1).then_some(nesting))
    }

    /// What it takes to share the work, if it is to be shared.
    pub(crate) fn shares(self) -> Option<Nesting<'s>> {
        self.0
    }
}

/// C := alpha op(A) op(B) + beta C, by rows of C.
pub(super) fn gemm<T: Scalar>(
    nesting: Nesting<'_>,
    alpha: T,
    a: (Op, MatRef<'_, T>),
    (op_b, b): (Op, MatRef<'_, T>),
    beta: T,
    c: MatMut<'_, T>,
) -> Result<(), Error> {
    let (k, n) = op_b.shape(b.shape());
    by_rows(nesting, "part of gemm", c, k * n, |rows, c| {
        cpu::gemm(alpha, a.0, parts::rows(a.0, a.1, rows), op_b, b, beta, c);
    })
}

/// syrk or herk, by rows of C: what is beside the diagonal is a product.
pub(super) fn rank_k<T: Scalar>(
    nesting: Nesting<'_>,
    (symmetry, uplo): (Symmetry, Uplo),
    alpha: T,
    a: (Op, MatRef<'_, T>),
    beta: T,
    c: MatMut<'_, T>,
) -> Result<(), Error> {
    let (op, (n, k)) = (a.0, a.0.shape(a.1.shape()));
    let (alpha, beta) = match symmetry {
        Symmetry::Symmetric => (alpha, beta),
        Symmetry::Hermitian => (T::from_real(alpha.re()), T::from_real(beta.re())),
    };
    by_rows(nesting, "part of rank-k", c, (n * k).div_ceil(2), |rows, c| {
        let (before, here, after) = (0..rows.start, rows.clone(), rows.end..n);
        let (left, rest) = c.split_at_col(here.start);
        let (mut diagonal, right) = rest.split_at_col(here.len());
        let (beside, columns) = if uplo == Uplo::Lower { (left, before) } else { (right, after) };
        let a_here = parts::rows(op, a.1, here);
        if !columns.is_empty() {
            cpu::gemm(alpha, op, a_here, symmetry.other(op), parts::rows(op, a.1, columns), beta, beside);
        }
        match symmetry {
            Symmetry::Symmetric => cpu::syrk(uplo, op, alpha, a_here, beta, diagonal.rb_mut()),
            Symmetry::Hermitian => cpu::herk(uplo, op, alpha.re(), a_here, beta.re(), diagonal.rb_mut()),
        }
    })
}

/// trmm or trsm: columns of B from the left, rows from the right, do not touch each other.
pub(super) fn triangular<T: Scalar>(
    nesting: Nesting<'_>,
    apply: Apply<T>,
    &Triangle { side, uplo, op, diag, alpha, .. }: &Triangle<T>,
    a: MatRef<'_, T>,
    b: MatMut<'_, T>,
) -> Result<(), Error> {
    let work = (a.nrows() * a.nrows()).div_ceil(2);
    match side {
        Side::Left => by_columns(nesting, "part of trxm", b, work, |b| apply(side, uplo, op, diag, alpha, a, b)),
        Side::Right => by_rows(nesting, "part of trxm", b, work, |_, b| apply(side, uplo, op, diag, alpha, a, b)),
    }
}
