//! Packing: copying an operand into the order in which the register tile reads it.
//!
//! A panel of `width` rows becomes, for each column p, `width` adjacent reals (and for complex types `width` imaginary
//! parts behind them). Reading is then sequential whatever the strides were: a leading dimension that is a large power
//! of two, which maps a whole row to a few cache sets, costs one pass instead of one per register tile.

use super::factor::Factor;
use super::mirror;
use crate::simd::{Part, Vector, prefetch};
use crate::vector::planes::{planes, scalar};
use crate::{MatMut, Scalar, Uplo};

/// Columns that are gathered together where rows are adjacent in memory: a cache line of doubles.
const STRIP: usize = 8;
/// Columns that are read side by side where columns are adjacent. A panel's place for one of them may be half a cache
/// line, and the panels' places are powers of two apart: line by line they would drive each other out of the cache
/// before they are full. (Order 512, one core of an EPYC, 2026-11-23: syrk in s, d, c, z 1.20, 1.09, 1.13, 1.05 times
/// as fast as with one column at a time.)
const BESIDE: usize = 4;
/// Columns between one that is read so and the one that is asked for meanwhile: its pieces are too short for the
/// processor to see that they follow each other.
const AHEAD: usize = 8;

/// Packs all rows of `a` as panels of `width`, one behind the other.
///
/// # Safety
/// For every `width` rows, the last ones too if they are fewer, there is room for `width * planes * ncols` reals at
/// `to`, which does not overlap `a`.
#[inline(always)]
pub(crate) unsafe fn panels<T, V>(isa: V::Isa, a: Factor<'_, T>, width: usize, to: *mut T::Real)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: there is room for all panels at `to`, one behind the other, whichever function fills them.
    unsafe {
        match a.mirror {
            Some(_) => mirror::panels::<T, V>(isa, a, width, to),
            None => panels_of::<T, V>(isa, a, width, to, width * planes::<T>() * a.view.ncols()),
        }
    }
}

/// The same of a plain factor whose columns are some of those of the panels: these are `distance` reals apart.
///
/// # Safety
/// As for [`panel`], for every panel: the place of panel i is `i * distance` reals behind `to`.
#[inline(always)]
pub(crate) unsafe fn panels_of<T, V>(isa: V::Isa, a: Factor<'_, T>, width: usize, to: *mut T::Real, distance: usize)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: the part has the room that this function asks for: panels `distance` reals apart.
    unsafe { V::call(isa, Panels { a, width, to, distance }) }
}

/// See [`panels_of`], whose promises it asks for.
struct Panels<'a, T: Scalar> {
    a: Factor<'a, T>,
    width: usize,
    to: *mut T::Real,
    distance: usize,
}

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for Panels<'_, T> {
    type Output = ();

    /// # Safety
    /// As for [`panels_of`].
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) {
        let Self { a, width, to, distance } = self;
        let (rows, depth) = a.view.shape();
        // Where columns are adjacent all panels are filled side by side, so that a column is read from end to end: the
        // hardware then fetches ahead, which it does not for one panel's short pieces a leading dimension apart.
        let together = if a.view.row_stride() == 1 { rows - rows % width } else { 0 };
        // Of a width that the compiler knows, those of the factor that is broadcast, complex numbers are taken apart
        // without loops: products with a transposed factor are a sixth faster in c, and Cholesky in small tiles twice
        // as fast.
        // SAFETY: `to` has room for a panel of each `width` rows, `distance` reals apart, and `together` is a
        // multiple of it.
        unsafe {
            match width {
                2 => side_by_side(a, 2, together, to, distance),
                4 => side_by_side(a, 4, together, to, distance),
                8 => side_by_side(a, 8, together, to, distance),
                _ => side_by_side(a, width, together, to, distance),
            }
        }
        for (i, count) in (together..rows).step_by(width).zip(together / width..) {
            let part = a.part(i..rows.min(i + width), 0..depth);
            // SAFETY: panel `count` has its place there, and these rows are at most `width`.
            unsafe { panel::<T, V>(isa, part, width, to.add(count * distance)) };
        }
    }
}

/// Fills the panels of the first rows of `a`, whose columns are adjacent in memory, side by side.
///
/// # Safety
/// As for [`panels_of`]; `rows` is a multiple of `width`, and `a` has as many.
#[inline(always)]
unsafe fn side_by_side<T: Scalar>(a: Factor<'_, T>, width: usize, rows: usize, to: *mut T::Real, distance: usize) {
    let (depth, unit) = (if rows > 0 { a.view.ncols() } else { 0 }, planes::<T>());
    let (from, cs) = (a.view.as_ptr().cast::<T::Real>(), a.view.col_stride());
    let sign = if a.conj { -T::Real::ONE } else { T::Real::ONE };
    for first in (0..depth).step_by(BESIDE) {
        for (panel, i) in (0..rows).step_by(width).enumerate() {
            for p in first..depth.min(first + BESIDE) {
                let (at, place) = ((i + p * cs) * unit, panel * distance + p * width * unit);
                let ahead = from.wrapping_add((i + (p + AHEAD) * cs) * unit);
                for line in (0..width * unit).step_by(64 / size_of::<T::Real>()) {
                    prefetch(ahead.wrapping_add(line));
                }
                // SAFETY: rows i .. i + width of column p, and their place in panel i / width.
                unsafe { column::<T>(from.add(at), width, sign, to.add(place), width) };
            }
        }
    }
}

