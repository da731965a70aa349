//! Triangular matrices applied to others: A X = B solved for X, or A B multiplied. Every variant of trsm and trmm becomes one of
//! the two by transposing views.
//!
//! Most products are blocked as any product is (`triangular_product`); what follows is of solves, and of products with few columns or a small complex triangle.
//!
//! A large triangle is halved, which leaves most of the work to the product. One of moderate order is packed once: for each block
//! of ROWS rows the part that meets the other rows, then the small triangle on the diagonal, for a solve with reciprocals in place
//! of its diagonal. The columns of B go by in panels of three vectors, each packed, transformed block by block in registers, and
//! written back. All but the small triangles is the loop of the product, so the rate comes close to the product's. What the other
//! triangle would hold is never multiplied by, not even as zeros: zero times Inf would spoil what is right.
//!
//! A solve takes the blocks in the order in which their unknowns are found, a product in the opposite one, so that each still
//! finds the old contents of those that it depends on.
//!
//! Multiplying by a reciprocal instead of dividing costs at most one more rounding per unknown, and saves a division per
//! element, which takes as long as thirty multiply-adds. Where a reciprocal would overflow or lose digits, the textbook
//! loop is used, which divides ([`Scalar::quotient`]).

use super::gemm::{add, scale};
use super::level2::{Conj, trsv};
use super::micro::{self, Stream, eliminate, load_tile, planes, store_tile, with_vectors_called};
use super::small_triangle::{self, multiply_triangle, substitute};
use super::triangular_product::TriangularProduct;
use super::workspace::Workspace;
use super::{pack, thin};
use crate::backend::Factor;
use crate::division::{reciprocal, scale_of};
use crate::simd::{Kernel, Part, Vector};
use crate::{Diag, MatMut, MatRef, Op, Scalar, Side, Uplo, VecMut, reference};

/// Vectors along a full panel of right-hand sides.
const NV: usize = 3;
/// Up to this order a triangle is packed and applied as a whole: it then stays in the second-level cache. Larger ones are halved.
const DIRECT: usize = 256;
/// The same for products with so few columns that packing the triangle would not pay: the rest then goes to products
/// that do not pack either.
const DIRECT_THIN: usize = 32;
/// Up to this order a solve for few columns packs its triangle, too; a larger one reads it for each column. (One core
/// of an EPYC, 2026-11-27, order 64 and 128, 8 columns packed 2.4 and 6.5 µs; each column by itself 1.4 and 2.7.)
const PACKED_THIN: usize = 128;
/// Up to so many multiplications, twice over, loops over the elements are all it takes.
const TINY: usize = 256;
/// Up to so many bytes of a column of A a product is one with a copy of A that has zeros in place of the other triangle.
/// (One core of an EPYC, 2026-11-27: dtrmm of order 8, 16, 32 so takes 0.61, 0.74, 1.09 of the time that it takes with a
/// packed triangle, strmm 0.60, 0.63, 0.78.)
const FILLED: usize = 128;
/// The same for columns of B.
const FILLED_COLUMNS: usize = 64;
/// Halves are multiples of this, which keeps register tiles full.
const UNIT: usize = 32;

/// What is done with a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// X of A X = B over B.
    Solve,
    /// A B over B.
    Multiply,
}

/// A solve or a product with A, triangular of the order of B's rows and possibly conjugated; alpha times the result over B.
pub struct Triangular<'a, T> {
    pub action: Action,
    pub uplo: Uplo,
    pub a: Factor<'a, T>,
    pub diag: Diag,
    pub alpha: T,
    pub b: MatMut<'a, T>,
}

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
        let is_thin = columns <= thin::COLUMNS;
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
            T::triangular_product(TriangularProduct { uplo, a, diag, alpha, b });
        } else if n > if is_thin && !is_solve { DIRECT_THIN } else { DIRECT } {
            self.by_halves();
        } else if is_solve && is_adjacent && is_thin && n > PACKED_THIN {
            self.by_columns();
        } else if is_solve && self.needs_division() {
            self.by_division();
        } else {
            T::triangular(self);
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

    /// Whether this is a complex triangle of moderate order whose lanes would run along A: those of its small triangles leave no register free. (One core of an
    /// EPYC, 2026-11-26, order 64, 256, 512 so in c: 1.20, 1.10, 0.99 times as fast, in z 1.11, 0.98.)
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

    /// The rows other than its own that block `start` depends on: those before it, or those after it.
    #[inline(always)]
    fn found(&self, start: usize, rows: usize) -> std::ops::Range<usize> {
        match self.uplo {
            Uplo::Lower => 0..start,
            Uplo::Upper => (start + rows).min(self.b.nrows())..self.b.nrows(),
        }
    }
}

