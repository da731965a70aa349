//! swap: exchanges A and B. The BLAS routine exchanges vectors: a peer is called once for each column.

use super::{Case, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar};
use superscalar_kernels::Part;
use superscalar_oracle::{largest, mismatch};

pub struct Swap;

impl Routine for Swap {
    const NAME: &'static str = "swap";
    const USES: &'static [Parameter] = &[Parameter::M, Parameter::N];
    const PRODUCTS_MAX: usize = usize::MAX;

    fn operations(case: &Case) -> Operations {
        Operations::touching(2.0 * case.dim.m as f64 * case.dim.n as f64)
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let shape = (case.dim.m, case.dim.n);
        let a = make.matrix(shape, Keeps::Padding, |random, a| random.general(a))?;
        let b = make.matrix(shape, Keeps::Padding, |random, b| random.general(b))?;
        Some(Operands::new([a, b]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, _: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a, b] = operands.views_mut();
        superscalar_dla::swap(ours.runtime, a, b, &ours.options)
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [mut a, mut b] = operands.views_mut();
        let mut all = FortranCall::new("swap").int(0).column_of(&mut a, 0).signed(1).column_of(&mut b, 0).signed(1);
        for j in (0..case.dim.n).rev() {
            let call =
                FortranCall::new("swap").int(case.dim.m).column_of(&mut a, j).signed(1).column_of(&mut b, j).signed(1);
            all = call.then(all);
        }
        all
    }

    fn residual<T: Scalar>(_: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, b], [c, d]) = (before.views(), after.views());
        let pairs = |x: superscalar_kernels::MatRef<'_, T>, y: superscalar_kernels::MatRef<'_, T>| {
            mismatch(super::lacpy::places(Part::All, x.shape()).map(|place| (x[place], y[place])))
        };
        largest([pairs(a, d), pairs(b, c)])
    }
}
