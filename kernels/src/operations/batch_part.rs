//! [`BatchPart`]: the matrices of a batch that one launch of a device's kernel processes, and what is computed before
//! the launch.

use super::{BatchLayout, BatchMat, BatchMember, BatchShapes, Mat, TABLE_ROWS};
use crate::Op;
use std::ops::Range;
use superscalar_runtime::DeviceError;

/// The matrices of a batch that one launch processes: all of a uniform batch, or a range of one with a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchPart<E> {
    /// The first matrix; with a table, the place from which offsets count, with the most rows and columns.
    pub first: Mat<E>,
    /// Elements from one matrix to the next, without a table.
    pub stride: usize,
    /// The part of the table for these matrices.
    pub table: Option<Mat<i64>>,
}

impl<E> BatchPart<E> {
    /// Selects the problems of a range. A uniform batch has the range of all.
    pub fn of(batch: &BatchMat<E>, range: Range<usize>) -> Self {
        match &batch.shapes {
            BatchShapes::Uniform { stride, .. } => Self { first: batch.first, stride: *stride, table: None },
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
}

/// Divides the problems of a batch into ranges for one launch each. Each problem has a key, and the last problem of a
/// range has the largest key in it. There are no more ranges than different keys.
pub(crate) fn classes(count: usize, is_varied: bool, key: impl Fn(usize) -> usize) -> Vec<Range<usize>> {
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

/// Returns the class of a size: matrices of a class are computed by one launch, so that its groups of threads differ in
/// work by a limited factor.
pub(crate) fn class_of(size: usize) -> usize {
    size.max(8).next_power_of_two()
}

/// Returns the layout of columns that are `rows` elements apart: one for each matrix, with an element for each of its
/// columns.
pub(crate) fn column_layout(matrices: &BatchLayout, rows: usize) -> Result<BatchLayout, String> {
    let column = |(at, member): (usize, &BatchMember)| BatchMember {
        offset: at * rows,
        shape: (member.shape.1, 1),
        ld: rows,
        number: member.number,
    };
    BatchLayout::new(matrices.members().iter().enumerate().map(column).collect())
}

/// Returns the outcome of interchanges. Kernels store a number: zero, or one more than that of a problem with an
/// interchange outside of its rows.
pub(crate) fn interchange_outcome(stored: i32) -> Result<(), DeviceError> {
    match stored {
        0 => Ok(()),
        _ => Err(DeviceError::new(format!("getrs: problem {}: an interchange is not within the rows", stored - 1))),
    }
}

/// Returns how kernels take an operation: 1 transposes, 2 conjugates.
pub(crate) fn op_code(op: Op) -> i32 {
    match op {
        Op::None => 0,
        Op::Trans => 1,
        Op::ConjTrans => 3,
    }
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