/// Packs one panel: the rows of `a`, at most `width` of them, the rest filled with zeros. Conjugates if `a` says so.
///
/// # Safety
/// `a` has at most `width` rows and no mirror; there is room for `width * planes * ncols` reals at `to`, which does not
/// overlap `a`.
#[inline(always)]
pub(crate) unsafe fn panel<T, V>(isa: V::Isa, a: Factor<'_, T>, width: usize, to: *mut T::Real)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let ((rows, depth), unit) = (a.view.shape(), planes::<T>());
    if rows < width {
        // SAFETY: there is room for `width` reals of each plane for each column.
        unsafe { std::slice::from_raw_parts_mut(to, width * unit * depth) }.fill(T::Real::ZERO);
    }
    // SAFETY: the room for a panel is room for the rows of it that `a` has.
    unsafe { gather::<T, V>(isa, a, width, to) }
}

/// The same without filling up with zeros: rows of the panel that `a` does not have are left as they are.
///
/// # Safety
/// `a` has at most `width` rows and no mirror; there is room for these rows at `to + p * width * planes` for each
/// column p, and `width` further on for their imaginary parts. The room does not overlap `a`.
#[inline(always)]
pub(crate) unsafe fn gather<T, V>(isa: V::Isa, a: Factor<'_, T>, width: usize, to: *mut T::Real)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (rows, depth) = a.view.shape();
    let (rs, cs) = (a.view.row_stride(), a.view.col_stride());
    let (from, unit) = (a.view.as_ptr().cast::<T::Real>(), planes::<T>());
    let sign = if a.conj { -T::Real::ONE } else { T::Real::ONE };
    if rs == 1 {
        for p in 0..depth {
            // SAFETY: column p of the view, whose elements are adjacent, and its place in the panel.
            unsafe { column::<T>(from.add(p * cs * unit), rows, sign, to.add(p * width * unit), width) };
        }
        return;
    }
    if cs == 1 {
        let next = if rows <= V::SQUARE { rows } else { 0 };
        // The parts of a row's complex numbers alternate, and so do the planes of a panel's columns: as reals, the
        // panel is the transpose of the view. SAFETY: the rows and columns of the view, and their places in the panel.
        unsafe { transpose::<V>(isa, (rows, depth * unit), from, rs * unit, to, width, next) };
        for p in 0..if T::COMPLEX && a.conj { depth } else { 0 } {
            // SAFETY: the imaginary parts of column p, just written.
            let im = unsafe { std::slice::from_raw_parts_mut(to.add((2 * p + 1) * width), rows) };
            im.iter_mut().for_each(|x| *x = -*x);
        }
        return;
    }
    for start in (0..depth).step_by(STRIP) {
        for i in 0..rows {
            for p in start..depth.min(start + STRIP) {
                // SAFETY: element (i, p) of the view, and its place in the panel.
                unsafe {
                    let element = from.add((i * rs + p * cs) * unit);
                    *to.add(p * width * unit + i) = *element;
                    if T::COMPLEX {
                        *to.add(p * width * unit + width + i) = sign * *element.add(1);
                    }
                }
            }
        }
    }
}

/// Packs `rows` adjacent elements, taking complex ones apart.
///
/// # Safety
/// They are there, and there is room for them at `to` (and `to + width`).
#[inline(always)]
unsafe fn column<T: Scalar>(from: *const T::Real, rows: usize, sign: T::Real, to: *mut T::Real, width: usize) {
    // SAFETY: all rows are there and have room, whatever chunks they go by.
    unsafe {
        if rows.is_multiple_of(8) {
            column_by::<T, 8>(from, rows, sign, to, width);
        } else {
            column_by::<T, 4>(from, rows, sign, to, width);
        }
    }
}

/// The same, CHUNK elements at a time: arrays of constant length become one or two vector moves.
///
/// # Safety
/// As for [`column`].
#[inline(always)]
unsafe fn column_by<T: Scalar, const CHUNK: usize>(
    from: *const T::Real,
    rows: usize,
    sign: T::Real,
    to: *mut T::Real,
    width: usize,
) {
    let whole = rows - rows % CHUNK;
    // SAFETY: chunks of rows below `whole`, then the others one by one; the imaginary parts go `width` reals further
    // on.
    unsafe {
        for i in (0..whole).step_by(CHUNK) {
            if T::COMPLEX {
                let from = from.add(2 * i).cast::<[[T::Real; 2]; CHUNK]>().read_unaligned();
                let (mut re, mut im) = ([T::Real::ZERO; CHUNK], [T::Real::ZERO; CHUNK]);
                for ((re, im), x) in re.iter_mut().zip(&mut im).zip(from) {
                    (*re, *im) = (x[0], sign * x[1]);
                }
                to.add(i).cast::<[T::Real; CHUNK]>().write_unaligned(re);
                to.add(width + i).cast::<[T::Real; CHUNK]>().write_unaligned(im);
            } else {
                let from = from.add(i).cast::<[T::Real; CHUNK]>().read_unaligned();
                to.add(i).cast::<[T::Real; CHUNK]>().write_unaligned(from);
            }
        }
        for i in whole..rows {
            *to.add(i) = *from.add(i * planes::<T>());
            if T::COMPLEX {
                *to.add(width + i) = sign * *from.add(i * 2 + 1);
            }
        }
    }
}

