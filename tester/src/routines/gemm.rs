//! gemm: C = alpha op(A) op(B) + beta C.

use super::{
    BatchOperation, Case, Defect, DeviceTiling, Dim, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter,
    Routine, Scalar, Timed, defect, resident, spawn,
};
use superscalar_kernels::{Real, reference};
use superscalar_oracle::{Sum, general, largest, modulus, transformed};

pub struct Gemm;

/// Up to this many multiplications, the result is also compared with the kernels' textbook loops.
const TEXTBOOK_MAX: usize = 64 * 64 * 64;

impl Routine for Gemm {
    const NAME: &'static str = "gemm";
    const USES: &'static [Parameter] = &[
        Parameter::M,
        Parameter::N,
        Parameter::K,
        Parameter::TransA,
        Parameter::TransB,
        Parameter::Alpha,
        Parameter::Beta,
    ];
    const DEVICE_TILING: Option<DeviceTiling> = Some(DeviceTiling::Products);
    const HAS_BATCH_FORM: bool = true;

    fn operations(case: &Case) -> Operations {
        let Dim { m, n, k } = case.dim;
        Operations::pairs(m as f64 * n as f64 * k as f64)
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let Dim { m, n, k } = case.dim;
        let a = make.matrix(case.trans_a.shape((m, k)), Keeps::Everything, |random, a| random.general(a))?;
        let b = make.matrix(case.trans_b.shape((k, n)), Keeps::Everything, |random, b| random.general(b))?;
        let c = make.matrix((m, n), Keeps::Padding, |random, c| random.general(c))?;
        Some(Operands::new([a, b, c]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a, b, c] = operands.views_mut();
        let (alpha, beta, a, b) = (case.alpha.of(), case.beta.of(), a.into_ref(), b.into_ref());
        superscalar_dla::gemm(ours.runtime, alpha, case.trans_a, a, case.trans_b, b, beta, c, &ours.options)
    }

    fn resident<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Timed {
        let (matrices, none) = (operands.views_mut(), (&mut [] as &mut [i32], &mut [] as &mut [T]));
        let (alpha, beta, op_a, op_b) = (case.alpha.of(), case.beta.of(), case.trans_a, case.trans_b);
        resident::call(ours, case, DeviceTiling::Products, matrices, none, |s, [a, b, c], _, _| {
            spawn::gemm(s, alpha, op_a, &a, op_b, &b, beta, &c);
        })
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let ([a, b, c], Dim { m, n, k }) = (operands.views_mut(), case.dim);
        let call =
            FortranCall::new("gemm").letter(case.trans_a.letter()).letter(case.trans_b.letter()).int(m).int(n).int(k);
        let call = call.scalar(case.alpha.of()).input(a.into_ref()).input(b.into_ref());
        call.scalar(case.beta.of()).matrix(c)
    }

    fn batched<T: Scalar>(case: &Case) -> Option<BatchOperation<T>> {
        let ops = (case.trans_a, case.trans_b);
        Some(BatchOperation::Gemm { ops, alpha: case.alpha.of(), beta: case.beta.of() })
    }

    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, b, c], [_, _, result]) = (before.views(), after.views());
        let product = [transformed(case.trans_a, a), transformed(case.trans_b, b)];
        let sum = Sum::new(case.dim.m).plus(case.alpha.of(), product).plus(case.beta.of(), [general(c)]);
        largest([sum.minus([general(result)]).componentwise(), textbook(case, before, after)])
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        let Dim { m, n, k } = case.dim;
        let (Some(i), Some(j), Some(p)) = (m.checked_sub(1), n.checked_sub(1), k.checked_sub(1)) else {
            return Vec::new();
        };
        let factors =
            [Some(defect::at(0, case.trans_a.shape((i, p)))), Some(defect::at(1, case.trans_b.shape((p, j))))];
        defect::of_product(case, ordinary, &factors, Some(defect::at(2, (i, j))))
    }
}

/// Returns the largest difference from the textbook loops over k ε. The elements are below 1/2 in both parts.
fn textbook<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
    let Dim { m, n, k } = case.dim;
    if m * n * k > TEXTBOOK_MAX {
        return 0.0;
    }
    let Some(mut expected) = before.duplicate() else { return f64::NAN };
    let ([a, b, _], [_, _, c], [_, _, result]) = (before.views(), expected.views_mut(), after.views());
    let mut c = c;
    reference::gemm(case.alpha.of(), case.trans_a, a, case.trans_b, b, case.beta.of(), c.rb_mut());
    let places = (0..n).flat_map(|j| (0..m).map(move |i| (i, j)));
    let error = largest(places.map(|place| modulus(c[place] - result[place])));
    error / ((k + 1) as f64 * T::EPSILON.to_f64())
}
