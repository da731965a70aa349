//! Products in half precision.

use super::{
    elements::{add, grid, scale},
    program::{Family, THREADS},
    stream::{Argument, Launch, Stream},
};
use crate::{
    Half, Op,
    device::{HalfCall, HalfGemm, HalfRound, HalfTarget, Mat},
    f16,
    operations::Geadd,
};
use superscalar_runtime::DeviceError;

/// Puts a checked call into the stream.
pub(super) fn run<H: Half>(stream: &mut Stream<'_, f32>, call: &HalfCall<H>) -> Result<(), DeviceError> {
    match call {
        HalfCall::Gemm(gemm) => multiply(stream, gemm),
        &HalfCall::Round(HalfRound { sum, beta, c }) => match c {
            HalfTarget::Half(c) => round(stream, Sum::In(sum), beta, c),
            HalfTarget::Single(c) => add(stream, Geadd { op: Op::None, alpha: 1.0, a: sum, beta, b: c }),
        },
    }
}

fn multiply<H: Half>(stream: &mut Stream<'_, f32>, gemm: &HalfGemm<H>) -> Result<(), DeviceError> {
    let &HalfGemm { op_a, alpha, a, beta, c, .. } = gemm;
    let (m, n) = c.shape();
    if m == 0 || n == 0 {
        return Ok(());
    }
    if alpha != 0.0 && op_a.shape(a.shape()).1 > 0 {
        return stream.gemm_half(gemm);
    }
    match c {
        HalfTarget::Single(c) => scale(stream, None, beta, c),
        // A sum of which nothing is read.
        HalfTarget::Half(c) => round(stream, Sum::Zero, beta, c),
    }
}

/// What is added to C.
enum Sum {
    Zero,
    In(Mat<f32>),
}

/// Computes C := S + beta C.
fn round<H: Half>(stream: &mut Stream<'_, f32>, sum: Sum, beta: f32, c: Mat<H>) -> Result<(), DeviceError> {
    let (has_sum, start, ld) = match sum {
        Sum::Zero => (0, Argument::start(c), 0),
        Sum::In(sum) => (1, Argument::start(sum), sum.ld),
    };
    stream.launch(Launch {
        family: Family::Half,
        kernel: if H::NAME == f16::NAME { "round_f16" } else { "round_bf16" },
        arguments: &[
            Argument::code(has_sum),
            start,
            Argument::index(ld),
            Argument::start(c),
            Argument::index(c.ld),
            Argument::index(c.m),
            Argument::index(c.n),
            Argument::value(beta),
        ],
        grid: grid(c.shape()),
        threads: [THREADS, 1],
    })
}
