//! potrs: solves A X = B with the Cholesky factor of A.

use super::potri::gram;
use super::{
    BatchOperation, Case, DeviceTiling, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine,
    Scalar, Timed, resident, spawn,
};
use superscalar_kernels::{Diag, Uplo};
use superscalar_oracle::{Sum, general};

pub struct Potrs;

impl Routine for Potrs {
    const NAME: &'static str = "potrs";
    const USES: &'static [Parameter] = &[Parameter::N, Parameter::Nrhs, Parameter::Uplo];
    const DEVICE_TILING: Option<DeviceTiling> = Some(DeviceTiling::Tiles);
    const HAS_BATCH_FORM: bool = true;

    fn operations(case: &Case) -> Operations {
        let (n, nrhs) = (case.dim.n as f64, case.nrhs as f64);
        Operations { multiplications: nrhs * n * (n + 1.0), additions: nrhs * n * (n - 1.0) }
    }

    /// The factor is random, and defines A, so that nothing has to be factored.
    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let n = case.dim.n;
        let factor =
            make.matrix((n, n), Keeps::Everything, |random, a| random.triangular(case.uplo, Diag::NonUnit, a))?;
        let b = make.matrix((n, case.nrhs), Keeps::Padding, |random, b| random.general(b))?;
        Some(Operands::new([factor, b]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [factor, b] = operands.views_mut();
        superscalar_dla::potrs(ours.runtime, case.uplo, factor.into_ref(), b, &ours.options)
    }

    fn resident<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Timed {
        let (matrices, none) = (operands.views_mut(), (&mut [] as &mut [i32], &mut [] as &mut [T]));
        resident::call(ours, case, DeviceTiling::Tiles, matrices, none, |s, [a, b], _, _| {
            spawn::potrs(s, case.uplo, &a, &b)
        })
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [factor, b] = operands.views_mut();
        let call = FortranCall::new("potrs").letter(case.uplo.letter()).int(case.dim.n).int(case.nrhs);
        call.input(factor.into_ref()).matrix(b).info()
    }

    fn batched<T: Scalar>(case: &Case) -> Option<BatchOperation<T>> {
        Some(BatchOperation::Potrs { uplo: case.uplo })
    }

    /// Returns the residual B − A X.
    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([factor, b], [_, x]) = (before.views(), after.views());
        let matrix = gram(case.uplo, case.uplo == Uplo::Lower, factor);
        Sum::new(case.dim.n).plus(T::ONE, [general(b)]).minus(matrix.into_iter().chain([general(x)])).columnwise()
    }
}
