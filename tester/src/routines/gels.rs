//! gels: the least squares solution of an over-determined system op(A) X = B, and the minimum norm solution of an
//! under-determined one.

use super::geqrf::Geqrf;
use super::getrf::zero_column;
use super::getri::WORK_COLUMNS;
use super::{
    BatchOperation, Case, Defect, Expected, FortranCall, Keeps, Maker, Operand, Operands, Operations, Ours, Parameter,
    Routine, Scalar, defect, letter_of,
};
use superscalar_kernels::{MatRef, Op, Real, cpu};
use superscalar_oracle::{Sum, general, largest, modulus, transformed, vectors};

pub struct Gels;

impl Routine for Gels {
    const NAME: &'static str = "gels";
    const USES: &'static [Parameter] = &[Parameter::M, Parameter::N, Parameter::Nrhs, Parameter::TransA];
    const HAS_BATCH_FORM: bool = true;

    fn admits<T: Scalar>(case: &Case) -> bool {
        !T::COMPLEX || case.trans_a != Op::Trans
    }

    /// Counts the factorization, the product with Q, and the triangular solution.
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

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [a, b] = operands.views_mut();
        let call = FortranCall::new("gels").letter(letter_of::<T>(case.trans_a)).int(case.dim.m).int(case.dim.n);
        let len = WORK_COLUMNS * (case.dim.m.max(case.dim.n) + case.nrhs);
        call.int(case.nrhs).matrix(a).matrix(b).work_with_len(len).info()
    }

    fn batched<T: Scalar>(case: &Case) -> Option<BatchOperation<T>> {
        (case.trans_a == Op::None).then_some(BatchOperation::Gels)
    }

    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, b], [_, result]) = (before.views(), after.views());
        let op = if case.trans_a == Op::None { Op::None } else { Op::ConjTrans };
        let (rows, columns) = op.shape(a.shape());
        if a.is_empty() {
            // LAPACK returns zeros.
            let nonzero = (0..b.ncols()).any(|j| (0..result.nrows()).any(|i| result.at(i, j) != T::ZERO));
            return if nonzero { f64::INFINITY } else { 0.0 };
        }
        let system =
            System { op, a, b: b.submatrix(0..rows, 0..case.nrhs), x: result.submatrix(0..columns, 0..case.nrhs) };
        if rows < columns {
            system.least_norm()
        } else {
            system.least_squares(result.submatrix(columns..rows, 0..case.nrhs))
        }
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        let (m, n) = (case.dim.m, case.dim.n);
        // With a single column the matrix would be zero, and LAPACK returns zeros for that.
        if m.min(n) < 2 || case.nrhs == 0 {
            return Vec::new();
        }
        let p = m.min(n) / 2;
        let defect = if m >= n { zero_column(case, ordinary, p) } else { zero_row(case, ordinary, p) };
        defect.map(|defect| defect.expecting(Expected::Info(p + 1))).into_iter().collect()
    }
}

/// Returns the ordinary operands with a row of zeros in the first matrix.
fn zero_row<T: Scalar>(case: &Case, ordinary: &Operands<T>, row: usize) -> Option<Defect<T>> {
    let mut defect = defect::with("a row of zeros", case, ordinary, defect::at(0, (row, 0)), T::ZERO)?;
    defect.operands.matrices[0].view_mut().row(row).fill(T::ZERO);
    Some(defect)
}

/// The system op(A) X = B with its solution X.
struct System<'a, T> {
    op: Op,
    a: MatRef<'a, T>,
    b: MatRef<'a, T>,
    x: MatRef<'a, T>,
}

impl<T: Scalar> System<'_, T> {
    /// Returns the expected rounding error of a column relative to its length: √max(m, n) ε.
    fn uncertainty(&self) -> f64 {
        (self.a.nrows().max(self.a.ncols()) as f64).sqrt() * T::EPSILON.to_f64()
    }

    fn flipped(&self) -> Op {
        if self.op == Op::None { Op::ConjTrans } else { Op::None }
    }

    /// Returns the residual op(A)ᴴ (B − op(A) X), and for each column the difference between the norm of the rows below
    /// X and that of the residual.
    fn least_squares(&self, tail: MatRef<'_, T>) -> f64 {
        let (a, adjoint) = (transformed(self.op, self.a), transformed(self.flipped(), self.a));
        let sum = Sum::new(self.x.nrows()).plus(T::ONE, [adjoint, general(self.b)]);
        let error = sum.minus([adjoint, a, general(self.x)]).columnwise();
        if tail.is_empty() {
            return error;
        }
        let Some(mut residual) = copy(self.b) else { return f64::NAN };
        cpu::gemm(-T::ONE, self.op, self.a, Op::None, self.x, T::ONE, residual.view_mut());
        let column = |a: MatRef<'_, T>, j| length((0..a.nrows()).map(|i| a.at(i, j)));
        let gap = |j| {
            let gap = (column(tail, j) - column(residual.view(), j)).abs();
            gap / (column(self.b, j) * self.uncertainty())
        };
        largest([error, largest((0..tail.ncols()).map(gap))])
    }

    /// Returns the residual B − op(A) X, and the part of random sums of X's columns that is outside the range of
    /// op(A)ᴴ.
    fn least_norm(&self) -> f64 {
        let product = [transformed(self.op, self.a), general(self.x)];
        let error = Sum::new(self.b.nrows()).plus(T::ONE, [general(self.b)]).minus(product).columnwise();
        let columns = transformed(Op::ConjTrans, self.x);
        let outside = |u: Vec<T>| {
            let x = columns.adjoint_times(u);
            let (rest, whole) = (length(self.outside(x.clone())), length(x));
            if rest == 0.0 { 0.0 } else { rest / (whole * self.uncertainty()) }
        };
        largest([error, largest(vectors(self.x.ncols()).map(outside))])
    }

    /// Returns the part of x outside the range of op(A)ᴴ, by conjugate gradients. The condition number of op(A) is
    /// small.
    fn outside(&self, mut x: Vec<T>) -> Vec<T> {
        const STEPS: usize = 100;
        let (times, adjoint_times) = (transformed(self.flipped(), self.a), transformed(self.op, self.a));
        let square = |v: &[T]| length(v.iter().copied()).powi(2);
        let add = |x: &mut [T], by: f64, y: &[T]| x.iter_mut().zip(y).for_each(|(x, &y)| *x += T::from_f64(by) * y);
        let mut direction = times.adjoint_times(x.clone());
        let (mut gradient, first) = (square(&direction), square(&direction));
        for _ in 0..STEPS {
            if gradient <= first * T::EPSILON.to_f64().powi(2) {
                break;
            }
            let image = adjoint_times.adjoint_times(direction.clone());
            add(&mut x, -gradient / square(&image), &image);
            let mut steepest = times.adjoint_times(x.clone());
            let before = std::mem::replace(&mut gradient, square(&steepest));
            add(&mut steepest, gradient / before, &direction);
            direction = steepest;
        }
        x
    }
}

/// Returns the 2-norm.
fn length<T: Scalar>(x: impl IntoIterator<Item = T>) -> f64 {
    x.into_iter().map(|entry| modulus(entry).powi(2)).sum::<f64>().sqrt()
}

/// Returns a copy of a matrix.
fn copy<T: Scalar>(a: MatRef<'_, T>) -> Option<Operand<T>> {
    Some(Operand::new(a.shape(), 0, Keeps::Padding)?.filled(|mut copy| copy.copy_from(a)))
}
