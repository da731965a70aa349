//! geqrf and gelqf: A = Q R and A = L Q, with Q stored as reflectors.

use super::getri::WORK_COLUMNS;
use super::{
    BatchOperation, Case, Defect, DeviceTiling, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter,
    Routine, Scalar, Timed, defect, resident, slice, spawn,
};
use superscalar_kernels::{Diag, MatRef, Op, Uplo};
use superscalar_oracle::{Factor, Sum, largest, transformed, triangle};

/// Both routines; they differ in whether the reflectors are stored in columns or in rows.
pub struct Orthogonal<const BY_ROWS: bool>;

pub type Geqrf = Orthogonal<false>;
pub type Gelqf = Orthogonal<true>;

impl<const BY_ROWS: bool> Routine for Orthogonal<BY_ROWS> {
    const NAME: &'static str = if BY_ROWS { "gelqf" } else { "geqrf" };
    const USES: &'static [Parameter] = &[Parameter::M, Parameter::N];
    /// A device matrix is distributed by columns, so no device has a copy of whole rows.
    const DEVICE_TILING: Option<DeviceTiling> = if BY_ROWS { None } else { Some(DeviceTiling::Columns) };
    const HAS_BATCH_FORM: bool = !BY_ROWS;

    /// geqrf of a tall matrix and gelqf of a wide one have the same count, except for terms of first and second order.
    fn operations(case: &Case) -> Operations {
        let (m, n) = (case.dim.m as f64, case.dim.n as f64);
        let (long, short) = (m.max(n), m.min(n));
        let is_tall = m >= n;
        let cubic = short * short * (long - short / 3.0);
        let (half, linear) = if is_tall { (0.5, long) } else { (-0.5, 2.0 * long) };
        let constant = if BY_ROWS { 29.0 / 6.0 } else { 23.0 / 6.0 };
        let (half_added, linear_added) = if is_tall != BY_ROWS { (0.5, 0.0) } else { (-0.5, long) };
        Operations {
            multiplications: cubic + short * (half * short + linear + constant),
            additions: cubic + short * (half_added * short + linear_added + 5.0 / 6.0),
        }
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let a = make.matrix((case.dim.m, case.dim.n), Keeps::Padding, |random, a| random.general(a))?;
        Some(Operands::new([a, make.result((case.dim.m.min(case.dim.n), 1))?]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, _: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a, mut tau] = operands.views_mut();
        let factor = if BY_ROWS { superscalar_dla::gelqf } else { superscalar_dla::geqrf };
        factor(ours.runtime, a, slice(&mut tau), &ours.options)
    }

    fn resident<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Timed {
        let [a, mut tau] = operands.views_mut();
        resident::call(ours, case, DeviceTiling::Columns, [a], (&mut [], slice(&mut tau)), |s, [a], _, tau| {
            spawn::geqrf(s, &a, tau);
        })
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [a, tau] = operands.views_mut();
        let len = WORK_COLUMNS * case.dim.m.max(case.dim.n);
        FortranCall::new(Self::NAME).int(case.dim.m).int(case.dim.n).matrix(a).column(tau).work_with_len(len).info()
    }

    fn batched<T: Scalar>(_: &Case) -> Option<BatchOperation<T>> {
        (!BY_ROWS).then_some(BatchOperation::Geqrf)
    }

    /// Returns the residuals A − Q R and Qᴴ Q − I.
    fn residual<T: Scalar>(_: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a], [factors, tau]) = ([before.matrices[0].view()], after.views());
        let (m, n) = a.shape();
        let q = Factor::Reflectors { v: factors, tau, by_rows: BY_ROWS, adjoint: false };
        // For A = L Q, the adjoint equation: roundings depend on the length of the reflected vectors, which are rows.
        let (op, uplo) = if BY_ROWS { (Op::ConjTrans, Uplo::Lower) } else { (Op::None, Uplo::Upper) };
        let order = if BY_ROWS { n } else { m };
        let product = [q, triangle(uplo, op, Diag::NonUnit, factors)];
        let error = Sum::new(order).plus(T::ONE, [transformed(op, a)]).minus(product).columnwise();
        largest([error, orthogonality(order, BY_ROWS, factors, tau)])
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        let place = defect::at(0, (case.dim.m / 2, case.dim.n / 2));
        defect::with("NaN in the middle", case, ordinary, place, T::from_f64(f64::NAN)).into_iter().collect()
    }
}

/// Returns the residual Qᴴ Q − I for Q of order n.
pub fn orthogonality<T: Scalar>(n: usize, by_rows: bool, v: MatRef<'_, T>, tau: MatRef<'_, T>) -> f64 {
    let q = |adjoint| Factor::Reflectors { v, tau, by_rows, adjoint };
    Sum::new(n).plus(T::ONE, [q(true), q(false)]).minus([]).columnwise()
}
