//! [`Tile`]: a block of a tiled matrix, as a task uses it.

use crate::{
    MatMut, MatRef, Scalar,
    cpu::{Operand, PackStore, PackedForms},
};
use bytemuck::Pod;
use std::{ops::Range, sync::Arc};
use superscalar_runtime::{Portable, Residence, View};

/// A view of a tile: [`MatMut`] of a matrix that tasks change, or [`MatRef`] of one that they only read. The trait is
/// sealed because devices rely on the residences that the views report.
pub trait TileView: View + Send + Sync + sealed::Sealed {
    /// The elements.
    type Element: Pod + Send + Sync;

    /// Returns an immutable view of the tile.
    fn view(&self) -> MatRef<'_, Self::Element>;

    /// Returns where the elements are.
    fn residence(&self) -> Option<Residence<'_>>;
}

mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for crate::MatMut<'_, T> {}
    impl<T> Sealed for crate::MatRef<'_, T> {}
}

// SAFETY: the view is a pointer and a shape, without a destructor.
unsafe impl<T> View for MatMut<'_, T> {}
// SAFETY: the view is a pointer and a shape, without a destructor.
unsafe impl<T> View for MatRef<'_, T> {}

impl<T: Pod + Send + Sync> TileView for MatMut<'_, T> {
    type Element = T;

    fn view(&self) -> MatRef<'_, T> {
        self.as_ref()
    }

    fn residence(&self) -> Option<Residence<'_>> {
        MatMut::residence(self)
    }
}

impl<T: Pod + Send + Sync> TileView for MatRef<'_, T> {
    type Element = T;

    fn view(&self) -> MatRef<'_, T> {
        *self
    }

    fn residence(&self) -> Option<Residence<'_>> {
        MatRef::residence(self)
    }
}

/// A tile of a matrix: a view, and the packed forms that kernels keep from one product to the next.
///
/// Changing the tile takes `&mut`, through [`Tile::view_mut`], which discards the packed forms. A task that reads
/// therefore never sees an outdated packed form.
#[derive(Debug)]
pub struct Tile<V> {
    view: V,
    packs: PackedForms,
}

impl<V: TileView> Tile<V> {
    /// Makes the tile that `view` shows; its packed forms come from `store`.
    #[must_use]
    pub fn new(view: V, store: &Arc<PackStore>) -> Self {
        Self { view, packs: PackedForms::new(store) }
    }

    /// Returns an immutable view of the tile.
    #[must_use]
    pub fn view(&self) -> MatRef<'_, V::Element> {
        self.view.view()
    }
}

impl<V: TileView<Element: Scalar>> Tile<V> {
    /// Returns the tile as an operand of [`gemm`](crate::cpu::gemm) or [`herk`](crate::cpu::herk), which may keep its
    /// packed form for the next product.
    #[must_use]
    pub fn operand(&self) -> Operand<'_, V::Element> {
        Operand::new(self.view.view(), &self.packs)
    }

    /// Like [`operand`](Self::operand), for a part of the tile. The packed form of one part at a time is kept.
    #[must_use]
    pub fn operand_of(&self, rows: Range<usize>, cols: Range<usize>) -> Operand<'_, V::Element> {
        Operand::new(self.view.view().submatrix(rows, cols), &self.packs)
    }
}

// SAFETY: the tile is a view without a destructor and packed forms, which own the memory that they free.
unsafe impl<V: TileView> View for Tile<V> {}

// SAFETY: the residence is that of the view; a view that may be written, `MatMut`, borrows its elements exclusively.
unsafe impl<V: TileView> Portable for Tile<V> {
    fn residence(&self) -> Option<Residence<'_>> {
        Some(self.view.residence()?.with_derived(&self.packs))
    }
}

impl<T: Pod + Send + Sync> Tile<MatMut<'_, T>> {
    /// Returns a mutable view of the tile, and discards the packed forms.
    pub fn view_mut(&mut self) -> MatMut<'_, T> {
        self.packs.forget();
        self.view.rb_mut()
    }
}
