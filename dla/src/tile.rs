//! [`Tile`]: what a task gets of a tiled matrix.

use crate::{scalar::Scalar, tiled::Tiled};
pub use superscalar_kernels::Tile;
use superscalar_kernels::{MatMut, MatRef};

/// The view of a [`Tile`] of a matrix that was lent to a scope `'s`: [`MatMut`], or [`MatRef`] if tasks only read it. Sealed.
pub trait TileView<'s>: superscalar_kernels::TileView + Sized + 's {
    /// The matrix with these views.
    #[doc(hidden)]
    fn either<'a>(matrix: &'a Tiled<'s, Self>) -> Either<'a, 's, Self::Element>;
}

/// A matrix with either kind of views, for routines that are compiled for both.
pub enum Either<'a, 's, T> {
    Mut(&'a Tiled<'s, MatMut<'s, T>>),
    Ref(&'a Tiled<'s, MatRef<'s, T>>),
}

impl<'s, T: Scalar> TileView<'s> for MatMut<'s, T> {
    fn either<'a>(matrix: &'a Tiled<'s, Self>) -> Either<'a, 's, T> {
        Either::Mut(matrix)
    }
}

impl<'s, T: Scalar> TileView<'s> for MatRef<'s, T> {
    fn either<'a>(matrix: &'a Tiled<'s, Self>) -> Either<'a, 's, T> {
        Either::Ref(matrix)
    }
}
