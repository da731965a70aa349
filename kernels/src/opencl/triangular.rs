//! trmm and trsm: triangles are halved until one kernel applies them; products do the rest. Before a solve by
//! work-groups of several items, one launch inverts all blocks on the diagonal.

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
        if self.a.n == 0 || b.n == 0 {
            return Ok(());
        }
        let before = stream.scratch.mark();
        let inverses = match action {
            TriangularAction::Solve => self.invert::<T>(stream)?,
            TriangularAction::Multiply => 0,
        };
        self.apply_halves::<T>(stream, action, b, inverses)?;
        stream.scratch.release(before);
        Ok(())
    }

    /// Inverts the blocks on the diagonal into scratch, if a solve needs that, and returns their offset.
    fn invert<T: Scalar>(self, stream: &mut Stream<'_>) -> Result<usize, DeviceError> {
        let (n, order) = (self.a.n, stream.parameters.triangle_order);
        if n <= order || stream.parameters.work_items == 1 {
            return Ok(0);
        }
        let blocks = n.div_ceil(order);
        let inverses = stream.scratch.take::<T>(blocks * order * order)?;
        let [triangle, ars, acs, conj, unit] = self.arguments();
        stream.launch(Launch {
            program: Program::Triangle,
            kernel: "invert",
            arguments: &[triangle, ars, acs, conj, unit, Argument::Count(n), Argument::Offset(inverses)],
            groups: [blocks, 1],
            local: [stream.parameters.triangle_items(), 1],
        })?;
        Ok(inverses)
    }

    /// Like [`apply`](Self::apply) with inverses at this offset, which are in the order of the kernels.
    fn apply_halves<T: Scalar>(
        self,
        stream: &mut Stream<'_>,
        action: TriangularAction,
        b: View,
        inverses: usize,
    ) -> Result<(), DeviceError> {
        let (n, span) = (self.a.n, stream.parameters.triangle_span());
        if n <= span {
            return match stream.parameters.work_items {
                1 => self.apply_block::<T>(stream, action, b),
                _ => self.apply_by_groups(stream, action, b, inverses),
            };
        }
        // Kernels take upper triangles from their last row on, where the whole blocks begin.
        let half = (n / 2).next_multiple_of(span);
        let cut = if self.uplo == Uplo::Upper { n - half } else { half };
        let part = |rows: std::ops::Range<usize>| Self { a: self.a.part(rows.clone(), rows), ..self };
        let (first, second) = (part(0..cut), part(cut..n));
        let (b1, b2) = (b.part(0..cut, 0..b.n), b.part(cut..n, 0..b.n));
        // The half of B that does not depend on the other one is solved for first, and multiplied last.
        let (source, target, between) = match self.uplo {
            Uplo::Lower => ((first, b1), (second, b2), self.a.part(cut..n, 0..cut)),
            Uplo::Upper => ((second, b2), (first, b1), self.a.part(0..cut, cut..n)),
        };
        let ((source, source_b), (target, target_b)) = (source, target);
        let later = inverses + half * stream.parameters.triangle_order;
        match action {
            TriangularAction::Solve => {
                source.apply_halves::<T>(stream, action, source_b, inverses)?;
                Product::adding(-T::ONE, between, source_b, target_b).run(stream)?;
                target.apply_halves::<T>(stream, action, target_b, later)
            }
            TriangularAction::Multiply => {
                target.apply_halves::<T>(stream, action, target_b, later)?;
                Product::adding(T::ONE, between, source_b, target_b).run(stream)?;
                source.apply_halves::<T>(stream, action, source_b, inverses)
            }
        }
    }

    /// Like [`apply_halves`](Self::apply_halves), by one kernel, whose groups go through the blocks of the triangle.
    fn apply_by_groups(
        self,
        stream: &mut Stream<'_>,
        action: TriangularAction,
        b: View,
        inverses: usize,
    ) -> Result<(), DeviceError> {
        let [triangle, ars, acs, conj, unit] = self.arguments();
        let (sign, last) = self.reversal();
        let arguments = [
            triangle,
            ars,
            acs,
            conj,
            unit,
            Argument::Offset(b.at + last * b.rs),
            Argument::Stride(sign * b.rs as isize),
            Argument::Stride(b.cs as isize),
            Argument::Count(self.a.n),
            Argument::Count(b.n),
            Argument::Offset(inverses),
        ];
        let arguments = match action {
            TriangularAction::Solve => &arguments[..],
            TriangularAction::Multiply => &arguments[..10],
        };
        stream.launch(Launch {
            program: Program::Triangle,
            kernel: kernel_of(action),
            arguments,
            groups: [b.n.div_ceil(stream.parameters.triangle_columns()), 1],
            local: [stream.parameters.triangle_items(), 1],
        })
    }

    /// Returns the triangle's first element, its strides, and the codes of its options, as kernels of groups take them.
    fn arguments(&self) -> [Argument; 5] {
        let Self { diag, a, .. } = *self;
        let (sign, last) = self.reversal();
        [
            Argument::Offset(a.at + last * (a.rs + a.cs)),
            Argument::Stride(sign * a.rs as isize),
            Argument::Stride(sign * a.cs as isize),
            Argument::Code(a.conj.into()),
            Argument::Code((diag == Diag::Unit).into()),
        ]
    }

    /// An upper triangle is a lower one with its rows and columns reversed: returns the sign of the strides and the
    /// first row.
    fn reversal(&self) -> (isize, usize) {
        if self.uplo == Uplo::Upper { (-1, self.a.n - 1) } else { (1, 0) }
    }

    /// Like [`apply_halves`](Self::apply_halves), by one kernel, after a kernel that packs the triangle.
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
