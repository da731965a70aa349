//! Level 3 of the BLAS, with Fortran's interface: products, updates and solves with matrices.
//!
//! Each routine checks its arguments in the reference's order, makes views of the caller's memory, and has them computed: by the kernels on this
//! thread, or by the tasks of the engine.
//!
//! What every routine trusts, since C can not say it: each address is that of a matrix of the sizes and the leading dimension given with it
//! (or any, where it has no elements), which nobody else writes during the call; the one that is written does not overlap the others.

mod batch;
mod cblas;

use crate::{
    abi::{Checked, Diag, Letter, Op, Routines, Scalar, Side, Size, Uplo, check, matrix, matrix_mut},
    engine::for_product,
};
use superscalar::{dla, kernels::cpu};
use superscalar_macros::fortran;

/// m n k, where that is a number.
fn multiplications(m: Size, n: Size, k: Size) -> u64 {
    (m.get() as u64).saturating_mul(n.get() as u64).saturating_mul(k.get() as u64)
}

/// The shape of a matrix of which op is m x n.
fn stored(op: Op, shape: (Size, Size)) -> (Size, Size) {
    if op == Op::None { shape } else { (shape.1, shape.0) }
}

/// C := alpha op(A) op(B) + beta C, with op(A) m x k, op(B) k x n, C m x n.
///
/// # Safety
/// The module's.
#[fortran(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
pub(crate) unsafe fn gemm<T: Routines>(
    transa: Letter,
    transb: Letter,
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
    let (op_a, op_b) = (transa.op().unwrap_or(Op::None), transb.op().unwrap_or(Op::None));
    let (shape_a, shape_b) = (stored(op_a, (m, k)), stored(op_b, (k, n)));
    check(&[
        (1, transa.op().is_some()),
        (2, transb.op().is_some()),
        (3, m.is_valid()),
        (4, n.is_valid()),
        (5, k.is_valid()),
        (8, lda.spans(shape_a.0)),
        (10, ldb.spans(shape_b.0)),
        (13, ldc.spans(m)),
    ])?;
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (a, b, c) = unsafe { (matrix(a, shape_a, lda), matrix(b, shape_b, ldb), matrix_mut(c, (m, n), ldc)) };
    match for_product(multiplications(m, n, k)) {
        None => cpu::gemm(alpha, op_a, a, op_b, b, beta, c),
        Some(engine) => {
            let outcome = dla::gemm(&engine.runtime, alpha, op_a, a, op_b, b, beta, c, &engine.options);
            engine.report("gemm", outcome);
        }
    }
    Ok(())
}

/// C := alpha op(A) op(B) + beta C of which one triangle is computed; C is n x n.
///
/// # Safety
/// The module's.
#[fortran(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
pub(crate) unsafe fn gemmt<T: Routines>(
    uplo: Letter,
    transa: Letter,
    transb: Letter,
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
    let (op_a, op_b) = (transa.op().unwrap_or(Op::None), transb.op().unwrap_or(Op::None));
    let (shape_a, shape_b) = (stored(op_a, (n, k)), stored(op_b, (k, n)));
    check(&[
        (1, uplo.uplo().is_some()),
        (2, transa.op().is_some()),
        (3, transb.op().is_some()),
        (4, n.is_valid()),
        (5, k.is_valid()),
        (8, lda.spans(shape_a.0)),
        (10, ldb.spans(shape_b.0)),
        (13, ldc.spans(n)),
    ])?;
    let uplo = uplo.uplo().unwrap_or(Uplo::Lower);
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (a, b, c) = unsafe { (matrix(a, shape_a, lda), matrix(b, shape_b, ldb), matrix_mut(c, (n, n), ldc)) };
    match for_product(multiplications(n, n, k) / 2) {
        None => cpu::gemmt(uplo, alpha, op_a, a, op_b, b, beta, c),
        Some(engine) => {
            let outcome = dla::gemmt(&engine.runtime, uplo, alpha, op_a, a, op_b, b, beta, c, &engine.options);
            engine.report("gemmt", outcome);
        }
    }
    Ok(())
}

