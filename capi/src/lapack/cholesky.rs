//! Cholesky factorization, solves, inverse and condition number; the inverse of a triangle and its product with its
//! adjoint.

use super::{Elements, Interface, IntoInfo as _, multiplications, real};
use crate::{
    abi::{Diag, DlaScalar, Failure, Int, Letter, MatMut, Scalar as _, Size, Solved, Uplo},
    engine::engine_for_product,
};
use superscalar::{
    dla::{self, serial},
    kernels::cpu,
};
use superscalar_macros::lapack;

/// Checks arguments 1 to 4 of potrf, potri and lauum, and lets `compute` overwrite the triangle of order n.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
unsafe fn with_triangle<T: DlaScalar>(
    interface: Interface,
    (uplo, n): (Letter, Size),
    (a, lda): (*mut T, Size),
    compute: impl FnOnce(Uplo, MatMut<'_, T>) -> Solved,
) -> Solved {
    interface.check(&[(4, lda, (n, n))], &[(1, uplo.uplo().is_some()), (2, n.is_valid())])?;
    let uplo = uplo.uplo().unwrap_or(Uplo::Lower);
    let triangle = Elements::Triangle(uplo);
    // SAFETY: by the module's requirements the matrix is valid and not accessed elsewhere during the call.
    let mut a = unsafe { interface.matrix(3, triangle, (n, n), (a, lda))? };
    let outcome = compute(uplo, a.view_mut());
    a.copy_back(triangle);
    outcome
}

/// Computes the Cholesky factorization A = L Lᴴ or A = Uᴴ U.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[lapack(s, d, c, z)]
unsafe fn potrf<T: DlaScalar>(interface: Interface, uplo: Letter, n: Size, a: *mut T, lda: Size) -> Solved {
    let compute = |uplo, a: MatMut<'_, T>| solve!(real(n).powi(3) / 6.0, cpu::potrf(uplo, a));
    // SAFETY: the addresses are passed on unchanged, so the caller's guarantees cover this call.
    unsafe { with_triangle(interface, (uplo, n), (a, lda), compute) }
}

/// Checks arguments 1 to 7 of potrs and posv, and returns the triangle.
fn check_system(
    interface: Interface,
    uplo: Letter,
    (n, nrhs): (Size, Size),
    (lda, ldb): (Size, Size),
) -> Result<Uplo, Failure> {
    interface.check(
        &[(5, lda, (n, n)), (7, ldb, (n, nrhs))],
        &[(1, uplo.uplo().is_some()), (2, n.is_valid()), (3, nrhs.is_valid())],
    )?;
    Ok(uplo.uplo().unwrap_or(Uplo::Lower))
}

/// Solves A X = B with the Cholesky factor of A.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[lapack(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn potrs<T: DlaScalar>(
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
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let (a, mut b) = unsafe {
        let a = interface.matrix(4, Elements::Triangle(uplo), (n, n), (a, lda))?;
        (a, interface.matrix(6, Elements::All, (n, nrhs), (b, ldb))?)
    };
    let outcome = solve!(real(n).powi(2) * real(nrhs), serial::potrs(uplo, a.view(), b.view_mut()));
    b.copy_back(Elements::All);
    outcome
}

/// Factors a positive definite A and solves A X = B.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[lapack(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn posv<T: DlaScalar>(
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
    let triangle = Elements::Triangle(uplo);
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let (mut a, mut b) = unsafe {
        let a = interface.matrix(4, triangle, (n, n), (a, lda))?;
        (a, interface.matrix(6, Elements::All, (n, nrhs), (b, ldb))?)
    };
    let outcome = match engine_for_product(multiplications(real(n).powi(2) * (real(n) / 6.0 + real(nrhs)))) {
        None => serial::posv(uplo, a.view_mut(), b.view_mut()).into_info(),
        // The solve starts after the factorization, since B must be unchanged if A is not positive definite.
        Some(engine) => match dla::potrf(&engine.runtime, uplo, a.view_mut(), &engine.options).into_info() {
            Ok(0) => dla::potrs(&engine.runtime, uplo, a.view(), b.view_mut(), &engine.options).into_info(),
            outcome => outcome,
        },
    };
    a.copy_back(triangle);
    b.copy_back(Elements::All);
    outcome
}

/// Computes A⁻¹ from the Cholesky factor of A.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[lapack(s, d, c, z)]
unsafe fn potri<T: DlaScalar>(interface: Interface, uplo: Letter, n: Size, a: *mut T, lda: Size) -> Solved {
    let compute = |uplo, a: MatMut<'_, T>| solve!(real(n).powi(3) / 3.0, serial::potri(uplo, a));
    // SAFETY: the addresses are passed on unchanged, so the caller's guarantees cover this call.
    unsafe { with_triangle(interface, (uplo, n), (a, lda), compute) }
}

/// Computes the inverse of a triangle.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[lapack(s, d, c, z)]
unsafe fn trtri<T: DlaScalar>(
    interface: Interface,
    uplo: Letter,
    diag: Letter,
    n: Size,
    a: *mut T,
    lda: Size,
) -> Solved {
    interface
        .check(&[(5, lda, (n, n))], &[(1, uplo.uplo().is_some()), (2, diag.diag().is_some()), (3, n.is_valid())])?;
    let (uplo, diag) = (uplo.uplo().unwrap_or(Uplo::Lower), diag.diag().unwrap_or(Diag::NonUnit));
    let stored = if diag == Diag::Unit { Elements::StrictTriangle(uplo) } else { Elements::Triangle(uplo) };
    // SAFETY: by the module's requirements the matrix is valid and not accessed elsewhere during the call.
    let mut a = unsafe { interface.matrix(4, stored, (n, n), (a, lda))? };
    let outcome = solve!(real(n).powi(3) / 6.0, cpu::trtri(uplo, diag, a.view_mut()));
    a.copy_back(stored);
    outcome
}

/// Computes Lᴴ L or U Uᴴ.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[lapack(s, d, c, z)]
unsafe fn lauum<T: DlaScalar>(interface: Interface, uplo: Letter, n: Size, a: *mut T, lda: Size) -> Solved {
    let compute = |uplo, a: MatMut<'_, T>| solve!(real(n).powi(3) / 6.0, cpu::lauum(uplo, a));
    // SAFETY: the addresses are passed on unchanged, so the caller's guarantees cover this call.
    unsafe { with_triangle(interface, (uplo, n), (a, lda), compute) }
}

macro_rules! pocon {
    ($name:ident ($($entries:tt)*) $work:ident: $($numbers:tt)*) => {
        /// Estimates the reciprocal condition number from the Cholesky factor of A.
        ///
        /// # Safety
        /// The addresses satisfy the requirements in the module documentation.
        #[lapack($($entries)*)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: DlaScalar, I: Int>(
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
            interface.check(
                &[(4, lda, (n, n))],
                &[(1, uplo.uplo().is_some()), (2, n.is_valid()), (5, anorm.is_nan() || anorm >= T::Real::ZERO)],
            )?;
            let uplo = uplo.uplo().unwrap_or(Uplo::Lower);
            // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
            unsafe {
                let a = interface.matrix(3, Elements::Triangle(uplo), (n, n), (a, lda))?;
                let of = |work: &mut [T]| serial::pocon(uplo, a.view(), anorm, work);
                super::lu::estimate(interface, (5, anorm), rcond, (n, work), of)
            }
        }
    };
}

pocon!(pocon (s, d) _iwork: *mut I);
pocon!(pocon_complex (c = "cpocon", z = "zpocon") _rwork: *mut T::Real);
