//! The panel of an LU factorization: partial pivoting on a matrix with few columns.
//!
//! The panel is copied to scratch ([`Columns`]) and factored there in blocks of ROWS columns, from left to right. A block
//! first takes in all the columns before it: its rows of U come from a triangular solve, and what is below from the same
//! register tiles that products are made of. Within the block columns are taken one by one, each with what the columns of
//! the block before it contribute, which costs one load per multiply-add and a single store per element, where updating all
//! the columns behind would cost a load and a store for each. The pivot is found on the way.
//!
//! Rows are exchanged in the scratch, in all columns of the panel.

use super::columns::{Columns, minus_product, splat, with_column};
use super::micro::{Stream, eliminate, load_tile, planes, store_tile};
use super::pack;
use super::small_triangle::substitute;
use super::triangular::reciprocal;
use super::workspace::Workspace;
use crate::simd::{Kernel, Vector};
use crate::{MatMut, Real, Scalar, Uplo};

/// P L U = A, L and U over A, which has at least as many rows as columns; as many pivots as columns.
pub struct LuPanel<'a, T> {
    pub a: MatMut<'a, T>,
    pub ipiv: &'a mut [i32],
}

impl<T: Scalar> LuPanel<'_, T> {
    /// Computes it. Says which column is the first whose pivot is zero, if there is one.
    pub fn run(self) -> Option<usize> {
        debug_assert!(self.a.nrows() >= self.a.ncols() && self.ipiv.len() == self.a.ncols());
        T::lu_panel(self)
    }
}

/// The scratch of one panel.
struct Work<T: Scalar> {
    columns: Columns<T>,
    n: usize,
    m: usize,
    /// The rows of U in the block's columns, one vector (per plane) each.
    u: *mut T::Real,
    /// The unit lower triangles on the diagonal, as [`substitute`] wants them.
    triangles: *mut T::Real,
}

impl<T: Scalar> Kernel<T> for LuPanel<'_, T> {
    type Output = Option<usize>;

    #[inline(always)]
    unsafe fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self) -> Self::Output {
        const { assert!(V::LANES.is_multiple_of(ROWS) && ROWS <= 8, "a block's first rows are in one vector") };
        let Self { mut a, ipiv } = self;
        let ((m, n), unit) = (a.shape(), planes::<T>());
        let (blocks, size) = (n.div_ceil(ROWS), Columns::<T>::len::<V>(m, n.next_multiple_of(ROWS)));
        let u_len = blocks * ROWS * V::LANES * unit;
        let mut scratch = Workspace::take(size + u_len + blocks * ROWS * ROWS * unit);
        let (columns, rest) = scratch.elements().split_at_mut(size);
        let (u, triangles) = rest.split_at_mut(u_len);
        u.fill(T::Real::ZERO);
        triangles.fill(T::Real::ZERO);
        // SAFETY: the scratch has room for the columns, a row of U per column, and a triangle per block.
        unsafe {
            let columns = Columns::copy::<V>(columns.as_mut_ptr(), a.as_ref(), ROWS);
            let work = Work { columns, m, n, u: u.as_mut_ptr(), triangles: triangles.as_mut_ptr() };
            let mut singular = None;
            for b in (0..n).step_by(ROWS) {
                if b > 0 {
                    update::<T, V, ROWS>(&work, b);
                }
                let width = ROWS.min(n - b);
                for c in 0..width {
                    let zero = column::<T, V>(&work, b, c, ipiv);
                    singular = singular.or(zero.then_some(b + c));
                }
                save_triangle::<T, V, ROWS>(&work, b, width);
            }
            columns.copy_to::<V>(a.rb_mut());
            singular
        }
    }
}

/// Applies columns 0 .. b to the block at column b: U = L⁻¹ A above, A - L U below.
///
/// # Safety
/// As for [`Vector`]; the columns before b are done.
#[inline(always)]
unsafe fn update<T, V, const ROWS: usize>(work: &Work<T>, b: usize)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (columns, unit) = (work.columns, planes::<T>());
    let (step, plane) = (V::LANES * unit, V::LANES);
    let rows = Stream { ptr: work.u.cast_const(), step, plane };
    // SAFETY: b rows and ROWS columns of the panel, and as many rows of u.
    unsafe {
        for part in 0..unit {
            let from = columns.at(part * columns.plane, b);
            pack::transpose::<V>((ROWS, b), from, columns.step(), work.u.add(part * plane), step, 0);
        }
        for r in (0..b).step_by(ROWS) {
            let here = work.u.add(r * step);
            let mut acc = load_tile::<T, V, 1, ROWS>(rows.offset(r * step));
            eliminate::<T, V, 1, ROWS>(&mut acc, r, rows, columns.stream(r, 0), false);
            substitute::<T, V, 1, ROWS>(&mut acc, work.triangles.add(r * ROWS * unit), Uplo::Lower);
            store_tile::<T, V, 1, ROWS>(&acc, here, step, plane);
        }
        // Rows of U that share a vector with the first rows below them are subtracted from, too, and then overwritten.
        columns.subtract_product::<V, ROWS>(b - b % V::LANES, 0..b, b, rows);
        for part in 0..unit {
            let to = columns.at(part * columns.plane, b);
            pack::transpose::<V>((b, ROWS), work.u.add(part * plane), step, to, columns.step(), 0);
        }
    }
}

