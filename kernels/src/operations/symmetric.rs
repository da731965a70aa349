//! Products with a symmetric or Hermitian factor or result.

use super::{Call, Gemm, Mat, Operation, Resolve, Shape, Trapezoid, cost_of, is_trapezoid, reals, updated};
use crate::{
    MatMut, NotPositiveDefinite, Op, Scalar, Side, Symmetry, Uplo,
    cpu::{self, Operand},
};
use std::ops::Range;
use superscalar_runtime::{Cost, Mode};

/// symm or hemm: C := alpha A B + beta C or alpha B A + beta C, where A is symmetric or Hermitian.
#[derive(Clone, Copy, Debug)]
pub struct Symm<T, R, W = R> {
    /// Whether A is symmetric or Hermitian.
    pub symmetry: Symmetry,
    /// The side of A.
    pub side: Side,
    /// The triangle of A that is read.
    pub uplo: Uplo,
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

impl<T: Scalar, P: Shape> Operation for Symm<T, P> {
    resolved!(Symm: symmetry side uplo alpha beta, a "A" b "B", c "C" updated(beta != T::ZERO));

    fn name(&self) -> &'static str {
        self.symmetry.mm()
    }

    fn agrees(&self) -> bool {
        let (c, order) = (self.c.shape(), self.side.order(self.c.shape()));
        self.b.shape() == c && self.a.shape() == (order, order)
    }

    fn cost(&self) -> Cost {
        let ((m, n), k) = (reals(self.c.shape()), self.side.order(self.c.shape()) as f64);
        cost_of::<T>(m * n * k, k * k / 2.0 + 3.0 * m * n)
    }

    fn run(on: Symm<T, Operand<'_, T>, MatMut<'_, T>>) -> Result<(), NotPositiveDefinite> {
        let Symm { symmetry, side, uplo, alpha, a, b, beta, c } = on;
        match symmetry {
            Symmetry::Symmetric => cpu::symm(side, uplo, alpha, a, b, beta, c),
            Symmetry::Hermitian => cpu::hemm(side, uplo, alpha, a, b, beta, c),
        }
        Ok(())
    }
}

/// syrk or herk: C := alpha op(A) op(A)ᵀ + beta C, or with ᴴ, in one triangle. herk uses the real parts of alpha and
/// beta.
///
/// C may be a trapezoid: a lower one has more rows than columns, an upper one more columns than rows. op(A) then has
/// max(m, n) rows for an m x n matrix C, and the part beside the triangle is updated by the product of its rows of
/// op(A).
#[derive(Clone, Copy, Debug)]
pub struct RankK<T, R, W = R> {
    /// Selects syrk or herk.
    pub symmetry: Symmetry,
    /// The triangle of C, or the kind of trapezoid.
    pub uplo: Uplo,
    /// The operation applied to A.
    pub op: Op,
    /// The factor of the product.
    pub alpha: T,
    /// A.
    pub a: R,
    /// The factor of C.
    pub beta: T,
    /// C.
    pub c: W,
}

impl<T: Scalar, P: Shape> Operation for RankK<T, P> {
    resolved!(RankK: symmetry uplo op alpha beta, a "A", c "C" Mode::ReadWrite);

    fn name(&self) -> &'static str {
        self.symmetry.rank_k()
    }

    fn agrees(&self) -> bool {
        let (m, n) = self.c.shape();
        is_trapezoid(self.uplo, (m, n)) && self.op.shape(self.a.shape()).0 == m.max(n)
    }

    fn misused(&self) -> Option<&'static str> {
        unsupported_op::<T>(self.symmetry, self.op)
    }

    fn cost(&self) -> Cost {
        let ((m, n), k) = (self.c.shape(), self.op.shape(self.a.shape()).1 as f64);
        let (order, beside) = reals((m.min(n), m.abs_diff(n)));
        cost_of::<T>(order * (order / 2.0 + beside) * k, (order + beside) * k + order * (order + 2.0 * beside))
    }

    fn run(on: RankK<T, Operand<'_, T>, MatMut<'_, T>>) -> Result<(), NotPositiveDefinite> {
        on.update();
        Ok(())
    }
}

