//! The panel of a QR factorization: Householder reflectors of a matrix with few columns, and the factor T of their
//! product.
//!
//! The panel is factored in place or in scratch ([`Columns`]). Its columns store V with explicit ones and zeros until
//! the end, and R is kept apart. Blocks of ROWS columns are processed from left to right. A block is first updated by
//! the earlier reflectors, C - V Tᴴ (Vᴴ C), group by group, in register tiles. Within the block, one pass over the rows
//! of a column applies the block's earlier reflectors and sums the squares of the result for the next reflector. It
//! multiplies the result with the earlier reflectors (for T) and with the next column, and multiplies the earlier
//! reflectors with the next column. Each element of a reflector is loaded once for three multiply-adds.
//!
//! During that pass the new reflector is not scaled, so sums of squares may leave the range of the type. If they come
//! near its limits, or are zero, [`scaled_reflector`] recomputes the reflector from scaled numbers.

mod inner_products;

use super::columns::{Columns, add_conj_product, minus_product, splat, sum, with_column};
use super::reflector::{ElementaryReflector, scaled_reflector, unscaled_reflector};
use crate::simd::Vector;
use crate::vector::dispatch::Kernel;
use crate::vector::packing::pack;
use crate::vector::planes::{planes, put, scalar};
use crate::vector::tiles::micro::{self, OperandStream, eliminate, store, store_tile, zero};
use crate::vector::workspace::Workspace;
use crate::{MatMut, Scalar};
use inner_products::inner_products;
use std::ops::Range;

/// Columns of V in a tile of inner products, and vectors in a tile of T.
const NV: usize = 3;

/// Q R = A, with V and R over A, which has at least as many rows as columns. The rows of T are the number of reflectors
/// in a group, each of which has its own factor: all reflectors, or a multiple of eight.
pub struct QrPanel<'a, T> {
    pub a: MatMut<'a, T>,
    pub tau: &'a mut [T],
    pub t: MatMut<'a, T>,
}

/// One panel and its scratch.
struct QrWorkspace<T: Scalar> {
    columns: Columns<T>,
    m: usize,
    n: usize,
    /// R, by columns.
    r: *mut T::Real,
    /// Reals of a plane of a column of R.
    order: usize,
    /// T by columns and by rows; indices within a group begin at its first reflector.
    t_columns: *mut T::Real,
    t_rows: *mut T::Real,
    /// Reflectors of a group, and reals of a plane of a column or row of its T.
    group: usize,
    t_order: usize,
    /// Products with a block: one vector per plane for each column before it and in it.
    y: *mut T::Real,
    z: *mut T::Real,
    /// Inner products whose lanes are not added yet.
    sums: *mut T::Real,
}

impl<T: Scalar> QrWorkspace<T> {
    /// Returns the address of element (i, j) of R.
    #[inline(always)]
    fn r(&self, i: usize, j: usize) -> *mut T::Real {
        self.r.wrapping_add(i + j * self.order * planes::<T>())
    }

    /// Returns T by columns, from row i (in the group of column j) and column j on.
    #[inline(always)]
    fn t_columns(&self, i: usize, j: usize) -> OperandStream<T::Real> {
        self.t(self.t_columns, i, j)
    }

    /// Returns T by rows, from row i and column j (in the group of row i) on.
    #[inline(always)]
    fn t_rows(&self, i: usize, j: usize) -> OperandStream<T::Real> {
        self.t(self.t_rows, j, i)
    }

    #[inline(always)]
    fn t(&self, ptr: *mut T::Real, along: usize, line: usize) -> OperandStream<T::Real> {
        let step = self.t_order * planes::<T>();
        OperandStream {
            ptr: ptr.wrapping_add(along - (line - line % self.group) + line * step),
            step,
            plane: self.t_order,
        }
    }
}

