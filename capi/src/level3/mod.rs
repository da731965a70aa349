//! Level 3 of the BLAS: products, updates and solves with matrices.
//!
//! Each routine checks its arguments in the reference's order and makes views of the caller's memory. The kernels
//! compute on the calling thread, or tasks of the engine do.
//!
//! # Requirements
//!
//! Each address is that of a matrix with the sizes and the leading dimension in the arguments; a matrix without
//! elements may have any address. Nothing else writes the matrices during the call, and the matrix that is written does
//! not overlap the others.

mod batch;

use crate::{
    abi::{Checked, Diag, DlaScalar, Layout, Letter, Op, Side, Size, Uplo, WrongArgument, check, matrix, matrix_mut},
    engine::engine_for_product,
    rows::{CONJ_TRANS, TRANS, interfaces, operation, side_of, swapped, triangle_of},
};
use superscalar::{
    dla,
    kernels::{cpu, operations::TriangularAction},
};

/// The sizes of a product: op(A) is m x k, op(B) is k x n, and C is m x n.
#[derive(Clone, Copy)]
struct GemmShape {
    m: Size,
    n: Size,
    k: Size,
}

/// Returns m n k, or the largest number if it overflows.
fn multiplications(m: Size, n: Size, k: Size) -> u64 {
    (m.get() as u64).saturating_mul(n.get() as u64).saturating_mul(k.get() as u64)
}

/// Returns the shape of a matrix A for which op(A) has the given shape.
fn stored_shape(op: Op, shape: (Size, Size)) -> (Size, Size) {
    if op == Op::None { shape } else { (shape.1, shape.0) }
}

/// Calls the routine of this name: that of `dla` on the engine if the number of multiplications is large enough, else
/// that of the kernels on this thread.
macro_rules! compute {
    ($multiplications:expr, $name:ident($($argument:expr),*)) => {
        match engine_for_product($multiplications) {
            None => cpu::$name($($argument),*),
            Some(engine) => {
                let outcome = dla::$name(&engine.runtime, $($argument,)* &engine.options);
                engine.report(stringify!($name), outcome);
            }
        }
    };
}

/// C := alpha op(A) op(B) + beta C.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
unsafe fn product<T: DlaScalar>(
    (transa, transb): (Letter, Letter),
    GemmShape { m, n, k }: GemmShape,
    alpha: T,
    (a, lda): (*const T, Size),
    (b, ldb): (*const T, Size),
    beta: T,
    (c, ldc): (*mut T, Size),
) -> Checked {
    let (op_a, op_b) = (transa.op().unwrap_or(Op::None), transb.op().unwrap_or(Op::None));
    let (shape_a, shape_b) = (stored_shape(op_a, (m, k)), stored_shape(op_b, (k, n)));
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
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let (a, b, c) = unsafe { (matrix(a, shape_a, lda), matrix(b, shape_b, ldb), matrix_mut(c, (m, n), ldc)) };
    compute!(multiplications(m, n, k), gemm(alpha, op_a, a, op_b, b, beta, c));
    Ok(())
}

/// Computes one triangle of C := alpha op(A) op(B) + beta C, where C is n x n.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[allow(clippy::too_many_arguments)]
unsafe fn triangle_of_product<T: DlaScalar>(
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
    let (shape_a, shape_b) = (stored_shape(op_a, (n, k)), stored_shape(op_b, (k, n)));
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
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
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
        product(trans, GemmShape { m, n, k }, alpha, a, b, beta, (c, ldc))
    };

    gemmt (s, d, c, z) [uplo: uplo, transa: trans, transb: trans]
    (n: Size, k: Size, alpha: T, a: *const T, lda: Size, b: *const T, ldb: Size, beta: T, c: *mut T, ldc: Size)
    |layout| {
        let (uplo, trans) = (triangle_of(layout, uplo), swapped(layout, (transa, transb)));
        let (a, b) = swapped(layout, ((a, lda), (b, ldb)));
        triangle_of_product(uplo, trans, (n, k), alpha, a, b, beta, (c, ldc))
    };
}

/// C := alpha A B + beta C, or C := alpha B A + beta C, where A is symmetric or Hermitian and C is m x n. Reads one
/// triangle of A.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[allow(clippy::too_many_arguments)]
unsafe fn symmetric_product<T: DlaScalar>(
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
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let (a, b, c) = unsafe { (matrix(a, (order, order), lda), matrix(b, (m, n), ldb), matrix_mut(c, (m, n), ldc)) };
    match is_hermitian {
        false => compute!(multiplications(m, n, order), symm(side, uplo, alpha, a, b, beta, c)),
        true => compute!(multiplications(m, n, order), hemm(side, uplo, alpha, a, b, beta, c)),
    }
    Ok(())
}

