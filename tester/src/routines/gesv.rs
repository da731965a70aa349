//! gesv: factors A and solves A X = B.

use super::getrf::{Getrf, factorization, zero_column};
use super::getrs::Getrs;
use super::{
    BatchOperation, Case, Defect, DeviceTiling, Dim, Expected, FortranCall, Keeps, Maker, Operands, Operations, Ours,
    Parameter, Routine, Scalar, Timed, resident, spawn,
};
use superscalar_kernels::MatRef;
use superscalar_oracle::{Sum, general, largest};

pub struct Gesv;

impl Routine for Gesv {
    const NAME: &'static str = "gesv";
    const USES: &'static [Parameter] = &[Parameter::N, Parameter::Nrhs];
    const DEVICE_TILING: Option<DeviceTiling> = Some(DeviceTiling::Columns);
    const HAS_BATCH_FORM: bool = true;

    fn operations(case: &Case) -> Operations {
        let n = case.dim.n;
        Getrf::operations(&Case { dim: Dim { m: n, n, k: n }, ..*case }) + Getrs::operations(case)
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let n = case.dim.n;
        let a = make.matrix((n, n), Keeps::Padding, |random, a| random.general(a))?;
        let b = make.matrix((n, case.nrhs), Keeps::Padding, |random, b| random.general(b))?;
        Some(Operands::new([a, b]).with_pivots(vec![0; n], Keeps::Padding))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, _: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let ([a, b], pivots) = operands.views_and_pivots_mut();
        superscalar_dla::gesv(ours.runtime, a, pivots, b, &ours.options)
    }

    fn resident<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Timed {
        let (matrices, pivots) = operands.views_and_pivots_mut();
        resident::call(ours, case, DeviceTiling::Columns, matrices, (pivots, &mut []), |s, [a, b], ipiv, _| {
            spawn::gesv(s, &a, ipiv, &b);
        })
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let ([a, b], pivots) = operands.views_and_pivots_mut();
        FortranCall::new("gesv").int(case.dim.n).int(case.nrhs).matrix(a).ints(pivots).matrix(b).info()
    }

    fn batched<T: Scalar>(_: &Case) -> Option<BatchOperation<T>> {
        Some(BatchOperation::Gesv)
    }

    fn residual<T: Scalar>(_: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, b], [lu, x]) = (before.views(), after.views());
        largest([factorization(a, lu, &after.pivots), solution(a, x, b)])
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        singular(case, ordinary)
    }
}

/// Returns a singular matrix; LAPACK's info gives the zero on the diagonal of U.
pub fn singular<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
    let p = case.dim.n / 2;
    zero_column(case, ordinary, p).map(|defect| defect.expecting(Expected::Info(p + 1))).into_iter().collect()
}

/// Returns the residual B − A X over the fourth root of the order. Elimination lets the elements of a random matrix
/// grow, and the roundings with them, so the plain residual grows with the order.
pub fn solution<T: Scalar>(a: MatRef<'_, T>, x: MatRef<'_, T>, b: MatRef<'_, T>) -> f64 {
    let residual = Sum::new(a.nrows()).plus(T::ONE, [general(b)]).minus([general(a), general(x)]);
    residual.columnwise() / (a.nrows().max(1) as f64).powf(0.25)
}