impl<T: Scalar> Kernel<T> for QrPanel<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) {
        const { assert!(V::LANES.is_multiple_of(ROWS) && ROWS <= 8, "the first rows of a block are in one vector") };
        let Self { mut a, tau, mut t } = self;
        let ((m, n), group, unit) = (a.shape(), t.nrows(), planes::<T>());
        assert!(
            m >= n && tau.len() == n && t.ncols() == n,
            "a QR panel {m} x {n} needs m >= n, n columns of T and n tau: T {:?}, tau {}",
            t.shape(),
            tau.len()
        );
        assert!(
            group == n || group < n && group.is_multiple_of(8),
            "T has {group} rows: expected {n}, or a smaller multiple of 8"
        );
        let in_place = Columns::<T>::in_place::<V>(a.rb_mut(), ROWS);
        let wide = n.next_multiple_of(ROWS);
        let size = if in_place.is_some() { 0 } else { Columns::<T>::len::<V>(m, wide) };
        let (order, t_order) = (wide.next_multiple_of(V::LANES), group.next_multiple_of(NV * V::LANES));
        let (r, factor, product) = (order * wide * unit, t_order * wide * unit, (wide + NV) * V::LANES * unit);
        let sums = (wide + NV) * ROWS * V::LANES * unit;
        let mut scratch = Workspace::take(size + 2 * (factor + product) + r + sums);
        let (columns, rest) = scratch.elements().split_at_mut(size);
        let (zeros, rest) = rest.split_at_mut(2 * (factor + product));
        zeros.fill(T::Real::ZERO);
        let (r, sums) = rest.split_at_mut(r);
        let (t_columns, r, sums) = (zeros.as_mut_ptr(), r.as_mut_ptr(), sums.as_mut_ptr());
        // SAFETY: each part of the scratch was allocated for a panel of this shape; T has the columns of the panel and
        // the rows of a group.
        unsafe {
            let columns = match in_place {
                Some(columns) => columns,
                None => Columns::copy::<V>(isa, columns.as_mut_ptr(), a.as_ref(), ROWS),
            };
            let [t_rows, y, z] = [factor, 2 * factor, 2 * factor + product].map(|reals| t_columns.add(reals));
            let work = QrWorkspace { columns, m, n, r, order, t_columns, t_rows, group, t_order, y, z, sums };
            for b in (0..n).step_by(ROWS) {
                let start = b - b % group;
                for first in (0..b).step_by(group) {
                    update::<T, V, ROWS>(isa, &work, first..b.min(first + group), b);
                }
                for j in b..n.min(b + ROWS) {
                    move_top::<T, V>(isa, columns.at(0, j), columns.plane, work.r(0, j), order, b);
                }
                factor_block::<T, V, ROWS>(isa, &work, b, tau);
                if b > start {
                    join_t::<T, V, ROWS>(isa, &work, start, b);
                }
            }
            for j in 0..n {
                move_top::<T, V>(isa, work.r(0, j), order, columns.at(0, j), columns.plane, j + 1);
            }
            if in_place.is_none() {
                columns.copy_to::<V>(isa, a.rb_mut());
            }
            for first in (0..n).step_by(group) {
                let (width, factor) = (group.min(n - first), work.t_columns(first, first));
                let t = t.rb_mut().submatrix(0..width, first..first + width);
                pack::unpack::<T, V>(isa, factor.ptr.cast_mut(), factor.plane, t);
            }
        }
    }
}

/// Moves the first rows of a column to another one, and writes zeros in their place.
///
/// # Safety
/// Both columns hold `rows` reals per plane.
#[inline(always)]
unsafe fn move_top<T, V>(
    isa: V::Isa,
    from: *mut T::Real,
    from_plane: usize,
    to: *mut T::Real,
    to_plane: usize,
    rows: usize,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    for part in 0..planes::<T>() {
        let (from, to) = (from.wrapping_add(part * from_plane), to.wrapping_add(part * to_plane));
        for i in (0..rows).step_by(V::LANES) {
            let end = (rows - i).min(V::LANES);
            // SAFETY: i + lanes before `end` are below `rows`, the length of both columns.
            unsafe {
                V::load_lanes(isa, from.add(i), 0, end).store_lanes(to.add(i), 0, end);
                V::splat(isa, T::Real::ZERO).store_lanes(from.add(i), 0, end);
            }
        }
    }
}