macro_rules! symmetric_products {
    ($($name:ident $is_hermitian:literal $elements:tt;)*) => {$(
        interfaces! {
            $name $elements [side: side, uplo: uplo]
            (m: Size, n: Size, alpha: T, a: *const T, lda: Size, b: *const T, ldb: Size, beta: T, c: *mut T, ldc: Size)
            |layout| {
                let (options, shape) = ((side_of(layout, side), triangle_of(layout, uplo)), swapped(layout, (m, n)));
                symmetric_product($is_hermitian, options, shape, alpha, (a, lda), (b, ldb), beta, (c, ldc))
            };
        }
    )*};
}

symmetric_products! {
    symm false (s, d, c, z);
    hemm true (c, z);
}

/// Returns the operation of a symmetric or Hermitian update, or `None` for a letter that the update does not accept.
fn op_of_update<T: DlaScalar>(trans: Letter, is_hermitian: bool) -> Option<Op> {
    match trans.op() {
        Some(Op::None) => Some(Op::None),
        Some(Op::ConjTrans) if !T::COMPLEX => Some(Op::Trans),
        Some(Op::ConjTrans) if is_hermitian => Some(Op::ConjTrans),
        Some(Op::Trans) if !is_hermitian => Some(Op::Trans),
        _ => None,
    }
}

/// The options of a symmetric or Hermitian update.
#[derive(Clone, Copy)]
struct UpdateOptions {
    uplo: Letter,
    trans: Letter,
    is_hermitian: bool,
}

