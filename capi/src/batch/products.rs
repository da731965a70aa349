//! Products with vectors, and triangular solves.

use super::{Batch, Matrices, Sizes, Vectors, compute};
use crate::abi::{Diag, DlaScalar, Int, Letter, Op, Side, Size, Solved, Uplo, check};
use superscalar::kernels::operations::{BatchOperands, BatchOperation};
use superscalar_macros::batched;

/// y := alpha op(A) x + beta y, where A is m x n. As in the BLAS, y is unchanged if A is empty. Increments must be
/// positive.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[batched(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn gemv<T: DlaScalar, I: Int>(
    batch: Batch,
    trans: Letter,
    m: Sizes<'_, I>,
    n: Sizes<'_, I>,
    alpha: T,
    a: Matrices<'_, *const T, I>,
    x: Vectors<'_, *const T, I>,
    beta: T,
    y: Vectors<'_, *mut T, I>,
) -> Solved {
    check(&[(1, trans.op().is_some())])?;
    let op = trans.op().unwrap_or(Op::None);
    batch.check(|p| {
        let spaced = [a.is_spaced(p, m.of(p)), x.is_spaced(p, Size::ZERO), y.is_spaced(p, Size::ZERO)];
        [m.is_valid(p), n.is_valid(p), spaced[0], spaced[1], spaced[2]]
    })?;
    let is_empty = |p| m.of(p) == Size::ZERO || n.of(p) == Size::ZERO;
    let shape = |p| if is_empty(p) { (Size::ZERO, Size::ZERO) } else { (m.of(p), n.of(p)) };
    let (of_x, of_y) = if op == Op::None { (1, 0) } else { (0, 1) };
    let column = |which| move |p| (<[Size; 2]>::from(shape(p))[which], Size::ONE);
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let operands: BatchOperands<'_, T> = unsafe {
        let read = vec![a.view(&batch, &shape)?, x.view(&batch, &column(of_x))?];
        BatchOperands { read, updated: vec![y.view_mut(&batch, &column(of_y))?], ..BatchOperands::default() }
    };
    compute(BatchOperation::Gemm { ops: (op, Op::None), alpha, beta }, operands)
}

/// B := alpha op(A)⁻¹ B or alpha B op(A)⁻¹, where B is m x n and A a triangle.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[batched(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn trsm<T: DlaScalar, I: Int>(
    batch: Batch,
    side: Letter,
    uplo: Letter,
    transa: Letter,
    diag: Letter,
    m: Sizes<'_, I>,
    n: Sizes<'_, I>,
    alpha: T,
    a: Matrices<'_, *const T, I>,
    b: Matrices<'_, *mut T, I>,
) -> Solved {
    check(&[
        (1, side.side().is_some()),
        (2, uplo.uplo().is_some()),
        (3, transa.op().is_some()),
        (4, diag.diag().is_some()),
    ])?;
    let side = side.side().unwrap_or(Side::Left);
    let (uplo, diag) = (uplo.uplo().unwrap_or(Uplo::Lower), diag.diag().unwrap_or(Diag::NonUnit));
    let op = transa.op().unwrap_or(Op::None);
    let order = if side == Side::Left { &m } else { &n };
    batch.check(|p| [m.is_valid(p), n.is_valid(p), a.is_spaced(p, order.of(p)), b.is_spaced(p, m.of(p))])?;
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let operands: BatchOperands<'_, T> = unsafe {
        BatchOperands {
            read: vec![a.view(&batch, &|p| (order.of(p), order.of(p)))?],
            updated: vec![b.view_mut(&batch, &|p| (m.of(p), n.of(p)))?],
            ..BatchOperands::default()
        }
    };
    compute(BatchOperation::Trsm { side, uplo, op, diag, alpha }, operands)
}