impl<T: Scalar> RankK<T, Operand<'_, T>, MatMut<'_, T>> {
    /// Computes the update on the host.
    ///
    /// # Panics
    /// If the shapes do not agree.
    pub fn update(self) {
        let Self { symmetry, uplo, op, alpha, a, beta, c } = self;
        match symmetry {
            Symmetry::Symmetric => cpu::syrk(uplo, op, alpha, a, beta, c),
            Symmetry::Hermitian => cpu::herk(uplo, op, alpha.re(), a, beta.re(), c),
        }
    }
}

impl<T: Scalar> RankK<T, Mat<T>> {
    /// Splits the update of a trapezoid into that of its triangle, and the product below or beside it.
    pub(crate) fn triangle_and_rest(self) -> (Self, Option<Gemm<T, Mat<T>>>) {
        let Self { symmetry, uplo, op, alpha, a, beta, c } = self;
        if c.m == c.n {
            return (self, None);
        }
        let ((triangle, rest), order) = (c.cut(uplo), c.m.min(c.n));
        let rows = |rows: Range<usize>| match op {
            Op::None => a.submatrix(rows, 0..a.n),
            Op::Trans | Op::ConjTrans => a.submatrix(0..a.m, rows),
        };
        let (near, far) = (rows(0..order), rows(order..c.m.max(c.n)));
        let factors = if uplo == Uplo::Lower { (far, near) } else { (near, far) };
        let ops = (op, symmetry.other(op));
        let rest = Gemm::new(ops, symmetry.factor(alpha), factors, symmetry.factor(beta), rest);
        (Self { a: near, c: triangle, ..self }, Some(rest))
    }
}

/// syr2k or her2k: C := alpha op(A) op(B)ᵀ + alpha op(B) op(A)ᵀ + beta C in one triangle, or with ᴴ and the conjugate
/// of the second alpha. her2k uses the real part of beta.
#[derive(Clone, Copy, Debug)]
pub struct Rank2k<T, R, W = R> {
    /// Selects syr2k or her2k.
    pub symmetry: Symmetry,
    /// The triangle of C.
    pub uplo: Uplo,
    /// The operation applied to A and B.
    pub op: Op,
    /// The factor of the first product.
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

impl<T: Scalar, P: Shape> Operation for Rank2k<T, P> {
    resolved!(Rank2k: symmetry uplo op alpha beta, a "A" b "B", c "C" Mode::ReadWrite);

    fn name(&self) -> &'static str {
        self.symmetry.rank_2k()
    }

    fn agrees(&self) -> bool {
        let (m, n) = self.c.shape();
        m == n && self.op.shape(self.a.shape()).0 == m && self.a.shape() == self.b.shape()
    }

    fn misused(&self) -> Option<&'static str> {
        unsupported_op::<T>(self.symmetry, self.op)
    }

    fn cost(&self) -> Cost {
        let (n, k) = reals(self.op.shape(self.a.shape()));
        cost_of::<T>(n * n * k, 2.0 * n * k + n * n)
    }

    fn run(on: Rank2k<T, Operand<'_, T>, MatMut<'_, T>>) -> Result<(), NotPositiveDefinite> {
        let Rank2k { symmetry, uplo, op, alpha, a, b, beta, c } = on;
        match symmetry {
            Symmetry::Symmetric => cpu::syr2k(uplo, op, alpha, a, b, beta, c),
            Symmetry::Hermitian => cpu::her2k(uplo, op, alpha, a, b, beta.re(), c),
        }
        Ok(())
    }
}

/// Returns the transposition that the routine does not support for complex matrices, if `op` is it.
pub(super) fn unsupported_op<T: Scalar>(symmetry: Symmetry, op: Op) -> Option<&'static str> {
    match (symmetry, op) {
        (Symmetry::Hermitian, Op::Trans) if T::COMPLEX => Some("plain transpose"),
        (Symmetry::Symmetric, Op::ConjTrans) if T::COMPLEX => Some("conjugate transpose"),
        _ => None,
    }
}
