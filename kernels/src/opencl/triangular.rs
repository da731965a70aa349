//! trmm and trsm: triangles are halved until one kernel applies them; products do the rest.

use super::{
    Program,
    elements::scale,
    product::Product,
    stream::{Argument, Launch, Stream},
    view::View,
};
use crate::{
    Diag, Op, Scalar, Side, Uplo,
    device::Mat,
    operations::{Triangular, TriangularAction},
};
use superscalar_runtime::DeviceError;

/// Computes trmm or trsm.
pub(super) fn triangular<T: Scalar>(stream: &mut Stream<'_>, call: &Triangular<T, Mat<T>>) -> Result<(), DeviceError> {
    let Triangular { action, side, uplo, op, diag, alpha, a, b } = *call;
    let b = View::of(b);
    scale(stream, None, alpha, b)?;
    if alpha == T::ZERO {
        return Ok(());
    }
    // B op(A) is the transpose of op(A)ᵀ Bᵀ.
    let (a, b) = match side {
        Side::Left => (View::with(op, a), b),
        Side::Right => (View::with(op, a).transpose(), b.transpose()),
    };
    let flips = (op != Op::None) != (side == Side::Right);
    let uplo = if flips { uplo.flip() } else { uplo };
    Triangle { uplo, diag, a }.apply::<T>(stream, action, b)
}

/// A triangular matrix that multiplies from the left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Triangle {
    pub uplo: Uplo,
    pub diag: Diag,
    pub a: View,
}

impl Triangle {
    /// Computes A B or A⁻¹ B in place of B.
    pub fn apply<T: Scalar>(
        self,
        stream: &mut Stream<'_>,
        action: TriangularAction,
        b: View,
    ) -> Result<(), DeviceError> {
        let (n, order) = (self.a.n, stream.parameters.triangle_span());
        if n == 0 || b.n == 0 {
            return Ok(());
        }
        if n <= order {
            return match stream.parameters.work_items {
                1 => self.apply_block::<T>(stream, action, b),
                _ => self.apply_by_groups(stream, action, b),
            };
        }
        let half = (n / 2).next_multiple_of(order);
        let part = |rows: std::ops::Range<usize>| Self { a: self.a.part(rows.clone(), rows), ..self };
        let (first, second) = (part(0..half), part(half..n));
        let (b1, b2) = (b.part(0..half, 0..b.n), b.part(half..n, 0..b.n));
        // The half of B that does not depend on the other one is solved for first, and multiplied last.
        let (source, target, between) = match self.uplo {
            Uplo::Lower => ((first, b1), (second, b2), self.a.part(half..n, 0..half)),
            Uplo::Upper => ((second, b2), (first, b1), self.a.part(0..half, half..n)),
        };
        let ((source, source_b), (target, target_b)) = (source, target);
        match action {
            TriangularAction::Solve => {
                source.apply::<T>(stream, action, source_b)?;
                Product::adding(-T::ONE, between, source_b, target_b).run(stream)?;
                target.apply::<T>(stream, action, target_b)
            }
            TriangularAction::Multiply => {
                target.apply::<T>(stream, action, target_b)?;
                Product::adding(T::ONE, between, source_b, target_b).run(stream)?;
                source.apply::<T>(stream, action, source_b)
            }
        }
    }

    /// Like [`apply`](Self::apply), by one kernel, whose groups go through the blocks of the triangle.
    fn apply_by_groups(self, stream: &mut Stream<'_>, action: TriangularAction, b: View) -> Result<(), DeviceError> {
        let Self { diag, a, .. } = self;
        let (sign, last) = self.reversal();
        let stride = |stride: usize| Argument::Stride(sign * stride as isize);
        stream.launch(Launch {
            program: Program::Triangle,
            kernel: kernel_of(action),
            arguments: &[
                Argument::Offset(a.at + last * (a.rs + a.cs)),
                stride(a.rs),
                stride(a.cs),
                Argument::Code(a.conj.into()),
                Argument::Code((diag == Diag::Unit).into()),
                Argument::Offset(b.at + last * b.rs),
                stride(b.rs),
                Argument::Stride(b.cs as isize),
                Argument::Count(a.n),
                Argument::Count(b.n),
            ],
            groups: [b.n.div_ceil(stream.parameters.triangle_columns()), 1],
            local: [stream.parameters.work_items, 1],
        })
    }

    /// An upper triangle is a lower one with its rows and columns reversed: returns the sign of the strides and the
    /// first row.
    fn reversal(&self) -> (isize, usize) {
        if self.uplo == Uplo::Upper { (-1, self.a.n - 1) } else { (1, 0) }
    }

    /// Like [`apply`](Self::apply), by one kernel, after a kernel that packs the triangle.
    fn apply_block<T: Scalar>(
        self,
        stream: &mut Stream<'_>,
        action: TriangularAction,
        b: View,
    ) -> Result<(), DeviceError> {
        let Self { diag, a, .. } = self;
        let (n, parameters) = (a.n, stream.parameters);
        let before = stream.scratch.mark();
        let packed = stream.scratch.take::<T>(parameters.triangle_order * parameters.triangle_order)?;
        let (sign, last) = self.reversal();
        let stride = |stride: usize| Argument::Stride(sign * stride as isize);
        stream.launch(Launch {
            program: Program::Triangle,
            kernel: "pack_triangle",
            arguments: &[
                Argument::Offset(packed),
                Argument::Offset(a.at + last * (a.rs + a.cs)),
                stride(a.rs),
                stride(a.cs),
                Argument::Count(n),
                Argument::Code(a.conj.into()),
                Argument::Code((diag == Diag::Unit).into()),
            ],
            groups: [n.next_multiple_of(4), 1],
            local: [1, 1],
        })?;
        stream.launch(Launch {
            program: Program::Triangle,
            kernel: kernel_of(action),
            arguments: &[
                Argument::Offset(packed),
                Argument::Offset(b.at + last * b.rs),
                stride(b.rs),
                Argument::Stride(b.cs as isize),
                Argument::Count(n),
                Argument::Count(b.n),
            ],
            groups: [b.n.div_ceil(parameters.triangle_columns()), 1],
            local: [parameters.work_items, 1],
        })?;
        stream.scratch.release(before);
        Ok(())
    }
}

fn kernel_of(action: TriangularAction) -> &'static str {
    match action {
        TriangularAction::Multiply => "multiply",
        TriangularAction::Solve => "solve",
    }
}
