//! The part that triangular products and solves have in common: blocks on the diagonal, and the elements beside them.
//!
//! In a dense or packed triangle a block on the diagonal has a few columns, and the elements above or below it are a
//! rectangle, for which there are fast loops. A band has no such rectangle: all of its diagonal is one block, which is
//! processed by columns.

use super::operand::{Conj, by_columns, check_packed, packed, triangle_of_band};
use crate::backend::vectors;
use crate::vector::loops::{Add, Dot, Multiply, MultiplyTrans, Stored};
use crate::{Diag, MatRef, Op, Scalar, Uplo, VecRef};
use std::ops::Range;

/// Columns of a block on the diagonal, which is processed element by element.
const BLOCK_COLUMNS: usize = 8;

/// A stored triangle, and the options of the operation.
pub(super) struct Triangle<T> {
    a: Stored<T>,
    pub n: usize,
    /// The number of diagonals beside the main one.
    k: usize,
    pub uplo: Uplo,
    pub trans: bool,
    conj: bool,
    diag: Diag,
}

/// The options of a triangular matrix.
pub(super) struct TriangleOptions {
    pub uplo: Uplo,
    pub op: Op,
    pub diag: Diag,
}

impl<T: Scalar> Triangle<T> {
    #[track_caller]
    pub fn dense(options: TriangleOptions, Conj { view, conj }: Conj<MatRef<'_, T>>) -> Self {
        let TriangleOptions { uplo, op, diag } = options;
        let n = view.nrows();
        assert!(view.ncols() == n, "level 2: a triangular A must be square, not {:?}", view.shape());
        let (a, flipped) = by_columns(view);
        let conj = conj != (op == Op::ConjTrans);
        let uplo = if flipped { uplo.flip() } else { uplo };
        Self { a, n, k: n.max(1) - 1, uplo, trans: flipped != (op != Op::None), conj, diag }
    }

    #[track_caller]
    pub fn band(options: TriangleOptions, Conj { view, conj }: Conj<MatRef<'_, T>>) -> Self {
        let TriangleOptions { uplo, op, diag } = options;
        let (a, k) = triangle_of_band(view, uplo);
        let conj = conj != (op == Op::ConjTrans);
        Self { a, n: view.ncols(), k, uplo, trans: op != Op::None, conj, diag }
    }

    #[track_caller]
    pub fn packed(options: TriangleOptions, ap: Conj<VecRef<'_, T>>, n: usize) -> Self {
        let TriangleOptions { uplo, op, diag } = options;
        check_packed(n, ap.view.len(), ap.view.inc());
        let a = packed(ap.view.as_ptr().cast_mut(), n, uplo);
        let conj = ap.conj != (op == Op::ConjTrans);
        Self { a, n, k: n.max(1) - 1, uplo, trans: op != Op::None, conj, diag }
    }

    /// Returns whether op(A) is a lower triangle.
    pub fn is_lower(&self) -> bool {
        (self.uplo == Uplo::Lower) != self.trans
    }

    /// Returns whether the triangle is a proper band, which has no rectangle beside a block.
    pub fn is_band(&self) -> bool {
        self.k + 1 < self.n
    }

    /// Returns the blocks on the diagonal, from the first to the last, or backward.
    pub fn blocks(&self, forward: bool) -> impl Iterator<Item = Range<usize>> + use<T> {
        let n = self.n;
        let size = if self.is_band() { n } else { BLOCK_COLUMNS };
        let count = n.div_ceil(size);
        (0..count).map(move |at| {
            let start = size * if forward { at } else { count - 1 - at };
            start..n.min(start + size)
        })
    }

    /// Returns the indices of a block, from the first to the last, or backward.
    pub fn order(block: &Range<usize>, forward: bool) -> impl Iterator<Item = usize> + use<T> {
        let Range { start, end } = block.clone();
        (start..end).map(move |j| if forward { j } else { start + end - 1 - j })
    }

    /// Returns element (i, j) of op(A), which must be stored.
    ///
    /// # Safety
    /// The triangle is valid memory, and element (i, j) of op(A) is stored.
    unsafe fn element(&self, i: usize, j: usize) -> T {
        let (i, j) = if self.trans { (j, i) } else { (i, j) };
        // SAFETY: by this function's contract element (i, j) of A is stored, in memory that the triangle's view borrows
        // for reading, so its address is valid and nobody writes it.
        let a = unsafe { *self.a.at(i, j) };
        if self.conj { a.conj() } else { a }
    }

