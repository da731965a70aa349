//! Symmetric and Hermitian factors, of which one triangle is stored. Elements on the other side of the diagonal are
//! packed from their mirror images. So the full matrix is never formed, and a product with one is as fast as any other.

use super::factor::Factor;
use super::pack;
use crate::simd::{Part, Vector};
use crate::vector::planes::planes;
use crate::{Scalar, Uplo};
use std::ops::Range;

/// Rows packed per pass. Columns before and after the diagonal of these rows are packed like those of any factor.
const ROWS_PER_PASS: usize = 64;
/// Rows and columns of the squares on the diagonal, which are packed element by element.
const DIAGONAL_SQUARE: usize = 8;

/// The position of the diagonal in a part of a matrix of which one triangle is stored.
#[derive(Clone, Copy, Debug)]
pub struct Mirror {
    /// The triangle that is stored.
    uplo: Uplo,
    /// Whether the other triangle is the conjugate of the stored one, and the diagonal real.
    hermitian: bool,
    /// Row minus column, in the whole matrix, of the first element of this part.
    below: isize,
}

impl Mirror {
    /// Returns what identifies how a part is read: the stored triangle, and whether the matrix is Hermitian.
    pub fn kind(self) -> (Uplo, bool) {
        (self.uplo, self.hermitian)
    }

    /// Returns the mirror of the transposed matrix.
    pub fn transpose(self) -> Self {
        Self { uplo: self.uplo.flip(), below: -self.below, ..self }
    }

    /// Returns the mirror of the part from this row and column on.
    #[inline(always)]
    pub fn part(self, row: usize, col: usize) -> Self {
        Self { below: self.below + row as isize - col as isize, ..self }
    }
}

impl<T: Scalar> Factor<'_, T> {
    /// Returns this square factor as a symmetric or Hermitian matrix of which the triangle `uplo` is stored.
    ///
    /// # Panics
    /// If the view is not square.
    pub(crate) fn mirrored(self, uplo: Uplo, hermitian: bool) -> Self {
        assert_eq!(self.view.nrows(), self.view.ncols(), "a symmetric matrix is square");
        Self { mirror: Some(Mirror { uplo, hermitian, below: 0 }), ..self }
    }

    /// Returns the range of this part's columns that contain diagonal elements.
    #[inline(always)]
    fn on_diagonal(&self) -> Range<usize> {
        let (rows, cols) = self.view.shape();
        let Some(Mirror { below, .. }) = self.mirror else { return 0..0 };
        let col = |row: usize| row.saturating_add_signed(below).min(cols);
        col(0)..col(rows)
    }

    /// Returns this part, which must be on one side of the diagonal, as a factor without mirror.
    #[inline(always)]
    pub(crate) fn beside(self) -> Self {
        let Some(Mirror { uplo, hermitian, below }) = self.mirror else { return self };
        debug_assert!(
            self.on_diagonal().is_empty(),
            "a part of shape {:?} contains diagonal elements",
            self.view.shape()
        );
        let is_stored = (below > 0) == (uplo == Uplo::Lower);
        // SAFETY: the view is a part of the square view passed to `mirrored`, and its image is within that view.
        let view = if is_stored { self.view } else { unsafe { self.view.image(below) } };
        Self { view, conj: self.conj != (hermitian && !is_stored), packs: None, mirror: None }
    }

    /// Calls `put` with the row, the column and the value of every element.
    #[inline(always)]
    pub(crate) fn each(self, mut put: impl FnMut(usize, usize, T)) {
        let (rows, cols) = self.view.shape();
        let conj_if = |conj: bool, x: T| if conj { x.conj() } else { x };
        let hermitian = self.mirror.is_some_and(|mirror| mirror.hermitian);
        let on_diagonal = |x: T| if hermitian { T::from_real(x.re()) } else { conj_if(self.conj, x) };
        let whole = self.mirror.filter(|mirror| mirror.below == 0 && rows == cols);
        let Some(Mirror { uplo, .. }) = whole else {
            for (j, i) in (0..cols).flat_map(|j| (0..rows).map(move |i| (j, i))) {
                let part = self.part(i..i + 1, j..j + 1);
                if part.on_diagonal().is_empty() {
                    let part = part.beside();
                    put(i, j, conj_if(part.conj, part.view.at(0, 0)));
                } else {
                    put(i, j, on_diagonal(part.view.at(0, 0)));
                }
            }
            return;
        };
        let is_lower = uplo == Uplo::Lower;
        let stored = if is_lower { self.view } else { self.view.transpose() };
        for j in 0..cols {
            put(j, j, on_diagonal(stored.at(j, j)));
            for i in j + 1..rows {
                let x = conj_if(self.conj, stored.at(i, j));
                let image = conj_if(hermitian, x);
                let (lower, upper) = if is_lower { (x, image) } else { (image, x) };
                put(i, j, lower);
                put(j, i, upper);
            }
        }
    }
}

