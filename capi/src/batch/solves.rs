//! Cholesky and LU factorizations, and solves with them.

use super::{Batch, Columns, Matrices, Outcomes, Sizes, compute, compute_outcomes};
use crate::abi::{DlaScalar, Failure, Int, Letter, Op, Solved, Uplo, check};
use superscalar::kernels::operations::{BatchOperands, BatchOperation};
use superscalar_macros::batched;

/// Returns the triangle that the first argument names.
fn triangle(uplo: Letter) -> Result<Uplo, Failure> {
    uplo.uplo().ok_or(Failure::Argument(1))
}

/// Computes the Cholesky factorizations A = L Lᴴ or A = Uᴴ U.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[batched(s, d, c, z)]
unsafe fn potrf<T: DlaScalar, I: Int>(
    batch: Batch,
    uplo: Letter,
    n: Sizes<'_, I>,
    a: Matrices<'_, *mut T, I>,
    info: Outcomes<I>,
) -> Solved {
    let uplo = triangle(uplo)?;
    batch.check(|p| [n.is_valid(p), a.is_spaced(p, n.of(p)), info.is_valid(&batch)])?;
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    unsafe {
        let updated = vec![a.view_mut(&batch, &|p| (n.of(p), n.of(p)))?];
        let operands = BatchOperands { updated, ..BatchOperands::default() };
        compute_outcomes(&batch, BatchOperation::Potrf { uplo }, operands, info)
    }
}

/// Solves A X = B with the Cholesky factors of A.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[batched(s, d, c, z)]
unsafe fn potrs<T: DlaScalar, I: Int>(
    batch: Batch,
    uplo: Letter,
    n: Sizes<'_, I>,
    nrhs: Sizes<'_, I>,
    a: Matrices<'_, *const T, I>,
    b: Matrices<'_, *mut T, I>,
) -> Solved {
    let uplo = triangle(uplo)?;
    batch.check(|p| [n.is_valid(p), nrhs.is_valid(p), a.is_spaced(p, n.of(p)), b.is_spaced(p, n.of(p))])?;
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let operands: BatchOperands<'_, T> = unsafe {
        let read = vec![a.view(&batch, &|p| (n.of(p), n.of(p)))?];
        let updated = vec![b.view_mut(&batch, &|p| (n.of(p), nrhs.of(p)))?];
        BatchOperands { read, updated, ..BatchOperands::default() }
    };
    compute(BatchOperation::Potrs { uplo }, operands)
}

/// Factors the positive definite A and solves A X = B.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[batched(s, d, c, z)]
unsafe fn posv<T: DlaScalar, I: Int>(
    batch: Batch,
    uplo: Letter,
    n: Sizes<'_, I>,
    nrhs: Sizes<'_, I>,
    a: Matrices<'_, *mut T, I>,
    b: Matrices<'_, *mut T, I>,
    info: Outcomes<I>,
) -> Solved {
    let uplo = triangle(uplo)?;
    batch.check(|p| {
        let (a, b) = (a.is_spaced(p, n.of(p)), b.is_spaced(p, n.of(p)));
        [n.is_valid(p), nrhs.is_valid(p), a, b, info.is_valid(&batch)]
    })?;
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    unsafe {
        let a = a.view_mut(&batch, &|p| (n.of(p), n.of(p)))?;
        let updated = vec![a, b.view_mut(&batch, &|p| (n.of(p), nrhs.of(p)))?];
        let operands = BatchOperands { updated, ..BatchOperands::default() };
        compute_outcomes(&batch, BatchOperation::Posv { uplo }, operands, info)
    }
}

