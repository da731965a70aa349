//! Products in half precision: the factors are converted to single precision in scratch, and multiplied there.

use super::{
    Program,
    elements::{add, scale},
    product::Product,
    stream::{Argument, Launch, Stream},
    view::View,
};
use crate::{
    Half, Op,
    device::{HalfCall, HalfGemm, HalfRound, HalfTarget, Mat},
    f16,
    operations::Geadd,
};
use superscalar_runtime::DeviceError;

/// Puts a call into the stream, whose parameters are those of `f32`.
pub(super) fn run<H: Half>(stream: &mut Stream<'_>, call: &HalfCall<H>) -> Result<(), DeviceError> {
    match call {
        HalfCall::Gemm(gemm) => multiply(stream, gemm),
        &HalfCall::Round(HalfRound { sum, beta, c }) => match c {
            HalfTarget::Half(c) => round(stream, View::of(sum), beta, c),
            HalfTarget::Single(c) => add(stream, Geadd { op: Op::None, alpha: 1.0, a: sum, beta, b: c }),
        },
    }
}

fn multiply<H: Half>(stream: &mut Stream<'_>, gemm: &HalfGemm<H>) -> Result<(), DeviceError> {
    let &HalfGemm { op_a, op_b, alpha, a, b, beta, c } = gemm;
    let ((m, n), before) = (c.shape(), stream.scratch.mark());
    if m == 0 || n == 0 {
        return Ok(());
    }
    let has_product = alpha != 0.0 && op_a.shape(a.shape()).1 > 0;
    let (target, kept) = match c {
        HalfTarget::Single(c) => (View::of(c), beta),
        HalfTarget::Half(_) => (View::dense(stream.scratch.take::<f32>(m * n)?, m, n), 0.0),
    };
    if has_product {
        let a = View::with(op_a, widen(stream, a)?);
        let b = View::with(op_b, widen(stream, b)?);
        Product { part: None, alpha, a, b, beta: kept, c: target }.run(stream)?;
    } else {
        scale(stream, None, kept, target)?;
    }
    if let HalfTarget::Half(c) = c {
        round(stream, target, beta, c)?;
    }
    stream.scratch.release(before);
    Ok(())
}

/// Converts a matrix to single precision, in scratch.
fn widen<H: Half>(stream: &mut Stream<'_>, a: Mat<H>) -> Result<Mat<f32>, DeviceError> {
    let wide = Mat::at(stream.scratch.take::<f32>(a.m * a.n)?, a.shape(), a.m.max(1));
    let [from, ld_from, to, ld_to] = [a.offset, a.ld, wide.offset, wide.ld].map(Argument::Offset);
    stream.launch(Launch {
        program: Program::Elements,
        kernel: if H::NAME == f16::NAME { "widen_f16" } else { "widen_bf16" },
        arguments: &[from, ld_from, to, ld_to, Argument::Count(a.m)],
        groups: [usize::from(a.m > 0), a.n],
        local: [stream.parameters.work_items, 1],
    })?;
    Ok(wide)
}

/// Computes C := S + beta C.
fn round<H: Half>(stream: &mut Stream<'_>, sum: View, beta: f32, c: Mat<H>) -> Result<(), DeviceError> {
    let [from, ld_from, to, ld_to] = [sum.at, sum.cs, c.offset, c.ld].map(Argument::Offset);
    stream.launch(Launch {
        program: Program::Elements,
        kernel: if H::NAME == f16::NAME { "round_f16" } else { "round_bf16" },
        arguments: &[from, ld_from, to, ld_to, Argument::Count(c.m), Argument::element(beta)],
        groups: [usize::from(c.m > 0), c.n],
        local: [stream.parameters.work_items, 1],
    })
}
