//! Factors of products. Callers pass an operand; kernels read a factor, which also says how the operand is read.

use super::mirror::Mirror;
use super::packed::PackedForms;
use crate::{MatRef, Op};
use std::ops::Range;

/// An operand of a product: a view, optionally with the packed forms of its tile.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a, T> {
    pub(crate) view: MatRef<'a, T>,
    pub(crate) packs: Option<&'a PackedForms>,
}

impl<'a, T> Operand<'a, T> {
    /// Returns the tile shown by `view`, with its `packs`.
    #[must_use]
    pub fn new(view: MatRef<'a, T>, packs: &'a PackedForms) -> Self {
        Self { view, packs: Some(packs) }
    }

    /// Returns the view.
    #[must_use]
    pub fn view(self) -> MatRef<'a, T> {
        self.view
    }
}

impl<'a, T> From<MatRef<'a, T>> for Operand<'a, T> {
    fn from(view: MatRef<'a, T>) -> Self {
        Self { view, packs: None }
    }
}

/// A factor of a product: a view, whether its elements are conjugated when read, and optionally the packed forms of its
/// tile.
#[derive(Clone, Copy, Debug)]
pub struct Factor<'a, T> {
    pub view: MatRef<'a, T>,
    pub conj: bool,
    pub packs: Option<&'a PackedForms>,
    /// The position of the diagonal, if this is a part of a matrix of which one triangle is stored. Some elements of
    /// the view may then be in the other triangle.
    pub mirror: Option<Mirror>,
}

impl<'a, T> Factor<'a, T> {
    /// Returns op(A).
    pub(crate) fn new(op: Op, a: Operand<'a, T>) -> Self {
        let view = if op == Op::None { a.view } else { a.view.transpose() };
        Self { view, conj: op == Op::ConjTrans, packs: a.packs, mirror: None }
    }

    /// Returns a view as a factor without packed forms.
    pub(crate) fn plain(view: MatRef<'a, T>) -> Self {
        Self { view, conj: false, packs: None, mirror: None }
    }

    /// Returns the conjugate of a view as a factor without packed forms.
    pub(crate) fn conj(view: MatRef<'a, T>) -> Self {
        Self { conj: true, ..Self::plain(view) }
    }

    /// Returns the transposed factor, for the transposed product: (A B)ᵀ = Bᵀ Aᵀ.
    pub(crate) fn transpose(self) -> Self {
        Self { view: self.view.transpose(), mirror: self.mirror.map(Mirror::transpose), ..self }
    }

    /// Returns the part at these rows and columns, without packed forms.
    #[inline]
    pub(crate) fn part(self, rows: Range<usize>, cols: Range<usize>) -> Self {
        let mirror = self.mirror.map(|mirror| mirror.part(rows.start, cols.start));
        Self { view: self.view.submatrix(rows, cols), packs: None, mirror, ..self }
    }
}
