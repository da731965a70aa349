//! Factors: what products read. An operand is what callers pass; a factor is how a kernel reads it.

use super::mirror::Mirror;
use super::packed::Packs;
use crate::{MatRef, Op};
use std::ops::Range;

/// An operand of a product: a view, and perhaps what is remembered of it.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a, T> {
    pub(crate) view: MatRef<'a, T>,
    pub(crate) packs: Option<&'a Packs>,
}

impl<'a, T> Operand<'a, T> {
    /// The tile that `view` shows and that `packs` belongs to.
    #[must_use]
    pub fn new(view: MatRef<'a, T>, packs: &'a Packs) -> Self {
        Self { view, packs: Some(packs) }
    }

    /// The view.
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

/// A factor of a product: a view, whether its elements are conjugated when read, and what is remembered of it.
#[derive(Clone, Copy, Debug)]
pub struct Factor<'a, T> {
    pub view: MatRef<'a, T>,
    pub conj: bool,
    pub packs: Option<&'a Packs>,
    /// Where the diagonal is, if it is a part of a matrix of which one triangle is stored: elements of the view may lie
    /// in the other one.
    pub mirror: Option<Mirror>,
}

impl<'a, T> Factor<'a, T> {
    /// op(A).
    pub(crate) fn new(op: Op, a: Operand<'a, T>) -> Self {
        let view = if op == Op::None { a.view } else { a.view.transpose() };
        Self { view, conj: op == Op::ConjTrans, packs: a.packs, mirror: None }
    }

    /// A itself, of which nothing is remembered.
    pub(crate) fn plain(view: MatRef<'a, T>) -> Self {
        Self { view, conj: false, packs: None, mirror: None }
    }

    /// The conjugate of a view.
    pub(crate) fn conj(view: MatRef<'a, T>) -> Self {
        Self { conj: true, ..Self::plain(view) }
    }

    /// The factor of the transposed product: (A B)ᵀ = Bᵀ Aᵀ.
    pub(crate) fn transpose(self) -> Self {
        Self { view: self.view.transpose(), mirror: self.mirror.map(Mirror::transpose), ..self }
    }

    /// The part at these rows and columns.
    #[inline]
    pub(crate) fn part(self, rows: Range<usize>, cols: Range<usize>) -> Self {
        let mirror = self.mirror.map(|mirror| mirror.part(rows.start, cols.start));
        Self { view: self.view.submatrix(rows, cols), packs: None, mirror, ..self }
    }
}
