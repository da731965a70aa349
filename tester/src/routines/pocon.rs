//! pocon: estimates the reciprocal condition number of a positive definite A with its Cholesky factor.

use super::gecon::{estimate, inverse_norm, solves};
use super::{Case, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar};
use superscalar_kernels::{Diag, Op, Uplo};
use superscalar_oracle::{Storage, one_and_inf};

pub struct Pocon;

impl Routine for Pocon {
    const NAME: &'static str = "pocon";
    const USES: &'static [Parameter] = &[Parameter::N, Parameter::Uplo];

    fn operations(case: &Case) -> Operations {
        solves(case)
    }

    /// The factor, a bound of the norm of A, and a place for the estimate.
    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let (n, uplo) = (case.dim.n, case.uplo);
        let factor = make.matrix((n, n), Keeps::Everything, |random, mut a| {
            random.triangular(uplo, Diag::NonUnit, a.rb_mut());
            random.with_known_inverse(a);
        })?;
        let (one, inf) = one_and_inf(Storage::Triangle(uplo, Diag::NonUnit), factor.view());
        let norm = make.matrix((1, 1), Keeps::Everything, |_, mut a| a[(0, 0)] = T::from_f64(one * inf))?;
        Some(Operands::new([factor, norm, make.result((1, 1))?]))
    }

    fn ours<T: Scalar>(_: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [factor, norm, _] = operands.views();
        let rcond = superscalar_dla::pocon(case.uplo, factor, norm.at(0, 0).re())?;
        operands.set_number(rcond);
        Ok(())
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let ([factor, norm, rcond], n) = (operands.views_mut(), case.dim.n);
        let call = FortranCall::new("pocon").letter(case.uplo.letter()).int(n).input(factor.into_ref());
        let call = call.real(norm.at(0, 0).re()).real_out(rcond).work(3 * n);
        if T::COMPLEX { call.real_work(n).info() } else { call.int_work(n).info() }
    }

    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([factor, norm, _], [_, _, rcond]) = (before.views(), after.views());
        let ops = if case.uplo == Uplo::Lower { [Op::None, Op::Trans] } else { [Op::Trans, Op::None] };
        estimate(case.dim.n, norm, rcond, inverse_norm(factor, ops.map(|op| ((case.uplo, Diag::NonUnit), op))))
    }
}
