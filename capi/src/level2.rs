//! Level 2 of the BLAS, with Fortran's interface: matrices with vectors.
//!
//! Arguments are checked in the reference's order. C's interface (`cblas2.rs`) takes a matrix that lies by rows as its transpose by columns, whose
//! elements may have to be conjugated as they are read; so what computes is a function of that, `conj`, in the modules here, and Fortran's
//! routines call it without.
//!
//! What every routine trusts: each address is that of a vector or a matrix as its arguments say, which nobody else writes during the call; what is
//! written does not overlap what is read.

use crate::{
    abi::{
        Checked, Diag, Letter, MatMut, MatRef, Op, Routines, Scalar, Size, Uplo, VecRef, check, matrix, matrix_mut,
        vector, vector_mut,
    },
    parts::{Parts, Rows},
};
use superscalar::kernels::cpu::{self, Conj};
use superscalar_macros::fortran;

fn conjugated<V: Into<Conj<V>>>(view: V, conj: bool) -> Conj<V> {
    if conj { Conj::of(view) } else { view.into() }
}

/// The elements of a packed triangle of order n.
fn packed_len(n: Size) -> Size {
    Size::from_len(n.get().saturating_mul(n.get() + 1) / 2)
}

/// How a general matrix is multiplied: op, and whether its elements are conjugated.
#[derive(Clone, Copy)]
pub(crate) struct General {
    pub(crate) trans: Letter,
    pub(crate) conj: bool,
}

/// y := alpha op(A) x + beta y, with A m x n.
///
/// # Safety
/// The module's.
#[allow(clippy::too_many_arguments)]
pub(crate) unsafe fn dense<T: Routines>(
    General { trans, conj }: General,
    (m, n): (Size, Size),
    alpha: T,
    (a, lda): (*const T, Size),
    (x, incx): (*const T, Size),
    beta: T,
    (y, incy): (*mut T, Size),
) -> Checked {
    check(&[
        (1, trans.op().is_some()),
        (2, m.is_valid()),
        (3, n.is_valid()),
        (6, lda.spans(m)),
        (8, incx.steps()),
        (11, incy.steps()),
    ])?;
    let op = trans.op().unwrap_or(Op::None);
    if is_nothing(m, n, alpha, beta) {
        return Ok(());
    }
    let (of_y, of_x) = if op == Op::None { (m, n) } else { (n, m) };
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (a, x, y) = unsafe { (matrix(a, (m, n), lda), vector(x, of_x, incx), vector_mut(y, of_y, incy)) };
    let Some(parts) = Parts::of(of_y.get(), m.get() * n.get() * size_of::<T>()) else {
        cpu::gemv(op, alpha, conjugated(a, conj), x, beta, y);
        return Ok(());
    };
    // Each thread has some rows of op(A).
    parts.each("gemv", (Rows(op, a), y), |(Rows(op, a), y)| cpu::gemv(op, alpha, conjugated(a, conj), x, beta, y));
    Ok(())
}

/// Whether the reference leaves y as it is.
fn is_nothing<T: Scalar>(m: Size, n: Size, alpha: T, beta: T) -> bool {
    m == Size::ZERO || n == Size::ZERO || (alpha == T::ZERO && beta == T::ONE)
}

/// y := alpha op(A) x + beta y, with A m x n with kl diagonals below the main one and ku above it.
///
/// # Safety
/// The module's.
#[allow(clippy::too_many_arguments)]
pub(crate) unsafe fn band<T: Routines>(
    General { trans, conj }: General,
    (m, n): (Size, Size),
    (kl, ku): (Size, Size),
    alpha: T,
    (a, lda): (*const T, Size),
    (x, incx): (*const T, Size),
    beta: T,
    (y, incy): (*mut T, Size),
) -> Checked {
    check(&[
        (1, trans.op().is_some()),
        (2, m.is_valid()),
        (3, n.is_valid()),
        (4, kl.is_valid()),
        (5, ku.is_valid()),
        (8, lda.holds(&[kl, ku])),
        (10, incx.steps()),
        (13, incy.steps()),
    ])?;
    let op = trans.op().unwrap_or(Op::None);
    if is_nothing(m, n, alpha, beta) {
        return Ok(());
    }
    let (of_y, of_x) = if op == Op::None { (m, n) } else { (n, m) };
    let rows = Size::from_len(kl.get() + ku.get() + 1);
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (a, x, y) = unsafe { (matrix(a, (rows, n), lda), vector(x, of_x, incx), vector_mut(y, of_y, incy)) };
    cpu::gbmv(op, ku.get(), alpha, conjugated(a, conj), x, beta, y);
    Ok(())
}

