//! trmm and trsm: compute B := alpha op(A) B or B := alpha B op(A) for a triangular A, or solve op(A) X = alpha B or X
//! op(A) = alpha B.

use super::symm::order;
use super::{
    BatchOperation, Case, Coefficient, Defect, DeviceTiling, FortranCall, Keeps, Maker, Operands, Operations, Ours,
    Parameter, Routine, Scalar, Timed, defect, resident, spawn,
};
use superscalar_kernels::Side;
use superscalar_oracle::{Sum, general, triangle};

/// Both routines; they differ in whether they multiply by the triangle or solve with it.
pub struct Triangular<const SOLVES: bool>;

pub type Trmm = Triangular<false>;
pub type Trsm = Triangular<true>;

impl<const SOLVES: bool> Routine for Triangular<SOLVES> {
    const NAME: &'static str = if SOLVES { "trsm" } else { "trmm" };
    const USES: &'static [Parameter] = &[
        Parameter::M,
        Parameter::N,
        Parameter::Side,
        Parameter::Uplo,
        Parameter::TransA,
        Parameter::Diag,
        Parameter::Alpha,
    ];
    const DEVICE_TILING: Option<DeviceTiling> = Some(DeviceTiling::Products);
    const HAS_BATCH_FORM: bool = SOLVES;

    fn operations(case: &Case) -> Operations {
        let (order, all) = (order(case) as f64, case.dim.m as f64 * case.dim.n as f64);
        Operations { multiplications: all * (order + 1.0) / 2.0, additions: all * (order - 1.0) / 2.0 }
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let order = order(case);
        let a =
            make.matrix((order, order), Keeps::Everything, |random, a| random.triangular(case.uplo, case.diag, a))?;
        let b = make.matrix((case.dim.m, case.dim.n), Keeps::Padding, |random, b| random.general(b))?;
        Some(Operands::new([a, b]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a, b] = operands.views_mut();
        let apply = if SOLVES { superscalar_dla::trsm } else { superscalar_dla::trmm };
        let (alpha, a) = (case.alpha.of(), a.into_ref());
        apply(ours.runtime, case.side, case.uplo, case.trans_a, case.diag, alpha, a, b, &ours.options)
    }

    fn resident<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Timed {
        let (matrices, none) = (operands.views_mut(), (&mut [] as &mut [i32], &mut [] as &mut [T]));
        let (side, uplo, op, diag, alpha) = (case.side, case.uplo, case.trans_a, case.diag, case.alpha.of());
        resident::call(ours, case, DeviceTiling::Products, matrices, none, |s, [a, b], _, _| {
            let apply = if SOLVES { spawn::trsm } else { spawn::trmm };
            apply(s, side, uplo, op, diag, alpha, &a, &b);
        })
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [a, b] = operands.views_mut();
        let call = FortranCall::new(Self::NAME).letter(case.side.letter()).letter(case.uplo.letter());
        let call = call.letter(case.trans_a.letter()).letter(case.diag.letter()).int(case.dim.m).int(case.dim.n);
        call.scalar(case.alpha.of()).input(a.into_ref()).matrix(b)
    }

    fn batched<T: Scalar>(case: &Case) -> Option<BatchOperation<T>> {
        let (side, uplo, op, diag, alpha) = (case.side, case.uplo, case.trans_a, case.diag, case.alpha.of());
        SOLVES.then_some(BatchOperation::Trsm { side, uplo, op, diag, alpha })
    }

    /// Returns the residual: the product minus the result, or alpha B − op(A) X.
    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, b], [_, result]) = (before.views(), after.views());
        let a_link = triangle(case.uplo, case.trans_a, case.diag, a);
        let times = |b| if case.side == Side::Left { [a_link, b] } else { [b, a_link] };
        let sum = Sum::new(case.dim.m);
        if !SOLVES || case.alpha == Coefficient::ZERO {
            // With alpha = 0, both are zero for any A.
            return sum.plus(case.alpha.of(), times(general(b))).minus([general(result)]).componentwise();
        }
        sum.plus(case.alpha.of(), [general(b)]).minus(times(general(result))).columnwise()
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        let a = defect::corner(case.uplo, case.diag, order(case)).map(|place| defect::at(0, place));
        defect::of_product(case, ordinary, &[a, Some(defect::at(1, (0, 0)))], None)
    }
}
