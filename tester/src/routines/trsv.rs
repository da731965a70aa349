//! trsv: solves op(A) x = b for a triangular A. The library computes it for batches; one problem is a batch of one.

use super::{
    BatchOperation, Case, Defect, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar,
    defect,
};
use superscalar_dla::{BatchMut, BatchRef, batch};
use superscalar_kernels::Side;
use superscalar_oracle::{Sum, general, triangle};

pub struct Trsv;

impl Routine for Trsv {
    const NAME: &'static str = "trsv";
    const USES: &'static [Parameter] = &[Parameter::N, Parameter::Uplo, Parameter::TransA, Parameter::Diag];
    const HAS_BATCH_FORM: bool = true;

    fn operations(case: &Case) -> Operations {
        let n = case.dim.n as f64;
        Operations { multiplications: n * (n + 1.0) / 2.0, additions: n * (n - 1.0) / 2.0 }
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let n = case.dim.n;
        let a = make.matrix((n, n), Keeps::Everything, |random, a| random.triangular(case.uplo, case.diag, a))?;
        let x = make.matrix((n, 1), Keeps::Padding, |random, x| random.general(x))?;
        Some(Operands::new([a, x]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a, x] = operands.views_mut();
        let (a, x) = (BatchRef::gathered(vec![a.into_ref()]), BatchMut::gathered(vec![x]));
        batch::trsv(ours.runtime, case.uplo, case.trans_a, case.diag, a, x, &ours.options)
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [a, x] = operands.views_mut();
        let call = FortranCall::new("trsv").letter(case.uplo.letter()).letter(case.trans_a.letter());
        call.letter(case.diag.letter()).int(case.dim.n).input(a.into_ref()).column(x).int(1)
    }

    fn batched<T: Scalar>(case: &Case) -> Option<BatchOperation<T>> {
        let (uplo, op, diag) = (case.uplo, case.trans_a, case.diag);
        Some(BatchOperation::Trsm { side: Side::Left, uplo, op, diag, alpha: T::ONE })
    }

    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, b], [_, x]) = (before.views(), after.views());
        let product = [triangle(case.uplo, case.trans_a, case.diag, a), general(x)];
        Sum::new(case.dim.n).plus(T::ONE, [general(b)]).minus(product).columnwise()
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        let place = defect::corner(case.uplo, case.diag, case.dim.n).map(|place| defect::at(0, place));
        let value = T::from_f64(f64::NAN);
        place.and_then(|place| defect::with("NaN in A", case, ordinary, place, value)).into_iter().collect()
    }
}
