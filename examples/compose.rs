//! Three routines in one scope, and a report of when they ran: the Schur complement S = C − Bᵀ A⁻¹ B.
//!
//! ```text
//! cargo run --release --example compose
//! ```
//!
//! A = L Lᵀ (potrf), X = L⁻¹ B (trsm), S = C − Xᵀ X (gemm), where A is positive definite. Each call inserts its tasks
//! and returns. There is no barrier between the routines: a task of trsm needs only some tiles of L, and runs when they
//! are computed. The recording of the run shows how far the routines overlapped, and is written as a trace for
//! `chrome://tracing` or <https://ui.perfetto.dev>.

use clap::Parser;
use std::{error::Error, fs::File, path::PathBuf};
use superscalar::{
    Runtime,
    dla::{Matrix, Options, Tiled, posv, spawn},
    kernels::{Diag, Op, Side, Uplo},
    recording::{ChromeTrace, Recording, Span},
};
use superscalar_oracle::{at_most, element, largest};

const ROUTINES: [&str; 3] = ["potrf", "trsm", "gemm"];

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Computes a Schur complement with three routines without a barrier, and shows how they overlapped.
#[derive(Parser)]
struct Arguments {
    /// Order of A.
    #[arg(long, default_value_t = 2048)]
    n: usize,
    /// Order of C.
    #[arg(long, default_value_t = 1024)]
    k: usize,
    /// Tile size.
    #[arg(long, default_value_t = 192)]
    nb: usize,
    /// File for the trace.
    #[arg(long, default_value = "compose.trace.json")]
    trace: PathBuf,
}

fn main() -> Outcome {
    let arguments = Arguments::parse();
    let (n, k, nb) = (arguments.n, arguments.k, arguments.nb);
    let rt = Runtime::builder().trace(true).build()?;
    println!("A of order {n}, C of order {k}, tiles of {nb}, {} workers, policy {}", rt.workers(), rt.policy());
    let a = Matrix::from_fn(n, n, |i, j| if i == j { n as f64 } else { element(1, i.max(j), i.min(j)) });
    let (b, c) =
        (Matrix::from_fn(n, k, |i, j| element(1, i, j)), Matrix::from_fn(k, k, |i, j| element(1, i.max(j), i.min(j))));

    let (mut l, mut x, mut s) = (a.clone(), b.clone(), c.clone());
    rt.scope(|scope| {
        let l = Tiled::new(scope, l.as_mut(), nb, nb);
        let x = Tiled::new(scope, x.as_mut(), nb, nb);
        let s = Tiled::new(scope, s.as_mut(), nb, nb);
        spawn::potrf(scope, Uplo::Lower, &l);
        spawn::trsm(scope, Side::Left, Uplo::Lower, Op::None, Diag::NonUnit, 1.0, &l, &x);
        spawn::gemm(scope, -1.0, Op::Trans, &x, Op::None, &x, 1.0, &s);
    })?;

    let recording = rt.take_recording().unwrap_or_default();
    show_overlap(&recording)?;
    let written = ChromeTrace::new(&recording).write(File::create(&arguments.trace)?)?;
    println!("trace: {} ({} tasks, {} hazards)", arguments.trace.display(), written.slices, written.arrows);
    check(&rt, [&a, &b, &c], &s)
}

/// Prints when each routine ran. The site of a task, the line that inserted it, identifies its routine: all three
/// routines spawn gemm tasks.
fn show_overlap(recording: &Recording) -> Outcome {
    let mut sites: Vec<_> = recording.tasks.iter().map(|task| task.site).collect();
    sites.sort();
    sites.dedup();
    let spans_from = |site| -> Vec<&Span> {
        let inserted = |span: &&Span| recording.tasks.iter().any(|task| task.id == span.task && task.site == site);
        recording.spans.iter().filter(inserted).collect()
    };
    let routines: Vec<Vec<&Span>> = sites.into_iter().map(spans_from).collect();
    if routines.len() != ROUTINES.len() {
        return Err(format!("{} lines inserted tasks, expected {}", routines.len(), ROUTINES.len()).into());
    }
    let start = recording.spans.iter().map(|span| span.start_ns).min().unwrap_or(0);
    let ms = |time_ns: u64| (time_ns - start) as f64 * 1e-6;
    let end_ns = |spans: &[&Span]| spans.iter().map(|span| span.end_ns).max().unwrap_or(start);
    println!("routine  tasks   first began    last ended  ended before the routine above");
    for (at, (name, spans)) in ROUTINES.iter().zip(&routines).enumerate() {
        let began = spans.iter().map(|span| span.start_ns).min().unwrap_or(start);
        print!("{name:<7}  {:>5}  {:>9.2} ms  {:>9.2} ms", spans.len(), ms(began), ms(end_ns(spans)));
        if let Some(above) = at.checked_sub(1) {
            let early = spans.iter().filter(|span| span.end_ns < end_ns(&routines[above])).count();
            println!("  {early}");
            if early == 0 {
                return Err(format!("{name} waited for the end of {}", ROUTINES[above]).into());
            }
        } else {
            println!();
        }
    }
    Ok(())
}

/// Compares S v with C v − Bᵀ (A⁻¹ (B v)) for a vector v.
fn check(rt: &Runtime, [a, b, c]: [&Matrix<f64>; 3], s: &Matrix<f64>) -> Outcome {
    let (n, k) = (b.nrows(), b.ncols());
    let v = |j: usize| 1.0 + j as f64 / k as f64;
    let mut y = Matrix::from_fn(n, 1, |i, _| (0..k).map(|j| b.at(i, j) * v(j)).sum());
    posv(rt, Uplo::Lower, a.clone().as_mut(), y.as_mut(), &Options::default())?;
    let product = |row: usize| (0..n).map(|i| b.at(i, row) * y.at(i, 0)).sum::<f64>();
    let expected: Vec<f64> =
        (0..k).map(|row| (0..k).map(|j| c.at(row, j) * v(j)).sum::<f64>() - product(row)).collect();
    let found = |row: usize| (0..k).map(|j| s.at(row, j) * v(j)).sum::<f64>();
    let size = largest(expected.iter().map(|x| x.abs()));
    let error = largest(expected.iter().enumerate().map(|(row, x)| (found(row) - x).abs())) / size;
    println!("difference from C v - B^T (A^-1 (B v)), relative: {error:.1e}");
    Ok(at_most("error of the Schur complement", error, (n + k) as f64 * f64::EPSILON)?)
}
