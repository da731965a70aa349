//! Symmetric and Hermitian matrices: products with vectors, and updates of rank one and two.

use super::{Storage, conjugated, diagonals, is_nothing, packed, packed_len, square};
use crate::{
    abi::{Checked, Layout, Letter, Routines, Size, Uplo, check, matrix_mut, vector, vector_mut},
    rows::{interfaces, swapped, triangle_of},
};
use superscalar::kernels::cpu;

/// y := alpha A x + beta y, with A symmetric, or Hermitian, of order n.
///
/// # Safety
/// The module's.
#[allow(clippy::too_many_arguments)]
unsafe fn symmetric<T: Routines>(
    (is_hermitian, conj): (bool, bool),
    storage: Storage,
    uplo: Letter,
    n: Size,
    alpha: T,
    a: *const T,
    (x, incx): (*const T, Size),
    beta: T,
    (y, incy): (*mut T, Size),
) -> Checked {
    let (of_lda, of_x, of_y) = storage.places();
    let [first, second] = storage.checks(n, of_lda);
    check(&[(1, uplo.uplo().is_some()), (2, n.is_valid()), first, second, (of_x, incx.steps()), (of_y, incy.steps())])?;
    if is_nothing(n, n, alpha, beta) {
        return Ok(());
    }
    let uplo = uplo.uplo().unwrap_or(Uplo::Lower);
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (x, y) = unsafe { (vector(x, n, incx), vector_mut(y, n, incy)) };
    // SAFETY: the caller promises of these addresses what the module's head says.
    unsafe {
        match (storage, is_hermitian) {
            (Storage::Dense { lda }, false) => cpu::symv(uplo, alpha, square(a, n, lda, conj), x, beta, y),
            (Storage::Dense { lda }, true) => cpu::hemv(uplo, alpha, square(a, n, lda, conj), x, beta, y),
            (Storage::Band { k, lda }, false) => cpu::sbmv(uplo, alpha, diagonals(a, k, n, lda, conj), x, beta, y),
            (Storage::Band { k, lda }, true) => cpu::hbmv(uplo, alpha, diagonals(a, k, n, lda, conj), x, beta, y),
            (Storage::Packed, false) => cpu::spmv(uplo, alpha, packed(a, n, conj), x, beta, y),
            (Storage::Packed, true) => cpu::hpmv(uplo, alpha, packed(a, n, conj), x, beta, y),
        }
    }
    Ok(())
}

/// Whether the matrix is Hermitian, and whether its elements are conjugated.
fn form(layout: Layout, is_hermitian: bool) -> (bool, bool) {
    (is_hermitian, is_hermitian && layout == Layout::RowMajor)
}

macro_rules! products {
    ($($dense:ident $band:ident $packed:ident $is_hermitian:literal $elements:tt;)*) => {$(
        products! { @ $dense $is_hermitian $elements () (lda: Size,) Storage::Dense { lda } }
        products! { @ $band $is_hermitian $elements (k: Size,) (lda: Size,) Storage::Band { k, lda } }
        products! { @ $packed $is_hermitian $elements () () Storage::Packed }
    )*};
    (@ $name:ident $is_hermitian:literal $elements:tt ($($k:tt)*) ($($lda:tt)*) $storage:expr) => {
        interfaces! {
            $name $elements [uplo: uplo]
            (n: Size, $($k)* alpha: T, a: *const T, $($lda)* x: *const T, incx: Size, beta: T, y: *mut T, incy: Size)
            |layout| {
                let (how, uplo) = (form(layout, $is_hermitian), triangle_of(layout, uplo));
                symmetric(how, $storage, uplo, n, alpha, a, (x, incx), beta, (y, incy))
            };
        }
    };
}

products! {
    symv sbmv spmv false (s, d);
    hemv hbmv hpmv true (c, z);
}

