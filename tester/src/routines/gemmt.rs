//! gemmt: one triangle of C = alpha op(A) op(B) + beta C, for a C that is square.

use super::{
    Case, Defect, DeviceTiling, Dim, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar,
    Timed, defect, resident, spawn,
};
use superscalar_kernels::{Diag, Op};
use superscalar_oracle::{Factor, Sum, triangle};

pub struct Gemmt;

impl Routine for Gemmt {
    const NAME: &'static str = "gemmt";
    const USES: &'static [Parameter] = &[
        Parameter::N,
        Parameter::K,
        Parameter::Uplo,
        Parameter::TransA,
        Parameter::TransB,
        Parameter::Alpha,
        Parameter::Beta,
    ];
    const DEVICE_TILING: Option<DeviceTiling> = Some(DeviceTiling::Products);

    fn operations(case: &Case) -> Operations {
        let (n, k) = (case.dim.n as f64, case.dim.k as f64);
        Operations::pairs(k * n * (n + 1.0) / 2.0)
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let Dim { n, k, .. } = case.dim;
        let a = make.matrix(case.trans_a.shape((n, k)), Keeps::Everything, |random, a| random.general(a))?;
        let b = make.matrix(case.trans_b.shape((k, n)), Keeps::Everything, |random, b| random.general(b))?;
        let c = make.matrix((n, n), Keeps::OtherThan(case.uplo), |random, c| random.trapezoid(case.uplo, c))?;
        Some(Operands::new([a, b, c]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a, b, c] = operands.views_mut();
        let (alpha, beta, a, b) = (case.alpha.of(), case.beta.of(), a.into_ref(), b.into_ref());
        let (uplo, op_a, op_b) = (case.uplo, case.trans_a, case.trans_b);
        superscalar_dla::gemmt(ours.runtime, uplo, alpha, op_a, a, op_b, b, beta, c, &ours.options)
    }

    fn resident<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Timed {
        let (matrices, none) = (operands.views_mut(), (&mut [] as &mut [i32], &mut [] as &mut [T]));
        let (alpha, beta, op_a, op_b) = (case.alpha.of(), case.beta.of(), case.trans_a, case.trans_b);
        resident::call(ours, case, DeviceTiling::Products, matrices, none, |s, [a, b, c], _, _| {
            spawn::gemmt(s, case.uplo, alpha, op_a, &a, op_b, &b, beta, &c);
        })
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [a, b, c] = operands.views_mut();
        let call = FortranCall::new("gemmt").letter(case.uplo.letter()).letter(case.trans_a.letter());
        let call = call.letter(case.trans_b.letter()).int(case.dim.n).int(case.dim.k).scalar(case.alpha.of());
        call.input(a.into_ref()).input(b.into_ref()).scalar(case.beta.of()).matrix(c)
    }

    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, b, c], [_, _, result], uplo) = (before.views(), after.views(), case.uplo);
        let product = Factor::TriangleOf { uplo, op_a: case.trans_a, a, op_b: case.trans_b, b };
        let part = |c| [triangle(uplo, Op::None, Diag::NonUnit, c)];
        let sum = Sum::new(case.dim.n).plus(case.alpha.of(), [product]).plus(case.beta.of(), part(c));
        sum.minus(part(result)).componentwise()
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        let sum = defect::corner(case.uplo, Diag::NonUnit, case.dim.n).map(|place| defect::at(2, place));
        defect::of_product(case, ordinary, &[Some(defect::at(0, (0, 0))), Some(defect::at(1, (0, 0)))], sum)
    }
}
