//! syr2k and her2k: one triangle of C = alpha A Bᵀ + alpha B Aᵀ + beta C, or with both transposed; her2k with conjugate
//! transposes, and the conjugate of alpha in the second term.

use super::syrk::{changes, form, real_diagonal, takes, transpose};
use super::{
    Case, Defect, DeviceTiling, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar,
    Timed, defect, resident, spawn,
};
use superscalar_kernels::{Diag, Op};
use superscalar_oracle::{Sum, largest, stored, transformed};

/// Both routines; they differ in whether C is Hermitian.
pub struct Rank2kUpdate<const HERMITIAN: bool>;

pub type Syr2k = Rank2kUpdate<false>;
pub type Her2k = Rank2kUpdate<true>;

impl<const HERMITIAN: bool> Routine for Rank2kUpdate<HERMITIAN> {
    const NAME: &'static str = if HERMITIAN { "her2k" } else { "syr2k" };
    const USES: &'static [Parameter] =
        &[Parameter::N, Parameter::K, Parameter::Uplo, Parameter::TransA, Parameter::Alpha, Parameter::Beta];
    const DEVICE_TILING: Option<DeviceTiling> = Some(DeviceTiling::Products);

    fn admits<T: Scalar>(case: &Case) -> bool {
        takes::<T>(HERMITIAN, case.trans_a)
    }

    fn operations(case: &Case) -> Operations {
        let (n, k) = (case.dim.n as f64, case.dim.k as f64);
        Operations { multiplications: k * n * n, additions: k * n * n + n }
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let (n, uplo) = (case.dim.n, case.uplo);
        let shape = case.trans_a.shape((n, case.dim.k));
        let a = make.matrix(shape, Keeps::Everything, |random, a| random.general(a))?;
        let b = make.matrix(shape, Keeps::Everything, |random, b| random.general(b))?;
        let c = make.matrix((n, n), Keeps::OtherThan(uplo), |random, c| random.trapezoid(uplo, c))?;
        Some(Operands::new([a, b, c]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a, b, c] = operands.views_mut();
        let (rt, uplo, op, options) = (ours.runtime, case.uplo, case.trans_a, &ours.options);
        let (alpha, a, b) = (case.alpha.of(), a.into_ref(), b.into_ref());
        if HERMITIAN {
            return superscalar_dla::her2k(rt, uplo, op, alpha, a, b, case.beta.real::<T>(), c, options);
        }
        superscalar_dla::syr2k(rt, uplo, op, alpha, a, b, case.beta.of(), c, options)
    }

    fn resident<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Timed {
        let (matrices, none) = (operands.views_mut(), (&mut [] as &mut [i32], &mut [] as &mut [T]));
        let (uplo, op, alpha, beta) = (case.uplo, case.trans_a, case.alpha.of(), case.beta);
        resident::call(ours, case, DeviceTiling::Products, matrices, none, |s, [a, b, c], _, _| {
            if HERMITIAN {
                spawn::her2k(s, uplo, op, alpha, &a, &b, beta.real::<T>(), &c);
            } else {
                spawn::syr2k(s, uplo, op, alpha, &a, &b, beta.of(), &c);
            }
        })
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [a, b, c] = operands.views_mut();
        let call = FortranCall::new(if HERMITIAN && T::COMPLEX { "her2k" } else { "syr2k" });
        let call = call.letter(case.uplo.letter()).letter(case.trans_a.letter()).int(case.dim.n).int(case.dim.k);
        let call = call.scalar(case.alpha.of()).input(a.into_ref()).input(b.into_ref());
        let call = if HERMITIAN { call.real(case.beta.real::<T>()) } else { call.scalar(case.beta.of()) };
        call.matrix(c)
    }

    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, b, c], [_, _, result]) = (before.views(), after.views());
        let transpose = transpose(HERMITIAN);
        let product = |x, y| match case.trans_a {
            Op::None => [transformed(Op::None, x), transformed(transpose, y)],
            Op::Trans | Op::ConjTrans => [transformed(transpose, x), transformed(Op::None, y)],
        };
        let (alpha, beta): (T, T) = (case.alpha.of(), case.beta.of());
        let (other, beta) = if HERMITIAN { (alpha.conj(), T::from_real(beta.re())) } else { (alpha, beta) };
        let symmetric = |c| [stored(form(HERMITIAN, case), c)];
        let sum = Sum::new(case.dim.n).plus(alpha, product(a, b)).plus(other, product(b, a));
        let sum = sum.plus(beta, symmetric(c)).minus(symmetric(result));
        largest([sum.componentwise(), real_diagonal(HERMITIAN && changes(case), result)])
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        let sum = defect::corner(case.uplo, Diag::NonUnit, case.dim.n).map(|place| defect::at(2, place));
        defect::of_product(case, ordinary, &[Some(defect::at(0, (0, 0))), Some(defect::at(1, (0, 0)))], sum)
    }
}
