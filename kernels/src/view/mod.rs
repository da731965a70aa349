//! Strided matrix views: [`MatRef`] to read, [`MatMut`] to write, [`Tiles`] to cut; and vectors ([`VecRef`],
//! [`VecMut`]).
//!
//! A view is a pointer, a shape and two strides, so that sub-matrices, transposes and tiles cost nothing. It stands
//! to a matrix as `&[T]` and `&mut [T]` stand to an array: safe code can neither read outside of it nor make two
//! writers of one element, which is what lets the crates above forbid `unsafe`.
//!
//! What every view promises, and each `unsafe` block of this folder relies on:
//! 1. for `i < m`, `j < n` the address `ptr + i * row_stride + j * col_stride` holds a valid `T` of one allocation that
//!    outlives the view's lifetime;
//! 2. in a [`MatMut`] different `(i, j)` have different addresses, and no other reference reaches any of them while the
//!    view is usable;
//! 3. `m = 0` and `n = 0` are ordinary shapes, of which the pointer is never followed.

mod as_matrix;
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
pub use exclusive::MatMut;
pub use shared::MatRef;
pub use tiles::Tiles;
pub use vector::{VecMut, VecRef};

/// A slice that cannot hold the matrix asked of it.
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
    #[error("leading dimension {ld} of a matrix with {m} rows: must be at least {}", (*.m).max(1))]
    LeadingDimension { m: usize, ld: usize },
    #[error("a {m} x {n} matrix with leading dimension {ld} needs {needed} elements, the slice has {len}")]
    TooShort { m: usize, n: usize, ld: usize, needed: usize, len: usize },
    #[error("a {m} x {n} matrix with leading dimension {ld} does not fit in the address space")]
    TooLarge { m: usize, n: usize, ld: usize },
    #[error("a {m} x {n} matrix with strides ({row}, {col}) reaches beyond the {len} elements of the slice")]
    Outside { m: usize, n: usize, row: usize, col: usize, len: usize },
    #[error("a {m} x {n} matrix with strides ({row}, {col}) has elements that overlap")]
    Overlap { m: usize, n: usize, row: usize, col: usize },
    #[error("{n} elements with increment {inc} reach beyond the {len} elements of the slice")]
    ShortVector { n: usize, inc: isize, len: usize },
    #[cfg(any(feature = "faer", feature = "ndarray", feature = "nalgebra"))]
    #[error("a matrix with negative strides ({row}, {col}); copy it into the usual order first")]
    NegativeStride { row: isize, col: isize },
}