/// Checks the arguments of an update of order n and depth k. Returns the triangle and the operation on A. `at` is the
/// position of `ldc`.
fn check_update<T: DlaScalar>(
    UpdateOptions { uplo, trans, is_hermitian }: UpdateOptions,
    (n, k): (Size, Size),
    lda: Size,
    ldb: Option<Size>,
    (at, ldc): (i32, Size),
) -> Result<(Uplo, Op), WrongArgument> {
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

/// C := alpha op(A) op(A)ᵀ + beta C, or C := alpha op(A) op(A)ᴴ + beta C with real alpha and beta. Updates one triangle
/// of order n; op(A) is n x k.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
unsafe fn rank_k<T: DlaScalar>(
    options: UpdateOptions,
    (n, k): (Size, Size),
    alpha: T,
    (a, lda): (*const T, Size),
    beta: T,
    (c, ldc): (*mut T, Size),
) -> Checked {
    let (uplo, op) = check_update::<T>(options, (n, k), lda, None, (10, ldc))?;
    if options.is_hermitian && (alpha == T::ZERO || k == Size::ZERO) && beta == T::ONE {
        // As in the reference, the imaginary parts on the diagonal are not set to zero either.
        return Ok(());
    }
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let (a, c) = unsafe { (matrix(a, stored_shape(op, (n, k)), lda), matrix_mut(c, (n, n), ldc)) };
    match options.is_hermitian {
        false => compute!(multiplications(n, n, k) / 2, syrk(uplo, op, alpha, a, beta, c)),
        true => compute!(multiplications(n, n, k) / 2, herk(uplo, op, alpha.re(), a, beta.re(), c)),
    }
    Ok(())
}

/// C := alpha op(A) op(B)ᵀ + alpha op(B) op(A)ᵀ + beta C, or, with a real beta,
/// C := alpha op(A) op(B)ᴴ + conj(alpha) op(B) op(A)ᴴ + beta C. Updates one triangle of order n; op(A) and op(B) are
/// n x k.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
unsafe fn rank_2k<T: DlaScalar>(
    options: UpdateOptions,
    (n, k): (Size, Size),
    alpha: T,
    (a, lda): (*const T, Size),
    (b, ldb): (*const T, Size),
    beta: T,
    (c, ldc): (*mut T, Size),
) -> Checked {
    let (uplo, op) = check_update::<T>(options, (n, k), lda, Some(ldb), (12, ldc))?;
    if options.is_hermitian && (alpha == T::ZERO || k == Size::ZERO) && beta == T::ONE {
        // As in the reference, the imaginary parts on the diagonal are not set to zero either.
        return Ok(());
    }
    let shape = stored_shape(op, (n, k));
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let (a, b, c) = unsafe { (matrix(a, shape, lda), matrix(b, shape, ldb), matrix_mut(c, (n, n), ldc)) };
    match options.is_hermitian {
        false => compute!(multiplications(n, n, k), syr2k(uplo, op, alpha, a, b, beta, c)),
        true => compute!(multiplications(n, n, k), her2k(uplo, op, alpha, a, b, beta.re(), c)),
    }
    Ok(())
}

interfaces! {
    syrk (s, d, c, z) [uplo: uplo, trans: trans]
    (n: Size, k: Size, alpha: T, a: *const T, lda: Size, beta: T, c: *mut T, ldc: Size)
    |layout| {
        let (uplo, trans) = (triangle_of(layout, uplo), operation(layout, trans, TRANS));
        let options = UpdateOptions { uplo, trans, is_hermitian: false };
        rank_k(options, (n, k), alpha, (a, lda), beta, (c, ldc))
    };

    herk (c, z) [uplo: uplo, trans: trans]
    (n: Size, k: Size, alpha: T::Real, a: *const T, lda: Size, beta: T::Real, c: *mut T, ldc: Size)
    |layout| {
        let (uplo, trans) = (triangle_of(layout, uplo), operation(layout, trans, CONJ_TRANS));
        let options = UpdateOptions { uplo, trans, is_hermitian: true };
        rank_k(options, (n, k), T::from_real(alpha), (a, lda), T::from_real(beta), (c, ldc))
    };

    syr2k (s, d, c, z) [uplo: uplo, trans: trans]
    (n: Size, k: Size, alpha: T, a: *const T, lda: Size, b: *const T, ldb: Size, beta: T, c: *mut T, ldc: Size)
    |layout| {
        let (uplo, trans) = (triangle_of(layout, uplo), operation(layout, trans, TRANS));
        let options = UpdateOptions { uplo, trans, is_hermitian: false };
        rank_2k(options, (n, k), alpha, (a, lda), (b, ldb), beta, (c, ldc))
    };

    her2k (c, z) [uplo: uplo, trans: trans]
    (n: Size, k: Size, alpha: T, a: *const T, lda: Size, b: *const T, ldb: Size, beta: T::Real, c: *mut T, ldc: Size)
    |layout| {
        let (uplo, trans) = (triangle_of(layout, uplo), operation(layout, trans, CONJ_TRANS));
        let options = UpdateOptions { uplo, trans, is_hermitian: true };
        let alpha = if layout == Layout::ColMajor { alpha } else { alpha.conj() };
        rank_2k(options, (n, k), alpha, (a, lda), (b, ldb), T::from_real(beta), (c, ldc))
    };
}

/// The options of a triangular product or solve.
#[derive(Clone, Copy)]
struct TriangularOptions {
    side: Letter,
    uplo: Letter,
    trans: Letter,
    diag: Letter,
}

/// B := alpha op(A) B or alpha B op(A), or the same with op(A)⁻¹, where A is triangular and B is m x n.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
unsafe fn triangular<T: DlaScalar>(
    action: TriangularAction,
    TriangularOptions { side, uplo, trans, diag }: TriangularOptions,
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
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let (a, b) = unsafe { (matrix(a, (order, order), lda), matrix_mut(b, (m, n), ldb)) };
    match action {
        TriangularAction::Multiply => {
            compute!(multiplications(m, n, order) / 2, trmm(side, uplo, op, diag, alpha, a, b))
        }
        TriangularAction::Solve => compute!(multiplications(m, n, order) / 2, trsm(side, uplo, op, diag, alpha, a, b)),
    }
    Ok(())
}

macro_rules! triangular_routines {
    ($($name:ident $action:ident;)*) => {$(
        interfaces! {
            $name (s, d, c, z) [side: side, uplo: uplo, transa: trans, diag: diag]
            (m: Size, n: Size, alpha: T, a: *const T, lda: Size, b: *mut T, ldb: Size)
            |layout| {
                let (side, uplo) = (side_of(layout, side), triangle_of(layout, uplo));
                let options = TriangularOptions { side, uplo, trans: transa, diag };
                triangular(TriangularAction::$action, options, swapped(layout, (m, n)), alpha, (a, lda), (b, ldb))
            };
        }
    )*};
}

triangular_routines! {
    trmm Multiply;
    trsm Solve;
}
