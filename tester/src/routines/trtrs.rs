//! trtrs: solves op(A) X = B for a triangular A, unless it is singular.

use super::{Case, Defect, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar, defect};
use superscalar_kernels::Diag;
use superscalar_oracle::{Sum, general, triangle};

pub struct Trtrs;

impl Routine for Trtrs {
    const NAME: &'static str = "trtrs";
    const USES: &'static [Parameter] =
        &[Parameter::N, Parameter::Nrhs, Parameter::Uplo, Parameter::TransA, Parameter::Diag];

    fn operations(case: &Case) -> Operations {
        let (n, nrhs) = (case.dim.n as f64, case.nrhs as f64);
        Operations { multiplications: nrhs * n * (n + 1.0) / 2.0, additions: nrhs * n * (n - 1.0) / 2.0 }
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let (n, uplo, diag) = (case.dim.n, case.uplo, case.diag);
        let a = make.matrix((n, n), Keeps::Everything, |random, a| random.triangular(uplo, diag, a))?;
        let b = make.matrix((n, case.nrhs), Keeps::Padding, |random, b| random.general(b))?;
        Some(Operands::new([a, b]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let ([a, b], (uplo, op, diag)) = (operands.views_mut(), (case.uplo, case.trans_a, case.diag));
        superscalar_dla::trtrs(ours.runtime, uplo, op, diag, a.into_ref(), b, &ours.options)
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [a, b] = operands.views_mut();
        let call = FortranCall::new("trtrs").letter(case.uplo.letter()).letter(case.trans_a.letter());
        let call = call.letter(case.diag.letter()).int(case.dim.n).int(case.nrhs);
        call.input(a.into_ref()).matrix(b).info()
    }

    /// Returns the residual B − op(A) X.
    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, b], [_, x]) = (before.views(), after.views());
        let product = [triangle(case.uplo, case.trans_a, case.diag, a), general(x)];
        Sum::new(case.dim.n).plus(T::ONE, [general(b)]).minus(product).columnwise()
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        if case.diag == Diag::Unit { Vec::new() } else { defect::zero_pivot(case, ordinary) }
    }
}
