//! [`Tile`]: what a task gets of a tiled matrix.

use crate::{
    MatMut, MatRef, Scalar,
    cpu::{Operand, PackStore, Packs},
};
use std::{ops::Range, sync::Arc};
use superscalar_runtime::{Portable, Residence, View};

/// A view that a tile may be read through: [`MatMut`] of a matrix that tasks change, [`MatRef`] of one that they only read.
/// There are no others: devices go by what these say of where their elements are.
pub trait TileView: View + Send + Sync + sealed::Sealed {
    /// The elements.
    type Element: Scalar;

    /// The tile.
    fn view(&self) -> MatRef<'_, Self::Element>;

    /// Where its elements are.
    fn residence(&self) -> Option<Residence<'_>>;
}

mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for crate::MatMut<'_, T> {}
    impl<T> Sealed for crate::MatRef<'_, T> {}
}

// SAFETY: a pointer and a shape, without a destructor.
unsafe impl<T> View for MatMut<'_, T> {}
// SAFETY: as for the view that may change it.
unsafe impl<T> View for MatRef<'_, T> {}

impl<T: Scalar> TileView for MatMut<'_, T> {
    type Element = T;

    fn view(&self) -> MatRef<'_, T> {
        self.as_ref()
    }

    fn residence(&self) -> Option<Residence<'_>> {
        MatMut::residence(self)
    }
}

impl<T: Scalar> TileView for MatRef<'_, T> {
    type Element = T;

    fn view(&self) -> MatRef<'_, T> {
        *self
    }

    fn residence(&self) -> Option<Residence<'_>> {
        MatRef::residence(self)
    }
}

/// A tile of a matrix: a view, and what the kernels remember of it from one product to the next.
///
/// Changing it takes `&mut`, through [`Tile::view_mut`], which makes the kernels forget. So a task that reads always reads
/// what the tile holds.
#[derive(Debug)]
pub struct Tile<V> {
    view: V,
    packs: Packs,
}

impl<V: TileView> Tile<V> {
    /// The tile that `view` shows; packed forms of it come from `store`.
    #[must_use]
    pub fn new(view: V, store: &Arc<PackStore>) -> Self {
        Self { view, packs: Packs::new(store) }
    }

    /// The tile, to read.
    #[must_use]
    pub fn view(&self) -> MatRef<'_, V::Element> {
        self.view.view()
    }

    /// The tile as an operand of [`gemm`](crate::cpu::gemm) or [`herk`](crate::cpu::herk),
    /// which may leave it packed for the next one.
    #[must_use]
    pub fn operand(&self) -> Operand<'_, V::Element> {
        Operand::new(self.view.view(), &self.packs)
    }

    /// The same for a part of the tile. One part at a time is remembered.
    #[must_use]
    pub fn operand_of(&self, rows: Range<usize>, cols: Range<usize>) -> Operand<'_, V::Element> {
        Operand::new(self.view.view().submatrix(rows, cols), &self.packs)
    }
}

// SAFETY: a view without a destructor, and packed forms, which own what they free.
unsafe impl<V: TileView> View for Tile<V> {}

// SAFETY: the views say where they are: one that may be written, `MatMut`, borrows its elements exclusively.
unsafe impl<V: TileView> Portable for Tile<V> {
    fn residence(&self) -> Option<Residence<'_>> {
        Some(self.view.residence()?.with_derived(&self.packs))
    }
}

impl<T: Scalar> Tile<MatMut<'_, T>> {
    /// The tile, to change.
    pub fn view_mut(&mut self) -> MatMut<'_, T> {
        self.packs.forget();
        self.view.rb_mut()
    }
}