    /// Returns element (j, j), or `None` if the diagonal is all ones.
    ///
    /// # Safety
    /// The triangle is valid memory, and j is less than n.
    pub unsafe fn diagonal(&self, j: usize) -> Option<T> {
        // SAFETY: the diagonal is stored if it is not all ones, and j is one of its elements.
        (self.diag == Diag::NonUnit).then(|| unsafe { self.element(j, j) })
    }

    /// Computes x = op(A) x for a block on the diagonal; `x` points to the block's first element.
    ///
    /// # Safety
    /// The triangle and the block's elements of x are valid memory, and nobody else uses the elements of x.
    pub unsafe fn multiply_block(&self, block: &Range<usize>, x: *mut T) {
        let (start, n) = (block.start, block.len());
        let (mut old, mut new) = ([T::ZERO; BLOCK_COLUMNS], [T::ZERO; BLOCK_COLUMNS]);
        // SAFETY: x has the block's elements, of which there are at most BLOCK_COLUMNS; the block's triangle is stored.
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

    /// Overwrites x with the solution of op(A) y = x for a block on the diagonal; `x` points to the block's first
    /// element.
    ///
    /// # Safety
    /// The contract of [`Triangle::multiply_block`].
    pub unsafe fn solve_block(&self, block: &Range<usize>, x: *mut T) {
        let (start, n) = (block.start, block.len());
        let mut known = [T::ZERO; BLOCK_COLUMNS];
        // SAFETY: x has the block's elements, of which there are at most BLOCK_COLUMNS; the block's triangle is stored.
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

    /// Returns the rows of column j beside the diagonal, within a block.
    fn rows(&self, j: usize, block: &Range<usize>) -> Range<usize> {
        match self.uplo {
            Uplo::Lower => j + 1..block.end.min(j + self.k + 1),
            Uplo::Upper => block.start.max(j.saturating_sub(self.k))..j,
        }
    }

    /// Adds c times the column to those rows of x.
    ///
    /// # Safety
    /// The triangle and the n elements of x are valid memory, and nobody else uses the elements of x.
    pub unsafe fn add_column(&self, j: usize, block: &Range<usize>, c: T, x: *mut T) {
        let rows = self.rows(j, block);
        if !rows.is_empty() {
            let (column, y) = (self.a.at(rows.start, j).cast_const(), x.wrapping_add(rows.start));
            // SAFETY: these rows of the column are stored, and x has n elements.
            unsafe { (vectors::<T>().add)(Add { n: rows.len(), c: [c], x: [column], conj: [self.conj], y }) }
        }
    }

    /// Computes the product of the column and x in those rows.
    ///
    /// # Safety
    /// The contract of [`Triangle::add_column`].
    pub unsafe fn dot_column(&self, j: usize, block: &Range<usize>, x: *const T) -> T {
        let rows = self.rows(j, block);
        let (column, y) = (self.a.at(rows.start, j).cast_const(), x.wrapping_add(rows.start));
        // SAFETY: these rows of the column are stored, and x has n elements.
        unsafe { (vectors::<T>().dot)(Dot { n: rows.len(), conj: self.conj, x: column, y }) }
    }

    /// Returns the rows of a block's columns that are outside of it.
    fn outside(&self, block: &Range<usize>) -> Range<usize> {
        match self.uplo {
            Uplo::Lower => block.end..self.n,
            Uplo::Upper => 0..block.start,
        }
    }

    /// Adds alpha A times x of the block to x of the rows outside.
    ///
    /// # Safety
    /// The contract of [`Triangle::add_column`].
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
            // SAFETY: the rectangle beside the block is stored, and the rows outside and inside of the block are
            // different elements of x.
            unsafe { (vectors::<T>().multiply)(part) }
        }
    }

    /// Adds alpha op(A) times x of the rows outside to x of the block.
    ///
    /// # Safety
    /// The contract of [`Triangle::add_column`].
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
            // SAFETY: the rectangle beside the block is stored, and the rows outside and inside of the block are
            // different elements of x.
            unsafe { (vectors::<T>().multiply_trans)(part) }
        }
    }
}
