//! [`Operand`]: the matrices of a batch that one launch processes, as the kernels take them.

use crate::cuda::stream::Argument;
pub(super) use crate::operations::{BatchPart as Operand, classes};
use std::ops::Range;

impl<E> Operand<E> {
    /// Returns a part of each matrix of a uniform batch.
    pub(super) fn part(self, rows: Range<usize>, columns: Range<usize>) -> Self {
        Self { first: self.first.submatrix(rows, columns), ..self }
    }

    /// Returns the six arguments of a kernel: address, stride, table, rows, columns, leading dimension.
    pub(super) fn arguments(self) -> [Argument; 6] {
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
