//! Which way a triangular matrix is applied to another one. Every variant of trsm and trmm becomes A X = B or A B by
//! transposing views.
//!
//! Most products are blocked as any product is ([`TriangularProduct`]). A large triangle of a solve is halved, which
//! leaves most of the work to the product; one of moderate order is packed and applied as a whole ([`Triangular`]).
//! Where a reciprocal would overflow or lose digits, the textbook loop is used, which divides ([`Scalar::quotient`]).

use super::gemm::{add, scale};
use super::level2::{Conj, trsv};
use crate::backend::backend;
use crate::scalar::division::scale_of;
use crate::vector::{Action, Factor, THIN_COLUMNS, Triangular, TriangularProduct, Workspace};
use crate::{Diag, MatMut, MatRef, Op, Scalar, Side, Uplo, VecMut, reference};

/// Up to this order a triangle is packed and applied as a whole: it then stays in the second-level cache. Larger ones
/// are halved.
const DIRECT: usize = 256;
/// The same for products with so few columns that packing the triangle would not pay: the rest then goes to products
/// that do not pack either.
const DIRECT_THIN: usize = 32;
/// Up to this order a solve for few columns packs its triangle, too; a larger one reads it for each column. (One core
/// of an EPYC, 2026-11-27, order 64 and 128, 8 columns packed 2.4 and 6.5 µs; each column by itself 1.4 and 2.7.)
const PACKED_THIN: usize = 128;
/// Up to so many multiplications, twice over, loops over the elements are all it takes.
const TINY: usize = 256;
/// Up to so many bytes of a column of A a product is one with a copy of A that has zeros in place of the other
/// triangle. (One core of an EPYC, 2026-11-27: dtrmm of order 8, 16, 32 so takes 0.61, 0.74, 1.09 of the time that it
/// takes with a packed triangle, strmm 0.60, 0.63, 0.78.)
const FILLED: usize = 128;
/// The same for columns of B.
const FILLED_COLUMNS: usize = 64;
/// Halves are multiples of this, which keeps register tiles full.
const UNIT: usize = 32;

impl<'a, T: Scalar> Triangular<'a, T> {
    /// That of op(A) at the left of B, or at its right: B op(A) is the transpose of op(A)ᵀ Bᵀ.
    ///
    /// # Panics
    /// When the shapes do not agree.
    pub fn of(
        action: Action,
        (side, uplo, op, diag): (Side, Uplo, Op, Diag),
        alpha: T,
        a: MatRef<'a, T>,
        b: MatMut<'a, T>,
    ) -> Self {
        let name = if action == Action::Solve { "trsm" } else { "trmm" };
        let b = if side == Side::Right { b.transpose() } else { b };
        let n = b.nrows();
        assert!(a.shape() == (n, n), "{name}: A {:?}, B with {n} rows on that side", a.shape());
        let factor = Factor::new(op, a.into());
        let a = if side == Side::Right { factor.transpose() } else { factor };
        let flipped = (op != Op::None) != (side == Side::Right);
        Self { action, uplo: if flipped { uplo.flip() } else { uplo }, a, diag, alpha, b }
    }

    /// Does it. alpha = 0 sets B to zero without reading A.
    pub fn run(self) {
        let (n, columns, is_solve) = (self.b.nrows(), self.b.ncols(), self.action == Action::Solve);
        let is_thin = columns <= THIN_COLUMNS;
        let is_adjacent = self.a.view.row_stride() == 1 || self.a.view.col_stride() == 1;
        if self.b.is_empty() || self.alpha == T::ZERO {
            scale(self.alpha, self.b);
        } else if n * n * columns <= TINY {
            self.by_elements();
        } else if !is_solve && n * size_of::<T>() <= FILLED && columns <= FILLED_COLUMNS && self.b_is_finite() {
            self.by_product();
        } else if is_solve && is_adjacent && columns == 1 {
            self.by_columns();
        } else if !is_solve && !is_thin && !self.is_small_complex() {
            let Self { uplo, a, diag, alpha, b, .. } = self;
            backend::<T>().triangular_product(TriangularProduct { uplo, a, diag, alpha, b });
        } else if n > if is_thin && !is_solve { DIRECT_THIN } else { DIRECT } {
            self.by_halves();
        } else if is_solve && is_adjacent && is_thin && n > PACKED_THIN {
            self.by_columns();
        } else if is_solve && self.needs_division() {
            self.by_division();
        } else {
            backend::<T>().triangular(self);
        }
    }

