//! Triangular matrices: products with vectors, and solves.

use super::{Storage, by_columns, diagonals, packed, square};
use crate::{
    abi::{Checked, Diag, DlaScalar, Letter, Op, Size, Uplo, check, vector_mut},
    rows::{interfaces, triangle_of},
};
use superscalar::kernels::{cpu, operations::TriangularAction};

/// The options of a triangular routine, with the transposition of the column-major matrix.
#[derive(Clone, Copy)]
struct TriangleOptions {
    uplo: Letter,
    trans: Letter,
    /// Whether the elements are conjugated.
    conj: bool,
    diag: Letter,
}

/// x := op(A) x, or x := op(A)⁻¹ x, where A is triangular of order n.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[allow(clippy::too_many_arguments)]
unsafe fn triangular<T: DlaScalar>(
    action: TriangularAction,
    storage: Storage,
    TriangleOptions { uplo, trans, conj, diag }: TriangleOptions,
    n: Size,
    a: *const T,
    (x, incx): (*mut T, Size),
) -> Checked {
    let [first, second] = match storage {
        Storage::Dense { lda } => [(6, lda.spans(n)), (8, incx.steps())],
        Storage::Band { k, lda } => [(5, k.is_valid()), (7, lda.holds(&[k]))],
        Storage::Packed => [(7, incx.steps()); 2],
    };
    check(&[
        (1, uplo.uplo().is_some()),
        (2, trans.op().is_some()),
        (3, diag.diag().is_some()),
        (4, n.is_valid()),
        first,
        second,
        (9, incx.steps()),
    ])?;
    if n == Size::ZERO {
        return Ok(());
    }
    let (uplo, op) = (uplo.uplo().unwrap_or(Uplo::Lower), trans.op().unwrap_or(Op::None));
    let diag = diag.diag().unwrap_or(Diag::NonUnit);
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    unsafe {
        let x = vector_mut(x, n, incx);
        match (storage, action) {
            (Storage::Dense { lda }, TriangularAction::Multiply) => {
                cpu::trmv(uplo, op, diag, square(a, n, lda, conj), x)
            }
            (Storage::Dense { lda }, TriangularAction::Solve) => cpu::trsv(uplo, op, diag, square(a, n, lda, conj), x),
            (Storage::Band { k, lda }, TriangularAction::Multiply) => {
                cpu::tbmv(uplo, op, diag, diagonals(a, k, n, lda, conj), x);
            }
            (Storage::Band { k, lda }, TriangularAction::Solve) => {
                cpu::tbsv(uplo, op, diag, diagonals(a, k, n, lda, conj), x)
            }
            (Storage::Packed, TriangularAction::Multiply) => cpu::tpmv(uplo, op, diag, packed(a, n, conj), x),
            (Storage::Packed, TriangularAction::Solve) => cpu::tpsv(uplo, op, diag, packed(a, n, conj), x),
        }
    }
    Ok(())
}

macro_rules! triangles {
    ($($action:ident $dense:ident $band:ident $packed:ident;)*) => {$(
        triangles! { @ $dense $action () (lda: Size,) Storage::Dense { lda } }
        triangles! { @ $band $action (k: Size,) (lda: Size,) Storage::Band { k, lda } }
        triangles! { @ $packed $action () () Storage::Packed }
    )*};
    (@ $name:ident $action:ident ($($k:tt)*) ($($lda:tt)*) $storage:expr) => {
        interfaces! {
            $name (s, d, c, z) [uplo: uplo, trans: trans, diag: diag]
            (n: Size, $($k)* a: *const T, $($lda)* x: *mut T, incx: Size)
            |layout| {
                let (uplo, (trans, conj)) = (triangle_of(layout, uplo), by_columns::<T>(layout, trans));
                let options = TriangleOptions { uplo, trans, conj, diag };
                triangular(TriangularAction::$action, $storage, options, n, a, (x, incx))
            };
        }
    };
}

triangles! {
    Multiply trmv tbmv tpmv;
    Solve trsv tbsv tpsv;
}
