//! symm and hemm: C = alpha A B + beta C or C = alpha B A + beta C, for a symmetric or Hermitian A of which one
//! triangle is stored.

use super::{
    Case, Defect, DeviceTiling, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar,
    Timed, defect, resident, spawn,
};
use superscalar_kernels::{Diag, Side};
use superscalar_oracle::{Storage, Sum, general, stored};

/// Both routines; they differ in whether A is Hermitian.
pub struct Product<const HERMITIAN: bool>;

pub type Symm = Product<false>;
pub type Hemm = Product<true>;

/// Returns the order of a square matrix on this side of an m x n matrix.
pub fn order(case: &Case) -> usize {
    if case.side == Side::Left { case.dim.m } else { case.dim.n }
}

impl<const HERMITIAN: bool> Routine for Product<HERMITIAN> {
    const NAME: &'static str = if HERMITIAN { "hemm" } else { "symm" };
    const USES: &'static [Parameter] =
        &[Parameter::M, Parameter::N, Parameter::Side, Parameter::Uplo, Parameter::Alpha, Parameter::Beta];
    const DEVICE_TILING: Option<DeviceTiling> = Some(DeviceTiling::Products);

    fn operations(case: &Case) -> Operations {
        Operations::pairs(case.dim.m as f64 * case.dim.n as f64 * order(case) as f64)
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let (shape, order) = ((case.dim.m, case.dim.n), order(case));
        let a = make.matrix((order, order), Keeps::Everything, |random, a| random.trapezoid(case.uplo, a))?;
        let b = make.matrix(shape, Keeps::Everything, |random, b| random.general(b))?;
        let c = make.matrix(shape, Keeps::Padding, |random, c| random.general(c))?;
        Some(Operands::new([a, b, c]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a, b, c] = operands.views_mut();
        let multiply = if HERMITIAN { superscalar_dla::hemm } else { superscalar_dla::symm };
        let (alpha, beta, a, b) = (case.alpha.of(), case.beta.of(), a.into_ref(), b.into_ref());
        multiply(ours.runtime, case.side, case.uplo, alpha, a, b, beta, c, &ours.options)
    }

    fn resident<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Timed {
        let (matrices, none) = (operands.views_mut(), (&mut [] as &mut [i32], &mut [] as &mut [T]));
        let (side, uplo, alpha, beta) = (case.side, case.uplo, case.alpha.of(), case.beta.of());
        resident::call(ours, case, DeviceTiling::Products, matrices, none, |s, [a, b, c], _, _| {
            let multiply = if HERMITIAN { spawn::hemm } else { spawn::symm };
            multiply(s, side, uplo, alpha, &a, &b, beta, &c);
        })
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [a, b, c] = operands.views_mut();
        let call = FortranCall::new(if HERMITIAN && T::COMPLEX { "hemm" } else { "symm" });
        let call = call.letter(case.side.letter()).letter(case.uplo.letter()).int(case.dim.m).int(case.dim.n);
        let call = call.scalar(case.alpha.of()).input(a.into_ref()).input(b.into_ref());
        call.scalar(case.beta.of()).matrix(c)
    }

    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, b, c], [_, _, result]) = (before.views(), after.views());
        let form = if HERMITIAN { Storage::Hermitian } else { Storage::Symmetric };
        let (a, b) = (stored(form(case.uplo), a), general(b));
        let product = if case.side == Side::Left { [a, b] } else { [b, a] };
        let sum = Sum::new(case.dim.m).plus(case.alpha.of(), product).plus(case.beta.of(), [general(c)]);
        sum.minus([general(result)]).componentwise()
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        let a = defect::corner(case.uplo, Diag::NonUnit, order(case)).map(|place| defect::at(0, place));
        defect::of_product(case, ordinary, &[a, Some(defect::at(1, (0, 0)))], Some(defect::at(2, (0, 0))))
    }
}
