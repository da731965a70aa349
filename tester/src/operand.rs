//! The operands of a case: column-major matrices surrounded by sentinels.
//!
//! Sentinels fill the memory between the columns and after the last one, and the triangle that a routine must not
//! change. They are alternately NaN, so that a routine that reads one corrupts its result, and an ordinary number, so
//! that a routine that writes there is detected even if it only scales.

use crate::elements::{Elements, MemoryKind};
use superscalar_kernels::{MatMut, MatRef, Scalar, Uplo};
use superscalar_oracle::{Random, identical, parallel};

/// The number of sentinels after the last column.
const TAIL_ELEMENTS: usize = 16;
/// The alignment of matrices, as a library would allocate them.
const ALIGNMENT_BYTES: usize = 64;

/// The elements that a routine must not change, besides the padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// None: all elements may be written.
    Padding,
    /// The other triangle than this one, without the diagonal.
    OtherThan(Uplo),
    /// The other triangle than this one, with the diagonal.
    OtherThanStrict(Uplo),
    /// None, and the contents after the call are undefined.
    Scrap,
    /// All: the operand is only read.
    Everything,
}

/// One matrix with its sentinels.
pub struct Operand<T> {
    data: Elements<T>,
    start: usize,
    m: usize,
    n: usize,
    ld: usize,
    keeps: Keeps,
}

impl<T: Scalar> Operand<T> {
    /// Allocates an m x n matrix filled with sentinels. Returns `None` if there is not enough memory.
    pub fn new(shape: (usize, usize), ld_pad: usize, keeps: Keeps) -> Option<Self> {
        Self::in_memory(shape, ld_pad, keeps, MemoryKind::Pageable)
    }

    fn in_memory((m, n): (usize, usize), ld_pad: usize, keeps: Keeps, memory: MemoryKind) -> Option<Self> {
        let ld = m.checked_add(ld_pad)?.max(1);
        let lead = ALIGNMENT_BYTES / size_of::<T>();
        let len = ld.checked_mul(n)?.checked_add(TAIL_ELEMENTS + lead)?;
        let mut data = Elements::<T>::new(len, memory).ok()?;
        // align_offset may fail and return usize::MAX; then the matrix is not aligned.
        let start = Some(data.as_ptr().align_offset(ALIGNMENT_BYTES)).filter(|&start| start < lead).unwrap_or(0);
        let fill = |(at, part): (usize, &mut [T])| {
            (at..).zip(part).for_each(|(at, element)| *element = sentinel(at.wrapping_sub(start)));
        };
        parallel::map(pieces(&mut data), fill);
        Some(Self { data, start, m, n, ld, keeps })
    }

    /// Sets the elements with `fill`.
    pub fn filled(mut self, fill: impl FnOnce(MatMut<'_, T>)) -> Self {
        fill(self.view_mut());
        self
    }

    /// Returns a copy in this kind of memory, with the same alignment.
    fn duplicate_in(&self, memory: MemoryKind) -> Option<Self> {
        let ld_pad = self.ld - self.m.min(self.ld);
        let mut copy = Self::in_memory((self.m, self.n), ld_pad, self.keeps, memory)?;
        copy.restore(self);
        Some(copy)
    }

    /// Copies `original`, of which this is a duplicate, into this matrix, with its sentinels.
    pub fn restore(&mut self, original: &Self) {
        let len = self.ld * self.n + TAIL_ELEMENTS;
        let source = &original.data[original.start..original.start + len];
        let copy = |(at, part): (usize, &mut [T])| part.copy_from_slice(&source[at..at + part.len()]);
        parallel::map(pieces(&mut self.data[self.start..self.start + len]), copy);
    }

    /// Returns an immutable view of the matrix.
    pub fn view(&self) -> MatRef<'_, T> {
        match MatRef::from_col_major(&self.data[self.start..], self.m, self.n, self.ld) {
            Ok(view) => view,
            Err(error) => unreachable!("the memory was allocated for this shape: {error}"),
        }
    }

