//! Level 3 of the BLAS, with C's interface. A call for rows becomes the call for columns of the transposes, which lie in the same memory.
//!
//! See `rows.rs` for how.

use crate::{
    abi::{Checked, Code, Layout, Routines, Size},
    level3,
    rows::{CONJ_TRANS, TRANS, counted, layout, transposed},
};
use superscalar_macros::cblas;

/// # Safety
/// As of [`level3::gemm`].
#[cblas(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn gemm<T: Routines>(
    order: Code,
    transa: Code,
    transb: Code,
    m: Size,
    n: Size,
    k: Size,
    alpha: T,
    a: *const T,
    lda: Size,
    b: *const T,
    ldb: Size,
    beta: T,
    c: *mut T,
    ldc: Size,
) -> Checked {
    let layout = layout(order, &[transa.trans(), transb.trans()])?;
    let (transa, transb) = (transa.trans(), transb.trans());
    // SAFETY: the caller promises of these addresses what the routine's documentation says.
    counted(layout, unsafe {
        match layout {
            Layout::ColMajor => level3::gemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc),
            Layout::RowMajor => level3::gemm(transb, transa, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc),
        }
    })
}

/// # Safety
/// As of [`level3::gemmt`].
#[cblas(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn gemmt<T: Routines>(
    order: Code,
    uplo: Code,
    transa: Code,
    transb: Code,
    n: Size,
    k: Size,
    alpha: T,
    a: *const T,
    lda: Size,
    b: *const T,
    ldb: Size,
    beta: T,
    c: *mut T,
    ldc: Size,
) -> Checked {
    let layout = layout(order, &[uplo.uplo(), transa.trans(), transb.trans()])?;
    let (transa, transb) = (transa.trans(), transb.trans());
    // SAFETY: the caller promises of these addresses what the routine's documentation says.
    counted(layout, unsafe {
        match layout {
            Layout::ColMajor => level3::gemmt(uplo.uplo(), transa, transb, n, k, alpha, a, lda, b, ldb, beta, c, ldc),
            Layout::RowMajor => {
                level3::gemmt(uplo.mirrored().uplo(), transb, transa, n, k, alpha, b, ldb, a, lda, beta, c, ldc)
            }
        }
    })
}

macro_rules! whole {
    ($($name:ident ($($element:ident),*);)*) => {$(
        /// # Safety
        /// As of Fortran's.
        #[cblas($($element),*)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: Routines>(
            order: Code,
            side: Code,
            uplo: Code,
            m: Size,
            n: Size,
            alpha: T,
            a: *const T,
            lda: Size,
            b: *const T,
            ldb: Size,
            beta: T,
            c: *mut T,
            ldc: Size,
        ) -> Checked {
            let layout = layout(order, &[side.side(), uplo.uplo()])?;
            let ((side, uplo), (m, n)) = match layout {
                Layout::ColMajor => ((side, uplo), (m, n)),
                Layout::RowMajor => ((side.mirrored(), uplo.mirrored()), (n, m)),
            };
            // SAFETY: the caller promises of these addresses what the routine's documentation says.
            counted(layout, unsafe {
                level3::$name(side.side(), uplo.uplo(), m, n, alpha, a, lda, b, ldb, beta, c, ldc)
            })
        }
    )*};
}

whole! {
    symm(s, d, c, z);
    hemm(c, z);
}

macro_rules! update {
    ($($name:ident<$t:ident> $($real:ident)::+, $plain:ident ($($element:ident),*);)*) => {$(
        /// # Safety
        /// As of Fortran's.
        #[cblas($($element),*)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<$t: Routines>(
            order: Code,
            uplo: Code,
            trans: Code,
            n: Size,
            k: Size,
            alpha: $($real)::+,
            a: *const $t,
            lda: Size,
            beta: $($real)::+,
            c: *mut $t,
            ldc: Size,
        ) -> Checked {
            let layout = layout(order, &[uplo.uplo(), trans.trans()])?;
            let (uplo, trans) = match layout {
                Layout::ColMajor => (uplo, trans.trans()),
                Layout::RowMajor => (uplo.mirrored(), transposed(trans, $plain)),
            };
            // SAFETY: the caller promises of these addresses what the routine's documentation says.
            counted(layout, unsafe { level3::$name(uplo.uplo(), trans, n, k, alpha, a, lda, beta, c, ldc) })
        }
    )*};
}

update! {
    syrk<T> T, TRANS (s, d, c, z);
    herk<T> T::Real, CONJ_TRANS (c, z);
}

macro_rules! update_by_two {
    ($($name:ident<$t:ident> $($beta:ident)::+, $plain:ident, $alpha:expr, ($($element:ident),*);)*) => {$(
        /// # Safety
        /// As of Fortran's.
        #[cblas($($element),*)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<$t: Routines>(
            order: Code,
            uplo: Code,
            trans: Code,
            n: Size,
            k: Size,
            alpha: $t,
            a: *const $t,
            lda: Size,
            b: *const $t,
            ldb: Size,
            beta: $($beta)::+,
            c: *mut $t,
            ldc: Size,
        ) -> Checked {
            let layout = layout(order, &[uplo.uplo(), trans.trans()])?;
            let (uplo, trans, alpha) = match layout {
                Layout::ColMajor => (uplo, trans.trans(), alpha),
                Layout::RowMajor => (uplo.mirrored(), transposed(trans, $plain), $alpha(alpha)),
            };
            // SAFETY: the caller promises of these addresses what the routine's documentation says.
            counted(layout, unsafe {
                level3::$name(uplo.uplo(), trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
            })
        }
    )*};
}

update_by_two! {
    syr2k<T> T, TRANS, std::convert::identity, (s, d, c, z);
    her2k<T> T::Real, CONJ_TRANS, T::conj, (c, z);
}

macro_rules! sided {
    ($($name:ident)*) => {$(
        /// # Safety
        /// As of Fortran's.
        #[cblas(s, d, c, z)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: Routines>(
            order: Code,
            side: Code,
            uplo: Code,
            transa: Code,
            diag: Code,
            m: Size,
            n: Size,
            alpha: T,
            a: *const T,
            lda: Size,
            b: *mut T,
            ldb: Size,
        ) -> Checked {
            let layout = layout(order, &[side.side(), uplo.uplo(), transa.trans(), diag.diag()])?;
            let ((side, uplo), (m, n)) = match layout {
                Layout::ColMajor => ((side, uplo), (m, n)),
                Layout::RowMajor => ((side.mirrored(), uplo.mirrored()), (n, m)),
            };
            // SAFETY: the caller promises of these addresses what the routine's documentation says.
            counted(layout, unsafe {
                level3::$name(side.side(), uplo.uplo(), transa.trans(), diag.diag(), m, n, alpha, a, lda, b, ldb)
            })
        }
    )*};
}

sided! { trmm trsm }
