//! Packing: copies an operand into the order in which the register tile reads it.
//!
//! A panel of `width` rows becomes `width` adjacent reals for each column p (and for complex types `width` imaginary
//! parts after them). Register tiles then read it sequentially, whatever the strides. A leading dimension that is a
//! large power of two maps a whole row to a few cache sets; with packing this costs one pass instead of one per
//! register tile.

use super::factor::Factor;
use super::mirror;
use crate::simd::{Part, Vector, prefetch};
use crate::vector::planes::{planes, scalar};
use crate::{MatMut, Scalar, Uplo};

/// Columns gathered per pass if neither rows nor columns are adjacent: a cache line of doubles.
const GATHER_COLUMNS: usize = 8;
/// Columns packed per pass if rows are adjacent in memory. A column of one panel may be half a cache line, and panels
/// may be powers of two apart, so that single columns would evict each other's lines before these are full. Measured:
/// docs/measurements/2026-11-28-constants.md.
const COLUMNS_PER_PASS: usize = 4;
/// Columns ahead that are prefetched meanwhile: the pieces of a column are too short for the hardware prefetcher.
const PREFETCH_COLUMNS: usize = 8;

/// Packs all rows of `a` as consecutive panels of `width` rows.
///
/// # Safety
/// `to` has room for `width * planes * ncols` reals for every `width` rows, and for the last rows even if they are
/// fewer. It does not overlap `a`.
#[inline(always)]
pub(crate) unsafe fn panels<T, V>(isa: V::Isa, a: Factor<'_, T>, width: usize, to: *mut T::Real)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: `to` has room for all panels, one after the other, as both functions require.
    unsafe {
        match a.mirror {
            Some(_) => mirror::panels::<T, V>(isa, a, width, to),
            None => panels_of::<T, V>(isa, a, width, to, width * planes::<T>() * a.view.ncols()),
        }
    }
}

/// Packs all rows of a factor without mirror, as some columns of panels that are `distance` reals apart.
///
/// # Safety
/// Same as for [`panel`], for every panel; panel i begins `i * distance` reals after `to`.
#[inline(always)]
pub(crate) unsafe fn panels_of<T, V>(isa: V::Isa, a: Factor<'_, T>, width: usize, to: *mut T::Real, distance: usize)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: the caller guarantees the room, which `PackPanels` requires in the same way.
    unsafe { V::call(isa, PackPanels { a, width, to, distance }) }
}

/// The operation of [`panels_of`], with its safety requirements.
struct PackPanels<'a, T: Scalar> {
    a: Factor<'a, T>,
    width: usize,
    to: *mut T::Real,
    distance: usize,
}

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for PackPanels<'_, T> {
    type Output = ();

    /// # Safety
    /// Same as for [`panels_of`].
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) {
        let Self { a, width, to, distance } = self;
        let (rows, depth) = a.view.shape();
        // If rows are adjacent, all panels are filled in one pass, so that a column is read from end to end. The
        // hardware prefetches such reads, but not a panel's short pieces, which are a leading dimension apart.
        let together = if a.view.row_stride() == 1 { rows - rows % width } else { 0 };
        // A constant width lets the compiler separate complex numbers without loops, in panels of the factor that is
        // broadcast. Measured: docs/measurements/2026-11-28-constants.md.
        // SAFETY: `to` has room for a panel of each `width` rows, `distance` reals apart, and `together` is a multiple
        // of `width`.
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
            // SAFETY: there are at most `width` rows, and panel `count` begins `count * distance` reals after `to`.
            unsafe { panel::<T, V>(isa, part, width, to.add(count * distance)) };
        }
    }
}

/// Fills the panels of the first `rows` rows of `a`, which are adjacent in memory, in one pass.
///
/// # Safety
/// Same as for [`panels_of`]; in addition, `rows` is a multiple of `width` and at most the rows of `a`.
#[inline(always)]
unsafe fn side_by_side<T: Scalar>(a: Factor<'_, T>, width: usize, rows: usize, to: *mut T::Real, distance: usize) {
    let (depth, unit) = (if rows > 0 { a.view.ncols() } else { 0 }, planes::<T>());
    let (from, cs) = (a.view.as_ptr().cast::<T::Real>(), a.view.col_stride());
    let sign = if a.conj { -T::Real::ONE } else { T::Real::ONE };
    for first in (0..depth).step_by(COLUMNS_PER_PASS) {
        for (panel, i) in (0..rows).step_by(width).enumerate() {
            for p in first..depth.min(first + COLUMNS_PER_PASS) {
                let (at, place) = ((i + p * cs) * unit, panel * distance + p * width * unit);
                let ahead = from.wrapping_add((i + (p + PREFETCH_COLUMNS) * cs) * unit);
                for line in (0..width * unit).step_by(64 / size_of::<T::Real>()) {
                    prefetch(ahead.wrapping_add(line));
                }
                // SAFETY: rows i .. i + width are in column p of `a`, and panel i / width has room for them.
                unsafe { column::<T>(from.add(at), width, sign, to.add(place), width) };
            }
        }
    }
}