    /// Returns a mutable view of the matrix.
    pub fn view_mut(&mut self) -> MatMut<'_, T> {
        match MatMut::from_col_major(&mut self.data[self.start..], self.m, self.n, self.ld) {
            Ok(view) => view,
            Err(error) => unreachable!("the memory was allocated for this shape: {error}"),
        }
    }

    /// Returns the elements with the sentinels below each column; nothing of a matrix without rows.
    pub fn padded(&self) -> &[T] {
        &self.data[self.start..self.start + self.padded_len()]
    }

    /// Returns the elements with the sentinels below each column; nothing of a matrix without rows.
    pub fn padded_mut(&mut self) -> &mut [T] {
        let len = self.padded_len();
        &mut self.data[self.start..self.start + len]
    }

    fn padded_len(&self) -> usize {
        if self.m == 0 { 0 } else { self.ld * self.n }
    }

    /// Describes the first element that should be unchanged since `before` but is not.
    pub fn trespass(&self, before: &Self) -> Option<String> {
        let len = self.ld * self.n + TAIL_ELEMENTS;
        let (now, then) = (&self.data[self.start..][..len], &before.data[before.start..][..len]);
        let first = |mut range: std::ops::Range<usize>| {
            range.find(|&at| self.is_kept(at % self.ld, at / self.ld) && !identical(now[at], then[at]))
        };
        let at = parallel::map(parallel::ranges(len, len), first).into_iter().flatten().next()?;
        let (i, j, now, then) = (at % self.ld, at / self.ld, now[at], then[at]);
        let place = if i >= self.m || j >= self.n { "the padding" } else { "a protected element" };
        Some(format!("{place} at ({i}, {j}) was {then} and is {now}"))
    }

    /// Returns whether there is a NaN among the elements that may be written. Sentinels do not count.
    fn has_nan_written(&self) -> bool {
        if self.is_scrap() {
            return false;
        }
        let view = self.view();
        let has_nan = |columns: std::ops::Range<usize>| {
            let places = columns.flat_map(|j| (0..self.m).map(move |i| (i, j)));
            places.filter(|&(i, j)| !self.is_kept(i, j)).any(|(i, j)| view.at(i, j).is_nan())
        };
        parallel::map(parallel::ranges(self.n, self.m * self.n), has_nan).contains(&true)
    }

    /// Returns whether the contents after the call are undefined.
    pub fn is_scrap(&self) -> bool {
        self.keeps == Keeps::Scrap
    }

    fn is_kept(&self, i: usize, j: usize) -> bool {
        let inside = i < self.m && j < self.n;
        let kept = match self.keeps {
            Keeps::Padding | Keeps::Scrap => false,
            Keeps::OtherThan(Uplo::Lower) => i < j,
            Keeps::OtherThan(Uplo::Upper) => i > j,
            Keeps::OtherThanStrict(Uplo::Lower) => i <= j,
            Keeps::OtherThanStrict(Uplo::Upper) => i >= j,
            Keeps::Everything => true,
        };
        !inside || kept
    }
}

/// Splits the elements into pieces for parallel threads, each with the index of its first element.
fn pieces<T>(mut data: &mut [T]) -> Vec<(usize, &mut [T])> {
    let len = data.len();
    let piece = |range: std::ops::Range<usize>| {
        let (piece, rest) = std::mem::take(&mut data).split_at_mut(range.len());
        data = rest;
        (range.start, piece)
    };
    parallel::ranges(len, len).into_iter().map(piece).collect()
}

/// Returns NaN or a number alternately, in both parts of a complex number.
fn sentinel<T: Scalar>(at: usize) -> T {
    let value = T::from_f64(if at.is_multiple_of(2) { f64::NAN } else { -97_531.0 });
    T::from_parts(value.re(), value.re())
}

/// Returns the elements of a matrix with one column, such as the scalars of reflectors, as a slice.
pub fn slice<'a, T: Scalar>(column: &'a mut MatMut<'_, T>) -> &'a mut [T] {
    assert_eq!(column.ncols(), 1, "one column");
    match column.col_as_slice_mut(0) {
        Some(elements) => elements,
        None => unreachable!("operands are column major"),
    }
}

