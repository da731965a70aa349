//! The operands of a case: column-major matrices whose surroundings are watched.
//!
//! Between the columns, behind the last one, and in the triangle that a routine must leave alone lie sentinels: NaN, so
//! that a routine which reads one spoils its result, in turn with an ordinary number, so that one which writes there is
//! seen even if it only scales.

use crate::elements::{Elements, Memory};
use superscalar_kernels::{MatMut, MatRef, Scalar, Uplo};
use superscalar_oracle::{Random, identical, parallel};

/// Elements behind the last column that are watched as well.
const TAIL: usize = 16;
/// Matrices start at multiples of so many bytes, as a library's own would.
const ALIGNMENT: usize = 64;

/// What a routine must leave as it was, besides the padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// Nothing: all elements may be written.
    Padding,
    /// The triangle other than this one, diagonal excluded.
    OtherThan(Uplo),
    /// The triangle other than this one, and the diagonal as well.
    OtherThanStrict(Uplo),
    /// Nothing, and what is left there means nothing.
    Scrap,
    /// Everything: the operand is only read.
    Everything,
}

/// One matrix and what surrounds it.
pub struct Operand<T> {
    data: Elements<T>,
    start: usize,
    m: usize,
    n: usize,
    ld: usize,
    keeps: Keeps,
}

impl<T: Scalar> Operand<T> {
    /// An m x n matrix, all of it sentinels. `None` if there is no memory for it.
    pub fn new(shape: (usize, usize), ld_pad: usize, keeps: Keeps) -> Option<Self> {
        Self::in_memory(shape, ld_pad, keeps, Memory::Pageable)
    }

    fn in_memory((m, n): (usize, usize), ld_pad: usize, keeps: Keeps, memory: Memory) -> Option<Self> {
        let ld = m.checked_add(ld_pad)?.max(1);
        let lead = ALIGNMENT / size_of::<T>();
        let len = ld.checked_mul(n)?.checked_add(TAIL + lead)?;
        let mut data = Elements::<T>::new(len, memory).ok()?;
        // align_offset may decline, with usize::MAX; an unaligned matrix is then good enough.
        let start = Some(data.as_ptr().align_offset(ALIGNMENT)).filter(|&start| start < lead).unwrap_or(0);
        let fill = |(at, part): (usize, &mut [T])| {
            (at..).zip(part).for_each(|(at, element)| *element = sentinel(at.wrapping_sub(start)));
        };
        parallel::map(pieces(&mut data), fill);
        Some(Self { data, start, m, n, ld, keeps })
    }

    /// The same with its elements set by `fill`.
    pub fn filled(mut self, fill: impl FnOnce(MatMut<'_, T>)) -> Self {
        fill(self.view_mut());
        self
    }

    /// A copy in memory of this sort, aligned as the original is.
    fn duplicate_in(&self, memory: Memory) -> Option<Self> {
        let ld_pad = self.ld - self.m.min(self.ld);
        let mut copy = Self::in_memory((self.m, self.n), ld_pad, self.keeps, memory)?;
        copy.restore(self);
        Some(copy)
    }

    /// Makes this, which was duplicated from `original`, equal to it again, surroundings included.
    pub fn restore(&mut self, original: &Self) {
        let len = self.ld * self.n + TAIL;
        let source = &original.data[original.start..original.start + len];
        let copy = |(at, part): (usize, &mut [T])| part.copy_from_slice(&source[at..at + part.len()]);
        parallel::map(pieces(&mut self.data[self.start..self.start + len]), copy);
    }

    /// The matrix.
    pub fn view(&self) -> MatRef<'_, T> {
        match MatRef::from_col_major(&self.data[self.start..], self.m, self.n, self.ld) {
            Ok(view) => view,
            Err(error) => unreachable!("the memory was taken for this shape: {error}"),
        }
    }

    /// The matrix, to write.
    pub fn view_mut(&mut self) -> MatMut<'_, T> {
        match MatMut::from_col_major(&mut self.data[self.start..], self.m, self.n, self.ld) {
            Ok(view) => view,
            Err(error) => unreachable!("the memory was taken for this shape: {error}"),
        }
    }

    /// The first element that should be as it was in `before` and is not, in words.
    pub fn trespass(&self, before: &Self) -> Option<String> {
        let len = self.ld * self.n + TAIL;
        let (now, then) = (&self.data[self.start..][..len], &before.data[before.start..][..len]);
        let first = |mut range: std::ops::Range<usize>| {
            range.find(|&at| self.is_kept(at % self.ld, at / self.ld) && !identical(now[at], then[at]))
        };
        let at = parallel::map(parallel::ranges(len, len), first).into_iter().flatten().next()?;
        let (i, j, now, then) = (at % self.ld, at / self.ld, now[at], then[at]);
        let place = if i >= self.m || j >= self.n { "the padding" } else { "what is not to be written" };
        Some(format!("{place} at ({i}, {j}) was {then} and is {now}"))
    }

    /// Whether there is a NaN among the elements that may be written; sentinels are not.
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

    /// Whether what a routine leaves here means nothing.
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

