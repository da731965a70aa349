//! A program's own `tracing` spans and the tasks of its factorization in one trace with one clock.
//!
//! ```text
//! cargo run --release --example host_spans
//! cargo run --release --example draw_trace -- host_spans.trace.json --host --out host_spans.svg
//! ```
//!
//! The runtime records tasks. Spans of the `tracing` crate record the other work of the program, such as building a
//! matrix and checking a result. [`HostSpans::layer`] returns a layer for the program's subscriber, and
//! [`ChromeTrace::host_spans`] adds the captured spans to the recording. The trace shows what the workers do during
//! each span; here, they are idle while the matrix is built and while the result is checked.

use clap::Parser;
use std::{error::Error, fs::File, path::PathBuf};
use superscalar::{
    Runtime,
    dla::{Matrix, Options, gemm, lange, potrf, potrs},
    kernels::{Norm, Op, Uplo},
    recording::{ChromeTrace, HostSpans},
};
use superscalar_oracle::at_most;
use tracing::info_span;
use tracing_subscriber::prelude::*;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Solves a positive definite system, and traces the solver and the program.
#[derive(Parser)]
struct Arguments {
    /// Order of the matrix.
    #[arg(long, default_value_t = 1536)]
    n: usize,
    /// Right-hand sides.
    #[arg(long, default_value_t = 256)]
    nrhs: usize,
    /// File for the trace.
    #[arg(long, default_value = "host_spans.trace.json")]
    trace: PathBuf,
}

fn main() -> Outcome {
    let arguments = Arguments::parse();
    let (layer, mut host) = HostSpans::layer()?;
    tracing_subscriber::registry().with(layer).init();
    let rt = Runtime::builder().trace(true).build()?;
    let residual = solve(&rt, arguments.n, arguments.nrhs)?;

    let (recording, capture) = (rt.take_recording().unwrap_or_default(), host.take()?);
    let epoch = rt.recording_epoch().ok_or("the runtime does not trace")?;
    let trace = ChromeTrace::new(&recording).host_spans(&capture, epoch);
    let written = trace.write(File::create(&arguments.trace)?)?;
    println!("{}: {} tasks, {} spans of the program", arguments.trace.display(), written.slices, written.host_events);
    if written.host_events != 5 || written.slices == 0 {
        let (spans, tasks) = (written.host_events, written.slices);
        return Err(format!("the trace has {spans} spans and {tasks} tasks, expected 5 spans and some tasks").into());
    }
    Ok(at_most("relative residual", residual, 1e-13)?)
}

/// Solves A x = b and returns the residual relative to b.
fn solve(rt: &Runtime, n: usize, nrhs: usize) -> Outcome<f64> {
    let _all = info_span!("system", n, nrhs).entered();
    let (a, b) = {
        let _build = info_span!("build").entered();
        let element = |i: usize, j: usize| 1.0 / (1.0 + i.abs_diff(j) as f64) + if i == j { 10.0 } else { 0.0 };
        (Matrix::from_fn(n, n, element), Matrix::from_fn(n, nrhs, |i, j| ((i + 3 * j) as f64).sin()))
    };
    let options = Options::default().nb(192);
    let (mut factor, mut x) = (a.clone(), b.clone());
    {
        let _factor = info_span!("factor").entered();
        potrf(rt, Uplo::Lower, factor.as_mut(), &options)?;
    }
    {
        let _solve = info_span!("solve").entered();
        potrs(rt, Uplo::Lower, factor.as_ref(), x.as_mut(), &options)?;
    }
    let _check = info_span!("check").entered();
    let mut r = b.clone();
    gemm(rt, -1.0, Op::None, a.as_ref(), Op::None, x.as_ref(), 1.0, r.as_mut(), &options)?;
    Ok(lange(rt, Norm::Frobenius, r.as_ref(), &options)? / lange(rt, Norm::Frobenius, b.as_ref(), &options)?)
}