/// A := alpha x yᵀ + A, with one of the vectors conjugated if that is said; A is m x n.
///
/// # Safety
/// The module's.
#[allow(clippy::too_many_arguments)]
pub(crate) unsafe fn rank_one<T: Routines>(
    conjugated: Conjugated,
    (m, n): (Size, Size),
    alpha: T,
    (x, incx): (*const T, Size),
    (y, incy): (*const T, Size),
    (a, lda): (*mut T, Size),
) -> Checked {
    check(&[(1, m.is_valid()), (2, n.is_valid()), (5, incx.steps()), (7, incy.steps()), (9, lda.spans(m))])?;
    if m == Size::ZERO || n == Size::ZERO || alpha == T::ZERO {
        return Ok(());
    }
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (x, y, a) = unsafe { (vector(x, m, incx), vector(y, n, incy), matrix_mut(a, (m, n), lda)) };
    let update = |(y, a): (VecRef<'_, T>, MatMut<'_, T>)| match conjugated {
        Conjugated::None => cpu::geru(alpha, x, y, a),
        Conjugated::Second => cpu::gerc(alpha, x, y, a),
        Conjugated::First => cpu::gerc(alpha, y, x, a.transpose()),
    };
    let Some(parts) = Parts::of(n.get(), m.get() * n.get() * size_of::<T>()) else {
        update((y, a));
        return Ok(());
    };
    parts.each("ger", (y, a), update);
    Ok(())
}

/// Which of two vectors is conjugated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conjugated {
    None,
    First,
    Second,
}

/// # Safety
/// The module's.
#[fortran(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn gemv<T: Routines>(
    trans: Letter,
    m: Size,
    n: Size,
    alpha: T,
    a: *const T,
    lda: Size,
    x: *const T,
    incx: Size,
    beta: T,
    y: *mut T,
    incy: Size,
) -> Checked {
    // SAFETY: the caller promises of these addresses what the module's head says.
    unsafe { dense(General { trans, conj: false }, (m, n), alpha, (a, lda), (x, incx), beta, (y, incy)) }
}

/// # Safety
/// The module's.
#[fortran(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn gbmv<T: Routines>(
    trans: Letter,
    m: Size,
    n: Size,
    kl: Size,
    ku: Size,
    alpha: T,
    a: *const T,
    lda: Size,
    x: *const T,
    incx: Size,
    beta: T,
    y: *mut T,
    incy: Size,
) -> Checked {
    let how = General { trans, conj: false };
    // SAFETY: the caller promises of these addresses what the module's head says.
    unsafe { band(how, (m, n), (kl, ku), alpha, (a, lda), (x, incx), beta, (y, incy)) }
}

macro_rules! rank_one {
    ($($name:ident $conjugated:ident ($($element:ident),*);)*) => {$(
        /// # Safety
        /// The module's.
        #[fortran($($element),*)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: Routines>(
            m: Size,
            n: Size,
            alpha: T,
            x: *const T,
            incx: Size,
            y: *const T,
            incy: Size,
            a: *mut T,
            lda: Size,
        ) -> Checked {
            // SAFETY: the caller promises of these addresses what the module's head says.
            unsafe { rank_one(Conjugated::$conjugated, (m, n), alpha, (x, incx), (y, incy), (a, lda)) }
        }
    )*};
}

rank_one! {
    ger None (s, d);
    geru None (c, z);
    gerc Second (c, z);
}

/// How a symmetric or Hermitian matrix is stored.
#[derive(Clone, Copy)]
pub(crate) enum Storage {
    Dense { lda: Size },
    Band { k: Size, lda: Size },
    Packed,
}

impl Storage {
    /// What is checked of it between the order and the increments.
    fn checks(self, n: Size, at: i32) -> [(i32, bool); 2] {
        match self {
            Self::Dense { lda } => [(at, lda.spans(n)), (at, true)],
            Self::Band { k, lda } => [(at - 3, k.is_valid()), (at, lda.holds(&[k]))],
            Self::Packed => [(at, true); 2],
        }
    }

    /// Where the increments of x and y are, and the leading dimension, in the argument lists of symv, sbmv and spmv.
    fn places(self) -> (i32, i32, i32) {
        match self {
            Self::Dense { .. } => (5, 7, 10),
            Self::Band { .. } => (6, 8, 11),
            Self::Packed => (5, 6, 9),
        }
    }
}

