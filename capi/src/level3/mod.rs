//! Level 3 of the BLAS: products, updates and solves with matrices.
//!
//! Each routine checks its arguments in the reference's order, makes views of the caller's memory, and has them computed: by the kernels on this
//! thread, or by the tasks of the engine.
//!
//! What every routine trusts, since C can not say it: each address is that of a matrix of the sizes and the leading dimension given with it
//! (or any, where it has no elements), which nobody else writes during the call; the one that is written does not overlap the others.

mod batch;

use crate::{
    abi::{Checked, Diag, Layout, Letter, Op, Position, Routines, Side, Size, Uplo, check, matrix, matrix_mut},
    engine::for_product,
    rows::{CONJ_TRANS, TRANS, interfaces, operation, side_of, swapped, triangle_of},
};
use superscalar::{
    dla,
    kernels::{cpu, operations::Action},
};

/// m n k, where that is a number.
fn multiplications(m: Size, n: Size, k: Size) -> u64 {
    (m.get() as u64).saturating_mul(n.get() as u64).saturating_mul(k.get() as u64)
}

/// The shape of a matrix of which op is m x n.
fn stored(op: Op, shape: (Size, Size)) -> (Size, Size) {
    if op == Op::None { shape } else { (shape.1, shape.0) }
}

/// Has the routine of this name compute: that of the kernels on this thread or, if so many multiplications are worth
/// it, that of `dla` on the engine.
macro_rules! compute {
    ($multiplications:expr, $name:ident($($argument:expr),*)) => {
        match for_product($multiplications) {
            None => cpu::$name($($argument),*),
            Some(engine) => {
                let outcome = dla::$name(&engine.runtime, $($argument,)* &engine.options);
                engine.report(stringify!($name), outcome);
            }
        }
    };
}

/// C := alpha op(A) op(B) + beta C, with op(A) m x k, op(B) k x n, C m x n.
///
/// # Safety
/// The module's.
unsafe fn product<T: Routines>(
    (transa, transb): (Letter, Letter),
    (m, n, k): (Size, Size, Size),
    alpha: T,
    (a, lda): (*const T, Size),
    (b, ldb): (*const T, Size),
    beta: T,
    (c, ldc): (*mut T, Size),
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
    compute!(multiplications(m, n, k), gemm(alpha, op_a, a, op_b, b, beta, c));
    Ok(())
}

/// C := alpha op(A) op(B) + beta C of which one triangle is computed; C is n x n.
///
/// # Safety
/// The module's.
#[allow(clippy::too_many_arguments)]
unsafe fn triangle_of_product<T: Routines>(
    uplo: Letter,
    (transa, transb): (Letter, Letter),
    (n, k): (Size, Size),
    alpha: T,
    (a, lda): (*const T, Size),
    (b, ldb): (*const T, Size),
    beta: T,
    (c, ldc): (*mut T, Size),
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
    compute!(multiplications(n, n, k) / 2, gemmt(uplo, alpha, op_a, a, op_b, b, beta, c));
    Ok(())
}

interfaces! {
    gemm (s, d, c, z) [transa: trans, transb: trans]
    (m: Size, n: Size, k: Size, alpha: T, a: *const T, lda: Size, b: *const T, ldb: Size, beta: T, c: *mut T, ldc: Size)
    |layout| {
        let (trans, (m, n)) = (swapped(layout, (transa, transb)), swapped(layout, (m, n)));
        let (a, b) = swapped(layout, ((a, lda), (b, ldb)));
        product(trans, (m, n, k), alpha, a, b, beta, (c, ldc))
    };

    gemmt (s, d, c, z) [uplo: uplo, transa: trans, transb: trans]
    (n: Size, k: Size, alpha: T, a: *const T, lda: Size, b: *const T, ldb: Size, beta: T, c: *mut T, ldc: Size)
    |layout| {
        let (uplo, trans) = (triangle_of(layout, uplo), swapped(layout, (transa, transb)));
        let (a, b) = swapped(layout, ((a, lda), (b, ldb)));
        triangle_of_product(uplo, trans, (n, k), alpha, a, b, beta, (c, ldc))
    };
}