/// The elements in pieces for as many threads, each with the place where it begins.
fn pieces<T>(mut data: &mut [T]) -> Vec<(usize, &mut [T])> {
    let len = data.len();
    let piece = |range: std::ops::Range<usize>| {
        let (piece, rest) = std::mem::take(&mut data).split_at_mut(range.len());
        data = rest;
        (range.start, piece)
    };
    parallel::ranges(len, len).into_iter().map(piece).collect()
}

/// NaN and a number in turn; both parts of a complex number.
fn sentinel<T: Scalar>(at: usize) -> T {
    let value = T::from_f64(if at.is_multiple_of(2) { f64::NAN } else { -97_531.0 });
    T::from_parts(value.re(), value.re())
}

/// The elements of a matrix with one column, such as the scalars of reflectors, to hand over as a slice.
pub fn slice<'a, T: Scalar>(column: &'a mut MatMut<'_, T>) -> &'a mut [T] {
    assert_eq!(column.ncols(), 1, "one column");
    match column.col_as_slice_mut(0) {
        Some(elements) => elements,
        None => unreachable!("operands are column major"),
    }
}

/// All operands of a case, in the order that the routine gives them. A result which is a number is a matrix of one
/// element.
pub struct Operands<T> {
    pub matrices: Vec<Operand<T>>,
    /// Row interchanges, for routines that have them.
    pub pivots: Vec<i32>,
    /// Whether those are read, written, or of no interest afterwards.
    pub pivots_keep: Keeps,
}

impl<T: Scalar> Operands<T> {
    /// These matrices, without pivots.
    pub fn new<const N: usize>(matrices: [Operand<T>; N]) -> Self {
        Self { matrices: Vec::from(matrices), pivots: Vec::new(), pivots_keep: Keeps::Everything }
    }

    /// The same with row interchanges.
    pub fn with_pivots(self, pivots: Vec<i32>, keeps: Keeps) -> Self {
        Self { pivots, pivots_keep: keeps, ..self }
    }

    /// A copy.
    pub fn duplicate(&self) -> Option<Self> {
        self.duplicate_in(Memory::Pageable)
    }

    /// A copy with its matrices in memory of this sort.
    pub fn duplicate_in(&self, memory: Memory) -> Option<Self> {
        let matrices = self.matrices.iter().map(|matrix| matrix.duplicate_in(memory)).collect::<Option<_>>()?;
        Some(Self { matrices, pivots: self.pivots.clone(), pivots_keep: self.pivots_keep })
    }

    /// Makes this, which was duplicated from `original`, equal to it again.
    pub fn restore(&mut self, original: &Self) {
        self.matrices.iter_mut().zip(&original.matrices).for_each(|(copy, original)| copy.restore(original));
        self.pivots.copy_from_slice(&original.pivots);
    }

    /// The matrices to read, of which the routine knows how many there are.
    pub fn views<const N: usize>(&self) -> [MatRef<'_, T>; N] {
        assert_eq!(self.matrices.len(), N, "as many matrices as the routine made");
        std::array::from_fn(|at| self.matrices[at].view())
    }

    /// The matrices to write, of which the routine knows how many there are.
    pub fn views_mut<const N: usize>(&mut self) -> [MatMut<'_, T>; N] {
        self.views_and_pivots_mut().0
    }