/// y := alpha A x + beta y, with A symmetric, or Hermitian, of order n.
///
/// # Safety
/// The module's.
#[allow(clippy::too_many_arguments)]
pub(crate) unsafe fn symmetric<T: Routines>(
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

/// # Safety
/// The module's.
unsafe fn square<'a, T>(a: *const T, n: Size, lda: Size, conj: bool) -> Conj<MatRef<'a, T>> {
    // SAFETY: the caller promises of these addresses what the module's head says.
    conjugated(unsafe { matrix(a, (n, n), lda) }, conj)
}

/// # Safety
/// The module's.
unsafe fn diagonals<'a, T>(a: *const T, k: Size, n: Size, lda: Size, conj: bool) -> Conj<MatRef<'a, T>> {
    // SAFETY: the caller promises of these addresses what the module's head says.
    conjugated(unsafe { matrix(a, (Size::from_len(k.get() + 1), n), lda) }, conj)
}

/// # Safety
/// The module's.
unsafe fn packed<'a, T>(a: *const T, n: Size, conj: bool) -> Conj<VecRef<'a, T>> {
    // SAFETY: the caller promises of these addresses what the module's head says.
    conjugated(unsafe { vector(a, packed_len(n), Size::ONE) }, conj)
}

macro_rules! symmetric {
    ($($dense:ident $band:ident $packed:ident $is_hermitian:literal $elements:tt;)*) => {$(
        symmetric! { @ $dense $is_hermitian $elements () (lda: Size) Storage::Dense { lda } }
        symmetric! { @ $band $is_hermitian $elements (k: Size) (lda: Size) Storage::Band { k, lda } }
        symmetric! { @ $packed $is_hermitian $elements () () Storage::Packed }
    )*};
    (@ $name:ident $is_hermitian:literal ($($element:ident),*) ($($k:ident: $size:ident)?) ($($lda:ident: $ld:ident)?) $storage:expr) => {
        /// # Safety
        /// The module's.
        #[fortran($($element),*)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: Routines>(
            uplo: Letter,
            n: Size,
            $($k: $size,)?
            alpha: T,
            a: *const T,
            $($lda: $ld,)?
            x: *const T,
            incx: Size,
            beta: T,
            y: *mut T,
            incy: Size,
        ) -> Checked {
            let how = ($is_hermitian, false);
            // SAFETY: the caller promises of these addresses what the module's head says.
            unsafe { symmetric(how, $storage, uplo, n, alpha, a, (x, incx), beta, (y, incy)) }
        }
    };
}

symmetric! {
    symv sbmv spmv false (s, d);
    hemv hbmv hpmv true (c, z);
}

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

/// A := alpha x xᵀ + A, or with xᴴ where alpha is real; one triangle of order n. Packed without a leading dimension.
///
/// # Safety
/// The module's.
pub(crate) unsafe fn update<T: Routines>(
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
pub(crate) unsafe fn update_by_two<T: Routines>(
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
        updates! { @ $dense $is_hermitian $elements (lda: Size) Some(lda) }
        updates! { @ $packed $is_hermitian $elements () None }
        updates! { @@ $dense_two $is_hermitian $elements (lda: Size) Some(lda) }
        updates! { @@ $packed_two $is_hermitian $elements () None }
    )*};
    (@ $name:ident $is_hermitian:literal ($($element:ident),*) ($($lda:ident: $ld:ident)?) $given:expr) => {
        /// # Safety
        /// The module's.
        #[fortran($($element),*)]
        unsafe fn $name<T: Routines>(
            uplo: Letter,
            n: Size,
            alpha: T::Real,
            x: *const T,
            incx: Size,
            a: *mut T,
            $($lda: $ld,)?
        ) -> Checked {
            let how = ($is_hermitian, false);
            // SAFETY: the caller promises of these addresses what the module's head says.
            unsafe { update(how, uplo, n, T::from_real(alpha), (x, incx), (a, $given)) }
        }
    };
    (@@ $name:ident $is_hermitian:literal ($($element:ident),*) ($($lda:ident: $ld:ident)?) $given:expr) => {
        /// # Safety
        /// The module's.
        #[fortran($($element),*)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: Routines>(
            uplo: Letter,
            n: Size,
            alpha: T,
            x: *const T,
            incx: Size,
            y: *const T,
            incy: Size,
            a: *mut T,
            $($lda: $ld,)?
        ) -> Checked {
            let how = ($is_hermitian, false);
            // SAFETY: the caller promises of these addresses what the module's head says.
            unsafe { update_by_two(how, uplo, n, alpha, (x, incx), (y, incy), (a, $given)) }
        }
    };
}

updates! {
    syr spr syr2 spr2 false (s, d);
    her hpr her2 hpr2 true (c, z);
}
