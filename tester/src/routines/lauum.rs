//! lauum: computes one triangle of Lᴴ L in place of L, or of U Uᴴ in place of U.

use super::potri::{factor, gram};
use super::syrk::real_diagonal;
use super::{Case, FortranCall, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar};
use superscalar_kernels::Uplo;
use superscalar_oracle::{Storage, Sum, largest, stored};

pub struct Lauum;

impl Routine for Lauum {
    const NAME: &'static str = "lauum";
    const USES: &'static [Parameter] = &[Parameter::N, Parameter::Uplo];

    fn operations(case: &Case) -> Operations {
        let n = case.dim.n as f64;
        Operations { multiplications: n * (1.0 / 3.0 + n * (n / 6.0 + 0.5)), additions: n * (n * n / 6.0 - 1.0 / 6.0) }
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        factor(case, make)
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a] = operands.views_mut();
        superscalar_dla::lauum(ours.runtime, case.uplo, a, &ours.options)
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [a] = operands.views_mut();
        FortranCall::new("lauum").letter(case.uplo.letter()).int(case.dim.n).matrix(a).info()
    }

    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a], [result]) = (before.views(), after.views());
        let sum = Sum::new(case.dim.n).plus(T::ONE, gram(case.uplo, case.uplo == Uplo::Upper, a));
        let error = sum.minus([stored(Storage::Hermitian(case.uplo), result)]).componentwise();
        largest([error, real_diagonal(true, result)])
    }
}