/// The operands of symm and hemm.
struct Whole<'a, T> {
    side: Side,
    uplo: Uplo,
    a: crate::abi::MatRef<'a, T>,
    b: crate::abi::MatRef<'a, T>,
    c: crate::abi::MatMut<'a, T>,
    multiplications: u64,
}

/// # Safety
/// The module's.
#[allow(clippy::too_many_arguments)]
unsafe fn whole<'a, T>(
    (side, uplo): (Letter, Letter),
    (m, n): (Size, Size),
    (a, lda): (*const T, Size),
    (b, ldb): (*const T, Size),
    (c, ldc): (*mut T, Size),
) -> Result<Whole<'a, T>, crate::abi::Position> {
    let order = if side.side() == Some(Side::Right) { n } else { m };
    check(&[
        (1, side.side().is_some()),
        (2, uplo.uplo().is_some()),
        (3, m.is_valid()),
        (4, n.is_valid()),
        (7, lda.spans(order)),
        (9, ldb.spans(m)),
        (12, ldc.spans(m)),
    ])?;
    let (side, uplo) = (side.side().unwrap_or(Side::Left), uplo.uplo().unwrap_or(Uplo::Lower));
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (a, b, c) = unsafe { (matrix(a, (order, order), lda), matrix(b, (m, n), ldb), matrix_mut(c, (m, n), ldc)) };
    Ok(Whole { side, uplo, a, b, c, multiplications: multiplications(m, n, order) })
}