/// Computes the factorizations A = P L U.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[batched(s, d, c, z)]
unsafe fn getrf<T: DlaScalar, I: Int>(
    batch: Batch,
    m: Sizes<'_, I>,
    n: Sizes<'_, I>,
    a: Matrices<'_, *mut T, I>,
    ipiv: Columns<'_, *mut I, I>,
    info: Outcomes<I>,
) -> Solved {
    batch.check(|p| [m.is_valid(p), n.is_valid(p), a.is_spaced(p, m.of(p)), info.is_valid(&batch)])?;
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    unsafe {
        let updated = vec![a.view_mut(&batch, &|p| (m.of(p), n.of(p)))?];
        let count = |p| m.of(p).min(n.of(p));
        ipiv.write_interchanges(&batch, &count, |ipiv| {
            let operands = BatchOperands { updated, pivots_written: vec![ipiv], ..BatchOperands::default() };
            compute_outcomes(&batch, BatchOperation::Getrf, operands, info)
        })?
    }
}

/// Computes the factorizations A = L U without interchanges.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[batched(s, d, c, z)]
unsafe fn getrf_nopiv<T: DlaScalar, I: Int>(
    batch: Batch,
    m: Sizes<'_, I>,
    n: Sizes<'_, I>,
    a: Matrices<'_, *mut T, I>,
    info: Outcomes<I>,
) -> Solved {
    batch.check(|p| [m.is_valid(p), n.is_valid(p), a.is_spaced(p, m.of(p)), info.is_valid(&batch)])?;
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    unsafe {
        let updated = vec![a.view_mut(&batch, &|p| (m.of(p), n.of(p)))?];
        let operands = BatchOperands { updated, ..BatchOperands::default() };
        compute_outcomes(&batch, BatchOperation::GetrfNopiv, operands, info)
    }
}

/// Solves op(A) X = B with the LU factors of A.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[batched(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn getrs<T: DlaScalar, I: Int>(
    batch: Batch,
    trans: Letter,
    n: Sizes<'_, I>,
    nrhs: Sizes<'_, I>,
    a: Matrices<'_, *const T, I>,
    ipiv: Columns<'_, *const I, I>,
    b: Matrices<'_, *mut T, I>,
) -> Solved {
    check(&[(1, trans.op().is_some())])?;
    let op = trans.op().unwrap_or(Op::None);
    batch.check(|p| [n.is_valid(p), nrhs.is_valid(p), a.is_spaced(p, n.of(p)), b.is_spaced(p, n.of(p))])?;
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    unsafe {
        let read = vec![a.view(&batch, &|p| (n.of(p), n.of(p)))?];
        let updated = vec![b.view_mut(&batch, &|p| (n.of(p), nrhs.of(p)))?];
        let (operation, at) = (BatchOperation::Getrs { op }, ipiv.at);
        ipiv.read_interchanges(&batch, &|p| n.of(p), |ipiv| {
            let operands = BatchOperands { read, updated, pivots_read: vec![ipiv], ..BatchOperands::default() };
            operation.check_interchanges(&operands).map_err(|_| Failure::Argument(at))?;
            compute(operation, operands)
        })?
    }
}

/// Factors A and solves A X = B.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[batched(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn gesv<T: DlaScalar, I: Int>(
    batch: Batch,
    n: Sizes<'_, I>,
    nrhs: Sizes<'_, I>,
    a: Matrices<'_, *mut T, I>,
    ipiv: Columns<'_, *mut I, I>,
    b: Matrices<'_, *mut T, I>,
    info: Outcomes<I>,
) -> Solved {
    batch.check(|p| {
        let (a, b) = (a.is_spaced(p, n.of(p)), b.is_spaced(p, n.of(p)));
        [n.is_valid(p), nrhs.is_valid(p), a, b, info.is_valid(&batch)]
    })?;
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    unsafe {
        let a = a.view_mut(&batch, &|p| (n.of(p), n.of(p)))?;
        let updated = vec![a, b.view_mut(&batch, &|p| (n.of(p), nrhs.of(p)))?];
        ipiv.write_interchanges(&batch, &|p| n.of(p), |ipiv| {
            let operands = BatchOperands { updated, pivots_written: vec![ipiv], ..BatchOperands::default() };
            compute_outcomes(&batch, BatchOperation::Gesv, operands, info)
        })?
    }
}