/// Keeps the unit lower triangle of the block at column b, which no later exchange of rows touches.
///
/// # Safety
/// As for [`update`], the block included.
#[inline(always)]
unsafe fn save_triangle<T, V, const ROWS: usize>(work: &Work<T>, b: usize, width: usize)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    for q in 0..width {
        let to = work.triangles.wrapping_add((b + q) * ROWS * planes::<T>());
        for r in q..width {
            // SAFETY: elements of the block, and of its triangle.
            unsafe {
                let x = if r == q { T::ONE } else { work.columns.get(b + r, b + q) };
                super::columns::put(to.add(r), ROWS, x);
            }
        }
    }
}

/// Column c of the block at column b: its part of U, its pivot, its part of L. Says whether the pivot is zero.
///
/// # Safety
/// As for [`update`]; the columns of the block before c are done.
#[inline(always)]
unsafe fn column<T, V>(work: &Work<T>, b: usize, c: usize, ipiv: &mut [i32]) -> bool
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (columns, j) = (work.columns, b + c);
    let mut u = [T::ZERO; 8];
    // SAFETY: the elements are in the panel.
    unsafe {
        for p in 0..c {
            let mut x = columns.get(b + p, j);
            for (q, &known) in u.iter().enumerate().take(p) {
                x -= columns.get(b + p, b + q) * known;
            }
            u[p] = x;
            columns.set(b + p, j, x);
        }
        let found = with_column!(c, eliminate_column::<T, V, _>(columns, b, &u));
        let p = found.filter(|&p| p < work.m).unwrap_or(j);
        ipiv[j] = (p + 1) as i32;
        if p != j {
            for q in 0..work.n {
                for part in 0..planes::<T>() {
                    let from = columns.at(part * columns.plane, q);
                    std::ptr::swap(from.add(j), from.add(p));
                }
            }
        }
        let pivot = columns.get(j, j);
        if pivot == T::ZERO {
            return true;
        }
        divide::<T, V>(columns, j, pivot);
    }
    false
}

/// Divides what is below the diagonal of column j by its pivot.
///
/// # Safety
/// As for [`Vector`]; the column is there.
#[inline(always)]
unsafe fn divide<T, V>(columns: Columns<T>, j: usize, pivot: T)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let tiny = T::Real::MIN_POSITIVE;
    let abs = |x: T::Real| if x < T::Real::ZERO { -x } else { x };
    // SAFETY: the caller's promises.
    unsafe {
        if abs(pivot.re()) + abs(pivot.im()) < tiny + tiny {
            // The reciprocal may overflow. Nothing in the column is larger than the pivot, so that both can be enlarged.
            let by = T::from_real(T::Real::ONE / tiny);
            columns.scale::<V>(j + 1, j, by);
            columns.scale::<V>(j + 1, j, reciprocal(pivot * by));
        } else {
            columns.scale::<V>(j + 1, j, reciprocal(pivot));
        }
    }
}

/// Subtracts from column b + C what the C columns before it contribute, `u` being its elements in rows b and on, and finds
/// the first element of the rest that is largest. `None` if none is larger than zero.
///
/// # Safety
/// As for [`Vector`]; rows b .. b + C + 1 are in one vector.
#[inline(always)]
unsafe fn eliminate_column<T, V, const C: usize>(columns: Columns<T>, b: usize, u: &[T; 8]) -> Option<usize>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (j, first) = (b + C, b - b % V::LANES);
    // SAFETY: whole vectors from `first` on.
    unsafe {
        let mut by = [splat::<T, V>(T::ZERO); C];
        for (by, &u) in by.iter_mut().zip(u) {
            *by = splat::<T, V>(u);
        }
        let subtracted = subtract::<T, V, C>(columns, first, b, &by);
        columns.store_from::<V>(first, j, j - first, subtracted);
        let start = modulus::<T, V>(columns.load_from::<V>(first, j, j - first));
        let (zero, one) = (V::splat(T::Real::ZERO), V::splat(T::Real::ONE));
        // Two candidates per lane, from every other vector, so that comparisons need not wait for each other.
        let (mut even, mut odd) = (V::larger((zero, zero), (start, zero)), (zero, zero));
        let mut count = zero;
        let mut i = first + V::LANES;
        while i < columns.rows {
            count = count.mul_add(one, one);
            let x = subtract::<T, V, C>(columns, i, b, &by);
            columns.store::<V>(i, j, x);
            let found = V::larger(even, (modulus::<T, V>(x), count));
            (even, odd) = (odd, found);
            i += V::LANES;
        }
        let mut best = (T::Real::ZERO, usize::MAX);
        for (value, count) in [even, odd] {
            for lane in 0..V::LANES {
                let row = first + count.lane(lane).to_f64() as usize * V::LANES + lane;
                let value = value.lane(lane);
                if value > best.0 || (value == best.0 && row < best.1) {
                    best = (value, row);
                }
            }
        }
        (best.0 > T::Real::ZERO).then_some(best.1)
    }
}

/// Rows i and on of column b + C, less what the C columns before it contribute.
///
/// # Safety
/// As for [`Vector`]; they are there.
#[inline(always)]
unsafe fn subtract<T, V, const C: usize>(columns: Columns<T>, i: usize, b: usize, by: &[[V; 2]; C]) -> [V; 2]
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: the caller's promises.
    unsafe {
        let mut x = columns.load::<V>(i, b + C);
        for (q, &u) in by.iter().enumerate() {
            x = minus_product::<T, V>(x, columns.load::<V>(i, b + q), u);
        }
        x
    }
}

/// LAPACK's measure of a pivot: |re| + |im|.
///
/// # Safety
/// As for [`Vector`].
#[inline(always)]
unsafe fn modulus<T, V>(x: [V; 2]) -> V
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: the caller's promise.
    unsafe {
        let re = x[0].abs();
        if T::COMPLEX { re.mul_add(x[1].abs(), V::splat(T::Real::ONE)) } else { re }
    }
}
