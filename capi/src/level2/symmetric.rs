//! Symmetric and Hermitian matrices: products with vectors, and rank-one and rank-two updates.

use super::{Storage, conjugated, diagonals, is_nothing, packed, packed_len, square};
use crate::{
    abi::{Checked, DlaScalar, Layout, Letter, Size, Uplo, check, matrix_mut, vector, vector_mut},
    rows::{interfaces, swapped, triangle_of},
};
use superscalar::kernels::cpu;

/// Whether a matrix is Hermitian, and whether its elements or the vectors of its update are conjugated.
#[derive(Clone, Copy)]
struct Form {
    is_hermitian: bool,
    conj: bool,
}

/// y := alpha A x + beta y, where A is symmetric or Hermitian of order n.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[allow(clippy::too_many_arguments)]
unsafe fn symmetric<T: DlaScalar>(
    Form { is_hermitian, conj }: Form,
    storage: Storage,
    uplo: Letter,
    n: Size,
    alpha: T,
    a: *const T,
    (x, incx): (*const T, Size),
    beta: T,
    (y, incy): (*mut T, Size),
) -> Checked {
    let at = storage.argument_positions();
    let [first, second] = storage.checks(n, at.lda);
    let increments = [(at.incx, incx.steps()), (at.incy, incy.steps())];
    check(&[(1, uplo.uplo().is_some()), (2, n.is_valid()), first, second, increments[0], increments[1]])?;
    if is_nothing(n, n, alpha, beta) {
        return Ok(());
    }
    let uplo = uplo.uplo().unwrap_or(Uplo::Lower);
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let (x, y) = unsafe { (vector(x, n, incx), vector_mut(y, n, incy)) };
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
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

impl Form {
    fn new(layout: Layout, is_hermitian: bool) -> Self {
        Self { is_hermitian, conj: is_hermitian && layout == Layout::RowMajor }
    }
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
                let (form, uplo) = (Form::new(layout, $is_hermitian), triangle_of(layout, uplo));
                symmetric(form, $storage, uplo, n, alpha, a, (x, incx), beta, (y, incy))
            };
        }
    };
}

products! {
    symv sbmv spmv false (s, d);
    hemv hbmv hpmv true (c, z);
}

/// A := alpha x xᵀ + A, or alpha x xᴴ + A with a real alpha. Updates one triangle of order n, which is packed if there
/// is no leading dimension.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
unsafe fn update<T: DlaScalar>(
    Form { is_hermitian, conj }: Form,
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
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
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

/// A := alpha x yᵀ + alpha y xᵀ + A, or alpha x yᴴ + conj(alpha) y xᴴ + A. Updates one triangle of order n, which is
/// packed if there is no leading dimension.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[allow(clippy::too_many_arguments)]
unsafe fn update_by_two<T: DlaScalar>(
    Form { is_hermitian, conj }: Form,
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
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
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
                let (form, uplo) = (Form::new(layout, $is_hermitian), triangle_of(layout, uplo));
                update(form, uplo, n, T::from_real(alpha), (x, incx), (a, $given))
            };

            $two $elements [uplo: uplo]
            (n: Size, alpha: T, x: *const T, incx: Size, y: *const T, incy: Size, a: *mut T, $($lda)*)
            |layout| {
                let (form, uplo) = (Form::new(layout, $is_hermitian), triangle_of(layout, uplo));
                // The transpose of x yᴴ is conj(y) xᵀ.
                let (x, y) = swapped(if $is_hermitian { layout } else { Layout::ColMajor }, ((x, incx), (y, incy)));
                update_by_two(form, uplo, n, alpha, x, y, (a, $given))
            };
        }
    };
}

updates! {
    syr spr syr2 spr2 false (s, d);
    her hpr her2 hpr2 true (c, z);
}
