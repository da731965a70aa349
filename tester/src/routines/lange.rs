//! lange, lansy, lanhe and lantr: norms of general, symmetric, Hermitian and triangular matrices.

use super::{Defect, Operations, Ours, Routine, defect};
use crate::case::{Case, Parameter};
use crate::operand::{Keeps, Maker, Operands};
use crate::peer::Call;
use std::marker::PhantomData;
use superscalar_dla::Scalar;
use superscalar_kernels::{Scalar as _, Diag, MatRef, Norm, Real, Uplo};
use superscalar_oracle::{Storage, each, largest, modulus, one_and_inf};

/// All of them: they differ in how the matrix is stored.
pub struct NormOf<F>(PhantomData<F>);

pub type Lange = NormOf<General>;
pub type Lansy = NormOf<Symmetric>;
pub type Lanhe = NormOf<Hermitian>;
pub type Lantr = NormOf<Triangular>;

pub struct General;
pub struct Symmetric;
pub struct Hermitian;
pub struct Triangular;

/// A form of matrices, and the routine for its norms.
pub trait Form {
    const NAME: &'static str;
    /// The routine's name where it takes real matrices.
    const REAL_NAME: &'static str = Self::NAME;
    const USES: &'static [Parameter];

    fn storage(case: &Case) -> Storage;

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, a: MatRef<'_, T>) -> Result<T::Real, superscalar_dla::Error>;
}

impl Form for General {
    const NAME: &'static str = "lange";
    const USES: &'static [Parameter] = &[Parameter::M, Parameter::N, Parameter::Norm];

    fn storage(_: &Case) -> Storage {
        Storage::General
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, a: MatRef<'_, T>) -> Result<T::Real, superscalar_dla::Error> {
        superscalar_dla::lange(ours.runtime, case.norm, a, &ours.options)
    }
}

impl Form for Symmetric {
    const NAME: &'static str = "lansy";
    const USES: &'static [Parameter] = &[Parameter::N, Parameter::Norm, Parameter::Uplo];

    fn storage(case: &Case) -> Storage {
        Storage::Symmetric(case.uplo)
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, a: MatRef<'_, T>) -> Result<T::Real, superscalar_dla::Error> {
        superscalar_dla::lansy(ours.runtime, case.norm, case.uplo, a, &ours.options)
    }
}

impl Form for Hermitian {
    const NAME: &'static str = "lanhe";
    const REAL_NAME: &'static str = "lansy";
    const USES: &'static [Parameter] = Symmetric::USES;

    fn storage(case: &Case) -> Storage {
        Storage::Hermitian(case.uplo)
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, a: MatRef<'_, T>) -> Result<T::Real, superscalar_dla::Error> {
        superscalar_dla::lanhe(ours.runtime, case.norm, case.uplo, a, &ours.options)
    }
}

impl Form for Triangular {
    const NAME: &'static str = "lantr";
    const USES: &'static [Parameter] =
        &[Parameter::M, Parameter::N, Parameter::Norm, Parameter::Uplo, Parameter::Diag];

    fn storage(case: &Case) -> Storage {
        Storage::Triangle(case.uplo, case.diag)
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, a: MatRef<'_, T>) -> Result<T::Real, superscalar_dla::Error> {
        superscalar_dla::lantr(ours.runtime, case.norm, case.uplo, case.diag, a, &ours.options)
    }
}

/// Rows and columns: of a symmetric form, n is the only size.
fn shape<F: Form>(case: &Case) -> (usize, usize) {
    if F::USES.contains(&Parameter::M) { (case.dim.m, case.dim.n) } else { (case.dim.n, case.dim.n) }
}

impl<F: Form> Routine for NormOf<F> {
    const NAME: &'static str = F::NAME;
    const USES: &'static [Parameter] = F::USES;
    const PRODUCTS_MAX: usize = usize::MAX;

    /// The elements that are stored.
    fn operations(case: &Case) -> Operations {
        let (m, n) = shape::<F>(case);
        let (wide, short) = (m.max(n) as f64, m.min(n) as f64);
        let elements = match F::storage(case) {
            Storage::General => wide * short,
            Storage::Triangle(uplo, _) if (uplo == Uplo::Lower) != (m >= n) => short * (short + 1.0) / 2.0,
            _ => short * (short + 1.0) / 2.0 + (wide - short) * short,
        };
        Operations::touching(elements)
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let (m, n) = shape::<F>(case);
        let a = make.matrix((m, n), Keeps::Everything, |random, mut a| match F::storage(case) {
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
        let norm = F::ours(ours, case, a)?;
        operands.set_number(norm);
        Ok(())
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> Call<'a, T> {
        let ([a, norm], (m, n)) = (operands.views_mut(), shape::<F>(case));
        let mut call = Call::function(if T::COMPLEX { F::NAME } else { F::REAL_NAME }, norm).letter(case.norm.letter());
        if F::USES.contains(&Parameter::Uplo) {
            call = call.letter(case.uplo.letter());
        }
        if F::USES.contains(&Parameter::Diag) {
            call = call.letter(case.diag.letter());
        }
        if F::USES.contains(&Parameter::M) {
            call = call.int(m);
        }
        call.int(n).input(a.into_ref()).real_work(m.max(n))
    }

    /// The relative error over ε and the root of the number of elements that are summed; the largest modulus has to be exact, up to
    /// the rounding of a complex one.
    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, _], [_, norm]) = (before.views(), after.views());
        let (truth, terms) = truth(case.norm, F::storage(case), a);
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
        let (m, n) = shape::<F>(case);
        let place = match F::storage(case) {
            Storage::General => Some((m / 2, n / 2)),
            Storage::Symmetric(uplo) | Storage::Hermitian(uplo) => defect::corner(uplo, Diag::NonUnit, n),
            Storage::Triangle(uplo, diag) => defect::corner(uplo, diag, if uplo == Uplo::Lower { m } else { n }),
        };
        let not_a_number = T::from_f64(f64::NAN);
        let lost = place.and_then(|place| defect::with("NaN in A", case, ordinary, (0, place), not_a_number));
        lost.into_iter().collect()
    }
}

/// The norm by loops in double precision, and how many elements are summed for it.
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
