//! [`Operand`]: the matrices of a batch that one launch processes, as the kernels take them.

use crate::opencl::stream::Argument;
pub(super) use crate::operations::{BatchPart as Operand, classes};

impl<E> Operand<E> {
    /// Returns the six arguments of a kernel: the offset of the first matrix, the stride, the table or -1, the rows,
    /// the columns and the leading dimension. See `OPERAND` in `text/batch.cl`.
    pub(super) fn numbers(self) -> [Argument; 6] {
        let Self { first, stride, table } = self;
        [
            Argument::Offset(first.offset),
            Argument::Offset(stride),
            table.map_or(Argument::Stride(-1), |table| Argument::Offset(table.offset)),
            Argument::Size(first.m),
            Argument::Size(first.n),
            Argument::Offset(first.ld),
        ]
    }
}
