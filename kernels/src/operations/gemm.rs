//! Products of general matrices.

use super::{Call, Mat, Operation, Resolve, Shape, cost_of, is_square, reals, updated};
use crate::{
    MatMut, NotPositiveDefinite, Op, Scalar, Uplo,
    cpu::{self, Operand},
};
use superscalar_runtime::Cost;

/// C := alpha op(A) op(B) + beta C. With `part` it is gemmt: only that triangle of C is written, and C is square.
#[derive(Clone, Copy, Debug)]
pub struct Gemm<T, R, W = R> {
    /// The triangle of C that is used; `None` for the whole matrix.
    pub part: Option<Uplo>,
    /// The operation applied to A.
    pub op_a: Op,
    /// The operation applied to B.
    pub op_b: Op,
    /// The factor of the product.
    pub alpha: T,
    /// A.
    pub a: R,
    /// B.
    pub b: R,
    /// The factor of C.
    pub beta: T,
    /// C.
    pub c: W,
}

impl<T, R, W> Gemm<T, R, W> {
    /// Makes the product that updates all of C.
    pub fn new((op_a, op_b): (Op, Op), alpha: T, (a, b): (R, R), beta: T, c: W) -> Self {
        Self { part: None, op_a, op_b, alpha, a, b, beta, c }
    }
}

impl<T: Scalar, P: Shape> Operation for Gemm<T, P> {
    resolved!(Gemm: part op_a op_b alpha beta, a "A" b "B", c "C" updated(part.is_some() || beta != T::ZERO));

    fn name(&self) -> &'static str {
        if self.part.is_none() { "gemm" } else { "gemmt" }
    }

    fn agrees(&self) -> bool {
        let ((m, k), (l, n)) = (self.op_a.shape(self.a.shape()), self.op_b.shape(self.b.shape()));
        k == l && self.c.shape() == (m, n) && (self.part.is_none() || is_square((m, n)))
    }

    fn cost(&self) -> Cost {
        let ((m, n), k) = (reals(self.c.shape()), self.op_a.shape(self.a.shape()).1 as f64);
        let share = if self.part.is_none() { 1.0 } else { 0.5 };
        cost_of::<T>(share * m * n * k, m * k + k * n + share * 2.0 * m * n)
    }

    fn run(on: Gemm<T, Operand<'_, T>, MatMut<'_, T>>) -> Result<(), NotPositiveDefinite> {
        on.multiply();
        Ok(())
    }
}

impl<T: Scalar> Gemm<T, Operand<'_, T>, MatMut<'_, T>> {
    /// Computes the product on the host.
    ///
    /// # Panics
    /// If the shapes do not agree.
    pub fn multiply(self) {
        let Self { part, op_a, op_b, alpha, a, b, beta, c } = self;
        match part {
            None => cpu::gemm(alpha, op_a, a, op_b, b, beta, c),
            Some(uplo) => cpu::gemmt(uplo, alpha, op_a, a, op_b, b, beta, c),
        }
    }
}
