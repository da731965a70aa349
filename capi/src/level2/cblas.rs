//! Level 2 of the BLAS, with C's interface. A matrix that lies by rows is taken as its transpose, by columns. Where the
//! matrix is to be conjugated as well, its elements are conjugated as they are read.

use super::{
    Storage,
    general::{self, Conjugated, General},
    symmetric,
    triangular::{self, Action},
};
use crate::{
    abi::{Checked, Code, Layout, Letter, Routines, Size},
    rows::{TRANS, counted, layout, transposed},
};
use superscalar_macros::cblas;

/// What is done to the matrix by columns, and whether its elements are conjugated.
fn by_columns<T: Routines>(layout: Layout, trans: Code) -> (Letter, bool) {
    match layout {
        Layout::ColMajor => (trans.trans(), false),
        Layout::RowMajor => (transposed(trans, TRANS), T::COMPLEX && trans.is_conjugate()),
    }
}

/// # Safety
/// As of [`level2`](super).
#[cblas(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn gemv<T: Routines>(
    order: Code,
    trans: Code,
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
    let layout = layout(order, &[trans.trans()])?;
    let (trans, conj) = by_columns::<T>(layout, trans);
    let shape = if layout == Layout::ColMajor { (m, n) } else { (n, m) };
    let how = General { trans, conj };
    // SAFETY: the caller promises of these addresses what the routine's documentation says.
    counted(layout, unsafe { general::dense(how, shape, alpha, (a, lda), (x, incx), beta, (y, incy)) })
}

/// # Safety
/// As of [`level2`](super).
#[cblas(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn gbmv<T: Routines>(
    order: Code,
    trans: Code,
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
    let layout = layout(order, &[trans.trans()])?;
    let (trans, conj) = by_columns::<T>(layout, trans);
    let (shape, widths) = if layout == Layout::ColMajor { ((m, n), (kl, ku)) } else { ((n, m), (ku, kl)) };
    let how = General { trans, conj };
    // SAFETY: the caller promises of these addresses what the routine's documentation says.
    counted(layout, unsafe { general::band(how, shape, widths, alpha, (a, lda), (x, incx), beta, (y, incy)) })
}

macro_rules! rank_one {
    ($($name:ident $columns:ident $rows:ident ($($element:ident),*);)*) => {$(
        /// # Safety
        /// As of [`level2`](super).
        #[cblas($($element),*)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: Routines>(
            order: Code,
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
            let layout = layout(order, &[])?;
            let ((m, n), x, y, conjugated) = match layout {
                Layout::ColMajor => ((m, n), (x, incx), (y, incy), Conjugated::$columns),
                Layout::RowMajor => ((n, m), (y, incy), (x, incx), Conjugated::$rows),
            };
            // SAFETY: the caller promises of these addresses what the routine's documentation says.
            counted(layout, unsafe { general::rank_one(conjugated, (m, n), alpha, x, y, (a, lda)) })
        }
    )*};
}

rank_one! {
    ger None None (s, d);
    geru None None (c, z);
    gerc Second First (c, z);
}

/// The triangle by columns, and whether a Hermitian matrix's elements are conjugated.
fn triangle(layout: Layout, uplo: Code, is_hermitian: bool) -> (Letter, (bool, bool)) {
    match layout {
        Layout::ColMajor => (uplo.uplo(), (is_hermitian, false)),
        Layout::RowMajor => (uplo.mirrored().uplo(), (is_hermitian, is_hermitian)),
    }
}

