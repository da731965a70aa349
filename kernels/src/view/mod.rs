//! Strided views of matrices: [`MatRef`] is immutable, [`MatMut`] is mutable, and [`Tiles`] is a grid of mutable views.
//! [`VecRef`] and [`VecMut`] are views of vectors, [`BatchRef`] and [`BatchMut`] of many matrices.
//!
//! A view is a pointer, a shape and two strides. So sub-matrices, transposes and tiles are made without copying.
//! `MatRef` and `MatMut` are to matrices what `&[T]` and `&mut [T]` are to arrays: safe code can neither access
//! elements outside a view nor create two mutable views of one element. Therefore the crates that use views can forbid
//! `unsafe`.
//!
//! Every view promises the following, and each `unsafe` block in this folder relies on it:
//! 1. For `i < m` and `j < n`, the address `ptr + i * row_stride + j * col_stride` holds a valid `T`. All of these are
//!    in one allocation, which outlives the view's lifetime.
//! 2. In a [`MatMut`], different `(i, j)` have different addresses, and no other reference accesses any of them while
//!    the view is usable.
//! 3. Shapes with `m = 0` or `n = 0` are valid, and the pointer of such a view is never dereferenced.

mod as_matrix;
mod batch;
mod exclusive;
#[cfg(feature = "faer")]
mod faer;
mod layout;
#[cfg(feature = "nalgebra")]
mod nalgebra;
#[cfg(feature = "ndarray")]
mod ndarray;
mod shared;
mod tiles;
mod vector;

pub use as_matrix::{AsMatrix, AsMatrixMut};
pub use batch::{BatchMut, BatchPlacement, BatchRef, BatchView};
pub use exclusive::MatMut;
pub use layout::elements_spanned;
pub use shared::MatRef;
pub use tiles::Tiles;
pub use vector::{VecMut, VecRef};

/// The error if a view cannot be made, for example because the slice is too short for the matrix.
///
/// # Example
/// ```
/// use superscalar::kernels::MatRef;
/// let error = MatRef::from_col_major(&[0.0; 5], 2, 3, 2).unwrap_err();
/// assert_eq!(error.to_string(), "a 2 x 3 matrix with leading dimension 2 needs 6 elements, the slice has 5");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct ViewError(#[from] ViewErrorKind);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum ViewErrorKind {
    #[error("leading dimension {ld} of a matrix with {m} rows: expected at least {}", (*.m).max(1))]
    LeadingDimension { m: usize, ld: usize },
    #[error("a {m} x {n} matrix with leading dimension {ld} needs {needed} elements, the slice has {len}")]
    TooShort { m: usize, n: usize, ld: usize, needed: usize, len: usize },
    #[error("a {m} x {n} matrix with leading dimension {ld} does not fit in the address space")]
    TooLarge { m: usize, n: usize, ld: usize },
    #[error("a {m} x {n} matrix with strides ({row}, {col}) reaches beyond the {len} elements of the slice")]
    Outside { m: usize, n: usize, row: usize, col: usize, len: usize },
    #[error("a {m} x {n} matrix with strides ({row}, {col}) has elements that overlap")]
    Overlap { m: usize, n: usize, row: usize, col: usize },
    #[error("a slice of {len} elements does not hold a whole number of {m} x {n} matrices")]
    NotWhole { m: usize, n: usize, len: usize },
    #[error("a slice of {len} elements is not filled by {count} matrices of these shapes")]
    Shapes { count: usize, len: usize },
    #[error("{n} elements with increment {inc} reach beyond the {len} elements of the slice")]
    ShortVector { n: usize, inc: isize, len: usize },
    #[cfg(any(feature = "faer", feature = "ndarray", feature = "nalgebra"))]
    #[error("a matrix has negative strides ({row}, {col}), expected non-negative ones: copy the matrix first")]
    NegativeStride { row: isize, col: isize },
}
