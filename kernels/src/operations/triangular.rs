//! Products and solves with triangular matrices.

use super::{Call, Mat, Operation, Resolve, Shape, cost_of, reals, updated};
pub use crate::vector::TriangularAction;
use crate::{
    Diag, MatMut, NotPositiveDefinite, Op, Scalar, Side, Uplo,
    cpu::{self, Operand},
};
use superscalar_runtime::Cost;

/// trmm or trsm: B := alpha op(A) B or alpha B op(A), or with the inverse of op(A), where A is triangular.
#[derive(Clone, Copy, Debug)]
pub struct Triangular<T, R, W = R> {
    /// Selects the product with A or with its inverse.
    pub action: TriangularAction,
    /// The side of A.
    pub side: Side,
    /// The triangle of A that is read.
    pub uplo: Uplo,
    /// The operation applied to A.
    pub op: Op,
    /// Whether A's diagonal is taken as ones.
    pub diag: Diag,
    /// The factor of the product.
    pub alpha: T,
    /// A.
    pub a: R,
    /// B.
    pub b: W,
}

impl<T: Scalar, P: Shape> Operation for Triangular<T, P> {
    resolved!(Triangular: action side uplo op diag alpha, a "A", b "B" updated(alpha != T::ZERO));

    fn name(&self) -> &'static str {
        match self.action {
            TriangularAction::Multiply => "trmm",
            TriangularAction::Solve => "trsm",
        }
    }

    fn agrees(&self) -> bool {
        let order = self.side.order(self.b.shape());
        self.a.shape() == (order, order)
    }

    fn cost(&self) -> Cost {
        let ((m, n), k) = (reals(self.b.shape()), self.side.order(self.b.shape()) as f64);
        cost_of::<T>(m * n * k / 2.0, k * k / 2.0 + 2.0 * m * n)
    }

    fn run(on: Triangular<T, Operand<'_, T>, MatMut<'_, T>>) -> Result<(), NotPositiveDefinite> {
        on.apply();
        Ok(())
    }
}

impl<T: Scalar> Triangular<T, Operand<'_, T>, MatMut<'_, T>> {
    /// Computes the product or the solve on the host.
    ///
    /// # Panics
    /// If the shapes do not agree.
    pub fn apply(self) {
        let Self { action, side, uplo, op, diag, alpha, a, b } = self;
        match action {
            TriangularAction::Multiply => cpu::trmm(side, uplo, op, diag, alpha, a.view, b),
            TriangularAction::Solve => cpu::trsm(side, uplo, op, diag, alpha, a.view, b),
        }
    }
}

impl<T: Scalar, R, W> Triangular<T, R, W> {
    /// Makes the solve that computes the rest of a Cholesky factorization's panel from the factor of its triangle: B
    /// L⁻ᴴ or U⁻ᴴ B.
    pub(crate) fn of_panel(uplo: Uplo, a: R, b: W) -> Self {
        let side = if uplo == Uplo::Lower { Side::Right } else { Side::Left };
        let (action, op, diag) = (TriangularAction::Solve, Op::ConjTrans, Diag::NonUnit);
        Self { action, side, uplo, op, diag, alpha: T::ONE, a, b }
    }
}
