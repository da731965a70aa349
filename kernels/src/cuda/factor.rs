//! potrf: halves until one kernel factors a block; the rest is a triangular solve and a rank-k update, by cuBLAS.
//!
//! The host does not wait for a block's outcome: what follows a block that is not positive definite computes what nobody reads, and the
//! place where the blocks leave the failing minor keeps the first. It is judged when the device is done. (cuSOLVER's potrf would need
//! workspace whose size only a device can tell, and a task's scratch is asked for before there is one.)

use super::{
    product::rank_k,
    program::{FACTOR_ORDER, FACTOR_SIDE, Family},
    stream::{Argument, Launch, Stream},
};
use crate::{
    Diag, NotPositiveDefinite, Op, Scalar, Side, Uplo,
    device::{Mat, Triangle},
};
use superscalar_runtime::DeviceError;

/// A = L Lᴴ or Uᴴ U, below `first` rows of a matrix.
pub(super) fn potrf<T: Scalar>(
    stream: &mut Stream<'_, T>,
    uplo: Uplo,
    first: usize,
    a: Mat<T>,
) -> Result<(), DeviceError> {
    if a.n == 0 {
        return Ok(());
    }
    let status = stream.outcome(move |minor| match usize::try_from(minor) {
        Ok(0) => Ok(()),
        Ok(minor) => Err(DeviceError::outcome(NotPositiveDefinite { minor: first + minor })),
        Err(_) => Err(DeviceError::new(format!("potrf left {minor} where the order of a minor should be"))),
    })?;
    factor(stream, uplo, a, status, 0)
}

/// L11 = chol(A11), L21 = A21 L11⁻ᴴ, L22 = chol(A22 − L21 L21ᴴ), or U11, U12 = U11⁻ᴴ A12, U22, below `row` rows of the whole matrix.
fn factor<T: Scalar>(
    stream: &mut Stream<'_, T>,
    uplo: Uplo,
    a: Mat<T>,
    status: Argument,
    row: usize,
) -> Result<(), DeviceError> {
    let n = a.n;
    if n <= FACTOR_ORDER {
        return factor_block(stream, uplo, a, status, row);
    }
    let half = (n / 2).next_multiple_of(FACTOR_ORDER);
    let (a11, a22) = (a.submatrix(0..half, 0..half), a.submatrix(half..n, half..n));
    factor(stream, uplo, a11, status, row)?;
    let (side, beside, op) = match uplo {
        Uplo::Lower => (Side::Right, a.submatrix(half..n, 0..half), Op::None),
        Uplo::Upper => (Side::Left, a.submatrix(0..half, half..n), Op::ConjTrans),
    };
    let (diag, alpha) = (Diag::NonUnit, T::ONE);
    stream.trsm(&Triangle { side, uplo, op: Op::ConjTrans, diag, alpha, a: a11, b: beside })?;
    rank_k(stream, (true, uplo, op), -T::ONE, beside, T::ONE, a22)?;
    factor(stream, uplo, a22, status, row + half)
}

/// The same for a block that one kernel factors.
fn factor_block<T: Scalar>(
    stream: &mut Stream<'_, T>,
    uplo: Uplo,
    a: Mat<T>,
    status: Argument,
    row: usize,
) -> Result<(), DeviceError> {
    let row = i32::try_from(row).map_err(|_| DeviceError::new(format!("potrf of a tile with {row} rows above")))?;
    stream.launch(Launch {
        family: Family::Factor,
        kernel: "potrf",
        arguments: &[
            Argument::start(a),
            Argument::place(a.ld),
            // At most `FACTOR_ORDER`.
            Argument::code(a.n as i32),
            Argument::code((uplo == Uplo::Upper).into()),
            status,
            Argument::code(row),
        ],
        grid: [1; 3],
        threads: [FACTOR_SIDE, FACTOR_SIDE],
    })
}
