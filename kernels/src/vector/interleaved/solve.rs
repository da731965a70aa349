//! Solves with small triangles and with factors of LU, one matrix per lane.

use super::copy::{GroupCopy, LoadGroup, StoreGroup};
use super::form::{Form, Places};
use super::lu::exchange;
use super::multiply::scaled;
use super::number::{finite, get, put, reciprocal, sign, size, with_sign, within};
use super::substitute::Substitute;
use super::{Interleaved, LANES_MAX, Progress, lanes_left, next_group, pivot_range};
use crate::options;
use crate::simd::{Part, Vector};
use crate::vector::dispatch::Kernel;
use crate::vector::planes::planes;
use crate::vector::workspace::Workspace;
use crate::{Diag, Direction, MatMut, MatRef, Op, Scalar, Side, Uplo};

/// A triangle to solve with: op(A), for the stored triangle `uplo` of A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupTriangle {
    pub uplo: Uplo,
    pub op: Op,
    pub diag: Diag,
}

/// Solves op(A) X = alpha B, or X op(A) = alpha B, with one triangle of A after the other; X is stored over B.
pub struct InterleavedSolve<'a, 'b, T> {
    pub side: Side,
    pub alpha: T,
    pub triangles: &'a [GroupTriangle],
    pub a: &'a [MatRef<'a, T>],
    /// The interchanges of B's rows: before the solves if they are made forward, and after them if backward.
    pub interchanges: Option<(Direction, &'a [MatRef<'a, i32>])>,
    pub b: &'a mut [MatMut<'b, T>],
    /// The forms of A and of B.
    pub forms: [Form; 2],
}

impl<T: Scalar> Kernel<T> for InterleavedSolve<'_, '_, T> {
    type Output = Progress;

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) -> Progress {
        let Self { side, alpha, triangles, a, interchanges, b, forms } = self;
        let (n, lens) = (a[0].nrows(), forms.map(|form| form.len::<T, V>()));
        let mut scratch = Workspace::take(lens[0] + lens[1] + n * planes::<T>() * V::LANES);
        let (in_a, rest) = scratch.elements().split_at_mut(lens[0]);
        let (in_b, inverses) = rest.split_at_mut(lens[1]);
        let at = [in_a.as_mut_ptr(), in_b.as_mut_ptr()];
        let first = triangles[0].uplo;
        let is_one = triangles.iter().all(|triangle| triangle.uplo == first);
        let part = if is_one { forms[0].triangle(first) } else { options::Part::All };
        let solve = GroupSolve::<T> {
            a: forms[0].in_scratch::<T, V>(at[0]),
            n,
            x: forms[1].in_scratch::<T, V>(at[1]),
            shape: b[0].shape(),
            side,
            alpha,
            triangles,
            interchanges: interchanges.map(|(direction, _)| direction),
            rows: &[],
            inverses: inverses.as_mut_ptr(),
        };
        let mut rows = Workspace::<u32>::take(if interchanges.is_some() { n * LANES_MAX } else { 0 });
        let (rows, _) = rows.elements().as_chunks_mut::<LANES_MAX>();
        let mut done = 0;
        while let Some(count) = next_group::<V>(done, b.len()) {
            if let Some((_, ipiv)) = interchanges {
                for (i, rows) in rows.iter_mut().enumerate() {
                    let row = |lane: usize| ipiv[done + lane.min(count - 1)].at(i, 0) as u32 - 1;
                    *rows = std::array::from_fn(row);
                }
            }
            let places_a = Places::of::<T, V>(forms[0], count, |i| a[done + i]);
            let places_b = Places::of::<T, V>(forms[1], count, |i| b[done + i].as_ref());
            let copy_a = GroupCopy { form: forms[0], part, places: &places_a, scratch: at[0] };
            let copy_b = GroupCopy { form: forms[1], part: options::Part::All, places: &places_b, scratch: at[1] };
            // SAFETY: the places are those of matrices of these forms, B's borrowed exclusively, and the scratch has
            // room for a group of each and for n reciprocals. The caller has checked the interchanges.
            let left = unsafe {
                V::call(isa, LoadGroup::<T>(copy_a));
                V::call(isa, LoadGroup::<T>(copy_b));
                let left = lanes_left(V::call(isa, GroupSolve { rows: &*rows, ..solve }));
                V::call(isa, StoreGroup::<T>(copy_b, left));
                left
            };
            let first = done;
            done += count;
            if left != 0 {
                return Progress::after(first, count, left);
            }
        }
        Progress { done, first: done, left: 0 }
    }
}

