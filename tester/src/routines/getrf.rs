//! getrf: A = P L U, with partial pivoting.

use super::{
    BatchOperation, Case, Defect, DeviceTiling, Expected, FortranCall, Keeps, Maker, Operands, Operations, Ours,
    Parameter, Routine, Scalar, Timed, defect, resident, spawn,
};
use superscalar_kernels::{Diag, MatRef, Op, Real, Uplo};
use superscalar_oracle::{Factor, Sum, general, largest, modulus, triangle};

pub struct Getrf;

impl Routine for Getrf {
    const NAME: &'static str = "getrf";
    const USES: &'static [Parameter] = &[Parameter::M, Parameter::N];
    const DEVICE_TILING: Option<DeviceTiling> = Some(DeviceTiling::Columns);
    const HAS_BATCH_FORM: bool = true;

    fn operations(case: &Case) -> Operations {
        let (long, short) = (case.dim.m.max(case.dim.n) as f64, case.dim.m.min(case.dim.n) as f64);
        let shared = short * short * (long - short / 3.0) / 2.0;
        Operations {
            multiplications: shared + short * (long - short) / 2.0 + 2.0 * short / 3.0,
            additions: shared - short * long / 2.0 + short / 6.0,
        }
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let a = make.matrix((case.dim.m, case.dim.n), Keeps::Padding, |random, a| random.general(a))?;
        Some(Operands::new([a]).with_pivots(vec![0; case.dim.m.min(case.dim.n)], Keeps::Padding))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, _: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let ([a], pivots) = operands.views_and_pivots_mut();
        superscalar_dla::getrf(ours.runtime, a, pivots, &ours.options)
    }

    fn resident<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Timed {
        let (matrices, pivots) = operands.views_and_pivots_mut();
        resident::call(ours, case, DeviceTiling::Columns, matrices, (pivots, &mut []), |s, [a], ipiv, _| {
            spawn::getrf(s, &a, ipiv);
        })
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let ([a], pivots) = operands.views_and_pivots_mut();
        FortranCall::new("getrf").int(case.dim.m).int(case.dim.n).matrix(a).ints(pivots).info()
    }

    fn batched<T: Scalar>(_: &Case) -> Option<BatchOperation<T>> {
        Some(BatchOperation::Getrf)
    }

    fn residual<T: Scalar>(_: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a], [factors]) = (before.views(), after.views());
        factorization(a, factors, &after.pivots)
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        let order = case.dim.m.min(case.dim.n);
        let singular = zero_column(case, ordinary, order / 2);
        let lost = defect::with(
            "NaN in the first column",
            case,
            ordinary,
            defect::at(0, (order / 2, 0)),
            T::from_f64(f64::NAN),
        );
        let singular = singular.map(|defect| defect.expecting(Expected::Completed(order / 2 + 1)));
        if order == 0 { Vec::new() } else { singular.into_iter().chain(lost).collect() }
    }
}

/// Returns the ordinary operands with a column of zeros in the first matrix, so that its pivot is exactly zero.
pub fn zero_column<T: Scalar>(case: &Case, ordinary: &Operands<T>, column: usize) -> Option<Defect<T>> {
    let mut defect = defect::with("a column of zeros", case, ordinary, defect::at(0, (0, column)), T::ZERO)?;
    defect.operands.matrices[0].view_mut().col(column).fill(T::ZERO);
    Some(defect)
}

/// Returns the factors P, L and U. L and U are stored in one matrix.
pub fn factors<'a, T: Scalar>(factors: MatRef<'a, T>, pivots: &'a [i32]) -> [Factor<'a, T>; 3] {
    let (m, n) = factors.shape();
    let order = m.min(n);
    let lower = factors.submatrix(0..m, 0..order);
    let upper = factors.submatrix(0..order, 0..n);
    [
        Factor::Interchanges { pivots, inverse: false },
        triangle(Uplo::Lower, Op::None, Diag::Unit, lower),
        triangle(Uplo::Upper, Op::None, Diag::NonUnit, upper),
    ]
}

/// Returns the residual A − P L U, and by how much the multipliers exceed the limit of partial pivoting, over ε. The
/// limit is 1, or √2 if pivots are compared by |re| + |im|.
pub fn factorization<T: Scalar>(a: MatRef<'_, T>, lu: MatRef<'_, T>, pivots: &[i32]) -> f64 {
    let (m, n) = a.shape();
    let error = Sum::new(m).plus(T::ONE, [general(a)]).minus(factors(lu, pivots)).columnwise();
    let columns = 0..m.min(n);
    let multiplier = largest(columns.flat_map(|j| (j + 1..m).map(move |i| modulus(lu.at(i, j)))));
    let limit = if T::COMPLEX { std::f64::consts::SQRT_2 } else { 1.0 };
    largest([error, largest([(multiplier - limit) / T::EPSILON.to_f64()])])
}
