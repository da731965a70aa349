//! getrs: solves op(A) X = B with the factors P L U of A.

use super::getrf::factors;
use super::{
    BatchOperation, Case, DeviceTiling, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine,
    Scalar, Timed, resident, spawn,
};
use superscalar_kernels::{Diag, Op, Uplo};
use superscalar_oracle::{Factor, Sum, general, triangle};

pub struct Getrs;

impl Routine for Getrs {
    const NAME: &'static str = "getrs";
    const USES: &'static [Parameter] = &[Parameter::N, Parameter::Nrhs, Parameter::TransA];
    const DEVICE_TILING: Option<DeviceTiling> = Some(DeviceTiling::Columns);
    const HAS_BATCH_FORM: bool = true;

    fn operations(case: &Case) -> Operations {
        let (n, nrhs) = (case.dim.n as f64, case.nrhs as f64);
        Operations { multiplications: nrhs * n * n, additions: nrhs * n * (n - 1.0).max(0.0) }
    }

    /// The factors are random, and define A, so that nothing has to be factored.
    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let n = case.dim.n;
        let lu = make.matrix((n, n), Keeps::Everything, |random, a| random.lu(a))?;
        let b = make.matrix((n, case.nrhs), Keeps::Padding, |random, b| random.general(b))?;
        Some(Operands::new([lu, b]).with_pivots(make.interchanges(n, n), Keeps::Everything))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let ([lu, b], pivots) = operands.views_and_pivots_mut();
        superscalar_dla::getrs(ours.runtime, case.trans_a, lu.into_ref(), pivots, b, &ours.options)
    }

    fn resident<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Timed {
        let (matrices, pivots) = operands.views_and_pivots_mut();
        resident::call(ours, case, DeviceTiling::Columns, matrices, (pivots, &mut []), |s, [a, b], ipiv, _| {
            let pivots = spawn::pivots(s, ipiv, a.tile_shape().1);
            spawn::getrs(s, case.trans_a, &a, &pivots, &b);
        })
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let ([lu, b], pivots) = operands.views_and_pivots_mut();
        let call = FortranCall::new("getrs").letter(case.trans_a.letter()).int(case.dim.n).int(case.nrhs);
        call.input(lu.into_ref()).ints(pivots).matrix(b).info()
    }

    fn batched<T: Scalar>(case: &Case) -> Option<BatchOperation<T>> {
        Some(BatchOperation::Getrs { op: case.trans_a })
    }

    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([lu, b], [_, x], n) = (before.views(), after.views(), case.dim.n);
        let (pivots, op) = (&before.pivots, case.trans_a);
        let matrix = match op {
            Op::None => factors(lu, pivots),
            Op::Trans | Op::ConjTrans => [
                triangle(Uplo::Upper, op, Diag::NonUnit, lu),
                triangle(Uplo::Lower, op, Diag::Unit, lu),
                Factor::Interchanges { pivots, inverse: true },
            ],
        };
        Sum::new(n).plus(T::ONE, [general(b)]).minus(matrix.into_iter().chain([general(x)])).columnwise()
    }
}