/// Packs one panel: the rows of `a`, at most `width`, padded with zeros. Conjugates if `a` says so.
///
/// # Safety
/// `a` has at most `width` rows and no mirror; `to` has room for `width * planes * ncols` reals, and does not overlap
/// `a`.
#[inline(always)]
pub(crate) unsafe fn panel<T, V>(isa: V::Isa, a: Factor<'_, T>, width: usize, to: *mut T::Real)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let ((rows, depth), unit) = (a.view.shape(), planes::<T>());
    if rows < width {
        // SAFETY: `to` has room for `width` reals of each plane for each column.
        unsafe { std::slice::from_raw_parts_mut(to, width * unit * depth) }.fill(T::Real::ZERO);
    }
    // SAFETY: the room for a whole panel includes that for the rows of `a`.
    unsafe { gather::<T, V>(isa, a, width, to) }
}

/// Packs the rows of `a` without padding: the other rows of the panel are left unchanged.
///
/// # Safety
/// `a` has at most `width` rows and no mirror. For each column p, `to + p * width * planes` has room for these rows,
/// and `width` reals further on for their imaginary parts. The room does not overlap `a`.
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
            // SAFETY: column p of the view has `rows` adjacent elements, and `to` has room for them in the panel.
            unsafe { column::<T>(from.add(p * cs * unit), rows, sign, to.add(p * width * unit), width) };
        }
        return;
    }
    if cs == 1 {
        let next = if rows <= V::SQUARE { rows } else { 0 };
        // The parts of a row's complex numbers alternate, and so do the planes of a panel's columns: as reals, the
        // panel is the transpose of the view.
        // SAFETY: the view has these rows and columns, and `to` has room for them in the panel.
        unsafe { transpose::<V>(isa, (rows, depth * unit), from, rs * unit, to, width, next) };
        for p in 0..if T::COMPLEX && a.conj { depth } else { 0 } {
            // SAFETY: these are the imaginary parts of column p, which were just written.
            let im = unsafe { std::slice::from_raw_parts_mut(to.add((2 * p + 1) * width), rows) };
            im.iter_mut().for_each(|x| *x = -*x);
        }
        return;
    }
    for start in (0..depth).step_by(GATHER_COLUMNS) {
        for i in 0..rows {
            for p in start..depth.min(start + GATHER_COLUMNS) {
                // SAFETY: (i, p) is within the shape of the view, and `to` has room for it in the panel.
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

/// Packs `rows` adjacent elements, with the parts of complex ones separated.
///
/// # Safety
/// `from` has these elements, and `to` (and `to + width`) has room for them.
#[inline(always)]
unsafe fn column<T: Scalar>(from: *const T::Real, rows: usize, sign: T::Real, to: *mut T::Real, width: usize) {
    // SAFETY: the caller guarantees all rows and the room for them, which is what each chunk size requires.
    unsafe {
        if rows.is_multiple_of(8) {
            column_by::<T, 8>(from, rows, sign, to, width);
        } else {
            column_by::<T, 4>(from, rows, sign, to, width);
        }
    }
}

/// Packs a column CHUNK elements at a time: arrays of constant length become one or two vector moves.
///
/// # Safety
/// Same as for [`column`].
#[inline(always)]
unsafe fn column_by<T: Scalar, const CHUNK: usize>(
    from: *const T::Real,
    rows: usize,
    sign: T::Real,
    to: *mut T::Real,
    width: usize,
) {
    let whole = rows - rows % CHUNK;
    // SAFETY: all indices are below `rows`; the imaginary parts are written `width` reals after the real ones.
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

/// Packs a small triangle: `width` elements (r, q) per plane for each column q. Diagonal elements are passed through
/// `diagonal`. The other triangle is not read; zeros take its place.
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

/// Writes a packed panel back into a matrix: the inverse of [`panel`], without conjugation.
///
/// # Safety
/// `from` holds a panel of `width` rows with as many columns as `to` has, and does not overlap it; `to` has at most
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
                // SAFETY: (i, p) is within the shape of the view, and the panel has this element.
                unsafe { *out.add(i + p * cs) = scalar::<T>(from.add(p * width * unit + i), width) };
            }
        }
        return;
    }
    if cs == 1 {
        // SAFETY: as reals (see `gather`) the panel has these columns and rows, and the view has room for them.
        return unsafe { transpose::<V>(isa, (depth * unit, rows), from, width, out.cast(), rs * unit, 0) };
    }
    for start in (0..depth).step_by(GATHER_COLUMNS) {
        for i in 0..rows {
            for p in start..depth.min(start + GATHER_COLUMNS) {
                // SAFETY: (i, p) is within the shape of the view, and the panel has this element.
                unsafe { *out.add(i * rs + p * cs) = scalar::<T>(from.add(p * width * unit + i), width) };
            }
        }
    }
}

/// Copies m rows of n adjacent reals, `from_step` apart, to n rows of m adjacent reals, `to_step` apart. Prefetches the
/// next `next` rows meanwhile.
///
/// # Safety
/// The m rows are valid for reads, `to` has room for n rows of m reals, and the two do not overlap. The `next` rows
/// need not exist.
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
    // One cache line of each row is consumed before the next line: if the step is a large power of two, all rows
    // compete for the same few ways of the cache.
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
                // SAFETY: i + SQUARE <= m and j + SQUARE <= n: the square is within both matrices, which do not
                // overlap.
                unsafe { V::transpose(isa, from.add(i * from_step + j), from_step, to.add(j * to_step + i), to_step) };
            }
        }
        for i in (squares..whole_rows).step_by(4) {
            for j in (start..whole).step_by(V::SQUARE) {
                // SAFETY: i + 4 <= m and j + SQUARE <= n: these rows are within both matrices, which do not overlap.
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
