//! gemm and the products that packing reduces to it: symm, hemm, syrk, herk, syr2k, her2k.
//!
//! A product packs both operands into scratch, then multiplies. The packing kernels implement all options: they
//! transpose, conjugate, and complete matrices of which a triangle is stored.

use super::{
    ProductForm, Program,
    elements::scale,
    stream::{Argument, Launch, Stream},
    view::{Structure, View, part_code},
};
use crate::{Scalar, Symmetry, Uplo};
use std::ops::Range;
use superscalar_runtime::DeviceError;

/// Steps of the inner dimension that are packed at a time, which bounds the scratch.
const PACKED_STEPS_MAX: usize = 1024;

/// C := alpha A B + beta C, or one triangle of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product<T> {
    /// The triangle of C that is updated; `None` for the whole matrix. The diagonal of a Hermitian C is made real.
    pub part: Option<(Symmetry, Uplo)>,
    pub alpha: T,
    pub a: View,
    pub b: View,
    pub beta: T,
    pub c: View,
}

impl<T: Scalar> Product<T> {
    /// Makes the product C := C + alpha A B.
    pub fn adding(alpha: T, a: View, b: View, c: View) -> Self {
        Self { part: None, alpha, a, b, beta: T::ONE, c }
    }

    /// Puts the product into the stream.
    pub fn run(self, stream: &mut Stream<'_>) -> Result<(), DeviceError> {
        let Self { part, alpha, a, b, beta, c } = self;
        debug_assert!((a.m, a.n, b.n) == (c.m, b.m, c.n) && !c.conj, "{a:?} {b:?} {c:?}");
        if c.rs != 1 {
            // Compute Cᵀ = Bᵀ Aᵀ instead, whose columns have adjacent elements.
            let part = part.map(|(symmetry, uplo)| (symmetry, uplo.flip()));
            return Self { part, a: b.transpose(), b: a.transpose(), c: c.transpose(), ..self }.run(stream);
        }
        let k = a.n;
        if alpha == T::ZERO || k == 0 {
            return scale(stream, part, beta, c);
        }
        let before = stream.scratch.mark();
        let (panel_a, panel_b) = (stream.parameters.panel_a(), stream.parameters.panel_b());
        let pass = k.min(PACKED_STEPS_MAX);
        let a_at = stream.scratch.take::<T>(c.m.next_multiple_of(panel_a) * pass)?;
        let b_at = stream.scratch.take::<T>(c.n.next_multiple_of(panel_b) * pass)?;
        for first in (0..k).step_by(PACKED_STEPS_MAX) {
            let steps = first..k.min(first + PACKED_STEPS_MAX);
            let count = steps.len();
            pack(stream, ["pack_a", "complete_a"], panel_a, a, steps.clone(), a_at)?;
            pack(stream, ["pack_b", "complete_b"], panel_b, b.transpose(), steps, b_at)?;
            let beta = if first == 0 { beta } else { T::ONE };
            Self { beta, ..self }.multiply(stream, (a_at, b_at), count)?;
        }
        stream.scratch.release(before);
        Ok(())
    }

    /// Multiplies the packed operands.
    fn multiply(self, stream: &mut Stream<'_>, (a_at, b_at): (usize, usize), k: usize) -> Result<(), DeviceError> {
        let Self { part, alpha, beta, c, .. } = self;
        let blocking = stream.parameters.blocking;
        let local = match blocking.form {
            ProductForm::Looping => [1, 1],
            ProductForm::Shared => [blocking.m_wg / blocking.m_wi, blocking.n_wg / blocking.n_wi],
        };
        stream.launch(Launch {
            program: Program::Product,
            kernel: "gemm",
            arguments: &[
                Argument::Offset(a_at),
                Argument::Offset(b_at),
                Argument::Offset(c.at),
                Argument::Offset(c.cs),
                Argument::Count(c.m),
                Argument::Count(c.n),
                Argument::Count(k),
                Argument::Code(part_code(part.map(|(_, uplo)| uplo))),
                Argument::Code(part.is_some_and(|(symmetry, _)| symmetry == Symmetry::Hermitian).into()),
                Argument::element(alpha),
                Argument::element(beta),
            ],
            groups: [c.m.div_ceil(blocking.m_wg), c.n.div_ceil(blocking.n_wg)],
            local,
        })
    }
}

/// Packs the columns `steps` of a view. `kernels` are the one for general matrices, and the one for matrices of which
/// one triangle is stored.
fn pack(
    stream: &mut Stream<'_>,
    kernels: [&'static str; 2],
    panel: usize,
    view: View,
    steps: Range<usize>,
    to: usize,
) -> Result<(), DeviceError> {
    let (structure, triangle) = match view.structure {
        Structure::General => (0, None),
        Structure::Symmetric(uplo) => (1, Some(uplo)),
        Structure::Hermitian(uplo) => (2, Some(uplo)),
        Structure::UnitTriangle(uplo) => (3, Some(uplo)),
    };
    let arguments = [
        Argument::Offset(to),
        Argument::Offset(view.at),
        Argument::Offset(view.rs),
        Argument::Offset(view.cs),
        Argument::Count(view.m),
        Argument::Count(steps.start),
        Argument::Count(steps.len()),
        Argument::Code(view.conj.into()),
        Argument::Code(structure),
        Argument::Code(part_code(triangle)),
    ];
    let (kernel, arguments) = match view.structure {
        Structure::General => (kernels[0], &arguments[..8]),
        _ => (kernels[1], &arguments[..]),
    };
    let groups = [view.m.div_ceil(panel), steps.len().div_ceil(stream.parameters.pack_columns)];
    let local = [stream.parameters.work_items, 1];
    stream.launch(Launch { program: Program::Pack, kernel, arguments, groups, local })
}