impl<T: Scalar> Kernel<T> for Triangular<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector<Real = T::Real>, const ROWS: usize>(mut self) {
        let ((n, sides), unit, width) = (self.b.shape(), planes::<T>(), NV * V::LANES);
        let blocks = n.div_ceil(ROWS);
        let triangle_len = blocks * (n + ROWS) * ROWS * unit;
        let mut scratch = Workspace::take(triangle_len + blocks * ROWS * width * unit);
        let (triangle, x) = scratch.elements().split_at_mut(triangle_len);
        // SAFETY: the workspace has room for the packed triangle and for one panel.
        unsafe { pack_triangle::<T, V, ROWS>(&self, triangle) };
        for first in (0..sides).step_by(width) {
            let last = sides.min(first + width);
            let vectors = (last - first).div_ceil(V::LANES);
            let lanes = vectors * V::LANES;
            let b = self.b.as_ref().transpose().submatrix(first..last, 0..n);
            x[n * lanes * unit..blocks * ROWS * lanes * unit].fill(T::Real::ZERO);
            // SAFETY: as above.
            unsafe {
                pack::panel::<T, V>(Factor::plain(b), lanes, x.as_mut_ptr());
                let (triangle, x) = (triangle.as_ptr(), x.as_mut_ptr());
                with_vectors_called!(vectors, V, AppliedPanel::<T, _, ROWS> { system: &self, triangle, x });
                let b = self.b.rb_mut().transpose().submatrix(first..last, 0..n);
                pack::unpack::<T, V>(x.cast_const(), lanes, b);
            }
        }
    }
}

/// Packs the rows of A that each block needs: block s at `s * (n + ROWS) * ROWS * planes`.
///
/// # Safety
/// As for [`Vector`]; `to` has room.
#[inline(always)]
unsafe fn pack_triangle<T, V, const ROWS: usize>(system: &Triangular<'_, T>, to: &mut [T::Real])
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (n, unit) = (system.b.nrows(), planes::<T>());
    for (start, block) in (0..n).step_by(ROWS).zip(to.chunks_exact_mut((n + ROWS) * ROWS * unit)) {
        let rows = ROWS.min(n - start);
        let found = system.found(start, ROWS);
        let depth = found.len();
        // SAFETY: the block has room for n + ROWS columns, of which depth <= n are packed here.
        unsafe { pack::panel::<T, V>(system.a.part(start..start + rows, found), ROWS, block.as_mut_ptr()) };
        let small = &mut block[depth * ROWS * unit..(depth + ROWS) * ROWS * unit];
        let diagonal = |x| match (system.diag, system.action) {
            (Diag::Unit, _) => T::ONE,
            (Diag::NonUnit, Action::Solve) => reciprocal(x),
            (Diag::NonUnit, Action::Multiply) => x,
        };
        small_triangle::pack(
            system.a.part(start..start + rows, start..start + rows),
            system.uplo,
            diagonal,
            ROWS,
            small,
        );
    }
}

/// A triangle, packed by [`pack_triangle`], applied to one packed panel of columns of B.
struct AppliedPanel<'a, T: Scalar, const NV: usize, const ROWS: usize> {
    system: &'a Triangular<'a, T>,
    triangle: *const T::Real,
    /// NV vectors per row and plane, for the rows of the system and as many more as fill the last block.
    x: *mut T::Real,
}

impl<T, V, const NV: usize, const ROWS: usize> Part<V> for AppliedPanel<'_, T, NV, ROWS>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    type Output = ();

    #[inline(always)]
    unsafe fn run(self) {
        let Self { system, triangle, x } = self;
        let (n, unit) = (system.b.nrows(), planes::<T>());
        let (plane, step) = (NV * V::LANES, NV * V::LANES * unit);
        let blocks = n.div_ceil(ROWS);
        for count in 0..blocks {
            let downwards = (system.uplo == Uplo::Lower) == (system.action == Action::Solve);
            let at = if downwards { count } else { blocks - 1 - count };
            let found = system.found(at * ROWS, ROWS);
            // SAFETY: the caller's promises; rows `found` and rows of this block are different rows of x.
            unsafe {
                let block = triangle.add(at * (n + ROWS) * ROWS * unit);
                let here = x.add(at * ROWS * step);
                let mut acc = load_tile::<T, V, NV, ROWS>(Stream { ptr: here, step, plane });
                let known = Stream { ptr: x.add(found.start * step).cast_const(), step, plane };
                let rows = Stream { ptr: block, step: ROWS * unit, plane: ROWS };
                let small = block.add(found.len() * ROWS * unit);
                let solves = system.action == Action::Solve;
                if !solves {
                    // Minus the product, because that is what the loop of the product accumulates.
                    multiply_triangle::<T, V, NV, ROWS>(&mut acc, small, system.uplo);
                } else if system.alpha != T::ONE {
                    micro::scale::<T, V, NV, ROWS>(&mut acc, system.alpha);
                }
                eliminate::<T, V, NV, ROWS>(&mut acc, found.len(), known, rows, false);
                if solves {
                    substitute::<T, V, NV, ROWS>(&mut acc, small, system.uplo);
                } else {
                    micro::scale::<T, V, NV, ROWS>(&mut acc, -system.alpha);
                }
                store_tile::<T, V, NV, ROWS>(&acc, here, step, plane);
            }
        }
    }
}
