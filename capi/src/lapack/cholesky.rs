//! Cholesky factorization and what follows from it; the inverse of a triangle and its product with its adjoint.

use super::{Interface, Outcome as _, Stored, count, real};
use crate::{
    abi::{Diag, Failure, Int, Letter, MatMut, Routines, Scalar as _, Size, Solved, Uplo, check},
    engine::for_product,
};
use superscalar::{
    dla::{self, serial},
    kernels::cpu,
};
use superscalar_macros::lapack;

/// Lets `compute` overwrite a triangle of order n. These are arguments 1 to 4 of potrf, potri and lauum.
///
/// # Safety
/// The module's.
unsafe fn in_triangle<T: Routines>(
    interface: Interface,
    (uplo, n): (Letter, Size),
    (a, lda): (*mut T, Size),
    compute: impl FnOnce(Uplo, MatMut<'_, T>) -> Solved,
) -> Solved {
    check(&[(1, uplo.uplo().is_some()), (2, n.is_valid()), (4, interface.spans(lda, (n, n)))])?;
    let uplo = uplo.uplo().unwrap_or(Uplo::Lower);
    let triangle = Stored::Triangle(uplo);
    // SAFETY: the caller promises of this address what the module's head says.
    let mut a = unsafe { interface.matrix(3, triangle, (n, n), (a, lda))? };
    let outcome = compute(uplo, a.view_mut());
    a.home(triangle);
    outcome
}

/// A = L Lᴴ or A = Uᴴ U.
///
/// # Safety
/// The module's.
#[lapack(s, d, c, z)]
unsafe fn potrf<T: Routines>(interface: Interface, uplo: Letter, n: Size, a: *mut T, lda: Size) -> Solved {
    let compute = |uplo, a: MatMut<'_, T>| solve!(real(n).powi(3) / 6.0, cpu::potrf(uplo, a));
    // SAFETY: as the caller promises.
    unsafe { in_triangle(interface, (uplo, n), (a, lda), compute) }
}

/// The factor's triangle and the right-hand sides that come with it: arguments 1 to 7 of potrs and posv.
fn check_system(
    interface: Interface,
    uplo: Letter,
    (n, nrhs): (Size, Size),
    (lda, ldb): (Size, Size),
) -> Result<Uplo, Failure> {
    check(&[
        (1, uplo.uplo().is_some()),
        (2, n.is_valid()),
        (3, nrhs.is_valid()),
        (5, interface.spans(lda, (n, n))),
        (7, interface.spans(ldb, (n, nrhs))),
    ])?;
    Ok(uplo.uplo().unwrap_or(Uplo::Lower))
}

/// A X = B by the factor of A.
///
/// # Safety
/// The module's.
#[lapack(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn potrs<T: Routines>(
    interface: Interface,
    uplo: Letter,
    n: Size,
    nrhs: Size,
    a: *const T,
    lda: Size,
    b: *mut T,
    ldb: Size,
) -> Solved {
    let uplo = check_system(interface, uplo, (n, nrhs), (lda, ldb))?;
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (a, mut b) = unsafe {
        let a = interface.matrix(4, Stored::Triangle(uplo), (n, n), (a, lda))?;
        (a, interface.matrix(6, Stored::All, (n, nrhs), (b, ldb))?)
    };
    let outcome = solve!(real(n).powi(2) * real(nrhs), serial::potrs(uplo, a.view(), b.view_mut()));
    b.home(Stored::All);
    outcome
}

/// A X = B for a positive definite A.
///
/// # Safety
/// The module's.
#[lapack(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn posv<T: Routines>(
    interface: Interface,
    uplo: Letter,
    n: Size,
    nrhs: Size,
    a: *mut T,
    lda: Size,
    b: *mut T,
    ldb: Size,
) -> Solved {
    let uplo = check_system(interface, uplo, (n, nrhs), (lda, ldb))?;
    let triangle = Stored::Triangle(uplo);
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (mut a, mut b) = unsafe {
        let a = interface.matrix(4, triangle, (n, n), (a, lda))?;
        (a, interface.matrix(6, Stored::All, (n, nrhs), (b, ldb))?)
    };
    let outcome = match for_product(count(real(n).powi(2) * (real(n) / 6.0 + real(nrhs)))) {
        None => serial::posv(uplo, a.view_mut(), b.view_mut()).solved(),
        // One after the other: B is to be as it was if A is not positive definite.
        Some(engine) => match dla::potrf(&engine.runtime, uplo, a.view_mut(), &engine.options).solved() {
            Ok(0) => dla::potrs(&engine.runtime, uplo, a.view(), b.view_mut(), &engine.options).solved(),
            outcome => outcome,
        },
    };
    a.home(triangle);
    b.home(Stored::All);
    outcome
}

