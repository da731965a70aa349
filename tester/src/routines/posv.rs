//! posv: factors A and solves A X = B.

use super::potrf::{Potrf, cholesky, indefinite};
use super::potrs::Potrs;
use super::{
    BatchOperation, Case, Defect, DeviceTiling, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter,
    Routine, Scalar, Timed, resident, spawn,
};
use superscalar_kernels::{MatRef, Uplo};
use superscalar_oracle::{Storage, Sum, general, largest, stored};

pub struct Posv;

impl Routine for Posv {
    const NAME: &'static str = "posv";
    const USES: &'static [Parameter] = &[Parameter::N, Parameter::Nrhs, Parameter::Uplo];
    const DEVICE_TILING: Option<DeviceTiling> = Some(DeviceTiling::Tiles);
    const HAS_BATCH_FORM: bool = true;

    fn operations(case: &Case) -> Operations {
        Potrf::operations(case) + Potrs::operations(case)
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let (n, uplo) = (case.dim.n, case.uplo);
        let a = make.matrix((n, n), Keeps::OtherThan(uplo), |random, a| random.positive_definite(uplo, a))?;
        let b = make.matrix((n, case.nrhs), Keeps::Padding, |random, b| random.general(b))?;
        Some(Operands::new([a, b]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a, b] = operands.views_mut();
        superscalar_dla::posv(ours.runtime, case.uplo, a, b, &ours.options)
    }

    fn resident<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Timed {
        let (matrices, none) = (operands.views_mut(), (&mut [] as &mut [i32], &mut [] as &mut [T]));
        resident::call(ours, case, DeviceTiling::Tiles, matrices, none, |s, [a, b], _, _| {
            spawn::posv(s, case.uplo, &a, &b)
        })
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [a, b] = operands.views_mut();
        FortranCall::new("posv").letter(case.uplo.letter()).int(case.dim.n).int(case.nrhs).matrix(a).matrix(b).info()
    }

    fn batched<T: Scalar>(case: &Case) -> Option<BatchOperation<T>> {
        Some(BatchOperation::Posv { uplo: case.uplo })
    }

    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, b], [factor, x]) = (before.views(), after.views());
        largest([cholesky(case.uplo, a, factor), hermitian_solution(case.uplo, a, x, b)])
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        indefinite(case, ordinary)
    }
}

/// Returns the residual B − A X for a Hermitian A of which one triangle is stored.
pub fn hermitian_solution<T: Scalar>(uplo: Uplo, a: MatRef<'_, T>, x: MatRef<'_, T>, b: MatRef<'_, T>) -> f64 {
    let product = [stored(Storage::Hermitian(uplo), a), general(x)];
    Sum::new(a.nrows()).plus(T::ONE, [general(b)]).minus(product).columnwise()
}
