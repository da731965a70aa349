//! The panel of an LU factorization: partial pivoting on a matrix with few columns.
//!
//! The panel is factored in place or in scratch ([`Columns`]), in blocks of ROWS columns, from left to right. A block
//! is first updated by all earlier columns: a triangular solve gives its rows of U, and the register tiles of the
//! product update the rows below. Then its columns are taken one by one. Each is updated by the earlier columns of the
//! block, with one load per multiply-add and a single store per element; updating all later columns would take a load
//! and a store for each multiply-add. The same pass divides the preceding column by its pivot and finds the next pivot.
//!
//! Rows are exchanged in all columns of the panel.

use super::columns::{Columns, exchange_pieces, minus_product, splat, with_column};
use crate::scalar::division::{Divisor, size};
use crate::simd::Vector;
use crate::vector::dispatch::Kernel;
use crate::vector::packing::pack;
use crate::vector::planes::{planes, put};
use crate::vector::sizes::BLOCK_MAX;
use crate::vector::tiles::micro::{OperandStream, eliminate, load_tile, multiply, store_tile};
use crate::vector::tiles::small_triangle::substitute;
use crate::vector::workspace::Workspace;
use crate::{MatMut, Real, Scalar, Uplo};

/// Vectors of a column that one pivot search covers: they are counted in the type of the elements, and f32 represents
/// no larger count exactly.
const PIVOT_VECTORS_MAX: usize = 1 << 24;

/// P L U = A, with L and U over A, which has at least as many rows as columns. `ipiv` has an entry per column. Returns
/// the first column whose pivot is zero, if any.
pub struct LuPanel<'a, T> {
    pub a: MatMut<'a, T>,
    pub ipiv: &'a mut [i32],
}

/// One panel and its scratch.
struct LuWorkspace<T: Scalar> {
    columns: Columns<T>,
    n: usize,
    m: usize,
    /// The rows of U in the columns of the block, one vector per plane each.
    u: *mut T::Real,
    /// The unit lower triangles on the diagonal, in the layout of [`substitute`].
    triangles: *mut T::Real,
}

impl<T: Scalar> Kernel<T> for LuPanel<'_, T> {
    type Output = Option<usize>;

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) -> Self::Output {
        const { assert!(V::LANES.is_multiple_of(ROWS) && ROWS <= 8, "the first rows of a block are in one vector") };
        let Self { mut a, ipiv } = self;
        let ((m, n), unit) = (a.shape(), planes::<T>());
        assert!(m >= n && ipiv.len() == n, "an LU panel {m} x {n} needs m >= n and n pivots, not {}", ipiv.len());
        let in_place = Columns::<T>::in_place::<V>(a.rb_mut(), ROWS);
        let (blocks, wide) = (n.div_ceil(ROWS), n.next_multiple_of(ROWS));
        let size = if in_place.is_some() { 0 } else { Columns::<T>::len::<V>(m, wide) };
        let u_len = blocks * ROWS * V::LANES * unit;
        let mut scratch = Workspace::take(size + u_len + blocks * ROWS * ROWS * unit);
        let (columns, rest) = scratch.elements().split_at_mut(size);
        let (u, triangles) = rest.split_at_mut(u_len);
        u.fill(T::Real::ZERO);
        triangles.fill(T::Real::ZERO);
        // SAFETY: the scratch has room for the columns, a row of U per column, and a triangle per block.
        unsafe {
            let columns = match in_place {
                Some(columns) => columns,
                None => Columns::copy::<V>(isa, columns.as_mut_ptr(), a.as_ref(), ROWS),
            };
            let work = LuWorkspace { columns, m, n, u: u.as_mut_ptr(), triangles: triangles.as_mut_ptr() };
            let mut singular = None;
            for b in (0..n).step_by(ROWS) {
                if b > 0 {
                    update::<T, V, ROWS>(isa, &work, b);
                }
                let width = ROWS.min(n - b);
                let mut scale = T::ONE;
                for c in 0..width {
                    let zero = column::<T, V, ROWS>(isa, &work, b, c, &mut scale, ipiv);
                    singular = singular.or(zero.then_some(b + c));
                }
                columns.scale::<V>(isa, b - b % V::LANES + V::LANES..columns.rows, b + width - 1, scale);
                save_triangle::<T, V, ROWS>(&work, b, width);
            }
            if in_place.is_none() {
                columns.copy_to::<V>(isa, a.rb_mut());
            }
            singular
        }
    }
}

