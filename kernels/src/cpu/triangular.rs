//! Selects how a triangular matrix is applied to another one. Transposed views turn every variant of trsm and trmm into
//! A X = B or A B.
//!
//! Most products are blocked like general products ([`TriangularProduct`]). A solve with a large triangle halves it,
//! which leaves most of the work to gemm; a triangle of moderate order is packed and applied as a whole
//! ([`TriangularKernel`]). If a reciprocal of the diagonal would overflow or lose digits, the textbook loop is used,
//! which divides ([`Scalar::quotient`]).

use super::gemm::{add, scale};
use super::level2::{Conj, trsv};
use crate::backend::backend;
use crate::scalar::division::scale_of;
use crate::vector::{Factor, THIN_COLUMNS, TriangularAction, TriangularKernel, TriangularProduct, Workspace};
use crate::{Diag, MatMut, MatRef, Op, Scalar, Side, Uplo, VecMut, reference};

/// Up to this order a triangle is packed and applied as a whole, so that it stays in the second-level cache. Larger
/// ones are halved.
const PACKED_ORDER: usize = 256;
/// The limit in place of [`PACKED_ORDER`] for products with few columns: packing the triangle does not pay, and the
/// products of the halves do not pack either.
const PACKED_ORDER_THIN_PRODUCT: usize = 32;
/// Up to this order a solve for few columns packs its triangle; a larger one reads it for each column. Measured:
/// docs/measurements/2026-11-28-constants.md.
const PACKED_ORDER_THIN_SOLVE: usize = 128;
/// Up to this many multiplications, counted twice, loops over the elements are fastest.
const BY_ELEMENTS_MAX: usize = 256;
/// Up to this many bytes of a column of A, a product uses a copy of A with zeros in the other triangle. Measured:
/// docs/measurements/2026-11-28-constants.md.
const ZERO_FILLED_BYTES: usize = 128;
/// Up to this many columns of B, a product may use such a copy.
const ZERO_FILLED_COLUMNS: usize = 64;
/// Halves are multiples of this order, which keeps register tiles full.
const UNIT: usize = 32;

impl<'a, T: Scalar> TriangularKernel<'a, T> {
    /// Makes the operation for op(A) at the left or right of B. B op(A) is the transpose of op(A)ᵀ Bᵀ.
    ///
    /// # Panics
    /// If the shapes do not agree.
    pub fn of(
        action: TriangularAction,
        side: Side,
        uplo: Uplo,
        op: Op,
        diag: Diag,
        alpha: T,
        a: MatRef<'a, T>,
        b: MatMut<'a, T>,
    ) -> Self {
        let name = if action == TriangularAction::Solve { "trsm" } else { "trmm" };
        let b = if side == Side::Right { b.transpose() } else { b };
        let n = b.nrows();
        assert!(a.shape() == (n, n), "{name}: shapes do not agree: A {:?}, but B has {n} rows on its side", a.shape());
        let factor = Factor::new(op, a.into());
        let a = if side == Side::Right { factor.transpose() } else { factor };
        let flipped = (op != Op::None) != (side == Side::Right);
        Self { action, uplo: if flipped { uplo.flip() } else { uplo }, a, diag, alpha, b }
    }