macro_rules! symmetric {
    ($($dense:ident $band:ident $packed:ident $is_hermitian:literal $elements:tt;)*) => {$(
        symmetric! { @ $dense $is_hermitian $elements () (lda: Size) Storage::Dense { lda } }
        symmetric! { @ $band $is_hermitian $elements (k: Size) (lda: Size) Storage::Band { k, lda } }
        symmetric! { @ $packed $is_hermitian $elements () () Storage::Packed }
    )*};
    (@ $name:ident $is_hermitian:literal ($($element:ident),*) ($($k:ident: $size:ident)?) ($($lda:ident: $ld:ident)?) $storage:expr) => {
        /// # Safety
        /// As of [`level2`](super).
        #[cblas($($element),*)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: Routines>(
            order: Code,
            uplo: Code,
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
            let layout = layout(order, &[uplo.uplo()])?;
            let (uplo, how) = triangle(layout, uplo, $is_hermitian);
            let (x, y) = ((x, incx), (y, incy));
            // SAFETY: the caller promises of these addresses what the routine's documentation says.
            counted(layout, unsafe { symmetric::symmetric(how, $storage, uplo, n, alpha, a, x, beta, y) })
        }
    };
}

symmetric! {
    symv sbmv spmv false (s, d);
    hemv hbmv hpmv true (c, z);
}

macro_rules! triangular {
    ($($action:ident $dense:ident $band:ident $packed:ident;)*) => {$(
        triangular! { @ $dense $action () (lda: Size) Storage::Dense { lda } }
        triangular! { @ $band $action (k: Size) (lda: Size) Storage::Band { k, lda } }
        triangular! { @ $packed $action () () Storage::Packed }
    )*};
    (@ $name:ident $action:ident ($($k:ident: $size:ident)?) ($($lda:ident: $ld:ident)?) $storage:expr) => {
        /// # Safety
        /// As of [`level2`](super).
        #[cblas(s, d, c, z)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: Routines>(
            order: Code,
            uplo: Code,
            trans: Code,
            diag: Code,
            n: Size,
            $($k: $size,)?
            a: *const T,
            $($lda: $ld,)?
            x: *mut T,
            incx: Size,
        ) -> Checked {
            let layout = layout(order, &[uplo.uplo(), trans.trans(), diag.diag()])?;
            let (trans, conj) = by_columns::<T>(layout, trans);
            let (uplo, _) = triangle(layout, uplo, false);
            let how = (uplo, trans, diag.diag());
            // SAFETY: the caller promises of these addresses what the routine's documentation says.
            counted(layout, unsafe { triangular::triangular(Action::$action, conj, $storage, how, n, a, (x, incx)) })
        }
    };
}

triangular! {
    Multiply trmv tbmv tpmv;
    Solve trsv tbsv tpsv;
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
        /// As of [`level2`](super).
        #[cblas($($element),*)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: Routines>(
            order: Code,
            uplo: Code,
            n: Size,
            alpha: T::Real,
            x: *const T,
            incx: Size,
            a: *mut T,
            $($lda: $ld,)?
        ) -> Checked {
            let layout = layout(order, &[uplo.uplo()])?;
            let (uplo, how) = triangle(layout, uplo, $is_hermitian);
            // SAFETY: the caller promises of these addresses what the routine's documentation says.
            counted(layout, unsafe { symmetric::update(how, uplo, n, T::from_real(alpha), (x, incx), (a, $given)) })
        }
    };
    (@@ $name:ident $is_hermitian:literal ($($element:ident),*) ($($lda:ident: $ld:ident)?) $given:expr) => {
        /// # Safety
        /// As of [`level2`](super).
        #[cblas($($element),*)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: Routines>(
            order: Code,
            uplo: Code,
            n: Size,
            alpha: T,
            x: *const T,
            incx: Size,
            y: *const T,
            incy: Size,
            a: *mut T,
            $($lda: $ld,)?
        ) -> Checked {
            let layout = layout(order, &[uplo.uplo()])?;
            let is_swapped = layout == Layout::RowMajor && $is_hermitian;
            let (uplo, how) = triangle(layout, uplo, $is_hermitian);
            // The transpose of x yᴴ is conj(y) xᵀ.
            let (x, y) = if is_swapped { ((y, incy), (x, incx)) } else { ((x, incx), (y, incy)) };
            // SAFETY: the caller promises of these addresses what the routine's documentation says.
            counted(layout, unsafe { symmetric::update_by_two(how, uplo, n, alpha, x, y, (a, $given)) })
        }
    };
}

updates! {
    syr spr syr2 spr2 false (s, d);
    her hpr her2 hpr2 true (c, z);
}