/// Applies columns 0 .. b to the block at column b: U = L⁻¹ A above, A - L U below.
///
/// # Safety
/// The columns before b are done.
#[inline(always)]
unsafe fn update<T, V, const ROWS: usize>(isa: V::Isa, work: &LuWorkspace<T>, b: usize)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (columns, unit) = (work.columns, planes::<T>());
    let (step, plane) = (V::LANES * unit, V::LANES);
    let rows = OperandStream { ptr: work.u.cast_const(), step, plane };
    // SAFETY: the panel has b rows and ROWS columns here, and u has a row for each of the b rows.
    unsafe {
        for part in 0..unit {
            let from = columns.at(part * columns.plane, b);
            pack::transpose::<V>(isa, (ROWS, b), from, columns.step(), work.u.add(part * plane), step, 0);
        }
        for r in (0..b).step_by(ROWS) {
            let here = work.u.add(r * step);
            let mut acc = load_tile::<T, V, 1, ROWS>(isa, rows.offset(r * step));
            eliminate::<T, V, 1, ROWS>(&mut acc, r, rows, columns.stream(r, 0), false);
            substitute::<T, V, 1, ROWS>(&mut acc, work.triangles.add(r * ROWS * unit), Uplo::Lower);
            store_tile::<T, V, 1, ROWS>(&acc, here, step, plane);
        }
        // Rows of U in the same vector as the first rows below them are also changed, and then overwritten with U.
        columns.subtract_product::<V, ROWS>(isa, b - b % V::LANES, 0..b, b, rows);
        for part in 0..unit {
            let to = columns.at(part * columns.plane, b);
            pack::transpose::<V>(isa, (b, ROWS), work.u.add(part * plane), step, to, columns.step(), 0);
        }
    }
}

/// Saves the unit lower triangle of the block at column b, which later exchanges of rows do not change.
///
/// # Safety
/// The columns up to the end of this block are done.
#[inline(always)]
unsafe fn save_triangle<T, V, const ROWS: usize>(work: &LuWorkspace<T>, b: usize, width: usize)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    for q in 0..width {
        let to = work.triangles.wrapping_add((b + q) * ROWS * planes::<T>());
        for r in q..width {
            // SAFETY: the row and column are in the block, and its triangle has room for the element.
            unsafe {
                let x = if r == q { T::ONE } else { work.columns.get(b + r, b + q) };
                put(to.add(r), ROWS, x);
            }
        }
    }
}

/// Computes column c of the block at column b: its elements of U, its update by the earlier columns of the block, and
/// its pivot. Divides only the block's first vector of rows by the pivot; the rows below are divided when the next
/// column is computed. Returns whether the pivot is zero.
///
/// # Safety
/// The columns before b + c are done, except that the last one's rows below the first vector must still be multiplied
/// by `scale`.
#[inline(always)]
unsafe fn column<T, V, const ROWS: usize>(
    isa: V::Isa,
    work: &LuWorkspace<T>,
    b: usize,
    c: usize,
    scale: &mut T,
    ipiv: &mut [i32],
) -> bool
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (columns, j) = (work.columns, b + c);
    let mut u = [T::ZERO; 8];
    // SAFETY: all rows and columns used are in the panel.
    unsafe {
        for p in 0..c {
            let mut x = columns.get(b + p, j);
            for (q, &known) in u.iter().enumerate().take(p) {
                x -= columns.get(b + p, b + q) * known;
            }
            u[p] = x;
            columns.set(b + p, j, x);
        }
        let found = with_column!(c, eliminate_column::<T, V, _>(isa, columns, b, &u, *scale));
        let p = found.filter(|&p| p < work.m).unwrap_or(j);
        ipiv[j] = (p + 1) as i32;
        if p != j {
            exchange::<T, ROWS>(work, j, p);
        }
        let pivot = columns.get(j, j);
        *scale = T::ONE;
        if pivot == T::ZERO {
            return true;
        }
        *scale = divide::<T, V>(isa, columns, j, b - b % V::LANES + V::LANES, pivot);
    }
    false
}