/// The solve of a group in scratch. Returns which diagonals and solutions were ordinary.
#[derive(Clone, Copy)]
struct GroupSolve<'a, T: Scalar> {
    a: Interleaved<T::Real>,
    n: usize,
    x: Interleaved<T::Real>,
    shape: (usize, usize),
    side: Side,
    alpha: T,
    triangles: &'a [GroupTriangle],
    interchanges: Option<Direction>,
    /// For each interchange, its rows in the matrices.
    rows: &'a [[u32; LANES_MAX]],
    inverses: *mut T::Real,
}

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for GroupSolve<'_, T> {
    type Output = V;

    /// # Safety
    /// A is a group of order n and X a group of this shape in scratch; there is room for n reciprocals, and the rows
    /// are rows of X.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) -> V {
        let Self { x, shape: (m, columns), side, interchanges, rows, .. } = self;
        let mut ordinary = V::splat(isa, T::Real::ONE);
        // SAFETY: the caller guarantees the matrices, the rows and the room.
        unsafe {
            if interchanges == Some(Direction::Forward) {
                for (i, rows) in rows.iter().enumerate() {
                    exchange::<T, V>(isa, x, 0..columns, i, rows);
                }
            }
            if self.alpha != T::ONE {
                for j in 0..columns {
                    for i in 0..m {
                        put::<T, V>(scaled::<T, V>(get::<T, V>(isa, x.at(i, j)), self.alpha), x.at(i, j));
                    }
                }
            }
            // X op(A) = B is op(A)ᵀ Xᵀ = Bᵀ.
            let (x, columns) = if side == Side::Right { (x.transpose(), m) } else { (x, columns) };
            for triangle in self.triangles {
                ordinary = solve::<T, V>(isa, &self, *triangle, (x, columns), ordinary);
            }
            if interchanges == Some(Direction::Backward) {
                for (i, rows) in rows.iter().enumerate().rev() {
                    exchange::<T, V>(isa, x, 0..columns, i, rows);
                }
            }
            finite::<T, V>(isa, x, (self.n, columns), ordinary)
        }
    }
}

/// Solves with one triangle at the left of X, and returns `ordinary` where all reciprocals are.
///
/// # Safety
/// Same as for [`GroupSolve`]; X has n rows and these columns.
#[inline(always)]
unsafe fn solve<T, V>(
    isa: V::Isa,
    group: &GroupSolve<'_, T>,
    triangle: GroupTriangle,
    (x, columns): (Interleaved<T::Real>, usize),
    mut ordinary: V,
) -> V
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (n, conj) = (group.n, triangle.op == Op::ConjTrans);
    let is_transposed = (triangle.op != Op::None) != (group.side == Side::Right);
    let is_lower = (triangle.uplo == Uplo::Lower) != is_transposed;
    let l = if is_transposed { group.a.transpose() } else { group.a };
    // An upper triangle is a lower one in reverse order.
    let (l, x) = if is_lower { (l, x) } else { (l.reversed(n), x.rows_reversed(n)) };
    let sign = sign::<T, V>(isa, conj);
    // SAFETY: the triangle has n elements on its diagonal, and the caller guarantees the room and the matrices.
    unsafe {
        let inverses = (triangle.diag == Diag::NonUnit).then_some(group.inverses.cast_const());
        for i in 0..if inverses.is_some() { n } else { 0 } {
            let pivot = with_sign::<T, V>(get::<T, V>(isa, l.at(i, i)), sign);
            ordinary = within::<T, V>(size::<T, V>(pivot), pivot_range::<T>(), ordinary);
            put::<T, V>(reciprocal::<T, V>(pivot), group.inverses.add(i * planes::<T>() * V::LANES));
        }
        V::call(isa, Substitute::<T> { l, inverses, x, shape: (n, columns), conj });
    }
    ordinary
}
