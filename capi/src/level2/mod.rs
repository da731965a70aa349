//! Level 2 of the BLAS: matrices with vectors.
//!
//! Arguments are checked in the reference's order. C's interface (`rows.rs`) takes a matrix that lies by rows as its
//! transpose by columns. The transpose's elements may have to be conjugated as they are read, so the functions that
//! compute have a flag for that, `conj`, which Fortran's interface never sets.
//!
//! What every routine trusts: each address is that of a vector or a matrix as its arguments say, which nobody else
//! writes during the call; what is written does not overlap what is read.

mod general;
mod symmetric;
mod triangular;

use crate::{
    abi::{Layout, Letter, MatRef, Routines, Scalar, Size, VecRef, matrix, vector},
    rows::{self, CONJ_TRANS, TRANS},
};
use superscalar::kernels::cpu::Conj;

fn conjugated<V: Into<Conj<V>>>(view: V, conj: bool) -> Conj<V> {
    if conj { Conj::of(view) } else { view.into() }
}

/// What is done to the matrix by columns, and whether its elements are conjugated.
fn by_columns<T: Routines>(layout: Layout, trans: Letter) -> (Letter, bool) {
    (rows::operation(layout, trans, TRANS), T::COMPLEX && layout == Layout::RowMajor && trans == CONJ_TRANS)
}

/// The elements of a packed triangle of order n.
fn packed_len(n: Size) -> Size {
    Size::from_len(n.get().saturating_mul(n.get() + 1) / 2)
}

/// Whether the reference leaves y as it is.
fn is_nothing<T: Scalar>(m: Size, n: Size, alpha: T, beta: T) -> bool {
    m == Size::ZERO || n == Size::ZERO || (alpha == T::ZERO && beta == T::ONE)
}

/// How a symmetric or Hermitian matrix is stored.
#[derive(Clone, Copy)]
pub(crate) enum Storage {
    Dense { lda: Size },
    Band { k: Size, lda: Size },
    Packed,
}

impl Storage {
    /// What is checked of it between the order and the increments.
    fn checks(self, n: Size, at: i32) -> [(i32, bool); 2] {
        match self {
            Self::Dense { lda } => [(at, lda.spans(n)), (at, true)],
            Self::Band { k, lda } => [(at - 3, k.is_valid()), (at, lda.holds(&[k]))],
            Self::Packed => [(at, true); 2],
        }
    }

    /// Where the increments of x and y are, and the leading dimension, in the argument lists of symv, sbmv and spmv.
    fn places(self) -> (i32, i32, i32) {
        match self {
            Self::Dense { .. } => (5, 7, 10),
            Self::Band { .. } => (6, 8, 11),
            Self::Packed => (5, 6, 9),
        }
    }
}

/// # Safety
/// The module's.
unsafe fn square<'a, T>(a: *const T, n: Size, lda: Size, conj: bool) -> Conj<MatRef<'a, T>> {
    // SAFETY: the caller promises of these addresses what the module's head says.
    conjugated(unsafe { matrix(a, (n, n), lda) }, conj)
}

/// # Safety
/// The module's.
unsafe fn diagonals<'a, T>(a: *const T, k: Size, n: Size, lda: Size, conj: bool) -> Conj<MatRef<'a, T>> {
    // SAFETY: the caller promises of these addresses what the module's head says.
    conjugated(unsafe { matrix(a, (Size::from_len(k.get() + 1), n), lda) }, conj)
}

/// # Safety
/// The module's.
unsafe fn packed<'a, T>(a: *const T, n: Size, conj: bool) -> Conj<VecRef<'a, T>> {
    // SAFETY: the caller promises of these addresses what the module's head says.
    conjugated(unsafe { vector(a, packed_len(n), Size::ONE) }, conj)
}