macro_rules! whole {
    ($($(#[$doc:meta])* $name:ident ($($element:ident),*);)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The module's.
        #[fortran($($element),*)]
        #[allow(clippy::too_many_arguments)]
        pub(crate) unsafe fn $name<T: Routines>(
            side: Letter,
            uplo: Letter,
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
            // SAFETY: the caller promises of these addresses what the module's head says.
            let operands = unsafe { whole((side, uplo), (m, n), (a, lda), (b, ldb), (c, ldc))? };
            let Whole { side, uplo, a, b, c, multiplications } = operands;
            match for_product(multiplications) {
                None => cpu::$name(side, uplo, alpha, a, b, beta, c),
                Some(engine) => {
                    let outcome = dla::$name(&engine.runtime, side, uplo, alpha, a, b, beta, c, &engine.options);
                    engine.report(stringify!($name), outcome);
                }
            }
            Ok(())
        }
    )*};
}

whole! {
    /// C := alpha A B + beta C, or alpha B A + beta C, with A symmetric, of which one triangle is read; C is m x n.
    symm (s, d, c, z);
    /// The same with A Hermitian.
    hemm (c, z);
}

/// The transpositions that a symmetric or Hermitian update takes.
fn op_of_update<T: Routines>(trans: Letter, is_hermitian: bool) -> Option<Op> {
    match trans.op() {
        Some(Op::None) => Some(Op::None),
        Some(Op::ConjTrans) if !T::COMPLEX => Some(Op::Trans),
        Some(Op::ConjTrans) if is_hermitian => Some(Op::ConjTrans),
        Some(Op::Trans) if !is_hermitian => Some(Op::Trans),
        _ => None,
    }
}

/// The arguments of an update of order n and depth k, checked: the triangle, and what is done to A.
fn update<T: Routines>(
    (uplo, trans, is_hermitian): (Letter, Letter, bool),
    (n, k): (Size, Size),
    lda: Size,
    ldb: Option<Size>,
    (at, ldc): (i32, Size),
) -> Result<(Uplo, Op), crate::abi::Position> {
    let op = op_of_update::<T>(trans, is_hermitian);
    let rows = if op == Some(Op::None) { n } else { k };
    check(&[
        (1, uplo.uplo().is_some()),
        (2, op.is_some()),
        (3, n.is_valid()),
        (4, k.is_valid()),
        (7, lda.spans(rows)),
        (9, ldb.is_none_or(|ldb| ldb.spans(rows))),
        (at, ldc.spans(n)),
    ])?;
    Ok((uplo.uplo().unwrap_or(Uplo::Lower), op.unwrap_or(Op::None)))
}

/// C := alpha op(A) op(A)ᵀ + beta C, one triangle of order n; op(A) is n x k.
///
/// # Safety
/// The module's.
#[fortran(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
pub(crate) unsafe fn syrk<T: Routines>(
    uplo: Letter,
    trans: Letter,
    n: Size,
    k: Size,
    alpha: T,
    a: *const T,
    lda: Size,
    beta: T,
    c: *mut T,
    ldc: Size,
) -> Checked {
    let (uplo, op) = update::<T>((uplo, trans, false), (n, k), lda, None, (10, ldc))?;
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (a, c) = unsafe { (matrix(a, stored(op, (n, k)), lda), matrix_mut(c, (n, n), ldc)) };
    match for_product(multiplications(n, n, k) / 2) {
        None => cpu::syrk(uplo, op, alpha, a, beta, c),
        Some(engine) => {
            let outcome = dla::syrk(&engine.runtime, uplo, op, alpha, a, beta, c, &engine.options);
            engine.report("syrk", outcome);
        }
    }
    Ok(())
}

/// C := alpha op(A) op(A)ᴴ + beta C, one triangle of order n; op(A) is n x k.
///
/// # Safety
/// The module's.
#[fortran(c, z)]
#[allow(clippy::too_many_arguments)]
pub(crate) unsafe fn herk<T: Routines>(
    uplo: Letter,
    trans: Letter,
    n: Size,
    k: Size,
    alpha: T::Real,
    a: *const T,
    lda: Size,
    beta: T::Real,
    c: *mut T,
    ldc: Size,
) -> Checked {
    let (uplo, op) = update::<T>((uplo, trans, true), (n, k), lda, None, (10, ldc))?;
    if (alpha == T::Real::ZERO || k == Size::ZERO) && beta == T::Real::ONE {
        // Not even the imaginary parts on the diagonal are touched, as in the reference.
        return Ok(());
    }
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (a, c) = unsafe { (matrix(a, stored(op, (n, k)), lda), matrix_mut(c, (n, n), ldc)) };
    match for_product(multiplications(n, n, k) / 2) {
        None => cpu::herk(uplo, op, alpha, a, beta, c),
        Some(engine) => {
            let outcome = dla::herk(&engine.runtime, uplo, op, alpha, a, beta, c, &engine.options);
            engine.report("herk", outcome);
        }
    }
    Ok(())
}

/// C := alpha op(A) op(B)ᵀ + alpha op(B) op(A)ᵀ + beta C, one triangle of order n; op(A) and op(B) are n x k.
///
/// # Safety
/// The module's.
#[fortran(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
pub(crate) unsafe fn syr2k<T: Routines>(
    uplo: Letter,
    trans: Letter,
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
    let (uplo, op) = update::<T>((uplo, trans, false), (n, k), lda, Some(ldb), (12, ldc))?;
    let shape = stored(op, (n, k));
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (a, b, c) = unsafe { (matrix(a, shape, lda), matrix(b, shape, ldb), matrix_mut(c, (n, n), ldc)) };
    match for_product(multiplications(n, n, k)) {
        None => cpu::syr2k(uplo, op, alpha, a, b, beta, c),
        Some(engine) => {
            let outcome = dla::syr2k(&engine.runtime, uplo, op, alpha, a, b, beta, c, &engine.options);
            engine.report("syr2k", outcome);
        }
    }
    Ok(())
}

/// C := alpha op(A) op(B)ᴴ + conj(alpha) op(B) op(A)ᴴ + beta C, one triangle of order n; op(A) and op(B) are n x k.
///
/// # Safety
/// The module's.
#[fortran(c, z)]
#[allow(clippy::too_many_arguments)]
pub(crate) unsafe fn her2k<T: Routines>(
    uplo: Letter,
    trans: Letter,
    n: Size,
    k: Size,
    alpha: T,
    a: *const T,
    lda: Size,
    b: *const T,
    ldb: Size,
    beta: T::Real,
    c: *mut T,
    ldc: Size,
) -> Checked {
    let (uplo, op) = update::<T>((uplo, trans, true), (n, k), lda, Some(ldb), (12, ldc))?;
    if (alpha == T::ZERO || k == Size::ZERO) && beta == T::Real::ONE {
        // As in herk.
        return Ok(());
    }
    let shape = stored(op, (n, k));
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (a, b, c) = unsafe { (matrix(a, shape, lda), matrix(b, shape, ldb), matrix_mut(c, (n, n), ldc)) };
    match for_product(multiplications(n, n, k)) {
        None => cpu::her2k(uplo, op, alpha, a, b, beta, c),
        Some(engine) => {
            let outcome = dla::her2k(&engine.runtime, uplo, op, alpha, a, b, beta, c, &engine.options);
            engine.report("her2k", outcome);
        }
    }
    Ok(())
}

/// The operands of trmm and trsm.
struct Sided<'a, T> {
    side: Side,
    uplo: Uplo,
    op: Op,
    diag: Diag,
    a: crate::abi::MatRef<'a, T>,
    b: crate::abi::MatMut<'a, T>,
    multiplications: u64,
}