    /// Row by row, where the elements lie.
    fn by_elements(self) {
        let Self { action, uplo, a, diag, alpha, mut b } = self;
        let (n, columns) = b.shape();
        let at = |i, p| if a.conj { a.view.at(i, p).conj() } else { a.view.at(i, p) };
        let is_downwards = (uplo == Uplo::Lower) == (action == Action::Solve);
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
                    (Action::Solve, Diag::Unit) => alpha * x - sum,
                    (Action::Solve, Diag::NonUnit) => (alpha * x - sum).quotient(diagonal),
                    (Action::Multiply, _) => alpha * (diagonal * x + sum),
                };
            }
        }
    }

    /// Whether zeros may be multiplied by B: zero times Inf would spoil what is right.
    fn b_is_finite(&self) -> bool {
        let b = self.b.as_ref();
        let lines = if b.row_stride() == 1 { b } else { b.transpose() };
        // Without a branch for each element.
        let is_finite = |line: &[T]| line.iter().fold(true, |all, &x| all & (x * T::ZERO == T::ZERO));
        (0..lines.ncols()).all(|j| lines.col_as_slice(j).is_some_and(is_finite))
    }

    /// The product of all of a copy of A and a copy of B, which is finite and whose columns, or rows, are adjacent.
    fn by_product(self) {
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
        let filled = |data, m, n| MatRef::from_col_major(data, m, n, m).expect("the scratch was laid out for it");
        let triangle = filled(triangle, n, n);
        let a = Factor::plain(if is_by_columns { triangle } else { triangle.transpose() });
        let b_is_by_columns = b.row_stride() == 1;
        let lines = if b_is_by_columns { b.as_ref() } else { b.as_ref().transpose() };
        let (rows, count) = lines.shape();
        for (j, line) in known.chunks_exact_mut(rows).enumerate() {
            line.copy_from_slice(lines.col_as_slice(j).expect("its elements are adjacent"));
        }
        let known = filled(known, rows, count);
        add(alpha, a, Factor::plain(if b_is_by_columns { known } else { known.transpose() }), T::ZERO, b);
    }

    /// One right-hand side after the other.
    fn by_columns(self) {
        let Self { uplo, a, diag, alpha, mut b, .. } = self;
        scale(alpha, b.rb_mut());
        let (n, step) = (b.nrows(), b.row_stride());
        for j in 0..b.ncols() {
            let mut column = b.rb_mut().col(j);
            // SAFETY: these are the elements of the column, which is lent to the vector.
            let x = unsafe { VecMut::from_raw(column.as_mut_ptr(), n, step as isize) };
            trsv(uplo, Op::None, diag, if a.conj { Conj::of(a.view) } else { a.view.into() }, x);
        }
    }

    /// Whether this is a complex triangle of moderate order whose lanes would run along A: those of its small triangles
    /// leave no register free. (One core of an EPYC, 2026-11-26, order 64, 256, 512 so in c: 1.20, 1.10, 0.99 times as
    /// fast, in z 1.11, 0.98.)
    fn is_small_complex(&self) -> bool {
        T::COMPLEX && self.b.nrows() <= DIRECT && self.b.row_stride() <= self.b.col_stride()
    }

    /// One half of B's rows stands alone with its part of A, the other one depends on it, too.
    fn by_halves(self) {
        let Self { action, uplo, a, diag, alpha, b } = self;
        let n = b.nrows();
        let half = (n / 2).next_multiple_of(UNIT);
        let (b1, b2) = b.split_at_row(half);
        let (first, second) = ((a.part(0..half, 0..half), b1), (a.part(half..n, half..n), b2));
        let ((a_alone, mut alone), (a_bound, mut bound), a_between) = match uplo {
            Uplo::Lower => (first, second, a.part(half..n, 0..half)),
            Uplo::Upper => (second, first, a.part(0..half, half..n)),
        };
        match action {
            Action::Solve => {
                Triangular { action, uplo, a: a_alone, diag, alpha, b: alone.rb_mut() }.run();
                add(-T::ONE, a_between, Factor::plain(alone.as_ref()), alpha, bound.rb_mut());
                Triangular { action, uplo, a: a_bound, diag, alpha: T::ONE, b: bound }.run();
            }
            Action::Multiply => {
                Triangular { action, uplo, a: a_bound, diag, alpha, b: bound.rb_mut() }.run();
                add(alpha, a_between, Factor::plain(alone.as_ref()), T::ONE, bound);
                Triangular { action, uplo, a: a_alone, diag, alpha, b: alone }.run();
            }
        }
    }

    /// Whether a solve has a diagonal element whose reciprocal would overflow, or lose digits.
    fn needs_division(&self) -> bool {
        let needs_division = |i| {
            let pivot = self.a.view.at(i, i);
            pivot != T::ZERO && scale_of(pivot).is_some()
        };
        self.diag == Diag::NonUnit && (0..self.b.nrows()).any(needs_division)
    }

    /// A solve by the textbook loop.
    fn by_division(self) {
        // conj(A) X = B is handed over as the conjugate transpose of Aᵀ.
        let (uplo, op, view) = match self.a.conj {
            true => (self.uplo.flip(), Op::ConjTrans, self.a.view.transpose()),
            false => (self.uplo, Op::None, self.a.view),
        };
        reference::trsm(Side::Left, uplo, op, self.diag, self.alpha, view, self.b);
    }
}