    /// Carries the operation out. alpha = 0 sets B to zero without reading A.
    pub fn run(self) {
        let (n, columns, is_solve) = (self.b.nrows(), self.b.ncols(), self.action == TriangularAction::Solve);
        let is_thin = columns <= THIN_COLUMNS;
        let is_adjacent = self.a.view.row_stride() == 1 || self.a.view.col_stride() == 1;
        if self.b.is_empty() || self.alpha == T::ZERO {
            scale(self.alpha, self.b);
        } else if n * n * columns <= BY_ELEMENTS_MAX {
            self.by_elements();
        } else if !is_solve
            && n * size_of::<T>() <= ZERO_FILLED_BYTES
            && columns <= ZERO_FILLED_COLUMNS
            && self.b_is_finite()
        {
            self.by_zero_filled_product();
        } else if is_solve && is_adjacent && columns == 1 {
            self.by_columns();
        } else if !is_solve && !is_thin && !self.is_small_complex() {
            let Self { uplo, a, diag, alpha, b, .. } = self;
            backend::<T>().triangular_product(TriangularProduct { uplo, a, diag, alpha, b });
        } else if n > if is_thin && !is_solve { PACKED_ORDER_THIN_PRODUCT } else { PACKED_ORDER } {
            self.by_halves();
        } else if is_solve && is_adjacent && is_thin && n > PACKED_ORDER_THIN_SOLVE {
            self.by_columns();
        } else if is_solve && self.needs_division() {
            self.by_division();
        } else {
            backend::<T>().triangular(self);
        }
    }

    /// Computes row by row, in place.
    fn by_elements(self) {
        let Self { action, uplo, a, diag, alpha, mut b } = self;
        let (n, columns) = b.shape();
        let at = |i, p| if a.conj { a.view.at(i, p).conj() } else { a.view.at(i, p) };
        let is_downwards = (uplo == Uplo::Lower) == (action == TriangularAction::Solve);
        for step in 0..n {
            let row = if is_downwards { step } else { n - 1 - step };
            let others = if uplo == Uplo::Lower { 0..row } else { row + 1..n };
            let diagonal = if diag == Diag::Unit { T::ONE } else { at(row, row) };
            for j in 0..columns {
                let mut sum = T::ZERO;
                for p in others.clone() {
                    sum += at(row, p) * b[(p, j)];
                }
                let x = b[(row, j)];
                b[(row, j)] = match (action, diag) {
                    (TriangularAction::Solve, Diag::Unit) => alpha * x - sum,
                    (TriangularAction::Solve, Diag::NonUnit) => (alpha * x - sum).quotient(diagonal),
                    (TriangularAction::Multiply, _) => alpha * (diagonal * x + sum),
                };
            }
        }
    }

    /// Returns whether B may be multiplied by the zeros of a filled triangle: zero times Inf or NaN would be NaN.
    fn b_is_finite(&self) -> bool {
        let b = self.b.as_ref();
        let lines = if b.row_stride() == 1 { b } else { b.transpose() };
        // The fold has no branch for each element.
        let is_finite = |line: &[T]| line.iter().fold(true, |all, &x| all & (x * T::ZERO == T::ZERO));
        (0..lines.ncols()).all(|j| lines.col_as_slice(j).is_some_and(is_finite))
    }

    /// Multiplies a copy of A, filled with zeros, by a copy of B. B is finite, and the elements of its columns or of
    /// its rows are adjacent.
    fn by_zero_filled_product(self) {
        let Self { uplo, a, diag, alpha, b, .. } = self;
        let (n, columns) = b.shape();
        let mut scratch = Workspace::<T>::take(n * (n + columns));
        let (triangle, known) = scratch.elements().split_at_mut(n * n);
        let is_by_columns = a.view.row_stride() == 1;
        let (view, is_lower) =
            if is_by_columns { (a.view, uplo == Uplo::Lower) } else { (a.view.transpose(), uplo == Uplo::Upper) };
        for (p, column) in triangle.chunks_exact_mut(n).enumerate() {
            let rows = if is_lower { p..n } else { 0..p + 1 };
            column.fill(T::ZERO);
            match view.col_as_slice(p) {
                Some(from) => column[rows.clone()].copy_from_slice(&from[rows.clone()]),
                None => rows.clone().for_each(|i| column[i] = view.at(i, p)),
            }
            if a.conj && T::COMPLEX {
                column[rows].iter_mut().for_each(|x| *x = x.conj());
            }
            if diag == Diag::Unit {
                column[p] = T::ONE;
            }
        }
        let filled = |data, m, n| MatRef::from_col_major(data, m, n, m).expect("the scratch has m x n elements");
        let triangle = filled(triangle, n, n);
        let a = Factor::plain(if is_by_columns { triangle } else { triangle.transpose() });
        let b_is_by_columns = b.row_stride() == 1;
        let lines = if b_is_by_columns { b.as_ref() } else { b.as_ref().transpose() };
        let (rows, count) = lines.shape();
        for (j, line) in known.chunks_exact_mut(rows).enumerate() {
            line.copy_from_slice(lines.col_as_slice(j).expect("the elements of a line are adjacent"));
        }
        let known = filled(known, rows, count);
        add(alpha, a, Factor::plain(if b_is_by_columns { known } else { known.transpose() }), T::ZERO, b);
    }