/// Packs a small triangle: for each column q `width` elements (r, q) per plane, zeros in the other triangle, which is
/// not read, and on the diagonal what `diagonal` makes of it.
pub(crate) fn small_triangle<T: Scalar>(
    a: Factor<'_, T>,
    uplo: Uplo,
    diagonal: impl Fn(T) -> T,
    width: usize,
    to: &mut [T::Real],
) {
    let order = a.view.ncols();
    to.fill(T::Real::ZERO);
    for (q, column) in to.chunks_exact_mut(width * planes::<T>()).enumerate().take(order) {
        for r in if uplo == Uplo::Lower { q..order } else { 0..q + 1 } {
            let value = if r == q { diagonal(a.view.at(r, q)) } else { a.view.at(r, q) };
            column[r] = value.re();
            if T::COMPLEX {
                column[width + r] = if a.conj { -value.im() } else { value.im() };
            }
        }
    }
}

/// Writes a packed panel back: the counterpart of [`panel`], without conjugation.
///
/// # Safety
/// `from` holds a panel of `width` rows and as many columns as `to` has, which it does not overlap; `to` has at most
/// `width` rows.
#[inline(always)]
pub(crate) unsafe fn unpack<T, V>(isa: V::Isa, from: *const T::Real, width: usize, mut to: MatMut<'_, T>)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let ((rows, depth), unit) = (to.shape(), planes::<T>());
    let (rs, cs, out) = (to.row_stride(), to.col_stride(), to.as_mut_ptr());
    if rs == 1 {
        for p in 0..depth {
            for i in 0..rows {
                // SAFETY: element (i, p) of the panel and of the view.
                unsafe { *out.add(i + p * cs) = scalar::<T>(from.add(p * width * unit + i), width) };
            }
        }
        return;
    }
    if cs == 1 {
        // SAFETY: the columns and rows of the panel, as reals (see `gather`), and their places in the view.
        return unsafe { transpose::<V>(isa, (depth * unit, rows), from, width, out.cast(), rs * unit, 0) };
    }
    for start in (0..depth).step_by(STRIP) {
        for i in 0..rows {
            for p in start..depth.min(start + STRIP) {
                // SAFETY: element (i, p) of the panel and of the view.
                unsafe { *out.add(i * rs + p * cs) = scalar::<T>(from.add(p * width * unit + i), width) };
            }
        }
    }
}

/// Copies m rows of n adjacent reals, `from_step` apart, to n rows of m adjacent reals, `to_step` apart. Meanwhile the
/// `next` rows behind them are asked for.
///
/// # Safety
/// The rows are there, there is room for n rows of m reals at `to`, and the two do not overlap. The `next` rows need
/// not be there.
#[inline(always)]
pub(crate) unsafe fn transpose<V: Vector>(
    isa: V::Isa,
    (m, n): (usize, usize),
    from: *const V::Real,
    from_step: usize,
    to: *mut V::Real,
    to_step: usize,
    next: usize,
) {
    // A cache line of each row is used up before the next row is looked at: with a step of a large power of two all of
    // them compete for the same few ways.
    let line = 64 / size_of::<V::Real>();
    for start in (0..n).step_by(line) {
        let end = n.min(start + line);
        let (squares, whole) = (m - m % V::SQUARE, end - (end - start) % V::SQUARE);
        let whole_rows = if m - squares >= 4 { squares + 4 } else { squares };
        for i in m..m + next {
            prefetch(from.wrapping_add(i * from_step + start));
        }
        for i in (0..squares).step_by(V::SQUARE) {
            for j in (start..whole).step_by(V::SQUARE) {
                // SAFETY: i + SQUARE <= m and j + SQUARE <= n: the square is in both, which do not overlap.
                unsafe { V::transpose(isa, from.add(i * from_step + j), from_step, to.add(j * to_step + i), to_step) };
            }
        }
        for i in (squares..whole_rows).step_by(4) {
            for j in (start..whole).step_by(V::SQUARE) {
                // SAFETY: i + 4 <= m and j + SQUARE <= n: these rows are in both, which do not overlap.
                unsafe {
                    V::transpose_four(isa, from.add(i * from_step + j), from_step, to.add(j * to_step + i), to_step)
                };
            }
        }
        for i in 0..m {
            for j in if i < whole_rows { whole } else { start }..end {
                // SAFETY: i < m and j < n.
                unsafe { *to.add(j * to_step + i) = *from.add(i * from_step + j) };
            }
        }
    }
}