/// All operands of a case, in the order defined by the routine. A numeric result is a matrix with one element.
pub struct Operands<T> {
    pub matrices: Vec<Operand<T>>,
    /// Row interchanges, for routines that have them.
    pub pivots: Vec<i32>,
    /// Whether these are read, written, or undefined after the call.
    pub pivots_keep: Keeps,
}

impl<T: Scalar> Operands<T> {
    /// Creates operands of these matrices, without row interchanges.
    pub fn new<const N: usize>(matrices: [Operand<T>; N]) -> Self {
        Self { matrices: Vec::from(matrices), pivots: Vec::new(), pivots_keep: Keeps::Everything }
    }

    /// Adds row interchanges.
    pub fn with_pivots(self, pivots: Vec<i32>, keeps: Keeps) -> Self {
        Self { pivots, pivots_keep: keeps, ..self }
    }

    /// Returns a copy, or `None` if there is not enough memory.
    pub fn duplicate(&self) -> Option<Self> {
        self.duplicate_in(MemoryKind::Pageable)
    }

    /// Returns a copy with its matrices in this kind of memory.
    pub fn duplicate_in(&self, memory: MemoryKind) -> Option<Self> {
        let matrices = self.matrices.iter().map(|matrix| matrix.duplicate_in(memory)).collect::<Option<_>>()?;
        Some(Self { matrices, pivots: self.pivots.clone(), pivots_keep: self.pivots_keep })
    }

    /// Copies `original`, of which this is a duplicate, into these operands.
    pub fn restore(&mut self, original: &Self) {
        self.matrices.iter_mut().zip(&original.matrices).for_each(|(copy, original)| copy.restore(original));
        self.pivots.copy_from_slice(&original.pivots);
    }

    /// Returns immutable views of the matrices; `N` must be their number.
    pub fn views<const N: usize>(&self) -> [MatRef<'_, T>; N] {
        assert_eq!(self.matrices.len(), N, "as many matrices as the routine made");
        std::array::from_fn(|at| self.matrices[at].view())
    }

    /// Returns mutable views of the matrices; `N` must be their number.
    pub fn views_mut<const N: usize>(&mut self) -> [MatMut<'_, T>; N] {
        self.views_and_pivots_mut().0
    }

    /// Returns mutable views of the matrices, and the row interchanges.
    pub fn views_and_pivots_mut<const N: usize>(&mut self) -> ([MatMut<'_, T>; N], &mut [i32]) {
        assert_eq!(self.matrices.len(), N, "as many matrices as the routine made");
        let mut matrices = self.matrices.iter_mut();
        let views = std::array::from_fn(|_| match matrices.next() {
            Some(matrix) => matrix.view_mut(),
            None => unreachable!("counted above"),
        });
        (views, &mut self.pivots)
    }

    /// Stores a numeric result in the last matrix, which has one element.
    pub fn set_number(&mut self, number: T::Real) {
        if let Some(last) = self.matrices.last_mut() {
            last.view_mut()[(0, 0)] = T::from_real(number);
        }
    }

    /// Declares the contents of this matrix after the call undefined.
    pub fn scrap(mut self, at: usize) -> Self {
        self.matrices[at].keeps = Keeps::Scrap;
        self
    }

    /// Returns whether there is a NaN among the elements that may be written.
    pub fn has_nan_written(&self) -> bool {
        self.matrices.iter().any(Operand::has_nan_written)
    }

    /// Describes the first protected element that has changed.
    pub fn trespass(&self, before: &Self) -> Option<String> {
        if self.pivots_keep == Keeps::Everything && self.pivots != before.pivots {
            return Some("the row interchanges have changed".to_owned());
        }
        let mut pairs = (0..).zip(self.matrices.iter().zip(&before.matrices));
        pairs.find_map(|(at, (now, then))| {
            let what = now.trespass(then)?;
            Some(format!("matrix {}: {what}", ["A", "B", "C", "D"].get(at).copied().unwrap_or("?")))
        })
    }
}

/// Makes the operands of one case: shapes, padding, and random contents.
pub struct Maker {
    random: Random,
    ld_pad: usize,
    bytes_left: usize,
}

impl Maker {
    /// Creates a maker of matrices with at most `bytes_max` bytes in total.
    pub fn new(seed: u64, ld_pad: usize, bytes_max: usize) -> Self {
        Self { random: Random::new(seed), ld_pad, bytes_left: bytes_max }
    }

