//! What products with a triangular matrix and solves with one have in common: blocks on the diagonal, and what is
//! beside them.
//!
//! In a dense or packed triangle a block on the diagonal has a few columns, and what is above or below it is a
//! rectangle, for which there are fast loops. In a band there is no such rectangle; all of its diagonal is one block,
//! which is gone through by columns.

use super::operand::{Conj, by_columns, check_packed, packed, triangle_of_band};
use crate::backend::vectors;
use crate::vector::loops::{Add, Dot, Multiply, MultiplyTrans, Stored};
use crate::{Diag, MatRef, Op, Scalar, Uplo, VecRef};
use std::ops::Range;

/// Columns of a block on the diagonal, which is gone through element by element.
const BLOCK: usize = 8;

/// A stored triangle, and what is to be done to it before it is used.
pub(super) struct Triangle<T> {
    a: Stored<T>,
    pub n: usize,
    /// Diagonals beside the main one.
    k: usize,
    pub uplo: Uplo,
    pub trans: bool,
    conj: bool,
    diag: Diag,
}

/// Uplo, operation and diagonal of a triangular matrix.
pub(super) type Form = (Uplo, Op, Diag);

impl<T: Scalar> Triangle<T> {
    #[track_caller]
    pub fn dense((uplo, op, diag): Form, Conj { view, conj }: Conj<MatRef<'_, T>>) -> Self {
        let n = view.nrows();
        assert!(view.ncols() == n, "triangle: A {:?}", view.shape());
        let (a, flipped) = by_columns(view);
        let conj = conj != (op == Op::ConjTrans);
        let uplo = if flipped { uplo.flip() } else { uplo };
        Self { a, n, k: n.max(1) - 1, uplo, trans: flipped != (op != Op::None), conj, diag }
    }

    #[track_caller]
    pub fn band((uplo, op, diag): Form, Conj { view, conj }: Conj<MatRef<'_, T>>) -> Self {
        let (a, k) = triangle_of_band(view, uplo);
        let conj = conj != (op == Op::ConjTrans);
        Self { a, n: view.ncols(), k, uplo, trans: op != Op::None, conj, diag }
    }

    #[track_caller]
    pub fn packed((uplo, op, diag): Form, ap: Conj<VecRef<'_, T>>, n: usize) -> Self {
        check_packed(n, ap.view.len(), ap.view.inc());
        let a = packed(ap.view.as_ptr().cast_mut(), n, uplo);
        let conj = ap.conj != (op == Op::ConjTrans);
        Self { a, n, k: n.max(1) - 1, uplo, trans: op != Op::None, conj, diag }
    }

    /// Whether op(A) is a lower triangle.
    pub fn is_lower(&self) -> bool {
        (self.uplo == Uplo::Lower) != self.trans
    }

    /// Whether there is more than the elements of a block beside its diagonal.
    pub fn is_band(&self) -> bool {
        self.k + 1 < self.n
    }

    /// The blocks on the diagonal, from the first to the last or the other way round.
    pub fn blocks(&self, forward: bool) -> impl Iterator<Item = Range<usize>> + use<T> {
        let n = self.n;
        let size = if self.is_band() { n } else { BLOCK };
        let count = n.div_ceil(size);
        (0..count).map(move |at| {
            let start = size * if forward { at } else { count - 1 - at };
            start..n.min(start + size)
        })
    }

    /// The elements of a block, from the first to the last or the other way round.
    pub fn order(block: &Range<usize>, forward: bool) -> impl Iterator<Item = usize> + use<T> {
        let Range { start, end } = block.clone();
        (start..end).map(move |j| if forward { j } else { start + end - 1 - j })
    }

    /// Element (i, j) of op(A), which is stored.
    ///
    /// # Safety
    /// The triangle is there.
    unsafe fn element(&self, i: usize, j: usize) -> T {
        let (i, j) = if self.trans { (j, i) } else { (i, j) };
        // SAFETY: the element is one of the triangle or of the diagonal, which are stored.
        let a = unsafe { *self.a.at(i, j) };
        if self.conj { a.conj() } else { a }
    }

    /// Element (j, j), if it is not one.
    ///
    /// # Safety
    /// The triangle is there.
    pub unsafe fn diagonal(&self, j: usize) -> Option<T> {
        // SAFETY: the diagonal is stored, and read unless it is one of ones.
        (self.diag == Diag::NonUnit).then(|| unsafe { self.element(j, j) })
    }

