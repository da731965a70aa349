//! geadd: B = alpha op(A) + beta B. LAPACK has no such routine; OpenBLAS has.

use super::{
    Case, Defect, DeviceTiling, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar,
    Timed, defect, resident, spawn,
};
use superscalar_kernels::Op;
use superscalar_oracle::{Sum, general, transformed};

pub struct Geadd;

impl Routine for Geadd {
    const NAME: &'static str = "geadd";
    const USES: &'static [Parameter] =
        &[Parameter::M, Parameter::N, Parameter::TransA, Parameter::Alpha, Parameter::Beta];
    const DEVICE_TILING: Option<DeviceTiling> = Some(DeviceTiling::Products);

    fn operations(case: &Case) -> Operations {
        let elements = case.dim.m as f64 * case.dim.n as f64;
        Operations { multiplications: 2.0 * elements, additions: elements }
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let shape = (case.dim.m, case.dim.n);
        let a = make.matrix(case.trans_a.shape(shape), Keeps::Everything, |random, a| random.general(a))?;
        let b = make.matrix(shape, Keeps::Padding, |random, b| random.general(b))?;
        Some(Operands::new([a, b]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a, b] = operands.views_mut();
        let (alpha, beta) = (case.alpha.of(), case.beta.of());
        superscalar_dla::geadd(ours.runtime, case.trans_a, alpha, a.into_ref(), beta, b, &ours.options)
    }

    fn resident<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Timed {
        let (matrices, none) = (operands.views_mut(), (&mut [] as &mut [i32], &mut [] as &mut [T]));
        let (alpha, beta, op) = (case.alpha.of(), case.beta.of(), case.trans_a);
        resident::call(ours, case, DeviceTiling::Products, matrices, none, |s, [a, b], _, _| {
            spawn::geadd(s, op, alpha, &a, beta, &b);
        })
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        if case.trans_a != Op::None {
            return FortranCall::absent("not all versions of the peer's geadd support a transpose");
        }
        let [a, b] = operands.views_mut();
        let call =
            FortranCall::new("geadd").int(case.dim.m).int(case.dim.n).scalar(case.alpha.of()).input(a.into_ref());
        // Newer versions take two more letters; older ones ignore them.
        call.scalar(case.beta.of()).matrix(b).letter(Op::None.letter()).letter(Op::None.letter())
    }

    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, b], [_, result]) = (before.views(), after.views());
        let sum = Sum::new(case.dim.m).plus(case.alpha.of(), [transformed(case.trans_a, a)]);
        sum.plus(case.beta.of(), [general(b)]).minus([general(result)]).componentwise()
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        defect::of_product(case, ordinary, &[Some(defect::at(0, (0, 0)))], Some(defect::at(1, (0, 0))))
    }
}