/// Packs all rows of `a`, which has a mirror, in the format of [`pack::panels`].
///
/// # Safety
/// Same as for [`pack::panels`].
#[inline(always)]
pub(crate) unsafe fn panels<T, V>(isa: V::Isa, a: Factor<'_, T>, width: usize, to: *mut T::Real)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: the caller guarantees room for whole panels, which `PackMirrored` requires in the same way.
    unsafe { V::call(isa, PackMirrored { a, width, to }) }
}

/// The operation of [`panels`], with its safety requirements.
struct PackMirrored<'a, T: Scalar> {
    a: Factor<'a, T>,
    width: usize,
    to: *mut T::Real,
}

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for PackMirrored<'_, T> {
    type Output = ();

    /// # Safety
    /// Same as for [`panels`].
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) {
        let Self { a, width, to } = self;
        let ((rows, depth), step) = (a.view.shape(), width * planes::<T>());
        let together = ROWS_PER_PASS.next_multiple_of(width);
        for start in (0..rows).step_by(together) {
            let here = start..rows.min(start + together);
            let on = a.part(here.clone(), 0..depth).on_diagonal();
            let to = to.wrapping_add(start / width * step * depth);
            for beside in [0..on.start, on.end..depth].into_iter().filter(|cols| !cols.is_empty()) {
                let to = to.wrapping_add(beside.start * step);
                // SAFETY: `to` is where these columns begin in the panels of these rows, so there is room for them.
                unsafe { pack::panels_of::<T, V>(isa, a.part(here.clone(), beside).beside(), width, to, step * depth) };
            }
            for row in here.clone().step_by(width) {
                let part = a.part(row..here.end.min(row + width), on.clone());
                let to = to.wrapping_add((row - start) / width * step * depth + on.start * step);
                // SAFETY: `to` is where these columns begin in the panel of these rows, so there is room for them.
                unsafe { panel::<T, V>(isa, part, width, to) };
            }
        }
    }
}

/// Packs one panel with a few columns, which the diagonal may cross.
///
/// # Safety
/// `a` has at most `width` rows; `to` has room for `width * planes * ncols` reals, and does not overlap the matrix.
#[inline(always)]
unsafe fn panel<T, V>(isa: V::Isa, a: Factor<'_, T>, width: usize, to: *mut T::Real)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let ((rows, depth), step) = (a.view.shape(), width * planes::<T>());
    if rows < width {
        // SAFETY: `to` has room for `step` reals for each column.
        unsafe { std::slice::from_raw_parts_mut(to, step * depth) }.fill(T::Real::ZERO);
    }
    for start in (0..rows).step_by(DIAGONAL_SQUARE) {
        let here = start..rows.min(start + DIAGONAL_SQUARE);
        let on = a.part(here.clone(), 0..depth).on_diagonal();
        for beside in [0..on.start, on.end..depth].into_iter().filter(|cols| !cols.is_empty()) {
            let to = to.wrapping_add(beside.start * step + start);
            // SAFETY: `to` is where these rows and columns begin in the panel, so there is room for them.
            unsafe { pack::gather::<T, V>(isa, a.part(here.clone(), beside).beside(), width, to) };
        }
        let to = to.wrapping_add(on.start * step + start);
        a.part(here, on).each(|i, j, x| {
            let to = to.wrapping_add(j * step + i);
            // SAFETY: `to` is where this element belongs in the panel, which has room for all rows and columns of `a`.
            unsafe {
                *to = x.re();
                if T::COMPLEX {
                    *to.add(width) = x.im();
                }
            }
        });
    }
}