/// C := alpha A B + beta C, or alpha B A + beta C, with A symmetric or Hermitian, of which one triangle is read; C is
/// m x n.
///
/// # Safety
/// The module's.
#[allow(clippy::too_many_arguments)]
unsafe fn with_whole<T: Routines>(
    is_hermitian: bool,
    (side, uplo): (Letter, Letter),
    (m, n): (Size, Size),
    alpha: T,
    (a, lda): (*const T, Size),
    (b, ldb): (*const T, Size),
    beta: T,
    (c, ldc): (*mut T, Size),
) -> Checked {
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
    match is_hermitian {
        false => compute!(multiplications(m, n, order), symm(side, uplo, alpha, a, b, beta, c)),
        true => compute!(multiplications(m, n, order), hemm(side, uplo, alpha, a, b, beta, c)),
    }
    Ok(())
}

macro_rules! whole {
    ($($name:ident $is_hermitian:literal $elements:tt;)*) => {$(
        interfaces! {
            $name $elements [side: side, uplo: uplo]
            (m: Size, n: Size, alpha: T, a: *const T, lda: Size, b: *const T, ldb: Size, beta: T, c: *mut T, ldc: Size)
            |layout| {
                let (what, shape) = ((side_of(layout, side), triangle_of(layout, uplo)), swapped(layout, (m, n)));
                with_whole($is_hermitian, what, shape, alpha, (a, lda), (b, ldb), beta, (c, ldc))
            };
        }
    )*};
}