    /// Solves for one right-hand side after the other.
    fn by_columns(self) {
        let Self { uplo, a, diag, alpha, mut b, .. } = self;
        scale(alpha, b.rb_mut());
        let (n, step) = (b.nrows(), b.row_stride());
        for j in 0..b.ncols() {
            let mut column = b.rb_mut().col(j);
            // SAFETY: the n elements are those of the column, which is borrowed exclusively for as long as `x` lives.
            let x = unsafe { VecMut::from_raw(column.as_mut_ptr(), n, step as isize) };
            trsv(uplo, Op::None, diag, if a.conj { Conj::of(a.view) } else { a.view.into() }, x);
        }
    }

    /// Returns whether this is a complex triangle of moderate order whose vector lanes would run along A. The blocked
    /// product would leave no register free for its small triangles. Measured:
    /// docs/measurements/2026-11-28-constants.md.
    fn is_small_complex(&self) -> bool {
        T::COMPLEX && self.b.nrows() <= PACKED_ORDER && self.b.row_stride() <= self.b.col_stride()
    }

    /// Splits B's rows into halves. One half depends on its own part of A only, the other one on both.
    fn by_halves(self) {
        let Self { action, uplo, a, diag, alpha, b } = self;
        let n = b.nrows();
        let half = (n / 2).next_multiple_of(UNIT);
        let (b1, b2) = b.split_at_row(half);
        let (first, second) = ((a.part(0..half, 0..half), b1), (a.part(half..n, half..n), b2));
        let ((a_free, mut free), (a_bound, mut bound), a_between) = match uplo {
            Uplo::Lower => (first, second, a.part(half..n, 0..half)),
            Uplo::Upper => (second, first, a.part(0..half, half..n)),
        };
        match action {
            TriangularAction::Solve => {
                TriangularKernel { action, uplo, a: a_free, diag, alpha, b: free.rb_mut() }.run();
                add(-T::ONE, a_between, Factor::plain(free.as_ref()), alpha, bound.rb_mut());
                TriangularKernel { action, uplo, a: a_bound, diag, alpha: T::ONE, b: bound }.run();
            }
            TriangularAction::Multiply => {
                TriangularKernel { action, uplo, a: a_bound, diag, alpha, b: bound.rb_mut() }.run();
                add(alpha, a_between, Factor::plain(free.as_ref()), T::ONE, bound);
                TriangularKernel { action, uplo, a: a_free, diag, alpha, b: free }.run();
            }
        }
    }

    /// Returns whether the diagonal has an element whose reciprocal would overflow or lose digits.
    fn needs_division(&self) -> bool {
        let needs_division = |i| {
            let pivot = self.a.view.at(i, i);
            pivot != T::ZERO && scale_of(pivot).is_some()
        };
        self.diag == Diag::NonUnit && (0..self.b.nrows()).any(needs_division)
    }

    /// Solves by the textbook loop, which divides by the diagonal.
    fn by_division(self) {
        // conj(A) X = B is passed as the conjugate transpose of Aᵀ.
        let (uplo, op, view) = match self.a.conj {
            true => (self.uplo.flip(), Op::ConjTrans, self.a.view.transpose()),
            false => (self.uplo, Op::None, self.a.view),
        };
        reference::trsm(Side::Left, uplo, op, self.diag, self.alpha, view, self.b);
    }
}
