//! laswp: interchanges rows of A, in forward or backward order.

use super::{Case, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar};
use superscalar_kernels::Direction;
use superscalar_oracle::{interchange, mismatch};

pub struct Laswp;

impl Routine for Laswp {
    const NAME: &'static str = "laswp";
    const USES: &'static [Parameter] = &[Parameter::M, Parameter::N, Parameter::Direction];
    const PRODUCTS_MAX: usize = usize::MAX;

    /// Counts two elements per interchange and column.
    fn operations(case: &Case) -> Operations {
        Operations::touching(2.0 * case.dim.m as f64 * case.dim.n as f64)
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let (m, n) = (case.dim.m, case.dim.n);
        let a = make.matrix((m, n), Keeps::Padding, |random, a| random.general(a))?;
        Some(Operands::new([a]).with_pivots(make.interchanges(m, m), Keeps::Everything))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let ([a], pivots) = operands.views_and_pivots_mut();
        superscalar_dla::laswp(ours.runtime, a, pivots, case.direction, &ours.options)
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let ([a], pivots) = operands.views_and_pivots_mut();
        let step = if case.direction == Direction::Forward { 1 } else { -1 };
        FortranCall::new("laswp").int(case.dim.n).matrix(a).int(1).int(case.dim.m).ints(pivots).signed(step)
    }

    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a], [result], (m, n)) = (before.views(), after.views(), (case.dim.m, case.dim.n));
        let backward = case.direction == Direction::Backward;
        mismatch((0..n).flat_map(|j| {
            let column = interchange(&before.pivots, backward, a.col(j).to_vec());
            (0..m).map(move |i| (column[i], result.at(i, j))).collect::<Vec<_>>()
        }))
    }
}