    /// The matrices to write, and the row interchanges.
    pub fn views_and_pivots_mut<const N: usize>(&mut self) -> ([MatMut<'_, T>; N], &mut [i32]) {
        assert_eq!(self.matrices.len(), N, "as many matrices as the routine made");
        let mut matrices = self.matrices.iter_mut();
        let views = std::array::from_fn(|_| match matrices.next() {
            Some(matrix) => matrix.view_mut(),
            None => unreachable!("counted above"),
        });
        (views, &mut self.pivots)
    }

    /// Puts a result that is a number into the matrix of one element which stands for it, the last one.
    pub fn set_number(&mut self, number: T::Real) {
        if let Some(last) = self.matrices.last_mut() {
            last.view_mut()[(0, 0)] = T::from_real(number);
        }
    }

    /// From now on what is left in this matrix means nothing.
    pub fn scrap(mut self, at: usize) -> Self {
        self.matrices[at].keeps = Keeps::Scrap;
        self
    }

    /// Whether there is a NaN among the elements that may be written.
    pub fn has_nan_written(&self) -> bool {
        self.matrices.iter().any(Operand::has_nan_written)
    }

    /// The first trespass in any of them.
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
    /// Makes matrices of up to `bytes_max` in all.
    pub fn new(seed: u64, ld_pad: usize, bytes_max: usize) -> Self {
        Self { random: Random::new(seed), ld_pad, bytes_left: bytes_max }
    }

    /// A matrix of this shape with random contents by `fill`; `None` if it is too large.
    pub fn matrix<T: Scalar>(
        &mut self,
        shape: (usize, usize),
        keeps: Keeps,
        fill: impl FnOnce(&mut Random, MatMut<'_, T>),
    ) -> Option<Operand<T>> {
        // Asked before the memory is: the system may promise more than it has, and end the process later.
        let elements = shape.0.checked_add(self.ld_pad)?.checked_mul(shape.1)?;
        self.bytes_left = self.bytes_left.checked_sub(elements.checked_mul(size_of::<T>())?)?;
        Some(Operand::new(shape, self.ld_pad, keeps)?.filled(|view| fill(&mut self.random, view)))
    }

    /// A matrix of sentinels, for a result.
    pub fn result<T: Scalar>(&mut self, shape: (usize, usize)) -> Option<Operand<T>> {
        self.matrix(shape, Keeps::Padding, |_, _| ())
    }

    /// Interchanges of each of the first `count` of `rows` rows with one that is not above it, counted from one.
    pub fn interchanges(&mut self, count: usize, rows: usize) -> Vec<i32> {
        (0..count).map(|i| i32::try_from(i + 1 + self.random.below(rows - i)).unwrap_or(i32::MAX)).collect()
    }
}

/// LAPACK gives a refinement so many steps before it falls back.
const STEPS_MAX: f64 = 30.0;

/// LAPACK's ITER as a share of the steps that it allows: below 1 where the refinement has converged, negative where
/// it has fallen back.
pub fn share_of_steps<T: superscalar_kernels::Scalar>(steps: i32) -> T {
    T::from_f64(f64::from(steps) / (STEPS_MAX + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use superscalar_kernels::c32;

    fn operand(keeps: Keeps) -> Operand<c32> {
        Operand::new((5, 4), 2, keeps).expect("little memory").filled(|mut a| a.fill(c32::ONE))
    }

    #[test]
    fn what_may_be_written_may_be_written() {
        let (before, mut after) = (operand(Keeps::Padding), operand(Keeps::Padding));
        after.view_mut().fill(c32::from_f64(3.0));
        assert_eq!(after.trespass(&before), None);
        let mut copy = before.duplicate_in(Memory::Pageable).expect("little memory");
        assert_eq!((copy.trespass(&before), copy.view().col_stride()), (None, 7));
        copy.restore(&after);
        assert_eq!(copy.view().at(4, 3), c32::from_f64(3.0));
    }

    #[test]
    fn every_trespass_is_seen() {
        for (keeps, free) in [
            (Keeps::Padding, 20),
            (Keeps::OtherThan(Uplo::Lower), 14),
            (Keeps::OtherThan(Uplo::Upper), 10),
            (Keeps::OtherThanStrict(Uplo::Lower), 10),
            (Keeps::OtherThanStrict(Uplo::Upper), 6),
            (Keeps::Everything, 0),
        ] {
            let before = operand(keeps);
            let len = before.ld * before.n + TAIL;
            let seen = (0..len).filter(|at| {
                let mut after = before.duplicate_in(Memory::Pageable).expect("little memory");
                let start = after.start;
                after.data[start + at] = c32::from_f64(17.0);
                after.trespass(&before).is_some()
            });
            assert_eq!(seen.count(), len - free, "{keeps:?}");
        }
    }

    #[test]
    fn shapes_without_elements_are_ordinary() {
        let empty = Operand::<f64>::new((0, 0), 0, Keeps::Padding).expect("little memory");
        assert_eq!((empty.view().shape(), empty.view().col_stride()), ((0, 0), 1));
        assert!(empty.duplicate_in(Memory::Pageable).is_some_and(|copy| copy.trespass(&empty).is_none()));
        assert!(Operand::<f64>::new((usize::MAX, 2), 0, Keeps::Padding).is_none());
        assert!(Operand::<f64>::new((1 << 40, 1 << 20), 0, Keeps::Padding).is_none());
    }
}
