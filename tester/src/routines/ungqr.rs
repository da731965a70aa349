//! ungqr: computes the first columns of Q from its reflectors. Cases have no more columns than rows, and no more
//! reflectors than columns.

use super::getri::WORK_COLUMNS;
use super::{
    BatchOperation, Case, FortranCall, Keeps, Maker, Operand, Operands, Operations, Ours, Parameter, Routine, Scalar,
    slice,
};
use superscalar_kernels::{Diag, Op, Uplo};
use superscalar_oracle::{Factor, Sum, general, largest, transformed, triangle};

pub struct Ungqr;

/// Returns the number of columns and of reflectors.
fn counts(case: &Case) -> (usize, usize) {
    let n = case.dim.n.min(case.dim.m);
    (n, case.dim.k.min(n))
}

impl Routine for Ungqr {
    const NAME: &'static str = "ungqr";
    const USES: &'static [Parameter] = &[Parameter::M, Parameter::N, Parameter::K];
    const HAS_BATCH_FORM: bool = true;

    fn operations(case: &Case) -> Operations {
        let (n, k) = counts(case);
        let (m, n, k) = (case.dim.m as f64, n as f64, k as f64);
        let square = k * k * (2.0 * k / 3.0 - (m + n));
        Operations {
            multiplications: k * (2.0 * m * n + 2.0 * n - 5.0 / 3.0) + square - k * k,
            additions: k * (2.0 * m * n + n - m + 1.0 / 3.0) + square,
        }
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let (m, (n, k)) = (case.dim.m, counts(case));
        let a = make.matrix((m, n), Keeps::Padding, |random, a| random.reflectors(a.submatrix(0..m, 0..k)))?;
        let v = a.view().submatrix(0..m, 0..k);
        let tau = make.matrix((k, 1), Keeps::Everything, |random, tau| random.reflector_scalars(v, tau))?;
        Some(Operands::new([a, tau]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, _: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a, mut tau] = operands.views_mut();
        superscalar_dla::ungqr(ours.runtime, a, slice(&mut tau), &ours.options)
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let ([a, tau], (n, k)) = (operands.views_mut(), counts(case));
        let call = FortranCall::new(if T::COMPLEX { "ungqr" } else { "orgqr" }).int(case.dim.m).int(n).int(k);
        call.matrix(a).column(tau).work_with_len(WORK_COLUMNS * n).info()
    }

    fn batched<T: Scalar>(_: &Case) -> Option<BatchOperation<T>> {
        Some(BatchOperation::Ungqr)
    }

    /// Returns the residuals Q I − A′ and A′ᴴ A′ − I.
    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([v, tau], [result, _]) = (before.views(), after.views());
        let (m, n) = result.shape();
        let v = v.submatrix(0..m, 0..counts(case).1);
        let q = Factor::Reflectors { v, tau, by_rows: false, adjoint: false };
        // The first columns of the identity.
        let Some(zeros) = Operand::new((m, n), 0, Keeps::Everything).map(|zeros| zeros.filled(|mut a| a.fill(T::ZERO)))
        else {
            return f64::NAN;
        };
        let columns = triangle(Uplo::Lower, Op::None, Diag::Unit, zeros.view());
        let error = Sum::new(m).plus(T::ONE, [q, columns]).minus([general(result)]).columnwise();
        let gram = [transformed(Op::ConjTrans, result), general(result)];
        largest([error, Sum::new(n).plus(T::ONE, gram).minus([]).columnwise()])
    }
}