/// Computes C = C - V Tᴴ (Vᴴ C) for the block C at column b and a group of earlier reflectors.
///
/// # Safety
/// The reflectors of the group are done.
#[inline(always)]
unsafe fn update<T, V, const ROWS: usize>(isa: V::Isa, work: &QrWorkspace<T>, group: Range<usize>, b: usize)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (columns, step, start) = (work.columns, V::LANES * planes::<T>(), group.start);
    let rows = |ptr: *mut T::Real| OperandStream { ptr: ptr.cast_const(), step, plane: V::LANES }.offset(start * step);
    // SAFETY: V and T have the columns of the group, and C has ROWS columns.
    unsafe {
        inner_products::<T, V, ROWS>(isa, work, group.clone(), b, start);
        for i in group.clone().step_by(ROWS) {
            // The negated rows from i on of Tᴴ Y; elements of T below its diagonal are zeros.
            let mut acc = zero::<T, V, 1, ROWS>(isa);
            eliminate::<T, V, 1, ROWS>(&mut acc, i - start + ROWS, rows(work.y), work.t_rows(start, i), true);
            for row in acc.iter_mut() {
                row[0] = [row[0][0].mul(V::splat(isa, -T::Real::ONE)), row[0][1].mul(V::splat(isa, -T::Real::ONE))];
            }
            store_tile::<T, V, 1, ROWS>(&acc, work.z.add(i * step), step, V::LANES);
        }
        columns.subtract_product::<V, ROWS>(isa, start - start % V::LANES, group, b, rows(work.z));
    }
}

/// Computes T for the block at column b within the group that begins at column `start`: T12 = -T1 (V1ᴴ V2) T2.
///
/// # Safety
/// The reflectors of the group are done, including those of the block.
#[inline(always)]
unsafe fn join_t<T, V, const ROWS: usize>(isa: V::Isa, work: &QrWorkspace<T>, start: usize, b: usize)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let step = V::LANES * planes::<T>();
    // SAFETY: V and T have these columns, including those of the block, whose elements of T are set.
    unsafe {
        inner_products::<T, V, ROWS>(isa, work, start..b, b, b);
        let t2 = work.t_rows(b, b);
        for p in start..b {
            // One row of -(Y T2); the loop below negates the product again.
            let mut row = [[V::splat(isa, T::Real::ZERO); 2]; 1];
            for q in 0..ROWS {
                let y = scalar::<T>(work.y.add(p * step + q), V::LANES);
                let x = [micro::load::<T, V, 1>(isa, t2.ptr.add(q * t2.step), t2.plane)[0]];
                micro::subtract::<T, V, 1>(&mut row, -y, false, &x);
            }
            store::<T, V, 1>(&row, work.z.add(p * step), V::LANES);
        }
        for i in (start..b).step_by(NV * V::LANES) {
            let mut acc = zero::<T, V, NV, ROWS>(isa);
            let by = OperandStream { ptr: work.z.cast_const(), step, plane: V::LANES };
            // Rows from i on of T1 begin in column i.
            eliminate::<T, V, NV, ROWS>(&mut acc, b - i, work.t_columns(i, i), by.offset(i * step), false);
            let rows = (b - i).min(NV * V::LANES);
            const TILE_REALS: usize = 48 * 2 * 8;
            assert!(NV * V::LANES * ROWS * planes::<T>() <= TILE_REALS);
            let mut tile = [T::Real::ZERO; TILE_REALS];
            store_tile::<T, V, NV, ROWS>(&acc, tile.as_mut_ptr(), NV * V::LANES * planes::<T>(), NV * V::LANES);
            for c in 0..ROWS.min(work.n - b) {
                let from = tile.as_ptr().add(c * NV * V::LANES * planes::<T>());
                for r in 0..rows {
                    set_t(work, i + r, b + c, scalar::<T>(from.add(r), NV * V::LANES));
                }
            }
        }
    }
}

