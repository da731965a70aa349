//! What an operation on a batch does with the operands of the routine of its name.

use superscalar_dla::Scalar;
use superscalar_kernels::operations::BatchOperation;

/// What an operation does with one of the routine's matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Read,
    Updated,
    Written,
    /// Written, with real numbers in every type.
    Real,
}

/// What an operation does with the routine's interchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PivotRole {
    None,
    Read,
    Written,
}

/// Returns the roles of the matrices, in the routine's order.
pub fn roles<T: Scalar>(operation: &BatchOperation<T>) -> &'static [Role] {
    use Role::{Read, Real, Updated, Written};
    match operation {
        BatchOperation::Gemm { .. } | BatchOperation::Unmqr { .. } => &[Read, Read, Updated],
        BatchOperation::Trsm { .. } | BatchOperation::Potrs { .. } | BatchOperation::Getrs { .. } => &[Read, Updated],
        BatchOperation::Potrf { .. } | BatchOperation::Getrf | BatchOperation::GetrfNopiv => &[Updated],
        BatchOperation::Posv { .. } | BatchOperation::Gesv | BatchOperation::Gels => &[Updated, Updated],
        BatchOperation::Geqrf => &[Updated, Written],
        BatchOperation::Ungqr => &[Updated, Read],
        BatchOperation::Gebrd => &[Updated, Real, Real, Written, Written],
    }
}

pub fn pivot_role<T: Scalar>(operation: &BatchOperation<T>) -> PivotRole {
    match operation {
        BatchOperation::Getrf | BatchOperation::Gesv => PivotRole::Written,
        BatchOperation::Getrs { .. } => PivotRole::Read,
        _ => PivotRole::None,
    }
}

/// Returns whether a problem can fail, so that each has an info.
pub fn has_outcomes<T: Scalar>(operation: &BatchOperation<T>) -> bool {
    matches!(
        operation,
        BatchOperation::Potrf { .. }
            | BatchOperation::Posv { .. }
            | BatchOperation::Getrf
            | BatchOperation::GetrfNopiv
            | BatchOperation::Gesv
            | BatchOperation::Gels
    )
}
