//! getri: computes A⁻¹ in place of the factors P L U of A.

use super::getrf::factors;
use super::{Case, Defect, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar, defect};
use superscalar_oracle::{Sum, general};

pub struct Getri;

/// The number of columns in a peer's workspace, more than it needs.
pub const WORK_COLUMNS: usize = 256;

impl Routine for Getri {
    const NAME: &'static str = "getri";
    const USES: &'static [Parameter] = &[Parameter::N];

    fn operations(case: &Case) -> Operations {
        let n = case.dim.n as f64;
        Operations {
            multiplications: n * (5.0 / 6.0 + n * (2.0 * n / 3.0 + 0.5)),
            additions: n * (5.0 / 6.0 + n * (2.0 * n / 3.0 - 1.5)),
        }
    }

    /// The factors are random, and define A.
    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let n = case.dim.n;
        let lu = make.matrix((n, n), Keeps::Padding, |random, a| random.lu(a))?;
        Some(Operands::new([lu]).with_pivots(make.interchanges(n, n), Keeps::Everything))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, _: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let ([lu], pivots) = operands.views_and_pivots_mut();
        superscalar_dla::getri(ours.runtime, lu, pivots, &ours.options)
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let ([lu], pivots) = operands.views_and_pivots_mut();
        FortranCall::new("getri")
            .int(case.dim.n)
            .matrix(lu)
            .ints(pivots)
            .work_with_len(case.dim.n * WORK_COLUMNS)
            .info()
    }

    /// Returns the residual A A⁻¹ − I.
    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([lu], [inverse], n) = (before.views(), after.views(), case.dim.n);
        let matrix = factors(lu, &before.pivots);
        Sum::new(n).plus(T::ONE, matrix.into_iter().chain([general(inverse)])).minus([]).columnwise()
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        defect::zero_pivot(case, ordinary)
    }
}
