//! gemv: y = alpha op(A) x + beta y. The library computes it for batches; one problem is a batch of one.

use super::{
    BatchOperation, Case, Defect, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar,
    defect,
};
use superscalar_dla::{BatchMut, BatchRef, batch};
use superscalar_kernels::Op;
use superscalar_oracle::{Sum, general, transformed};

pub struct Gemv;

impl Routine for Gemv {
    const NAME: &'static str = "gemv";
    const USES: &'static [Parameter] =
        &[Parameter::M, Parameter::N, Parameter::TransA, Parameter::Alpha, Parameter::Beta];
    const HAS_BATCH_FORM: bool = true;

    fn operations(case: &Case) -> Operations {
        Operations::pairs(case.dim.m as f64 * case.dim.n as f64)
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let shape = (case.dim.m, case.dim.n);
        let (rows, columns) = case.trans_a.shape(shape);
        let a = make.matrix(shape, Keeps::Everything, |random, a| random.general(a))?;
        let x = make.matrix((columns, 1), Keeps::Everything, |random, x| random.general(x))?;
        let y = make.matrix((rows, 1), Keeps::Padding, |random, y| random.general(y))?;
        Some(Operands::new([a, x, y]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a, x, y] = operands.views_mut();
        let [a, x] = [a, x].map(|a| BatchRef::gathered(vec![a.into_ref()]));
        let (alpha, beta, y) = (case.alpha.of(), case.beta.of(), BatchMut::gathered(vec![y]));
        batch::gemv(ours.runtime, alpha, case.trans_a, a, x, beta, y, &ours.options)
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [a, x, y] = operands.views_mut();
        let call = FortranCall::new("gemv").letter(case.trans_a.letter()).int(case.dim.m).int(case.dim.n);
        let call = call.scalar(case.alpha.of()).input(a.into_ref()).column(x).int(1);
        call.scalar(case.beta.of()).column(y).int(1)
    }

    fn batched<T: Scalar>(case: &Case) -> Option<BatchOperation<T>> {
        let ops = (case.trans_a, Op::None);
        Some(BatchOperation::Gemm { ops, alpha: case.alpha.of(), beta: case.beta.of() })
    }

    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, x, y], [_, _, result]) = (before.views(), after.views());
        let product = [transformed(case.trans_a, a), general(x)];
        let sum = Sum::new(result.nrows()).plus(case.alpha.of(), product).plus(case.beta.of(), [general(y)]);
        sum.minus([general(result)]).componentwise()
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        let (rows, columns) = case.trans_a.shape((case.dim.m, case.dim.n));
        let (Some(i), Some(j)) = (rows.checked_sub(1), columns.checked_sub(1)) else { return Vec::new() };
        let factors = [Some(defect::at(0, case.trans_a.shape((i, j)))), Some(defect::at(1, (j, 0)))];
        defect::of_product(case, ordinary, &factors, Some(defect::at(2, (i, 0))))
    }
}
