//! laset: sets the diagonal of A, or of a triangle of it, to beta and the other elements to alpha.

use super::lacpy::{keeps, places};
use super::{Case, FortranCall, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar};
use superscalar_oracle::mismatch;

pub struct Laset;

impl Routine for Laset {
    const NAME: &'static str = "laset";
    const USES: &'static [Parameter] =
        &[Parameter::M, Parameter::N, Parameter::Part, Parameter::Alpha, Parameter::Beta];
    const PRODUCTS_MAX: usize = usize::MAX;

    fn operations(case: &Case) -> Operations {
        Operations::touching(places(case.part, (case.dim.m, case.dim.n)).count() as f64)
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        Some(Operands::new([make.matrix((case.dim.m, case.dim.n), keeps(case.part), |_, _| ())?]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a] = operands.views_mut();
        superscalar_dla::laset(ours.runtime, case.part, case.alpha.of(), case.beta.of(), a, &ours.options)
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [a] = operands.views_mut();
        let call = FortranCall::new("laset").letter(case.part.letter()).int(case.dim.m).int(case.dim.n);
        call.scalar(case.alpha.of()).scalar(case.beta.of()).matrix(a)
    }

    fn residual<T: Scalar>(case: &Case, _: &Operands<T>, after: &Operands<T>) -> f64 {
        let [a] = after.views();
        let value = |(i, j)| if i == j { case.beta.of::<T>() } else { case.alpha.of() };
        mismatch(places(case.part, a.shape()).map(|place| (a[place], value(place))))
    }
}
