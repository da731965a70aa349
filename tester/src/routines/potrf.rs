//! potrf: A = L Lᴴ or A = Uᴴ U.

use super::potri::gram;
use super::{
    BatchOperation, Case, Defect, DeviceTiling, Expected, FortranCall, Keeps, Maker, Operands, Operations, Ours,
    Parameter, Routine, Scalar, Timed, defect, resident, spawn,
};
use superscalar_kernels::{MatRef, Uplo};
use superscalar_oracle::{Storage, Sum, largest, residual::positive_diagonal, stored};

pub struct Potrf;

impl Routine for Potrf {
    const NAME: &'static str = "potrf";
    const USES: &'static [Parameter] = &[Parameter::N, Parameter::Uplo];
    const DEVICE_TILING: Option<DeviceTiling> = Some(DeviceTiling::CholeskyColumns);
    const HAS_BATCH_FORM: bool = true;

    fn operations(case: &Case) -> Operations {
        let n = case.dim.n as f64;
        Operations { multiplications: n * n * n / 6.0 + n * n / 2.0 + n / 3.0, additions: n * n * n / 6.0 - n / 6.0 }
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let (n, uplo) = (case.dim.n, case.uplo);
        let a = make.matrix((n, n), Keeps::OtherThan(uplo), |random, a| random.positive_definite(uplo, a))?;
        Some(Operands::new([a]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a] = operands.views_mut();
        superscalar_dla::potrf(ours.runtime, case.uplo, a, &ours.options)
    }

    fn resident<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Timed {
        let (matrices, none) = (operands.views_mut(), (&mut [] as &mut [i32], &mut [] as &mut [T]));
        resident::call(ours, case, DeviceTiling::CholeskyColumns, matrices, none, |s, [a], _, _| {
            spawn::potrf(s, case.uplo, &a)
        })
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [a] = operands.views_mut();
        FortranCall::new("potrf").letter(case.uplo.letter()).int(case.dim.n).matrix(a).info()
    }

    fn batched<T: Scalar>(case: &Case) -> Option<BatchOperation<T>> {
        Some(BatchOperation::Potrf { uplo: case.uplo })
    }

    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a], [factor]) = (before.views(), after.views());
        cholesky(case.uplo, a, factor)
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        indefinite(case, ordinary)
    }
}

/// Returns the residual A − L Lᴴ or A − Uᴴ U; ∞ if the factor's diagonal is not real and positive.
pub fn cholesky<T: Scalar>(uplo: Uplo, a: MatRef<'_, T>, factor: MatRef<'_, T>) -> f64 {
    let sum = Sum::new(a.nrows()).plus(T::ONE, [stored(Storage::Hermitian(uplo), a)]);
    largest([sum.minus(gram(uplo, uplo == Uplo::Lower, factor)).columnwise(), positive_diagonal(factor)])
}

/// Returns a matrix with a negative pivot in the middle, and one with a NaN in the first column (or row).
pub(super) fn indefinite<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
    let n = case.dim.n;
    if n == 0 {
        return Vec::new();
    }
    // The leading minors before p are those of the ordinary matrix; the pivot at p is less than the diagonal entry, so
    // negative.
    let p = n / 2;
    let far = if case.uplo == Uplo::Lower { (n - 1, 0) } else { (0, n - 1) };
    let not_a_number = T::from_f64(f64::NAN);
    [
        ("an indefinite matrix", (p, p), -T::ONE, Expected::Info(p + 1)),
        ("NaN in the first column", far, not_a_number, Expected::NotANumber),
    ]
    .into_iter()
    .filter_map(|(name, place, value, expected)| {
        Some(defect::with(name, case, ordinary, defect::at(0, place), value)?.expecting(expected))
    })
    .collect()
}
