//! Level 2 of the BLAS: operations of matrices with vectors.
//!
//! Arguments are checked in the reference's order. C's interface (`rows.rs`) treats a row-major matrix as its
//! column-major transpose. The elements of the transpose may have to be conjugated when they are read, so the functions
//! have a flag `conj`, which Fortran's interface never sets.
//!
//! # Requirements
//!
//! Each address is that of a vector or matrix of the sizes in the arguments, and nothing else writes it during the
//! call. The operand that is written does not overlap the others.

mod general;
mod symmetric;
mod triangular;

use crate::{
    abi::{DlaScalar, Layout, Letter, MatRef, Scalar, Size, VecRef, matrix, vector},
    rows::{self, CONJ_TRANS, TRANS},
};
use superscalar::kernels::cpu::Conj;

fn conjugated<V: Into<Conj<V>>>(view: V, conj: bool) -> Conj<V> {
    if conj { Conj::of(view) } else { view.into() }
}

/// Returns the transposition for the column-major matrix, and whether its elements are conjugated.
fn by_columns<T: DlaScalar>(layout: Layout, trans: Letter) -> (Letter, bool) {
    (rows::operation(layout, trans, TRANS), T::COMPLEX && layout == Layout::RowMajor && trans == CONJ_TRANS)
}

/// Returns the number of elements of a packed triangle of order n.
fn packed_len(n: Size) -> Size {
    Size::from_len(n.get().saturating_mul(n.get() + 1) / 2)
}

/// Returns whether the reference leaves y unchanged.
fn is_nothing<T: Scalar>(m: Size, n: Size, alpha: T, beta: T) -> bool {
    m == Size::ZERO || n == Size::ZERO || (alpha == T::ZERO && beta == T::ONE)
}

/// The storage of a symmetric, Hermitian or triangular matrix.
#[derive(Clone, Copy)]
pub(crate) enum Storage {
    Dense { lda: Size },
    Band { k: Size, lda: Size },
    Packed,
}

impl Storage {
    /// Returns the checks of the storage arguments. `at` is the position of the leading dimension.
    fn checks(self, n: Size, at: i32) -> [(i32, bool); 2] {
        match self {
            Self::Dense { lda } => [(at, lda.spans(n)), (at, true)],
            Self::Band { k, lda } => [(at - 3, k.is_valid()), (at, lda.holds(&[k]))],
            Self::Packed => [(at, true); 2],
        }
    }

    /// Returns argument positions of symv, sbmv or spmv.
    fn argument_positions(self) -> ArgumentPositions {
        let [lda, incx, incy] = match self {
            Self::Dense { .. } => [5, 7, 10],
            Self::Band { .. } => [6, 8, 11],
            Self::Packed => [5, 6, 9],
        };
        ArgumentPositions { lda, incx, incy }
    }
}

/// The positions of the leading dimension and the increments in an argument list.
struct ArgumentPositions {
    lda: i32,
    incx: i32,
    incy: i32,
}

/// Returns a view of a square matrix of order n.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
unsafe fn square<'a, T>(a: *const T, n: Size, lda: Size, conj: bool) -> Conj<MatRef<'a, T>> {
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    conjugated(unsafe { matrix(a, (n, n), lda) }, conj)
}

/// Returns a view of the array of a band matrix of order n with k diagonals beside the main one.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
unsafe fn diagonals<'a, T>(a: *const T, k: Size, n: Size, lda: Size, conj: bool) -> Conj<MatRef<'a, T>> {
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    conjugated(unsafe { matrix(a, (Size::from_len(k.get() + 1), n), lda) }, conj)
}

/// Returns a view of a packed triangle of order n.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
unsafe fn packed<'a, T>(a: *const T, n: Size, conj: bool) -> Conj<VecRef<'a, T>> {
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    conjugated(unsafe { vector(a, packed_len(n), Size::ONE) }, conj)
}
