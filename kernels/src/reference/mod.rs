//! The tile kernels as textbook loops, one element at a time: the oracle that the fast kernels are tested against.
//!
//! Each function has the contract of its namesake in [`cpu`](crate::cpu), written so that it can be checked against the
//! equation by eye. The functions are slow. They serve the tests, and backends that need an oracle.
//!
//! # Example
//! ```
//! use superscalar::kernels::{MatMut, MatRef, Op, reference};
//!
//! let (a, mut c) = ([1.0, 2.0], [0.0; 4]);
//! let a = MatRef::from_col_major(&a, 2, 1, 2)?;
//! reference::gemm(1.0, Op::None, a, Op::Trans, a, 0.0, MatMut::from_col_major(&mut c, 2, 2, 2)?);
//! assert_eq!(c, [1.0, 2.0, 2.0, 4.0]);
//! # Ok::<(), superscalar::kernels::ViewError>(())
//! ```

mod factor;
mod interchange;
mod product;
mod reflect;
mod sum;
mod triangular;

pub use factor::potrf;
pub use interchange::{getrf, laswp};
pub use product::{gemm, gemmt, hemm, her2k, herk, symm, syr2k, syrk};
pub use reflect::{geqrf, larfb, larft};
pub use sum::geadd;
pub use triangular::{trmm, trsm};

use crate::{MatRef, Op, Scalar, Uplo};

/// Returns element (i, j) of op(A).
fn element<T: Scalar>(op: Op, a: MatRef<'_, T>, i: usize, j: usize) -> T {
    match op {
        Op::None => a.at(i, j),
        Op::Trans => a.at(j, i),
        Op::ConjTrans => a.at(j, i).conj(),
    }
}

/// Returns the rows of an m x k matrix, so that sums run over adjacent elements.
fn rows<T: Scalar>((m, k): (usize, usize), at: impl Fn(usize, usize) -> T) -> Vec<Vec<T>> {
    (0..m).map(|i| (0..k).map(|p| at(i, p)).collect()).collect()
}

/// Sums the products of a row's and a column's elements, from the first to the last.
fn dot<T: Scalar>(row: &[T], column: &[T]) -> T {
    row.iter().zip(column).map(|(&x, &y)| x * y).sum()
}

/// Returns whether (i, j) is in the triangle, diagonal included.
fn in_triangle(uplo: Uplo, i: usize, j: usize) -> bool {
    match uplo {
        Uplo::Lower => i >= j,
        Uplo::Upper => i <= j,
    }
}
