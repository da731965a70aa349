//! A program's own `tracing` spans and the tasks of its factorization, on one clock in one trace.
//!
//! ```text
//! cargo run --release --example host_spans
//! cargo run --release --example draw_trace -- host_spans.trace.json --host --out host_spans.svg
//! ```
//!
//! Tasks are recorded by the runtime. What surrounds them, reading, building, checking, is the program's, and is measured by spans of the
//! `tracing` crate: [`HostSpans::layer`] is a layer for whatever subscriber the program has, and [`ChromeTrace::host_spans`] puts what it
//! captured beside the recording. So the trace shows what the workers did while the program did something else; here, that they stand still
//! while the matrix is built and the result is checked.

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

/// Solves a positive definite system, and traces the program around it, too.
#[derive(Parser)]
struct Arguments {
    /// Order of the matrix.
    #[arg(long, default_value_t = 1536)]
    n: usize,
    /// Right-hand sides.
    #[arg(long, default_value_t = 256)]
    nrhs: usize,
    /// Where the trace goes.
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
        return Err("five spans, and the tasks within one of them, were expected".into());
    }
    Ok(at_most("relative residual", residual, 1e-13)?)
}

/// The residual of the solution of A x = b, relative to b.
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
