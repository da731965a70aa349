//! gels: the least squares solution of an over-determined op(A) X = B, and the solution of least norm of an
//! under-determined one.

use super::geqrf::Geqrf;
use super::getrf::zero_column;
use super::getri::WORK_COLUMNS;
use super::{Defect, Expected, Operations, Ours, Routine, defect, letter_of};
use crate::case::{Case, Parameter};
use crate::link::{Stored, general, transformed};
use crate::norm::{largest, modulus, one, one_and_inf, worst};
use crate::operand::{Keeps, Maker, Operand, Operands};
use crate::peer::Call;
use crate::residual::{self, scaled};
use crate::sum::Sum;
use superscalar_kernels::{Diag, MatRef, Op, Scalar, Side, Uplo, cpu};

pub struct Gels;

impl Routine for Gels {
    const NAME: &'static str = "gels";
    const USES: &'static [Parameter] = &[Parameter::M, Parameter::N, Parameter::Nrhs, Parameter::TransA];
    const PRODUCTS_MAX: usize = residual::PRODUCTS_MAX;

    fn admits<T: Scalar>(case: &Case) -> bool {
        !T::COMPLEX || case.trans_a != Op::Trans
    }

    /// The factorization, the product with Q and the triangular solution.
    fn operations(case: &Case) -> Operations {
        let (long, short) = (case.dim.m.max(case.dim.n) as f64, case.dim.m.min(case.dim.n) as f64);
        let nrhs = case.nrhs as f64;
        let apply = nrhs * short * (2.0 * long - short);
        let solve = nrhs * short * short / 2.0;
        let (q, r) = (nrhs * short, nrhs * short / 2.0);
        Geqrf::operations(case)
            + Operations { multiplications: apply + 2.0 * q, additions: apply + q }
            + Operations { multiplications: solve + r, additions: solve - r }
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let (m, n) = (case.dim.m, case.dim.n);
        let rows = case.trans_a.shape((m, n)).0;
        let a = make.matrix((m, n), Keeps::Scrap, |random, a| random.full_rank(a))?;
        let b = make.matrix((m.max(n), case.nrhs), Keeps::Padding, |random, b| {
            random.general(b.submatrix(0..rows, 0..case.nrhs));
        })?;
        Some(Operands::new([a, b]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a, b] = operands.views_mut();
        superscalar_dla::gels(ours.runtime, case.trans_a, a, b, &ours.options)
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> Call<'a, T> {
        let [a, b] = operands.views_mut();
        let call = Call::new("gels").letter(letter_of::<T>(case.trans_a)).int(case.dim.m).int(case.dim.n);
        let len = WORK_COLUMNS * (case.dim.m.max(case.dim.n) + case.nrhs);
        call.int(case.nrhs).matrix(a).matrix(b).work_with_len(len).info()
    }

    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, b], [_, result]) = (before.views(), after.views());
        let op = if case.trans_a == Op::None { Op::None } else { Op::ConjTrans };
        let (rows, columns) = op.shape(a.shape());
        if a.is_empty() {
            // LAPACK answers with zeros.
            let nonzero = (0..b.ncols()).any(|j| (0..result.nrows()).any(|i| result.at(i, j) != T::ZERO));
            return if nonzero { f64::INFINITY } else { 0.0 };
        }
        let system = System {
            op,
            a,
            b: b.submatrix(0..rows, 0..case.nrhs),
            x: result.submatrix(0..columns, 0..case.nrhs),
        };
        if rows < columns { system.least_norm() } else { system.least_squares(result.submatrix(columns..rows, 0..case.nrhs)) }
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        let (m, n) = (case.dim.m, case.dim.n);
        // With a single column the matrix would be zero, for which LAPACK has an answer.
        if m.min(n) < 2 || case.nrhs == 0 {
            return Vec::new();
        }
        let p = m.min(n) / 2;
        let defect = if m >= n { zero_column(case, ordinary, p) } else { zero_row(case, ordinary, p) };
        defect.map(|defect| defect.expecting(Expected::Info(p + 1))).into_iter().collect()
    }
}

/// The ordinary operands with a row of zeros in the first matrix.
fn zero_row<T: Scalar>(case: &Case, ordinary: &Operands<T>, row: usize) -> Option<Defect<T>> {
    let mut defect = defect::with("a row of zeros", case, ordinary, (0, (row, 0)), T::ZERO)?;
    defect.operands.matrices[0].view_mut().row(row).fill(T::ZERO);
    Some(defect)
}

