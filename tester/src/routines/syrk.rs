//! syrk and herk: one triangle of C = alpha A Aᵀ + beta C or alpha Aᵀ A + beta C; herk with conjugate transposes.

use super::{
    Case, Coefficient, Defect, DeviceTiling, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine,
    Scalar, Timed, defect, resident, spawn,
};
use superscalar_kernels::{Diag, MatRef, Op, Scalar as _};
use superscalar_oracle::{Storage, Sum, largest, stored, transformed};

/// Both routines; they differ in whether C is Hermitian.
pub struct RankKUpdate<const HERMITIAN: bool>;

pub type Syrk = RankKUpdate<false>;
pub type Herk = RankKUpdate<true>;

/// Returns the transpose that belongs to a symmetric or Hermitian C.
pub fn transpose(hermitian: bool) -> Op {
    if hermitian { Op::ConjTrans } else { Op::Trans }
}

/// Returns whether the update accepts this transpose: for complex matrices only its own, for real ones both, which are
/// equal.
pub fn takes<T: Scalar>(hermitian: bool, op: Op) -> bool {
    !T::COMPLEX || op == Op::None || op == transpose(hermitian)
}

/// Returns the storage of C.
pub fn form(hermitian: bool, case: &Case) -> Storage {
    if hermitian { Storage::Hermitian(case.uplo) } else { Storage::Symmetric(case.uplo) }
}

/// Returns 0 if the diagonal is real, as it must be in a Hermitian result, otherwise ∞.
pub fn real_diagonal<T: Scalar>(hermitian: bool, a: MatRef<'_, T>) -> f64 {
    let is_real = (0..a.nrows().min(a.ncols())).all(|i| a.at(i, i).im() == T::Real::ZERO);
    if is_real || !hermitian { 0.0 } else { f64::INFINITY }
}

/// Returns whether the call changes C. Otherwise the BLAS leave C unchanged, including imaginary parts of its diagonal.
pub fn changes(case: &Case) -> bool {
    let without_product = case.alpha == Coefficient::ZERO || case.dim.k == 0;
    !(without_product && case.beta == Coefficient { re: 1.0, im: 0.0 })
}

impl<const HERMITIAN: bool> Routine for RankKUpdate<HERMITIAN> {
    const NAME: &'static str = if HERMITIAN { "herk" } else { "syrk" };
    const USES: &'static [Parameter] =
        &[Parameter::N, Parameter::K, Parameter::Uplo, Parameter::TransA, Parameter::Alpha, Parameter::Beta];
    const DEVICE_TILING: Option<DeviceTiling> = Some(DeviceTiling::Products);

    fn admits<T: Scalar>(case: &Case) -> bool {
        takes::<T>(HERMITIAN, case.trans_a)
    }

    fn operations(case: &Case) -> Operations {
        let (n, k) = (case.dim.n as f64, case.dim.k as f64);
        Operations::pairs(k * n * (n + 1.0) / 2.0)
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let (n, uplo) = (case.dim.n, case.uplo);
        let a = make.matrix(case.trans_a.shape((n, case.dim.k)), Keeps::Everything, |random, a| random.general(a))?;
        let c = make.matrix((n, n), Keeps::OtherThan(uplo), |random, c| random.trapezoid(uplo, c))?;
        Some(Operands::new([a, c]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a, c] = operands.views_mut();
        let (rt, uplo, op, a, options) = (ours.runtime, case.uplo, case.trans_a, a.into_ref(), &ours.options);
        if HERMITIAN {
            let (alpha, beta) = (case.alpha.real::<T>(), case.beta.real::<T>());
            return superscalar_dla::herk(rt, uplo, op, alpha, a, beta, c, options);
        }
        superscalar_dla::syrk(rt, uplo, op, case.alpha.of(), a, case.beta.of(), c, options)
    }

    fn resident<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Timed {
        let (matrices, none) = (operands.views_mut(), (&mut [] as &mut [i32], &mut [] as &mut [T]));
        let (uplo, op, alpha, beta) = (case.uplo, case.trans_a, case.alpha, case.beta);
        resident::call(ours, case, DeviceTiling::Products, matrices, none, |s, [a, c], _, _| {
            if HERMITIAN {
                spawn::herk(s, uplo, op, alpha.real::<T>(), &a, beta.real::<T>(), &c);
            } else {
                spawn::syrk(s, uplo, op, alpha.of(), &a, beta.of(), &c);
            }
        })
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [a, c] = operands.views_mut();
        let call = FortranCall::new(if HERMITIAN && T::COMPLEX { "herk" } else { "syrk" });
        let call = call.letter(case.uplo.letter()).letter(case.trans_a.letter()).int(case.dim.n).int(case.dim.k);
        if HERMITIAN {
            return call.real(case.alpha.real::<T>()).input(a.into_ref()).real(case.beta.real::<T>()).matrix(c);
        }
        call.scalar(case.alpha.of()).input(a.into_ref()).scalar(case.beta.of()).matrix(c)
    }

    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, c], [_, result]) = (before.views(), after.views());
        let coefficient = |by: Coefficient| if HERMITIAN { T::from_real(by.real::<T>()) } else { by.of() };
        let (plain, transposed) = (transformed(Op::None, a), transformed(transpose(HERMITIAN), a));
        let product = if case.trans_a == Op::None { [plain, transposed] } else { [transposed, plain] };
        let symmetric = |c| [stored(form(HERMITIAN, case), c)];
        let sum = Sum::new(case.dim.n).plus(coefficient(case.alpha), product);
        let sum = sum.plus(coefficient(case.beta), symmetric(c)).minus(symmetric(result));
        largest([sum.componentwise(), real_diagonal(HERMITIAN && changes(case), result)])
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        let sum = defect::corner(case.uplo, Diag::NonUnit, case.dim.n).map(|place| defect::at(1, place));
        defect::of_product(case, ordinary, &[Some(defect::at(0, (0, 0)))], sum)
    }
}