/// # Safety
/// The module's.
unsafe fn sided<'a, T>(
    (side, uplo, trans, diag): (Letter, Letter, Letter, Letter),
    (m, n): (Size, Size),
    (a, lda): (*const T, Size),
    (b, ldb): (*mut T, Size),
) -> Result<Sided<'a, T>, crate::abi::Position> {
    let order = if side.side() == Some(Side::Right) { n } else { m };
    check(&[
        (1, side.side().is_some()),
        (2, uplo.uplo().is_some()),
        (3, trans.op().is_some()),
        (4, diag.diag().is_some()),
        (5, m.is_valid()),
        (6, n.is_valid()),
        (9, lda.spans(order)),
        (11, ldb.spans(m)),
    ])?;
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (a, b) = unsafe { (matrix(a, (order, order), lda), matrix_mut(b, (m, n), ldb)) };
    Ok(Sided {
        side: side.side().unwrap_or(Side::Left),
        uplo: uplo.uplo().unwrap_or(Uplo::Lower),
        op: trans.op().unwrap_or(Op::None),
        diag: diag.diag().unwrap_or(Diag::NonUnit),
        a,
        b,
        multiplications: multiplications(m, n, order) / 2,
    })
}

macro_rules! sided {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The module's.
        #[fortran(s, d, c, z)]
        #[allow(clippy::too_many_arguments)]
        pub(crate) unsafe fn $name<T: Routines>(
            side: Letter,
            uplo: Letter,
            transa: Letter,
            diag: Letter,
            m: Size,
            n: Size,
            alpha: T,
            a: *const T,
            lda: Size,
            b: *mut T,
            ldb: Size,
        ) -> Checked {
            // SAFETY: the caller promises of these addresses what the module's head says.
            let operands = unsafe { sided((side, uplo, transa, diag), (m, n), (a, lda), (b, ldb))? };
            let Sided { side, uplo, op, diag, a, b, multiplications } = operands;
            match for_product(multiplications) {
                None => cpu::$name(side, uplo, op, diag, alpha, a, b),
                Some(engine) => {
                    let outcome = dla::$name(&engine.runtime, side, uplo, op, diag, alpha, a, b, &engine.options);
                    engine.report(stringify!($name), outcome);
                }
            }
            Ok(())
        }
    )*};
}

sided! {
    /// B := alpha op(A) B, or alpha B op(A), with A a triangle; B is m x n.
    trmm;
    /// B := alpha op(A)⁻¹ B, or alpha B op(A)⁻¹, with A a triangle; B is m x n.
    trsm;
}