/// op(A) X = B, with X found.
struct System<'a, T> {
    op: Op,
    a: MatRef<'a, T>,
    b: MatRef<'a, T>,
    x: MatRef<'a, T>,
}

impl<T: Scalar> System<'_, T> {
    fn size(&self) -> usize {
        self.a.nrows().max(self.a.ncols())
    }

    fn flipped(&self) -> Op {
        if self.op == Op::None { Op::ConjTrans } else { Op::None }
    }

    /// ‖op(A)ᴴ (B − op(A) X)‖₁ / (max(m, n) ‖op(A)ᴴ‖₁ ‖B‖₁ ε), and for each column how far the norm of what is left below X
    /// is from that of the residual.
    fn least_squares(&self, tail: MatRef<'_, T>) -> f64 {
        let Some(mut residual) = copy(self.b) else { return f64::NAN };
        cpu::gemm(-T::ONE, self.op, self.a, Op::None, self.x, T::ONE, residual.view_mut());
        let (columns, rows) = one_and_inf(Stored::General, self.a);
        let (norm, adjoint_norm) = if self.op == Op::None { (columns, rows) } else { (rows, columns) };
        let product = [transformed(self.flipped(), self.a), general(residual.view())];
        let error = Sum::new(self.x.nrows()).plus(T::ONE, product).norm();
        let error = scaled::<T>(error, self.size(), adjoint_norm * one(self.b));
        let length = |a: MatRef<'_, T>, j| (0..a.nrows()).map(|i| modulus(a.at(i, j)).powi(2)).sum::<f64>().sqrt();
        let gap = largest((0..tail.ncols()).map(|j| (length(tail, j) - length(residual.view(), j)).abs()));
        let gap = if tail.is_empty() { 0.0 } else { gap };
        worst(error, scaled::<T>(gap, self.size(), one(self.b) + norm * one(self.x)))
    }

    /// ‖B − op(A) X‖₁ / (max(m, n) ‖A‖₁ ‖X‖₁ ε), and up to order [`PRODUCTS_MAX`](residual::PRODUCTS_MAX) the part of X
    /// outside of the range of op(A)ᴴ, over max(m, n) ‖X‖₁ ε.
    fn least_norm(&self) -> f64 {
        let product = [transformed(self.op, self.a), general(self.x)];
        let error = Sum::new(self.b.nrows()).plus(T::ONE, [general(self.b)]).minus(product).norm();
        let (columns, rows) = one_and_inf(Stored::General, self.a);
        let norm = if self.op == Op::None { columns } else { rows };
        let error = scaled::<T>(error, self.size(), norm * one(self.x));
        if self.size() > residual::PRODUCTS_MAX {
            return error;
        }
        worst(error, scaled::<T>(self.outside(), self.size(), one(self.x)))
    }

    /// ‖X − op(A)ᴴ S⁻¹ op(A) X‖₁ with S = op(A) op(A)ᴴ, by a Cholesky factorization of S; a second projection removes what
    /// rounding has left of the range.
    fn outside(&self) -> f64 {
        let order = self.b.nrows();
        let memory = (Operand::new((order, order), 0, Keeps::Padding), copy(self.x), copy(self.b));
        let (Some(mut gram), Some(mut rest), Some(mut image)) = memory else { return f64::NAN };
        let one_real = T::Real::ONE;
        cpu::herk(Uplo::Lower, self.op, one_real, self.a, T::Real::ZERO, gram.view_mut());
        if cpu::potrf(Uplo::Lower, gram.view_mut()).is_err() {
            return f64::NAN;
        }
        for _ in 0..2 {
            cpu::gemm(T::ONE, self.op, self.a, Op::None, rest.view(), T::ZERO, image.view_mut());
            for op in [Op::None, Op::ConjTrans] {
                cpu::trsm(Side::Left, Uplo::Lower, op, Diag::NonUnit, T::ONE, gram.view(), image.view_mut());
            }
            cpu::gemm(-T::ONE, self.flipped(), self.a, Op::None, image.view(), T::ONE, rest.view_mut());
        }
        one(rest.view())
    }
}

/// A working copy.
fn copy<T: Scalar>(a: MatRef<'_, T>) -> Option<Operand<T>> {
    Some(Operand::new(a.shape(), 0, Keeps::Padding)?.filled(|mut copy| copy.copy_from(a)))
}