/// Exchanges two rows of the panel, block by block.
///
/// # Safety
/// The panel has these rows.
#[inline(always)]
unsafe fn exchange<T: Scalar, const ROWS: usize>(work: &LuWorkspace<T>, i: usize, p: usize) {
    let columns = work.columns;
    for q in (0..work.n).step_by(ROWS) {
        for part in 0..planes::<T>() {
            let row = |i: usize| columns.at(part * columns.plane + i, q);
            // SAFETY: the panel has both rows, and its columns fill whole blocks.
            unsafe { exchange_pieces::<_, ROWS>(row(i), row(p), columns.step()) };
        }
    }
}

/// Divides column j by its pivot, from below the diagonal to row `end`. Returns the factor by which the remaining rows
/// must still be multiplied.
///
/// # Safety
/// The panel has this column.
#[inline(always)]
unsafe fn divide<T, V>(isa: V::Isa, columns: Columns<T>, j: usize, end: usize, pivot: T) -> T
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let Divisor { scale, inverse } = Divisor::of(pivot);
    // SAFETY: the rows from j + 1 on are rows of the column, which ends with a whole vector.
    unsafe {
        if scale != T::Real::ONE {
            // No element is larger than the pivot, so the scale that is safe for the pivot is safe for all.
            columns.scale::<V>(isa, j + 1..columns.rows, j, T::from_real(scale));
            columns.scale::<V>(isa, j + 1..columns.rows, j, inverse);
            return T::ONE;
        }
        columns.scale::<V>(isa, j + 1..end.min(columns.rows), j, inverse);
        inverse
    }
}

/// Multiplies column b + C - 1, below the vector of row b, by `scale`. Subtracts from column b + C the contribution of
/// the C columns before it, where `u` is its elements in rows from b on. Returns the row of the first largest element
/// of the remainder, or `None` if none is larger than zero.
///
/// # Safety
/// Rows b .. b + C + 1 are in one vector.
#[inline(always)]
unsafe fn eliminate_column<T, V, const C: usize>(
    isa: V::Isa,
    columns: Columns<T>,
    b: usize,
    u: &[T; 8],
    scale: T,
) -> Option<usize>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (j, first) = (b + C, b - b % V::LANES);
    // SAFETY: vectors from `first` on begin at multiples of the lanes, and columns end with a whole vector.
    unsafe {
        let mut by = [splat::<T, V>(isa, T::ZERO); C];
        for (by, &u) in by.iter_mut().zip(u) {
            *by = splat::<T, V>(isa, u);
        }
        let subtracted = subtract::<T, V, C>(isa, columns, first, b, &by, None);
        columns.store_from::<V>(first, j, j - first, subtracted);
        let start = modulus::<T, V>(columns.load_from::<V>(isa, first, j, j - first));
        let (zero, one) = (V::splat(isa, T::Real::ZERO), V::splat(isa, T::Real::ONE));
        // Two candidates per lane, from alternate vectors, so that consecutive comparisons are independent.
        let (mut even, mut odd) = (V::larger((zero, zero), (start, zero)), (zero, zero));
        let (mut before, mut i, mut best) = (first, first + V::LANES, None);
        let count_max = PIVOT_VECTORS_MAX.min(*BLOCK_MAX);
        loop {
            let end = columns.rows.min(before + count_max * V::LANES);
            let mut count = zero;
            while i < end {
                count = count.mul_add(one, one);
                let x = subtract::<T, V, C>(isa, columns, i, b, &by, Some(scale));
                columns.store::<V>(i, j, x);
                let found = V::larger(even, (modulus::<T, V>(x), count));
                (even, odd) = (odd, found);
                i += V::LANES;
            }
            let found = first_largest::<T, V>(even, odd).map(|at| before + at);
            best = match (best, found) {
                (Some(best), Some(found)) if size(columns.get(best, j)) >= size(columns.get(found, j)) => Some(best),
                (best, found) => found.or(best),
            };
            if i >= columns.rows {
                return best;
            }
            // The next range counts its first vector as one.
            (before, even, odd) = (i - V::LANES, (zero, zero), (zero, zero));
        }
    }
}

