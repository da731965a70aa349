//! getrf_nopiv: A = L U, without interchanges. The library computes it for batches; one problem is a batch of one.

use super::getrf::{Getrf, factors, zero_column};
use super::{
    BatchOperation, Case, Defect, Expected, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine,
    Scalar,
};
use superscalar_dla::{BatchMut, Error, Singular, batch};
use superscalar_oracle::{Sum, general};

pub struct GetrfNopiv;

impl Routine for GetrfNopiv {
    const NAME: &'static str = "getrf_nopiv";
    const USES: &'static [Parameter] = &[Parameter::M, Parameter::N];
    const HAS_BATCH_FORM: bool = true;

    fn operations(case: &Case) -> Operations {
        Getrf::operations(case)
    }

    /// The diagonal is dominant in columns, so that no pivot is small.
    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let (m, n) = (case.dim.m, case.dim.n);
        let a = make.matrix((m, n), Keeps::Padding, |random, mut a| {
            random.general(a.rb_mut());
            (0..m.min(n)).for_each(|i| a[(i, i)] += T::from_f64(m as f64));
        })?;
        Some(Operands::new([a]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, _: &Case, operands: &mut Operands<T>) -> Result<(), Error> {
        let [a] = operands.views_mut();
        let outcomes = batch::getrf_nopiv(ours.runtime, BatchMut::gathered(vec![a]), &ours.options)?;
        match outcomes.failed().next() {
            None => Ok(()),
            Some((_, pivot)) => Err(Singular { pivot }.into()),
        }
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [a] = operands.views_mut();
        FortranCall::new("getrfnp").int(case.dim.m).int(case.dim.n).matrix(a).info()
    }

    fn batched<T: Scalar>(_: &Case) -> Option<BatchOperation<T>> {
        Some(BatchOperation::GetrfNopiv)
    }

    /// Returns the residual A − L U.
    fn residual<T: Scalar>(_: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a], [lu]) = (before.views(), after.views());
        let [_, lower, upper] = factors(lu, &[]);
        Sum::new(a.nrows()).plus(T::ONE, [general(a)]).minus([lower, upper]).columnwise()
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        let order = case.dim.m.min(case.dim.n);
        let singular = zero_column(case, ordinary, order / 2).filter(|_| order > 0);
        singular.map(|defect| defect.expecting(Expected::Info(order / 2 + 1))).into_iter().collect()
    }
}
