//! potrf: the matrix is halved until one kernel factors a block; the rest is a triangular solve and a product.
//!
//! The host does not wait for the outcome of a block. After a block that is not positive definite, later blocks compute
//! values that are not used, and the status keeps the first failing minor. The host reads the status when the device is
//! done.

use super::{
    Program,
    product::Product,
    stream::{Argument, Launch, Stream},
    triangular::Triangle,
    view::View,
};
use crate::{
    Diag, NotPositiveDefinite, Scalar, Symmetry, Uplo,
    device::Mat,
    operations::{Potrf, TriangularAction},
};
use superscalar_runtime::DeviceError;

/// Computes A = L Lᴴ or Uᴴ U, below `first` rows of a matrix.
pub(super) fn potrf<T: Scalar>(
    stream: &mut Stream<'_>,
    Potrf { uplo, first, a }: Potrf<Mat<T>>,
) -> Result<(), DeviceError> {
    if a.n == 0 {
        return Ok(());
    }
    let status = stream.scratch.take::<i32>(1)?;
    // A = Uᴴ U is Aᵀ = Uᵀ conj(U), so Uᵀ is the lower factor of the transposed view.
    let a = if uplo == Uplo::Upper { View::of(a).transpose() } else { View::of(a) };
    factor::<T>(stream, a, status, 0)?;
    stream.set_outcome(status, move |minor| match usize::try_from(minor) {
        Ok(0) => Ok(()),
        Ok(minor) => Err(DeviceError::outcome(NotPositiveDefinite { minor: first + minor })),
        Err(_) => Err(DeviceError::new(format!("potrf: the device reported {minor} as the order of a minor"))),
    })
}

/// Computes L11 = chol(A11), L21 = A21 L11⁻ᴴ, L22 = chol(A22 − L21 L21ᴴ), below `row` rows of the whole matrix.
fn factor<T: Scalar>(stream: &mut Stream<'_>, a: View, status: usize, row: usize) -> Result<(), DeviceError> {
    let (n, order) = (a.n, stream.parameters.factor_span());
    if n <= order {
        return stream.launch(Launch {
            program: Program::Factor,
            kernel: "potrf",
            arguments: &[
                Argument::Offset(a.at),
                Argument::Offset(a.rs),
                Argument::Offset(a.cs),
                Argument::Count(n),
                Argument::Offset(status),
                Argument::Count(row),
            ],
            groups: [1, 1],
            local: [stream.parameters.factor_items, 1],
        });
    }
    let half = (n / 2).next_multiple_of(order);
    let (a11, a21, a22) = (a.part(0..half, 0..half), a.part(half..n, 0..half), a.part(half..n, half..n));
    factor::<T>(stream, a11, status, row)?;
    // X L11ᴴ = A21 is conj(L11) Xᵀ = A21ᵀ.
    let l11 = Triangle { uplo: Uplo::Lower, diag: Diag::NonUnit, a: a11.conj() };
    l11.apply::<T>(stream, TriangularAction::Solve, a21.transpose())?;
    let part = Some((Symmetry::Symmetric, Uplo::Lower));
    Product { part, ..Product::adding(-T::ONE, a21, a21.transpose().conj(), a22) }.run(stream)?;
    factor::<T>(stream, a22, status, row + half)
}
