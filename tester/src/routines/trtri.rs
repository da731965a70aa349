//! trtri: the inverse of a triangular matrix.

use super::{Case, Defect, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar, defect};
use superscalar_kernels::{Diag, Op};
use superscalar_oracle::{Sum, triangle};

pub struct Trtri;

impl Routine for Trtri {
    const NAME: &'static str = "trtri";
    const USES: &'static [Parameter] = &[Parameter::N, Parameter::Uplo, Parameter::Diag];

    fn operations(case: &Case) -> Operations {
        let n = case.dim.n as f64;
        Operations {
            multiplications: n * (1.0 / 3.0 + n * (n / 6.0 + 0.5)),
            additions: n * (1.0 / 3.0 + n * (n / 6.0 - 0.5)),
        }
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let (n, uplo, diag) = (case.dim.n, case.uplo, case.diag);
        let keeps = if diag == Diag::Unit { Keeps::OtherThanStrict(uplo) } else { Keeps::OtherThan(uplo) };
        Some(Operands::new([make.matrix((n, n), keeps, |random, a| random.triangular(uplo, diag, a))?]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a] = operands.views_mut();
        superscalar_dla::trtri(ours.runtime, case.uplo, case.diag, a, &ours.options)
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [a] = operands.views_mut();
        FortranCall::new("trtri").letter(case.uplo.letter()).letter(case.diag.letter()).int(case.dim.n).matrix(a).info()
    }

    /// Returns the residual A A⁻¹ − I.
    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a], [inverse], n) = (before.views(), after.views(), case.dim.n);
        let product = [a, inverse].map(|a| triangle(case.uplo, Op::None, case.diag, a));
        Sum::new(n).plus(T::ONE, product).minus([]).columnwise()
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        if case.diag == Diag::Unit { Vec::new() } else { defect::zero_pivot(case, ordinary) }
    }
}