/// Sets element (i, j) of T.
///
/// # Safety
/// The element belongs to T.
#[inline(always)]
unsafe fn set_t<T: Scalar>(work: &QrWorkspace<T>, i: usize, j: usize, x: T) {
    // SAFETY: T by columns and T by rows both have this element.
    unsafe {
        put(work.t_columns(i, j).ptr.cast_mut(), work.t_order, x);
        put(work.t_rows(i, j).ptr.cast_mut(), work.t_order, x);
    }
}

/// Computes the columns of the block at column b: reflectors, R, and the block's own T.
///
/// # Safety
/// The reflectors before b have been applied to the block.
#[inline(always)]
unsafe fn factor_block<T, V, const ROWS: usize>(isa: V::Isa, work: &QrWorkspace<T>, b: usize, tau: &mut [T])
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (columns, width) = (work.columns, ROWS.min(work.n - b));
    // T by columns, and the products of the reflectors with the current column.
    let (mut t, mut y) = ([[T::ZERO; 8]; 8], [T::ZERO; 8]);
    for c in 0..width {
        let (j, next) = (b + c, b + (c + 1).min(width - 1));
        let z = t_adjoint_times(&t, &y, c);
        // SAFETY: these are columns of the block, and the panel has all rows from b on.
        unsafe {
            let found = with_column!(c, pass::<T, V, _>(isa, columns, b, next, &z));
            let alpha = columns.get(j, j);
            let Products { mut with_v, mut with_next, mut next_with, .. } = found;
            // Rows below the diagonal become the reflector; the others belong to R.
            let reflector = match unscaled_reflector(alpha, found.squares, found.next_with) {
                Some(reflector) => {
                    columns.scale::<V>(isa, j + 1..columns.rows, j, reflector.scale);
                    next_with *= reflector.scale.conj();
                    with_v.iter_mut().for_each(|g| *g *= reflector.scale);
                    reflector
                }
                None => {
                    let reflector = scaled_reflector(columns, work.m, j);
                    next_with = product(columns, j + 1..work.m, j, next);
                    for (q, g) in with_v.iter_mut().enumerate().take(c) {
                        *g = product(columns, j + 1..work.m, b + q, j);
                    }
                    reflector
                }
            };
            let ElementaryReflector { beta, tau: tau_j, .. } = reflector;
            for (q, g) in with_v.iter_mut().enumerate().take(c) {
                *g += columns.get(j, b + q).conj();
            }
            next_with += columns.get(j, next);
            columns.set(j, j, beta);
            for i in b..=j {
                put(work.r(i, j), work.order, columns.get(i, j));
                columns.set(i, j, if i == j { T::ONE } else { T::ZERO });
            }
            tau[j] = tau_j;
            let mut column = [T::ZERO; 8];
            for (q, &g) in with_v.iter().enumerate().take(c) {
                for i in 0..=q {
                    column[i] -= t[q][i] * g;
                }
            }
            for (i, x) in column.iter_mut().enumerate().take(c) {
                *x *= tau_j;
                set_t(work, b + i, j, *x);
            }
            t[c] = column;
            t[c][c] = tau_j;
            set_t(work, j, j, tau_j);
            with_next[c] = next_with;
            y = with_next;
        }
    }
}

/// Returns the first `c` elements of Tᴴ y, where `t` holds T by columns.
#[inline(always)]
fn t_adjoint_times<T: Scalar>(t: &[[T; 8]; 8], y: &[T; 8], c: usize) -> [T; 8] {
    let mut z = [T::ZERO; 8];
    for i in 0..c {
        for p in 0..=i {
            z[i] += t[i][p].conj() * y[p];
        }
    }
    z
}

/// Returns the inner product of these rows of columns p and j, conjugating column p.
///
/// # Safety
/// Both columns have these rows.
#[inline(always)]
unsafe fn product<T: Scalar>(columns: Columns<T>, rows: Range<usize>, p: usize, j: usize) -> T {
    let mut sum = T::ZERO;
    for i in rows {
        // SAFETY: the caller guarantees these rows of both columns.
        sum += unsafe { columns.get(i, p).conj() * columns.get(i, j) };
    }
    sum
}

