//! Symmetric and Hermitian factors, of which one triangle is stored: what lies on the other side of the diagonal is
//! packed from its mirror image, so that no whole matrix is ever made of them, and a product with one is as fast as any
//! other.

use super::factor::Factor;
use super::pack;
use crate::simd::{Part, Vector};
use crate::vector::planes::planes;
use crate::{Scalar, Uplo};
use std::ops::Range;

/// Rows that meet the diagonal together: before and behind it their panels are packed as those of any other factor.
const TOGETHER: usize = 64;
/// Rows and columns that are taken element by element on the diagonal itself.
const SQUARE: usize = 8;

/// Where the diagonal is in a part of a matrix of which one triangle is stored.
#[derive(Clone, Copy, Debug)]
pub struct Mirror {
    /// The triangle that is stored.
    uplo: Uplo,
    /// Whether the other one is its conjugate, and the diagonal real.
    hermitian: bool,
    /// The row of the part's first element less its column, in the whole matrix.
    below: isize,
}

impl Mirror {
    /// Equal for the same part of a matrix if it is read in the same way.
    pub fn kind(self) -> (Uplo, bool) {
        (self.uplo, self.hermitian)
    }

    /// The same of the transposed matrix.
    pub fn transpose(self) -> Self {
        Self { uplo: self.uplo.flip(), below: -self.below, ..self }
    }

    /// The same of the part from this row and column on.
    #[inline(always)]
    pub fn part(self, row: usize, col: usize) -> Self {
        Self { below: self.below + row as isize - col as isize, ..self }
    }
}

impl<T: Scalar> Factor<'_, T> {
    /// All of this square factor, of which the triangle `uplo` is stored.
    pub(crate) fn mirrored(self, uplo: Uplo, hermitian: bool) -> Self {
        assert_eq!(self.view.nrows(), self.view.ncols(), "a symmetric matrix is square");
        Self { mirror: Some(Mirror { uplo, hermitian, below: 0 }), ..self }
    }

    /// Those of its columns that the diagonal meets.
    #[inline(always)]
    fn on_diagonal(&self) -> Range<usize> {
        let (rows, cols) = self.view.shape();
        let Some(Mirror { below, .. }) = self.mirror else { return 0..0 };
        let col = |row: usize| row.saturating_add_signed(below).min(cols);
        col(0)..col(rows)
    }

    /// This part of a matrix, which lies on one side of the diagonal, as a plain factor.
    #[inline(always)]
    pub(crate) fn beside(self) -> Self {
        let Some(Mirror { uplo, hermitian, below }) = self.mirror else { return self };
        debug_assert!(self.on_diagonal().is_empty(), "a part of {:?} that meets the diagonal", self.view.shape());
        let is_stored = (below > 0) == (uplo == Uplo::Lower);
        // SAFETY: the view is a part of a square one, all of which may be read: that of which `mirrored` was made.
        let view = if is_stored { self.view } else { unsafe { self.view.image(below) } };
        Self { view, conj: self.conj != (hermitian && !is_stored), packs: None, mirror: None }
    }

    /// Calls `put` with every element and its row and column.
    #[inline(always)]
    pub(crate) fn each(self, mut put: impl FnMut(usize, usize, T)) {
        let (rows, cols) = self.view.shape();
        let sign = |conj: bool, x: T| if conj { x.conj() } else { x };
        let hermitian = self.mirror.is_some_and(|mirror| mirror.hermitian);
        let on_diagonal = |x: T| if hermitian { T::from_real(x.re()) } else { sign(self.conj, x) };
        let whole = self.mirror.filter(|mirror| mirror.below == 0 && rows == cols);
        let Some(Mirror { uplo, .. }) = whole else {
            for (j, i) in (0..cols).flat_map(|j| (0..rows).map(move |i| (j, i))) {
                let part = self.part(i..i + 1, j..j + 1);
                if part.on_diagonal().is_empty() {
                    let part = part.beside();
                    put(i, j, sign(part.conj, part.view.at(0, 0)));
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
                let x = sign(self.conj, stored.at(i, j));
                let image = sign(hermitian, x);
                let (lower, upper) = if is_lower { (x, image) } else { (image, x) };
                put(i, j, lower);
                put(j, i, upper);
            }
        }
    }
}

/// Packs all rows of `a`, which has a mirror, as [`pack::panels`] does.
///
/// # Safety
/// As for [`pack::panels`].
#[inline(always)]
pub(crate) unsafe fn panels<T, V>(isa: V::Isa, a: Factor<'_, T>, width: usize, to: *mut T::Real)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: the part has the room for whole panels that `pack::panels` asks for.
    unsafe { V::call(isa, Panels { a, width, to }) }
}

/// See [`panels`], whose promises it asks for.
struct Panels<'a, T: Scalar> {
    a: Factor<'a, T>,
    width: usize,
    to: *mut T::Real,
}

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for Panels<'_, T> {
    type Output = ();

    /// # Safety
    /// As for [`panels`].
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) {
        let Self { a, width, to } = self;
        let ((rows, depth), step) = (a.view.shape(), width * planes::<T>());
        let together = TOGETHER.next_multiple_of(width);
        for start in (0..rows).step_by(together) {
            let here = start..rows.min(start + together);
            let on = a.part(here.clone(), 0..depth).on_diagonal();
            let to = to.wrapping_add(start / width * step * depth);
            for beside in [0..on.start, on.end..depth].into_iter().filter(|cols| !cols.is_empty()) {
                let to = to.wrapping_add(beside.start * step);
                // SAFETY: the places of these columns in the panels of these rows.
                unsafe { pack::panels_of::<T, V>(isa, a.part(here.clone(), beside).beside(), width, to, step * depth) };
            }
            for row in here.clone().step_by(width) {
                let part = a.part(row..here.end.min(row + width), on.clone());
                let to = to.wrapping_add((row - start) / width * step * depth + on.start * step);
                // SAFETY: the places of these columns in the panel of these rows.
                unsafe { panel::<T, V>(isa, part, width, to) };
            }
        }
    }
}

/// Packs one panel, with a few columns, which the diagonal may cross.
///
/// # Safety
/// `a` has at most `width` rows; there is room for `width * planes * ncols` reals at `to`, which does not overlap the
/// matrix.
#[inline(always)]
unsafe fn panel<T, V>(isa: V::Isa, a: Factor<'_, T>, width: usize, to: *mut T::Real)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let ((rows, depth), step) = (a.view.shape(), width * planes::<T>());
    if rows < width {
        // SAFETY: there is room for `step` reals for each column.
        unsafe { std::slice::from_raw_parts_mut(to, step * depth) }.fill(T::Real::ZERO);
    }
    for start in (0..rows).step_by(SQUARE) {
        let here = start..rows.min(start + SQUARE);
        let on = a.part(here.clone(), 0..depth).on_diagonal();
        for beside in [0..on.start, on.end..depth].into_iter().filter(|cols| !cols.is_empty()) {
            let to = to.wrapping_add(beside.start * step + start);
            // SAFETY: the places of these rows and columns.
            unsafe { pack::gather::<T, V>(isa, a.part(here.clone(), beside).beside(), width, to) };
        }
        let to = to.wrapping_add(on.start * step + start);
        a.part(here, on).each(|i, j, x| {
            let to = to.wrapping_add(j * step + i);
            // SAFETY: the place of this element.
            unsafe {
                *to = x.re();
                if T::COMPLEX {
                    *to.add(width) = x.im();
                }
            }
        });
    }
}
