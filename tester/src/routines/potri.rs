//! potri: computes one triangle of A⁻¹ in place of the Cholesky factor of A.

use super::syrk::real_diagonal;
use super::{Case, Defect, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar, defect};
use superscalar_kernels::{Diag, MatRef, Op, Uplo};
use superscalar_oracle::{Factor, Storage, Sum, largest, stored, triangle};

pub struct Potri;

impl Routine for Potri {
    const NAME: &'static str = "potri";
    const USES: &'static [Parameter] = &[Parameter::N, Parameter::Uplo];

    fn operations(case: &Case) -> Operations {
        let n = case.dim.n as f64;
        Operations {
            multiplications: n * (2.0 / 3.0 + n * (n / 3.0 + 1.0)),
            additions: n * (1.0 / 6.0 + n * (n / 3.0 - 0.5)),
        }
    }

    /// The factor is random, and defines A.
    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        factor(case, make)
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a] = operands.views_mut();
        superscalar_dla::potri(ours.runtime, case.uplo, a, &ours.options)
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [a] = operands.views_mut();
        FortranCall::new("potri").letter(case.uplo.letter()).int(case.dim.n).matrix(a).info()
    }

    /// Returns the residual A A⁻¹ − I.
    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([factor], [inverse], n) = (before.views(), after.views(), case.dim.n);
        let matrix = gram(case.uplo, case.uplo == Uplo::Lower, factor);
        let product = matrix.into_iter().chain([stored(Storage::Hermitian(case.uplo), inverse)]);
        largest([Sum::new(n).plus(T::ONE, product).minus([]).columnwise(), real_diagonal(true, inverse)])
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        defect::zero_pivot(case, ordinary)
    }
}

/// Returns a random factor, to be overwritten.
pub fn factor<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
    let (n, uplo) = (case.dim.n, case.uplo);
    let fill = |random: &mut superscalar_oracle::Random, a: superscalar_kernels::MatMut<'_, T>| {
        random.triangular(uplo, Diag::NonUnit, a);
    };
    Some(Operands::new([make.matrix((n, n), Keeps::OtherThan(uplo), fill)?]))
}

/// Returns T Tᴴ for a triangle T if `first`, otherwise Tᴴ T.
pub fn gram<T: Scalar>(uplo: Uplo, first: bool, a: MatRef<'_, T>) -> [Factor<'_, T>; 2] {
    let ops = if first { [Op::None, Op::ConjTrans] } else { [Op::ConjTrans, Op::None] };
    ops.map(|op| triangle(uplo, op, Diag::NonUnit, a))
}
