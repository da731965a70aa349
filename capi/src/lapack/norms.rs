//! Norms of general, symmetric, Hermitian and triangular matrices.
//!
//! The reference checks nothing here, and its result for a letter that means nothing is any number; here it is zero.

use super::{Interface, Operand, Stored, count, real};
use crate::{
    abi::{Diag, Failure, Layout, Letter, Routines, Scalar as _, Size, Uplo, check},
    engine::for_product,
};
use superscalar::dla::{self, serial};
use superscalar_macros::lapack;

/// The matrix, and what `norm` makes of it; what is wrong with the arguments is the negative number of one, as LAPACKE
/// has it.
///
/// # Safety
/// The module's.
unsafe fn of<T: Routines>(
    interface: Interface,
    (at, a, lda): (i32, *const T, Size),
    (stored, shape): (Stored, (Size, Size)),
    norm: impl FnOnce(&Operand<T>) -> Result<T::Real, dla::Error>,
) -> T::Real {
    let is_empty = shape.0 == Size::ZERO || shape.1 == Size::ZERO;
    if is_empty && interface.layout == Layout::ColMajor {
        return T::Real::ZERO;
    }
    let position = |at: i32| T::Real::from_f64(-f64::from(at + 1));
    let sizes = [(at - 1, shape.1.is_valid()), (at - 2, shape.0.is_valid()), (at + 1, interface.spans(lda, shape))];
    if let Err(wrong) = check(&sizes) {
        return position(wrong.at);
    }
    // SAFETY: the caller promises of this address what the module's head says.
    match unsafe { interface.matrix(at, stored, shape, (a, lda)) } {
        Ok(a) => norm(&a).unwrap_or_else(|_| T::Real::from_f64(f64::NAN)),
        Err(Failure::NotANumber(at)) => position(at),
        Err(_) => T::Real::from_f64(f64::NAN),
    }
}

/// A norm of an m x n matrix.
///
/// # Safety
/// The module's.
#[lapack(s, d, c, z)]
unsafe fn lange<T: Routines>(
    interface: Interface,
    norm: Letter,
    m: Size,
    n: Size,
    a: *const T,
    lda: Size,
    _work: *mut T::Real,
) -> T::Real {
    let Some(norm) = norm.norm() else { return T::Real::ZERO };
    // SAFETY: as the caller promises.
    unsafe {
        of(interface, (4, a, lda), (Stored::All, (m, n)), |a| match for_product(count(real(m) * real(n))) {
            None => Ok(serial::lange(norm, a.view())),
            Some(engine) => dla::lange(&engine.runtime, norm, a.view(), &engine.options),
        })
    }
}

macro_rules! mirrored {
    ($($(#[$doc:meta])* $name:ident ($($element:ident),*);)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The module's.
        #[lapack($($element),*)]
        unsafe fn $name<T: Routines>(
            interface: Interface,
            norm: Letter,
            uplo: Letter,
            n: Size,
            a: *const T,
            lda: Size,
            _work: *mut T::Real,
        ) -> T::Real {
            let (Some(norm), uplo) = (norm.norm(), uplo.uplo().unwrap_or(Uplo::Lower)) else { return T::Real::ZERO };
            // SAFETY: as the caller promises.
            unsafe {
                let operand = (Stored::Triangle(uplo), (n, n));
                of(interface, (4, a, lda), operand, |a| match for_product(count(real(n).powi(2) / 2.0)) {
                    None => Ok(serial::$name(norm, uplo, a.view())),
                    Some(engine) => dla::$name(&engine.runtime, norm, uplo, a.view(), &engine.options),
                })
            }
        }
    )*};
}

mirrored! {
    /// A norm of a symmetric matrix, of which one triangle is read.
    lansy (s, d, c, z);
    /// A norm of a Hermitian matrix, of which one triangle is read.
    lanhe (c, z);
}

/// A norm of a triangle, or a trapezoid.
///
/// # Safety
/// The module's.
#[lapack(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn lantr<T: Routines>(
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
    let stored = if diag == Diag::Unit { Stored::Inside(uplo) } else { Stored::Triangle(uplo) };
    // SAFETY: as the caller promises.
    unsafe {
        of(interface, (6, a, lda), (stored, (m, n)), |a| match for_product(count(real(m) * real(n) / 2.0)) {
            None => Ok(serial::lantr(norm, uplo, diag, a.view())),
            Some(engine) => dla::lantr(&engine.runtime, norm, uplo, diag, a.view(), &engine.options),
        })
    }
}
