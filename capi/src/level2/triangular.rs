//! Triangles: products with vectors, and solves.

use super::{Storage, diagonals, packed, square};
use crate::abi::{Checked, Diag, Letter, Op, Routines, Size, Uplo, check, vector_mut};
use superscalar::kernels::cpu;
use superscalar_macros::fortran;

/// Whether a triangle multiplies a vector or is solved with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Multiply,
    Solve,
}

/// x := op(A) x, or op(A)⁻¹ x, with A a triangle of order n.
///
/// # Safety
/// The module's.
#[allow(clippy::too_many_arguments)]
pub(crate) unsafe fn triangular<T: Routines>(
    action: Action,
    conj: bool,
    storage: Storage,
    (uplo, trans, diag): (Letter, Letter, Letter),
    n: Size,
    a: *const T,
    (x, incx): (*mut T, Size),
) -> Checked {
    let [first, second] = match storage {
        Storage::Dense { lda } => [(6, lda.spans(n)), (8, incx.steps())],
        Storage::Band { k, lda } => [(5, k.is_valid()), (7, lda.holds(&[k]))],
        Storage::Packed => [(7, incx.steps()); 2],
    };
    check(&[
        (1, uplo.uplo().is_some()),
        (2, trans.op().is_some()),
        (3, diag.diag().is_some()),
        (4, n.is_valid()),
        first,
        second,
        (9, incx.steps()),
    ])?;
    if n == Size::ZERO {
        return Ok(());
    }
    let (uplo, op) = (uplo.uplo().unwrap_or(Uplo::Lower), trans.op().unwrap_or(Op::None));
    let diag = diag.diag().unwrap_or(Diag::NonUnit);
    // SAFETY: the caller promises of these addresses what the module's head says.
    unsafe {
        let x = vector_mut(x, n, incx);
        match (storage, action) {
            (Storage::Dense { lda }, Action::Multiply) => cpu::trmv(uplo, op, diag, square(a, n, lda, conj), x),
            (Storage::Dense { lda }, Action::Solve) => cpu::trsv(uplo, op, diag, square(a, n, lda, conj), x),
            (Storage::Band { k, lda }, Action::Multiply) => {
                cpu::tbmv(uplo, op, diag, diagonals(a, k, n, lda, conj), x);
            }
            (Storage::Band { k, lda }, Action::Solve) => cpu::tbsv(uplo, op, diag, diagonals(a, k, n, lda, conj), x),
            (Storage::Packed, Action::Multiply) => cpu::tpmv(uplo, op, diag, packed(a, n, conj), x),
            (Storage::Packed, Action::Solve) => cpu::tpsv(uplo, op, diag, packed(a, n, conj), x),
        }
    }
    Ok(())
}

macro_rules! triangular {
    ($($action:ident $dense:ident $band:ident $packed:ident;)*) => {$(
        triangular! { @ $dense $action () (lda: Size) Storage::Dense { lda } }
        triangular! { @ $band $action (k: Size) (lda: Size) Storage::Band { k, lda } }
        triangular! { @ $packed $action () () Storage::Packed }
    )*};
    (@ $name:ident $action:ident ($($k:ident: $size:ident)?) ($($lda:ident: $ld:ident)?) $storage:expr) => {
        /// # Safety
        /// The module's.
        #[fortran(s, d, c, z)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: Routines>(
            uplo: Letter,
            trans: Letter,
            diag: Letter,
            n: Size,
            $($k: $size,)?
            a: *const T,
            $($lda: $ld,)?
            x: *mut T,
            incx: Size,
        ) -> Checked {
            // SAFETY: the caller promises of these addresses what the module's head says.
            unsafe { triangular(Action::$action, false, $storage, (uplo, trans, diag), n, a, (x, incx)) }
        }
    };
}

triangular! {
    Multiply trmv tbmv tpmv;
    Solve trsv tbsv tpsv;
}