/// A := alpha x xᵀ + A, or with xᴴ where alpha is real; one triangle of order n. Packed without a leading dimension.
///
/// # Safety
/// The module's.
unsafe fn update<T: Routines>(
    (is_hermitian, conj): (bool, bool),
    uplo: Letter,
    n: Size,
    alpha: T,
    (x, incx): (*const T, Size),
    (a, lda): (*mut T, Option<Size>),
) -> Checked {
    check(&[
        (1, uplo.uplo().is_some()),
        (2, n.is_valid()),
        (5, incx.steps()),
        (7, lda.is_none_or(|lda| lda.spans(n))),
    ])?;
    if n == Size::ZERO || alpha == T::ZERO {
        return Ok(());
    }
    let uplo = uplo.uplo().unwrap_or(Uplo::Lower);
    // SAFETY: the caller promises of these addresses what the module's head says.
    unsafe {
        let x = conjugated(vector(x, n, incx), conj);
        match (lda, is_hermitian) {
            (Some(lda), false) => cpu::syr(uplo, alpha, x, matrix_mut(a, (n, n), lda)),
            (Some(lda), true) => cpu::her(uplo, alpha.re(), x, matrix_mut(a, (n, n), lda)),
            (None, false) => cpu::spr(uplo, alpha, x, vector_mut(a, packed_len(n), Size::ONE)),
            (None, true) => cpu::hpr(uplo, alpha.re(), x, vector_mut(a, packed_len(n), Size::ONE)),
        }
    }
    Ok(())
}

/// A := alpha x yᵀ + alpha y xᵀ + A, or alpha x yᴴ + conj(alpha) y xᴴ + A; one triangle of order n. Packed without a leading dimension.
///
/// # Safety
/// The module's.
#[allow(clippy::too_many_arguments)]
unsafe fn update_by_two<T: Routines>(
    (is_hermitian, conj): (bool, bool),
    uplo: Letter,
    n: Size,
    alpha: T,
    (x, incx): (*const T, Size),
    (y, incy): (*const T, Size),
    (a, lda): (*mut T, Option<Size>),
) -> Checked {
    check(&[
        (1, uplo.uplo().is_some()),
        (2, n.is_valid()),
        (5, incx.steps()),
        (7, incy.steps()),
        (9, lda.is_none_or(|lda| lda.spans(n))),
    ])?;
    if n == Size::ZERO || alpha == T::ZERO {
        return Ok(());
    }
    let uplo = uplo.uplo().unwrap_or(Uplo::Lower);
    // SAFETY: the caller promises of these addresses what the module's head says.
    unsafe {
        let (x, y) = (conjugated(vector(x, n, incx), conj), conjugated(vector(y, n, incy), conj));
        match (lda, is_hermitian) {
            (Some(lda), false) => cpu::syr2(uplo, alpha, x, y, matrix_mut(a, (n, n), lda)),
            (Some(lda), true) => cpu::her2(uplo, alpha, x, y, matrix_mut(a, (n, n), lda)),
            (None, false) => cpu::spr2(uplo, alpha, x, y, vector_mut(a, packed_len(n), Size::ONE)),
            (None, true) => cpu::hpr2(uplo, alpha, x, y, vector_mut(a, packed_len(n), Size::ONE)),
        }
    }
    Ok(())
}

macro_rules! updates {
    ($($dense:ident $packed:ident $dense_two:ident $packed_two:ident $is_hermitian:literal $elements:tt;)*) => {$(
        updates! { @ $dense $dense_two $is_hermitian $elements (lda: Size) Some(lda) }
        updates! { @ $packed $packed_two $is_hermitian $elements () None }
    )*};
    (@ $one:ident $two:ident $is_hermitian:literal $elements:tt ($($lda:tt)*) $given:expr) => {
        interfaces! {
            $one $elements [uplo: uplo]
            (n: Size, alpha: T::Real, x: *const T, incx: Size, a: *mut T, $($lda)*)
            |layout| {
                let (how, uplo) = (form(layout, $is_hermitian), triangle_of(layout, uplo));
                update(how, uplo, n, T::from_real(alpha), (x, incx), (a, $given))
            };

            $two $elements [uplo: uplo]
            (n: Size, alpha: T, x: *const T, incx: Size, y: *const T, incy: Size, a: *mut T, $($lda)*)
            |layout| {
                let (how, uplo) = (form(layout, $is_hermitian), triangle_of(layout, uplo));
                // The transpose of x yᴴ is conj(y) xᵀ.
                let (x, y) = swapped(if $is_hermitian { layout } else { Layout::ColMajor }, ((x, incx), (y, incy)));
                update_by_two(how, uplo, n, alpha, x, y, (a, $given))
            };
        }
    };
}

updates! {
    syr spr syr2 spr2 false (s, d);
    her hpr her2 hpr2 true (c, z);
}
