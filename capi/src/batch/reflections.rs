//! QR factorizations, the explicit Q, products with Q, least squares, and bidiagonal forms.

use super::{Batch, Columns, Matrices, Outcomes, Sizes, compute, compute_outcomes};
use crate::{
    abi::{DlaScalar, Int, Letter, Op, Side, Size, Solved, check},
    lapack::adjoint,
};
use superscalar::kernels::operations::{BatchOperands, BatchOperation};
use superscalar_macros::batched;

/// Computes the factorizations A = Q R.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[batched(s, d, c, z)]
unsafe fn geqrf<T: DlaScalar, I: Int>(
    batch: Batch,
    m: Sizes<'_, I>,
    n: Sizes<'_, I>,
    a: Matrices<'_, *mut T, I>,
    tau: Columns<'_, *mut T, I>,
) -> Solved {
    batch.check(|p| [m.is_valid(p), n.is_valid(p), a.is_spaced(p, m.of(p))])?;
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let operands: BatchOperands<'_, T> = unsafe {
        let updated = vec![a.view_mut(&batch, &|p| (m.of(p), n.of(p)))?];
        let written = vec![tau.view_mut(&batch, &|p| (m.of(p).min(n.of(p)), Size::ONE))?];
        BatchOperands { updated, written, ..BatchOperands::default() }
    };
    compute(BatchOperation::Geqrf, operands)
}

/// Computes the first n columns of the Q of QR factorizations.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[batched(s = "sorgqr", d = "dorgqr", c, z)]
unsafe fn ungqr<T: DlaScalar, I: Int>(
    batch: Batch,
    m: Sizes<'_, I>,
    n: Sizes<'_, I>,
    k: Sizes<'_, I>,
    a: Matrices<'_, *mut T, I>,
    tau: Columns<'_, *const T, I>,
) -> Solved {
    batch.check(|p| [m.is_valid(p), n.is_at_most(p, m.of(p)), k.is_at_most(p, n.of(p)), a.is_spaced(p, m.of(p))])?;
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let operands: BatchOperands<'_, T> = unsafe {
        let read = vec![tau.view(&batch, &|p| (k.of(p), Size::ONE))?];
        let updated = vec![a.view_mut(&batch, &|p| (m.of(p), n.of(p)))?];
        BatchOperands { read, updated, ..BatchOperands::default() }
    };
    compute(BatchOperation::Ungqr, operands)
}

/// C := op(Q) C with the Q of QR factorizations. Products from the right are refused.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[batched(s = "sormqr", d = "dormqr", c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn unmqr<T: DlaScalar, I: Int>(
    batch: Batch,
    side: Letter,
    trans: Letter,
    m: Sizes<'_, I>,
    n: Sizes<'_, I>,
    k: Sizes<'_, I>,
    a: Matrices<'_, *const T, I>,
    tau: Columns<'_, *const T, I>,
    c: Matrices<'_, *mut T, I>,
) -> Solved {
    let op = adjoint::<T>(trans);
    check(&[(1, side.side() == Some(Side::Left)), (2, op.is_some())])?;
    batch.check(|p| {
        let (a, c) = (a.is_spaced(p, m.of(p)), c.is_spaced(p, m.of(p)));
        [m.is_valid(p), n.is_valid(p), k.is_at_most(p, m.of(p)), a, c]
    })?;
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let operands: BatchOperands<'_, T> = unsafe {
        let a = a.view(&batch, &|p| (m.of(p), k.of(p)))?;
        let read = vec![a, tau.view(&batch, &|p| (k.of(p), Size::ONE))?];
        let updated = vec![c.view_mut(&batch, &|p| (m.of(p), n.of(p)))?];
        BatchOperands { read, updated, ..BatchOperands::default() }
    };
    compute(BatchOperation::Unmqr { op: op.unwrap_or(Op::None) }, operands)
}

/// Computes least-squares solutions of A X = B. A has at least as many rows as columns and is not transposed; other
/// problems are refused.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[batched(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn gels<T: DlaScalar, I: Int>(
    batch: Batch,
    trans: Letter,
    m: Sizes<'_, I>,
    n: Sizes<'_, I>,
    nrhs: Sizes<'_, I>,
    a: Matrices<'_, *mut T, I>,
    b: Matrices<'_, *mut T, I>,
    info: Outcomes<I>,
) -> Solved {
    check(&[(1, trans.op() == Some(Op::None))])?;
    batch.check(|p| {
        let (a, b) = (a.is_spaced(p, m.of(p)), b.is_spaced(p, m.of(p)));
        [m.is_valid(p), n.is_at_most(p, m.of(p)), nrhs.is_valid(p), a, b, info.is_valid(&batch)]
    })?;
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    unsafe {
        let a = a.view_mut(&batch, &|p| (m.of(p), n.of(p)))?;
        let updated = vec![a, b.view_mut(&batch, &|p| (m.of(p), nrhs.of(p)))?];
        let operands = BatchOperands { updated, ..BatchOperands::default() };
        compute_outcomes(&batch, BatchOperation::Gels, operands, info)
    }
}

/// Reduces A to bidiagonal form.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[batched(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn gebrd<T: DlaScalar, I: Int>(
    batch: Batch,
    m: Sizes<'_, I>,
    n: Sizes<'_, I>,
    a: Matrices<'_, *mut T, I>,
    d: Columns<'_, *mut T::Real, I>,
    e: Columns<'_, *mut T::Real, I>,
    tauq: Columns<'_, *mut T, I>,
    taup: Columns<'_, *mut T, I>,
) -> Solved {
    batch.check(|p| [m.is_valid(p), n.is_valid(p), a.is_spaced(p, m.of(p))])?;
    let k = |p| m.of(p).min(n.of(p));
    let (column, shorter) = (|p| (k(p), Size::ONE), |p| (Size::from_len(k(p).get().saturating_sub(1)), Size::ONE));
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let operands: BatchOperands<'_, T> = unsafe {
        let updated = vec![a.view_mut(&batch, &|p| (m.of(p), n.of(p)))?];
        let reals = vec![d.view_mut(&batch, &column)?, e.view_mut(&batch, &shorter)?];
        let written = vec![tauq.view_mut(&batch, &column)?, taup.view_mut(&batch, &column)?];
        BatchOperands { updated, written, reals, ..BatchOperands::default() }
    };
    compute(BatchOperation::Gebrd, operands)
}
