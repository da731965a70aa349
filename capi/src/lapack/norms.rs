//! Norms of general, symmetric, Hermitian and triangular matrices.
//!
//! The reference checks no arguments, and returns an arbitrary number for an invalid letter. These routines return
//! zero.

use super::{Elements, Interface, LapackMatrix, multiplications, real};
use crate::{
    abi::{Diag, DlaScalar, Failure, Layout, Letter, Scalar as _, Size, Uplo},
    engine::engine_for_product,
};
use superscalar::dla::{self, serial};
use superscalar_macros::lapack;

/// A matrix argument: its position, its address and its leading dimension.
struct MatrixArgument<T> {
    at: i32,
    address: *const T,
    ld: Size,
}

/// Returns the norm that `norm` computes, or, as LAPACKE does, the negative position of a wrong argument.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
unsafe fn norm_of<T: DlaScalar>(
    interface: Interface,
    MatrixArgument { at, address: a, ld: lda }: MatrixArgument<T>,
    (stored, shape): (Elements, (Size, Size)),
    norm: impl FnOnce(&LapackMatrix<T>) -> Result<T::Real, dla::Error>,
) -> T::Real {
    // As in the reference, a negative size is not an error, and the leading dimension is checked in row-major calls.
    let is_empty = shape.0 <= Size::ZERO || shape.1 <= Size::ZERO;
    if is_empty && interface.layout == Layout::ColMajor {
        return T::Real::ZERO;
    }
    let position = |at: i32| T::Real::from_f64(-f64::from(at + 1));
    if !interface.spans(lda, shape) {
        return position(at + 1);
    }
    if is_empty {
        return T::Real::ZERO;
    }
    // SAFETY: by the module's requirements the matrix is valid and not accessed elsewhere during the call.
    match unsafe { interface.matrix(at, stored, shape, (a, lda)) } {
        Ok(a) => norm(&a).unwrap_or_else(|_| T::Real::from_f64(f64::NAN)),
        Err(Failure::NotANumber(at)) => position(at),
        Err(_) => T::Real::from_f64(f64::NAN),
    }
}

/// Computes a norm of an m x n matrix.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[lapack(s, d, c, z)]
unsafe fn lange<T: DlaScalar>(
    interface: Interface,
    norm: Letter,
    m: Size,
    n: Size,
    a: *const T,
    lda: Size,
    _work: *mut T::Real,
) -> T::Real {
    let Some(norm) = norm.norm() else { return T::Real::ZERO };
    let a = MatrixArgument { at: 4, address: a, ld: lda };
    // SAFETY: the address is passed on unchanged, so the caller's guarantees cover this call.
    unsafe {
        norm_of(interface, a, (Elements::All, (m, n)), |a| {
            match engine_for_product(multiplications(real(m) * real(n))) {
                None => Ok(serial::lange(norm, a.view())),
                Some(engine) => dla::lange(&engine.runtime, norm, a.view(), &engine.options),
            }
        })
    }
}

macro_rules! mirrored {
    ($($(#[$doc:meta])* $name:ident ($($element:ident),*);)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The addresses satisfy the requirements in the module documentation.
        #[lapack($($element),*)]
        unsafe fn $name<T: DlaScalar>(
            interface: Interface,
            norm: Letter,
            uplo: Letter,
            n: Size,
            a: *const T,
            lda: Size,
            _work: *mut T::Real,
        ) -> T::Real {
            let (Some(norm), uplo) = (norm.norm(), uplo.uplo().unwrap_or(Uplo::Lower)) else { return T::Real::ZERO };
            let a = MatrixArgument { at: 4, address: a, ld: lda };
            // SAFETY: the address is passed on unchanged, so the caller's guarantees cover this call.
            unsafe {
                let operand = (Elements::Triangle(uplo), (n, n));
                norm_of(interface, a, operand, |a| match engine_for_product(multiplications(real(n).powi(2) / 2.0)) {
                    None => Ok(serial::$name(norm, uplo, a.view())),
                    Some(engine) => dla::$name(&engine.runtime, norm, uplo, a.view(), &engine.options),
                })
            }
        }
    )*};
}

mirrored! {
    /// Computes a norm of a symmetric matrix, of which one triangle is read.
    lansy (s, d, c, z);
    /// Computes a norm of a Hermitian matrix, of which one triangle is read.
    lanhe (c, z);
}

/// Computes a norm of a triangular or trapezoidal matrix.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[lapack(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn lantr<T: DlaScalar>(
    interface: Interface,
    norm: Letter,
    uplo: Letter,
    diag: Letter,
    m: Size,
    n: Size,
    a: *const T,
    lda: Size,
    _work: *mut T::Real,
) -> T::Real {
    let (Some(norm), uplo) = (norm.norm(), uplo.uplo().unwrap_or(Uplo::Lower)) else { return T::Real::ZERO };
    let diag = diag.diag().unwrap_or(Diag::NonUnit);
    let stored = if diag == Diag::Unit { Elements::StrictTriangle(uplo) } else { Elements::Triangle(uplo) };
    let a = MatrixArgument { at: 6, address: a, ld: lda };
    // SAFETY: the address is passed on unchanged, so the caller's guarantees cover this call.
    unsafe {
        norm_of(interface, a, (stored, (m, n)), |a| {
            match engine_for_product(multiplications(real(m) * real(n) / 2.0)) {
                None => Ok(serial::lantr(norm, uplo, diag, a.view())),
                Some(engine) => dla::lantr(&engine.runtime, norm, uplo, diag, a.view(), &engine.options),
            }
        })
    }
}