/// Sums that one pass over a column x accumulates.
struct Products<T: Scalar> {
    /// The sum of squares below the diagonal.
    squares: T::Real,
    /// The products of the reflectors with x, below the diagonal of x.
    with_v: [T; 8],
    /// The products of the reflectors with the next column.
    with_next: [T; 8],
    /// The product of x with the next column, below the diagonal of x.
    next_with: T,
}

/// Rows whose products are summed before they are added to the sums of the rows before. In a single sum of a tall
/// column, the roundings of equal signs would add up over all rows.
const ROWS_PER_SUM: usize = 2048;

/// The sums of [`Products`] over some rows, by lanes.
struct Partial<V, const C: usize> {
    squares: V,
    with_v: [[V; 2]; C],
    with_next: [[V; 2]; C],
    next_with: [V; 2],
}

impl<V: Vector, const C: usize> Partial<V, C> {
    /// Adds the sums of other rows; `one` is 1 in all lanes.
    #[inline(always)]
    fn add(&mut self, rows: &Self, one: V) {
        self.squares = self.squares.mul_add(rows.squares, one);
        for plane in 0..2 {
            for q in 0..C {
                self.with_v[q][plane] = self.with_v[q][plane].mul_add(rows.with_v[q][plane], one);
                self.with_next[q][plane] = self.with_next[q][plane].mul_add(rows.with_next[q][plane], one);
            }
            self.next_with[plane] = self.next_with[plane].mul_add(rows.next_with[plane], one);
        }
    }
}

/// Subtracts V z from column b + C, for the C earlier reflectors of the block, and accumulates the sums in the same
/// pass.
///
/// # Safety
/// The panel has these columns, and rows b .. b + C + 1 are in one vector.
#[inline(always)]
unsafe fn pass<T, V, const C: usize>(isa: V::Isa, columns: Columns<T>, b: usize, next: usize, z: &[T; 8]) -> Products<T>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (j, first) = (b + C, b - b % V::LANES);
    // SAFETY: vectors from `first` on begin at multiples of the lanes, and columns end with a whole vector.
    unsafe {
        let zero = [V::splat(isa, T::Real::ZERO); 2];
        let mut by = [zero; C];
        for (by, &z) in by.iter_mut().zip(z) {
            *by = splat::<T, V>(isa, z);
        }
        let mut total = Partial { squares: zero[0], with_v: [zero; C], with_next: [zero; C], next_with: zero };
        let mut i = first;
        while i < columns.rows {
            let end = (i + ROWS_PER_SUM).min(columns.rows);
            let mut sums = Partial { squares: zero[0], with_v: [zero; C], with_next: [zero; C], next_with: zero };
            while i < end {
                let mut x = columns.load::<V>(isa, i, j);
                let n = columns.load::<V>(isa, i, next);
                let mut v = [zero; C];
                for q in 0..C {
                    v[q] = columns.load::<V>(isa, i, b + q);
                    x = minus_product::<T, V>(x, v[q], by[q]);
                    add_conj_product::<T, V>(&mut sums.with_next[q], v[q], n);
                }
                columns.store::<V>(i, j, x);
                if i == first {
                    x = columns.load_from::<V>(isa, i, j, (j + 1 - first).min(V::LANES));
                }
                sums.squares = sums.squares.mul_add(x[0], x[0]);
                if T::COMPLEX {
                    sums.squares = sums.squares.mul_add(x[1], x[1]);
                }
                for (sum, &v) in sums.with_v.iter_mut().zip(&v) {
                    add_conj_product::<T, V>(sum, v, x);
                }
                add_conj_product::<T, V>(&mut sums.next_with, x, n);
                i += V::LANES;
            }
            total.add(&sums, V::splat(isa, T::Real::ONE));
        }
        let Partial { squares, with_v, with_next, next_with } = total;
        let mut found = Products {
            squares: squares.sum(),
            with_v: [T::ZERO; 8],
            with_next: [T::ZERO; 8],
            next_with: sum::<T, V>(next_with),
        };
        for q in 0..C {
            found.with_v[q] = sum::<T, V>(with_v[q]);
            found.with_next[q] = sum::<T, V>(with_next[q]);
        }
        found
    }
}