    /// x = op(A) x for a block on the diagonal, given x from its first element on.
    ///
    /// # Safety
    /// The triangle and the elements of x are there, and nobody else uses these.
    pub unsafe fn multiply_block(&self, block: &Range<usize>, x: *mut T) {
        let (start, n) = (block.start, block.len());
        let (mut old, mut new) = ([T::ZERO; BLOCK], [T::ZERO; BLOCK]);
        // SAFETY: the block has at most BLOCK elements, which are those of x; its triangle is stored.
        unsafe {
            std::ptr::copy_nonoverlapping(x, old.as_mut_ptr(), n);
            for j in 0..n {
                new[j] += self.diagonal(start + j).map_or(old[j], |d| d * old[j]);
                for i in if self.is_lower() { j + 1..n } else { 0..j } {
                    new[i] += self.element(start + i, start + j) * old[j];
                }
            }
            std::ptr::copy_nonoverlapping(new.as_ptr(), x, n);
        }
    }

    /// Overwrites x with the solution of op(A) y = x for such a block.
    ///
    /// # Safety
    /// As for [`Triangle::multiply_block`].
    pub unsafe fn solve_block(&self, block: &Range<usize>, x: *mut T) {
        let (start, n) = (block.start, block.len());
        let mut known = [T::ZERO; BLOCK];
        // SAFETY: the block has at most BLOCK elements, which are those of x; its triangle is stored.
        unsafe {
            std::ptr::copy_nonoverlapping(x, known.as_mut_ptr(), n);
            for j in Self::order(&(0..n), self.is_lower()) {
                known[j] = self.diagonal(start + j).map_or(known[j], |d| known[j].quotient(d));
                for i in if self.is_lower() { j + 1..n } else { 0..j } {
                    known[i] += -self.element(start + i, start + j) * known[j];
                }
            }
            std::ptr::copy_nonoverlapping(known.as_ptr(), x, n);
        }
    }

    /// The rows of column j beside the diagonal, within a block.
    fn rows(&self, j: usize, block: &Range<usize>) -> Range<usize> {
        match self.uplo {
            Uplo::Lower => j + 1..block.end.min(j + self.k + 1),
            Uplo::Upper => block.start.max(j.saturating_sub(self.k))..j,
        }
    }

    /// x of those rows += c times the column.
    ///
    /// # Safety
    /// The triangle and the n elements of x are there.
    pub unsafe fn add_column(&self, j: usize, block: &Range<usize>, c: T, x: *mut T) {
        let rows = self.rows(j, block);
        if !rows.is_empty() {
            let (column, y) = (self.a.at(rows.start, j).cast_const(), x.wrapping_add(rows.start));
            // SAFETY: these rows of the column are stored, and x has n elements.
            unsafe { (vectors::<T>().add)(Add { n: rows.len(), c: [c], x: [column], conj: [self.conj], y }) }
        }
    }

    /// The product of the column and x in those rows.
    ///
    /// # Safety
    /// As for [`Triangle::add_column`].
    pub unsafe fn dot_column(&self, j: usize, block: &Range<usize>, x: *const T) -> T {
        let rows = self.rows(j, block);
        let (column, y) = (self.a.at(rows.start, j).cast_const(), x.wrapping_add(rows.start));
        // SAFETY: these rows of the column are stored, and x has n elements.
        unsafe { (vectors::<T>().dot)(Dot { n: rows.len(), conj: self.conj, x: column, y }) }
    }

    /// The rows of a block's columns that are outside of it.
    fn outside(&self, block: &Range<usize>) -> Range<usize> {
        match self.uplo {
            Uplo::Lower => block.end..self.n,
            Uplo::Upper => 0..block.start,
        }
    }

    /// x of the rows outside += alpha A x of the block.
    ///
    /// # Safety
    /// As for [`Triangle::add_column`].
    pub unsafe fn multiply_outside(&self, block: &Range<usize>, alpha: T, x: *mut T) {
        let rows = self.outside(block);
        if !rows.is_empty() {
            let part = Multiply {
                shape: (rows.len(), block.len()),
                alpha,
                a: self.a.from(rows.start, block.start),
                conj: self.conj,
                x: x.wrapping_add(block.start),
                inc: 1,
                y: x.wrapping_add(rows.start),
            };
            // SAFETY: the rectangle beside the block is stored; rows outside and inside of it are different elements
            // of x.
            unsafe { (vectors::<T>().multiply)(part) }
        }
    }

    /// x of the block += alpha op(A) x of the rows outside.
    ///
    /// # Safety
    /// As for [`Triangle::add_column`].
    pub unsafe fn multiply_trans_outside(&self, block: &Range<usize>, alpha: T, x: *mut T) {
        let rows = self.outside(block);
        if !rows.is_empty() {
            let part = MultiplyTrans {
                shape: (rows.len(), block.len()),
                alpha,
                a: self.a.from(rows.start, block.start),
                conj: self.conj,
                x: x.wrapping_add(rows.start),
                y: x.wrapping_add(block.start),
                inc: 1,
            };
            // SAFETY: the rectangle beside the block is stored; rows outside and inside of it are different elements
            // of x.
            unsafe { (vectors::<T>().multiply_trans)(part) }
        }
    }
}