/// A⁻¹ by the factor of A.
///
/// # Safety
/// The module's.
#[lapack(s, d, c, z)]
unsafe fn potri<T: Routines>(interface: Interface, uplo: Letter, n: Size, a: *mut T, lda: Size) -> Solved {
    let compute = |uplo, a: MatMut<'_, T>| solve!(real(n).powi(3) / 3.0, serial::potri(uplo, a));
    // SAFETY: as the caller promises.
    unsafe { in_triangle(interface, (uplo, n), (a, lda), compute) }
}

/// The inverse of a triangle.
///
/// # Safety
/// The module's.
#[lapack(s, d, c, z)]
unsafe fn trtri<T: Routines>(
    interface: Interface,
    uplo: Letter,
    diag: Letter,
    n: Size,
    a: *mut T,
    lda: Size,
) -> Solved {
    check(&[
        (1, uplo.uplo().is_some()),
        (2, diag.diag().is_some()),
        (3, n.is_valid()),
        (5, interface.spans(lda, (n, n))),
    ])?;
    let (uplo, diag) = (uplo.uplo().unwrap_or(Uplo::Lower), diag.diag().unwrap_or(Diag::NonUnit));
    let stored = if diag == Diag::Unit { Stored::Inside(uplo) } else { Stored::Triangle(uplo) };
    // SAFETY: the caller promises of this address what the module's head says.
    let mut a = unsafe { interface.matrix(4, stored, (n, n), (a, lda))? };
    let outcome = solve!(real(n).powi(3) / 6.0, cpu::trtri(uplo, diag, a.view_mut()));
    a.home(stored);
    outcome
}

/// Lᴴ L or U Uᴴ.
///
/// # Safety
/// The module's.
#[lapack(s, d, c, z)]
unsafe fn lauum<T: Routines>(interface: Interface, uplo: Letter, n: Size, a: *mut T, lda: Size) -> Solved {
    let compute = |uplo, a: MatMut<'_, T>| solve!(real(n).powi(3) / 6.0, cpu::lauum(uplo, a));
    // SAFETY: as the caller promises.
    unsafe { in_triangle(interface, (uplo, n), (a, lda), compute) }
}

macro_rules! pocon {
    ($name:ident ($($entries:tt)*) $work:ident: $($numbers:tt)*) => {
        /// The reciprocal condition number by the factor of A.
        ///
        /// # Safety
        /// The module's.
        #[lapack($($entries)*)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: Routines, I: Int>(
            interface: Interface,
            uplo: Letter,
            n: Size,
            a: *const T,
            lda: Size,
            anorm: T::Real,
            rcond: *mut T::Real,
            work: *mut T,
            $work: $($numbers)*,
        ) -> Solved {
            check(&[
                (1, uplo.uplo().is_some()),
                (2, n.is_valid()),
                (4, interface.spans(lda, (n, n))),
                (5, anorm.is_nan() || anorm >= T::Real::ZERO),
            ])?;
            let uplo = uplo.uplo().unwrap_or(Uplo::Lower);
            // SAFETY: the caller promises of these addresses what the module's head says.
            unsafe {
                let a = interface.matrix(3, Stored::Triangle(uplo), (n, n), (a, lda))?;
                let of = |work: &mut [T]| serial::pocon(uplo, a.view(), anorm, work);
                super::lu::estimate(interface, (5, anorm), rcond, (n, work), of)
            }
        }
    };
}

pocon!(pocon (s, d) _iwork: *mut I);
pocon!(pocon_complex (c = "cpocon", z = "zpocon") _rwork: *mut T::Real);
