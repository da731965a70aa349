//! [`Operand`]: the matrices of a batch that one launch processes, as the kernels take them.

use crate::cuda::stream::Argument;
use crate::operations::{BatchMat, BatchShapes, Mat, TABLE_ROWS};
use std::ops::Range;

/// The matrices of a batch that one launch processes: all of a uniform batch, or a range of one with a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand<E> {
    /// The first matrix; with a table, the place from which offsets count, with the most rows and columns.
    pub first: Mat<E>,
    /// Elements from one matrix to the next, without a table.
    pub stride: usize,
    /// The part of the table for these matrices.
    pub table: Option<Mat<i64>>,
}

impl<E> Operand<E> {
    /// Makes an operand without a table.
    pub fn uniform(first: Mat<E>, stride: usize) -> Self {
        Self { first, stride, table: None }
    }

    /// Selects the problems of a range. A uniform batch has the range of all.
    pub fn of(batch: &BatchMat<E>, range: Range<usize>) -> Self {
        match &batch.shapes {
            BatchShapes::Uniform { stride, .. } => Self::uniform(batch.first, *stride),
            BatchShapes::Varied { layout, table } => {
                let most = |size: fn((usize, usize)) -> usize| {
                    layout.members()[range.clone()].iter().map(|member| size(member.shape)).max().unwrap_or_default()
                };
                let shape = (most(|shape| shape.0), most(|shape| shape.1));
                let first = Mat::at(batch.first.offset, shape, batch.first.ld);
                Self { first, stride: 0, table: Some(table.submatrix(0..TABLE_ROWS, range)) }
            }
        }
    }

    /// Returns a part of each matrix of a uniform batch.
    pub fn part(self, rows: Range<usize>, columns: Range<usize>) -> Self {
        Self { first: self.first.submatrix(rows, columns), ..self }
    }

    /// Returns the six arguments of a kernel: address, stride, table, rows, columns, leading dimension.
    pub fn arguments(self) -> [Argument; 6] {
        let Self { first, stride, table } = self;
        [
            Argument::start(first),
            Argument::index(stride),
            table.map_or(Argument::value(0_u64), Argument::start),
            Argument::index(first.m),
            Argument::index(first.n),
            Argument::index(first.ld),
        ]
    }
}

/// Divides the problems of a batch into ranges for one launch each. Each problem has a key; the range's last key, which
/// is its largest from there on, is at least that of each of its problems. There are no more ranges than keys.
pub(super) fn classes(count: usize, is_varied: bool, key: impl Fn(usize) -> usize) -> Vec<Range<usize>> {
    if !is_varied {
        return std::iter::once(0..count).filter(|all| !all.is_empty()).collect();
    }
    let (mut ranges, mut end, mut largest) = (Vec::new(), count, 0);
    for at in (0..count).rev() {
        let its = key(at);
        if its > largest || at + 1 == count {
            if at + 1 < end {
                ranges.push(at + 1..end);
            }
            (end, largest) = (at + 1, its);
        }
    }
    if end > 0 {
        ranges.push(0..end);
    }
    ranges.reverse();
    ranges
}

#[cfg(test)]
mod tests {
    use super::classes;

    #[test]
    fn classes_are_few_in_any_order() {
        let of = |keys: &[usize]| classes(keys.len(), true, |at| keys[at]);
        assert_eq!(of(&[]), Vec::<std::ops::Range<usize>>::new());
        assert_eq!(of(&[3, 3, 2, 0, 0]), [0..2, 2..3, 3..5]);
        assert_eq!(of(&[0, 2, 1, 3, 1]), [0..4, 4..5]);
        let one = classes(5, false, |at| at);
        assert_eq!((one.len(), one[0].clone()), (1, 0..5));
    }
}