whole! {
    symm false (s, d, c, z);
    hemm true (c, z);
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
) -> Result<(Uplo, Op), Position> {
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

/// C := alpha op(A) op(A)ᵀ + beta C, or with op(A)ᴴ where alpha and beta are real; one triangle of order n; op(A) is
/// n x k.
///
/// # Safety
/// The module's.
unsafe fn rank_k<T: Routines>(
    what @ (_, _, is_hermitian): (Letter, Letter, bool),
    (n, k): (Size, Size),
    alpha: T,
    (a, lda): (*const T, Size),
    beta: T,
    (c, ldc): (*mut T, Size),
) -> Checked {
    let (uplo, op) = update::<T>(what, (n, k), lda, None, (10, ldc))?;
    if is_hermitian && (alpha == T::ZERO || k == Size::ZERO) && beta == T::ONE {
        // Not even the imaginary parts on the diagonal are touched, as in the reference.
        return Ok(());
    }
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (a, c) = unsafe { (matrix(a, stored(op, (n, k)), lda), matrix_mut(c, (n, n), ldc)) };
    match is_hermitian {
        false => compute!(multiplications(n, n, k) / 2, syrk(uplo, op, alpha, a, beta, c)),
        true => compute!(multiplications(n, n, k) / 2, herk(uplo, op, alpha.re(), a, beta.re(), c)),
    }
    Ok(())
}

/// C := alpha op(A) op(B)ᵀ + alpha op(B) op(A)ᵀ + beta C, or with op(B)ᴴ, conj(alpha) and op(A)ᴴ where beta is real;
/// one triangle of order n; op(A) and op(B) are n x k.
///
/// # Safety
/// The module's.
unsafe fn rank_2k<T: Routines>(
    what @ (_, _, is_hermitian): (Letter, Letter, bool),
    (n, k): (Size, Size),
    alpha: T,
    (a, lda): (*const T, Size),
    (b, ldb): (*const T, Size),
    beta: T,
    (c, ldc): (*mut T, Size),
) -> Checked {
    let (uplo, op) = update::<T>(what, (n, k), lda, Some(ldb), (12, ldc))?;
    if is_hermitian && (alpha == T::ZERO || k == Size::ZERO) && beta == T::ONE {
        // As in herk.
        return Ok(());
    }
    let shape = stored(op, (n, k));
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (a, b, c) = unsafe { (matrix(a, shape, lda), matrix(b, shape, ldb), matrix_mut(c, (n, n), ldc)) };
    match is_hermitian {
        false => compute!(multiplications(n, n, k), syr2k(uplo, op, alpha, a, b, beta, c)),
        true => compute!(multiplications(n, n, k), her2k(uplo, op, alpha, a, b, beta.re(), c)),
    }
    Ok(())
}

interfaces! {
    syrk (s, d, c, z) [uplo: uplo, trans: trans]
    (n: Size, k: Size, alpha: T, a: *const T, lda: Size, beta: T, c: *mut T, ldc: Size)
    |layout| {
        let what = (triangle_of(layout, uplo), operation(layout, trans, TRANS), false);
        rank_k(what, (n, k), alpha, (a, lda), beta, (c, ldc))
    };

    herk (c, z) [uplo: uplo, trans: trans]
    (n: Size, k: Size, alpha: T::Real, a: *const T, lda: Size, beta: T::Real, c: *mut T, ldc: Size)
    |layout| {
        let what = (triangle_of(layout, uplo), operation(layout, trans, CONJ_TRANS), true);
        rank_k(what, (n, k), T::from_real(alpha), (a, lda), T::from_real(beta), (c, ldc))
    };

    syr2k (s, d, c, z) [uplo: uplo, trans: trans]
    (n: Size, k: Size, alpha: T, a: *const T, lda: Size, b: *const T, ldb: Size, beta: T, c: *mut T, ldc: Size)
    |layout| {
        let what = (triangle_of(layout, uplo), operation(layout, trans, TRANS), false);
        rank_2k(what, (n, k), alpha, (a, lda), (b, ldb), beta, (c, ldc))
    };

    her2k (c, z) [uplo: uplo, trans: trans]
    (n: Size, k: Size, alpha: T, a: *const T, lda: Size, b: *const T, ldb: Size, beta: T::Real, c: *mut T, ldc: Size)
    |layout| {
        let what = (triangle_of(layout, uplo), operation(layout, trans, CONJ_TRANS), true);
        let alpha = if layout == Layout::ColMajor { alpha } else { alpha.conj() };
        rank_2k(what, (n, k), alpha, (a, lda), (b, ldb), T::from_real(beta), (c, ldc))
    };
}

/// B := alpha op(A) B, or alpha B op(A), with A a triangle, or with its inverse; B is m x n.
///
/// # Safety
/// The module's.
unsafe fn sided<T: Routines>(
    action: Action,
    (side, uplo, trans, diag): (Letter, Letter, Letter, Letter),
    (m, n): (Size, Size),
    alpha: T,
    (a, lda): (*const T, Size),
    (b, ldb): (*mut T, Size),
) -> Checked {
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
    let (side, uplo) = (side.side().unwrap_or(Side::Left), uplo.uplo().unwrap_or(Uplo::Lower));
    let (op, diag) = (trans.op().unwrap_or(Op::None), diag.diag().unwrap_or(Diag::NonUnit));
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (a, b) = unsafe { (matrix(a, (order, order), lda), matrix_mut(b, (m, n), ldb)) };
    match action {
        Action::Multiply => compute!(multiplications(m, n, order) / 2, trmm(side, uplo, op, diag, alpha, a, b)),
        Action::Solve => compute!(multiplications(m, n, order) / 2, trsm(side, uplo, op, diag, alpha, a, b)),
    }
    Ok(())
}

macro_rules! sided {
    ($($name:ident $action:ident;)*) => {$(
        interfaces! {
            $name (s, d, c, z) [side: side, uplo: uplo, transa: trans, diag: diag]
            (m: Size, n: Size, alpha: T, a: *const T, lda: Size, b: *mut T, ldb: Size)
            |layout| {
                let what = (side_of(layout, side), triangle_of(layout, uplo), transa, diag);
                sided(Action::$action, what, swapped(layout, (m, n)), alpha, (a, lda), (b, ldb))
            };
        }
    )*};
}

sided! {
    trmm Multiply;
    trsm Solve;
}