/// Returns a vector of rows from i on of column b + C, minus the contribution of the C columns before it. If `scale` is
/// given, the last of these is multiplied by it first.
///
/// # Safety
/// The columns have this vector of rows.
#[inline(always)]
unsafe fn subtract<T, V, const C: usize>(
    isa: V::Isa,
    columns: Columns<T>,
    i: usize,
    b: usize,
    by: &[[V; 2]; C],
    scale: Option<T>,
) -> [V; 2]
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: column b + C and the C columns before it have this vector of rows.
    unsafe {
        let mut x = columns.load::<V>(isa, i, b + C);
        for (q, &u) in by.iter().enumerate() {
            let mut known = [columns.load::<V>(isa, i, b + q)];
            if let Some(scale) = scale.filter(|_| q + 1 == C) {
                multiply::<T, V, 1>(&mut known, scale);
                columns.store::<V>(i, b + q, known[0]);
            }
            x = minus_product::<T, V>(x, known[0], u);
        }
        x
    }
}

/// Returns the first position of the largest value, if that is larger than zero. Lane l of a candidate is at its count
/// times the lanes, plus l.
#[inline(always)]
fn first_largest<T, V>(even: (V, V), odd: (V, V)) -> Option<usize>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    const { assert!(V::LANES <= 16) };
    let (mut values, mut counts) = ([T::Real::ZERO; 32], [T::Real::ZERO; 32]);
    let mut best = [T::Real::ZERO; 16];
    // SAFETY: a vector has at most sixteen lanes; `values` and `counts` have room for two vectors, and `best` for one.
    unsafe {
        for (at, (value, count)) in [even, odd].into_iter().enumerate() {
            value.store(values.as_mut_ptr().add(at * V::LANES));
            count.store(counts.as_mut_ptr().add(at * V::LANES));
        }
        V::larger(even, odd).0.store(best.as_mut_ptr());
    }
    for half in [8, 4, 2, 1] {
        for i in 0..half {
            best[i] = if best[i + half] > best[i] { best[i + half] } else { best[i] };
        }
    }
    let lanes = 2 * V::LANES;
    let is_largest = values.iter().take(lanes).map(|&value| value == best[0]);
    let at = counts.iter().take(lanes).enumerate().map(|(i, count)| count.to_f64() as usize * V::LANES + i % V::LANES);
    let first = is_largest.zip(at).map(|(is, at)| if is { at } else { usize::MAX }).min();
    first.filter(|_| best[0] > T::Real::ZERO)
}

/// Returns LAPACK's measure of a pivot: |re| + |im|.
#[inline(always)]
fn modulus<T, V>(x: [V; 2]) -> V
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let isa = x[0].isa();
    let re = x[0].abs();
    if T::COMPLEX { re.mul_add(x[1].abs(), V::splat(isa, T::Real::ONE)) } else { re }
}
