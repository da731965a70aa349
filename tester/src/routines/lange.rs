//! lange, lansy, lanhe and lantr: norms of general, symmetric, Hermitian and triangular matrices.

use super::{Case, Defect, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar, defect};
use superscalar_kernels::{Diag, MatRef, Norm, Real, Scalar as _, Uplo};
use superscalar_oracle::{Storage, each, largest, modulus, one_and_inf};

/// All norms; they differ in the storage of the matrix, which is the first letter of LAPACK's name for it.
pub struct NormOf<const FORM: char>;

pub type Lange = NormOf<'g'>;
pub type Lansy = NormOf<'s'>;
pub type Lanhe = NormOf<'h'>;
pub type Lantr = NormOf<'t'>;

fn storage<const FORM: char>(case: &Case) -> Storage {
    match FORM {
        'g' => Storage::General,
        's' => Storage::Symmetric(case.uplo),
        'h' => Storage::Hermitian(case.uplo),
        _ => Storage::Triangle(case.uplo, case.diag),
    }
}

/// Returns rows and columns. Symmetric forms have only one size, n.
fn shape<const FORM: char>(case: &Case) -> (usize, usize) {
    if NormOf::<FORM>::USES.contains(&Parameter::M) { (case.dim.m, case.dim.n) } else { (case.dim.n, case.dim.n) }
}

impl<const FORM: char> Routine for NormOf<FORM> {
    const NAME: &'static str = match FORM {
        'g' => "lange",
        's' => "lansy",
        'h' => "lanhe",
        _ => "lantr",
    };
    const USES: &'static [Parameter] = match FORM {
        'g' => &[Parameter::M, Parameter::N, Parameter::Norm],
        's' | 'h' => &[Parameter::N, Parameter::Norm, Parameter::Uplo],
        _ => &[Parameter::M, Parameter::N, Parameter::Norm, Parameter::Uplo, Parameter::Diag],
    };
    const PRODUCTS_MAX: usize = usize::MAX;

    /// Counts the stored elements.
    fn operations(case: &Case) -> Operations {
        let (m, n) = shape::<FORM>(case);
        let (wide, short) = (m.max(n) as f64, m.min(n) as f64);
        let elements = match storage::<FORM>(case) {
            Storage::General => wide * short,
            Storage::Triangle(uplo, _) if (uplo == Uplo::Lower) != (m >= n) => short * (short + 1.0) / 2.0,
            _ => short * (short + 1.0) / 2.0 + (wide - short) * short,
        };
        Operations::touching(elements)
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let (m, n) = shape::<FORM>(case);
        let a = make.matrix((m, n), Keeps::Everything, |random, mut a| match storage::<FORM>(case) {
            Storage::General => random.general(a),
            Storage::Symmetric(uplo) | Storage::Hermitian(uplo) => random.trapezoid(uplo, a),
            Storage::Triangle(uplo, diag) => {
                random.trapezoid(uplo, a.rb_mut());
                if diag == Diag::Unit {
                    (0..m.min(n)).for_each(|i| a[(i, i)] = T::from_f64(f64::NAN));
                }
            }
        })?;
        Some(Operands::new([a, make.result((1, 1))?]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a, _] = operands.views();
        let (rt, norm, options) = (ours.runtime, case.norm, &ours.options);
        let found = match storage::<FORM>(case) {
            Storage::General => superscalar_dla::lange(rt, norm, a, options),
            Storage::Symmetric(uplo) => superscalar_dla::lansy(rt, norm, uplo, a, options),
            Storage::Hermitian(uplo) => superscalar_dla::lanhe(rt, norm, uplo, a, options),
            Storage::Triangle(uplo, diag) => superscalar_dla::lantr(rt, norm, uplo, diag, a, options),
        };
        operands.set_number(found?);
        Ok(())
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let ([a, norm], (m, n)) = (operands.views_mut(), shape::<FORM>(case));
        // Real matrices have no lanhe.
        let name = if FORM == 'h' && !T::COMPLEX { Lansy::NAME } else { Self::NAME };
        let mut call = FortranCall::function(name, norm).letter(case.norm.letter());
        if Self::USES.contains(&Parameter::Uplo) {
            call = call.letter(case.uplo.letter());
        }
        if Self::USES.contains(&Parameter::Diag) {
            call = call.letter(case.diag.letter());
        }
        if Self::USES.contains(&Parameter::M) {
            call = call.int(m);
        }
        call.int(n).input(a.into_ref()).real_work(m.max(n))
    }

    /// Returns the relative error over ε and the square root of the number of summed elements. The largest modulus must
    /// be exact, up to the rounding of a complex modulus.
    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, _], [_, norm]) = (before.views(), after.views());
        let (truth, terms) = truth(case.norm, storage::<FORM>(case), a);
        let (norm, im) = (norm.at(0, 0).re().to_f64(), norm.at(0, 0).im());
        let exact = case.norm == Norm::Max && !T::COMPLEX;
        match (norm - truth).abs() {
            _ if im != T::Real::ZERO => f64::INFINITY,
            0.0 => 0.0,
            error if exact && !error.is_nan() => f64::INFINITY,
            error => error / (truth * terms.sqrt() * T::EPSILON.to_f64()),
        }
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        let (m, n) = shape::<FORM>(case);
        let place = match storage::<FORM>(case) {
            Storage::General => Some((m / 2, n / 2)),
            Storage::Symmetric(uplo) | Storage::Hermitian(uplo) => defect::corner(uplo, Diag::NonUnit, n),
            Storage::Triangle(uplo, diag) => defect::corner(uplo, diag, if uplo == Uplo::Lower { m } else { n }),
        };
        let not_a_number = T::from_f64(f64::NAN);
        let lost = place.and_then(|place| defect::with("NaN in A", case, ordinary, defect::at(0, place), not_a_number));
        lost.into_iter().collect()
    }
}

/// Returns the norm by loops in double precision, and the number of elements summed.
fn truth<T: Scalar>(norm: Norm, stored: Storage, a: MatRef<'_, T>) -> (f64, f64) {
    let (m, n) = (a.nrows() as f64, a.ncols() as f64);
    let (one, inf) = one_and_inf(stored, a);
    let (mut moduli, mut squares) = (vec![0.0; a.ncols()], 0.0);
    each(stored, a, |_, j, element| {
        moduli[j] = largest([moduli[j], modulus(element)]);
        squares += element.re().to_f64().powi(2) + element.im().to_f64().powi(2);
    });
    match norm {
        Norm::Max => (largest(moduli), 1.0),
        Norm::One => (one, m),
        Norm::Inf => (inf, n),
        Norm::Frobenius => (squares.sqrt(), m * n),
    }
}
