//! lacpy: copies A, or a triangle of it, to B.

use super::{Case, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar};
use superscalar_kernels::{Part, Uplo};
use superscalar_oracle::mismatch;

pub struct Lacpy;

/// Returns the elements that a routine must not change if it writes this part.
pub fn keeps(part: Part) -> Keeps {
    match part {
        Part::All => Keeps::Padding,
        Part::Lower => Keeps::OtherThan(Uplo::Lower),
        Part::Upper => Keeps::OtherThan(Uplo::Upper),
    }
}

/// Returns the positions in this part of an m x n matrix.
pub fn places(part: Part, (m, n): (usize, usize)) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |j| (0..m).map(move |i| (i, j))).filter(move |(i, j)| match part {
        Part::All => true,
        Part::Lower => i >= j,
        Part::Upper => i <= j,
    })
}

impl Routine for Lacpy {
    const NAME: &'static str = "lacpy";
    const USES: &'static [Parameter] = &[Parameter::M, Parameter::N, Parameter::Part];
    const PRODUCTS_MAX: usize = usize::MAX;

    fn operations(case: &Case) -> Operations {
        Operations::touching(places(case.part, (case.dim.m, case.dim.n)).count() as f64)
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let shape = (case.dim.m, case.dim.n);
        let a = make.matrix(shape, Keeps::Everything, |random, a| random.general(a))?;
        Some(Operands::new([a, make.matrix(shape, keeps(case.part), |_, _| ())?]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a, b] = operands.views_mut();
        superscalar_dla::lacpy(ours.runtime, case.part, a.into_ref(), b, &ours.options)
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [a, b] = operands.views_mut();
        let call = FortranCall::new("lacpy").letter(case.part.letter()).int(case.dim.m).int(case.dim.n);
        call.input(a.into_ref()).matrix(b)
    }

    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, _], [_, b]) = (before.views(), after.views());
        mismatch(places(case.part, a.shape()).map(|place| (a[place], b[place])))
    }
}