    /// Makes a matrix of this shape with random contents by `fill`; `None` if it is too large.
    pub fn matrix<T: Scalar>(
        &mut self,
        shape: (usize, usize),
        keeps: Keeps,
        fill: impl FnOnce(&mut Random, MatMut<'_, T>),
    ) -> Option<Operand<T>> {
        // Check before allocating: the system may promise more than it has, and kill the process later.
        let elements = shape.0.checked_add(self.ld_pad)?.checked_mul(shape.1)?;
        self.bytes_left = self.bytes_left.checked_sub(elements.checked_mul(size_of::<T>())?)?;
        Some(Operand::new(shape, self.ld_pad, keeps)?.filled(|view| fill(&mut self.random, view)))
    }

    /// Makes a matrix of sentinels, for a result.
    pub fn result<T: Scalar>(&mut self, shape: (usize, usize)) -> Option<Operand<T>> {
        self.matrix(shape, Keeps::Padding, |_, _| ())
    }

    /// Returns interchanges of each of the first `count` of `rows` rows with itself or a lower row, counted from one.
    pub fn interchanges(&mut self, count: usize, rows: usize) -> Vec<i32> {
        (0..count).map(|i| i32::try_from(i + 1 + self.random.below(rows - i)).unwrap_or(i32::MAX)).collect()
    }
}

/// LAPACK's maximum number of refinement steps.
const REFINEMENT_STEPS_MAX: f64 = 30.0;

/// Returns LAPACK's ITER as a fraction of the maximum number of steps: below 1 if the refinement has converged,
/// negative if it has fallen back.
pub fn share_of_steps<T: superscalar_kernels::Scalar>(steps: i32) -> T {
    T::from_f64(f64::from(steps) / (REFINEMENT_STEPS_MAX + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use superscalar_kernels::c32;

    fn operand(keeps: Keeps) -> Operand<c32> {
        Operand::new((5, 4), 2, keeps).expect("little memory").filled(|mut a| a.fill(c32::ONE))
    }

    #[test]
    fn writable_elements_may_change() {
        let (before, mut after) = (operand(Keeps::Padding), operand(Keeps::Padding));
        after.view_mut().fill(c32::from_f64(3.0));
        assert_eq!(after.trespass(&before), None);
        let mut copy = before.duplicate_in(MemoryKind::Pageable).expect("little memory");
        assert_eq!((copy.trespass(&before), copy.view().col_stride()), (None, 7));
        copy.restore(&after);
        assert_eq!(copy.view().at(4, 3), c32::from_f64(3.0));
    }

    #[test]
    fn protected_elements_are_watched() {
        for (keeps, free) in [
            (Keeps::Padding, 20),
            (Keeps::OtherThan(Uplo::Lower), 14),
            (Keeps::OtherThan(Uplo::Upper), 10),
            (Keeps::OtherThanStrict(Uplo::Lower), 10),
            (Keeps::OtherThanStrict(Uplo::Upper), 6),
            (Keeps::Everything, 0),
        ] {
            let before = operand(keeps);
            let len = before.ld * before.n + TAIL_ELEMENTS;
            let seen = (0..len).filter(|at| {
                let mut after = before.duplicate_in(MemoryKind::Pageable).expect("little memory");
                let start = after.start;
                after.data[start + at] = c32::from_f64(17.0);
                after.trespass(&before).is_some()
            });
            assert_eq!(seen.count(), len - free, "{keeps:?}");
        }
    }

    #[test]
    fn empty_shapes_are_valid() {
        let empty = Operand::<f64>::new((0, 0), 0, Keeps::Padding).expect("little memory");
        assert_eq!((empty.view().shape(), empty.view().col_stride()), ((0, 0), 1));
        assert!(empty.duplicate_in(MemoryKind::Pageable).is_some_and(|copy| copy.trespass(&empty).is_none()));
        assert!(Operand::<f64>::new((usize::MAX, 2), 0, Keeps::Padding).is_none());
        assert!(Operand::<f64>::new((1 << 40, 1 << 20), 0, Keeps::Padding).is_none());
    }
}
