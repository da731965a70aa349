//! A Cholesky factorization on all cores, with a check of the result and a trace.
//!
//! ```text
//! cargo run --release --example cholesky
//! cargo run --release --example cholesky -- --n 8192 --type s --uplo u --policy fifo --dot graph.dot
//! cargo run --release --example cholesky -- --matrix bcsstk15.mtx
//! ```

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    error::Error,
    fs::File,
    io::{BufWriter, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use superscalar::{
    PolicyName, Runtime, devices,
    dla::{
        BlockSize, Matrix, Options, Scalar,
        matrix_market::{self, Market},
        potrf, potrs,
    },
    kernels::{Diag, MatMut, MatRef, Op, Real, Uplo, c32, c64, cpu},
    recording::{ChromeTrace, Dot},
};
use superscalar_oracle::{ROUNDINGS_MAX, Random, Storage, Sum, at_most, residual::backward_error, stored, triangle};
use superscalar_traces::{Trace, analysis::Analysis};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// The largest accepted backward error, in units of n eps. Usual values are about 0.1.
const BOUND: f64 = 5.0;

/// Factors a Hermitian positive definite matrix on all cores, checks the result, and writes a trace.
#[derive(Parser)]
struct Arguments {
    /// Order of the matrix.
    #[arg(long, default_value_t = 4096)]
    n: usize,
    /// Precision: s, d, c or z.
    #[arg(long = "type", default_value = "d")]
    letter: char,
    /// Tile size; chosen by the library by default.
    #[arg(long)]
    nb: Option<usize>,
    /// Threads that run tasks; one per core by default.
    #[arg(long)]
    workers: Option<usize>,
    /// Which triangle: l or u.
    #[arg(long, default_value = "l")]
    uplo: Uplo,
    /// A Matrix Market file to factor and solve with, instead of a random matrix.
    #[arg(long)]
    matrix: Option<PathBuf>,
    /// File for the trace.
    #[arg(long, default_value = "cholesky.trace.json")]
    trace: PathBuf,
    /// File for the task graph, as GraphViz source.
    #[arg(long)]
    dot: Option<PathBuf>,
    /// Scheduling policy: fifo, work-stealing or priority.
    #[arg(long)]
    policy: Option<PolicyName>,
}

fn main() {
    let arguments = Arguments::parse();
    let result = match arguments.letter {
        's' => run::<f32>(&arguments),
        'd' => run::<f64>(&arguments),
        'c' => run::<c32>(&arguments),
        'z' => run::<c64>(&arguments),
        other => Err(format!("--type {other}: expected s, d, c or z").into()),
    };
    if let Err(error) = result {
        eprintln!("cholesky: {error}");
        std::process::exit(1);
    }
}

fn run<T: Scalar>(arguments: &Arguments) -> Outcome {
    let mut builder = devices::builder()?.trace(true);
    if let Some(workers) = arguments.workers {
        builder = builder.workers(workers);
    }
    if let Some(policy) = arguments.policy {
        builder = builder.policy(policy);
    }
    let rt = builder.build()?;
    let a = match &arguments.matrix {
        Some(file) => read::<T>(file)?,
        None => random::<T>(arguments.n, arguments.uplo)?,
    };
    let options = Options::default().block_size(arguments.nb.map_or(BlockSize::Auto, BlockSize::Fixed));
    let (n, nb) = (a.nrows(), options.factorization_nb::<T>(a.nrows(), rt.workers())?);
    println!("n = {n}, type {}, nb = {nb}, {} workers, policy {}", T::LETTER, rt.workers(), rt.policy());

    let mut factor = a.clone();
    let seconds = factorize(&rt, arguments.uplo, factor.as_mut(), nb, &options)?;
    let recording = rt.take_recording().unwrap_or_default();
    let flops = (n as f64).powi(3) / 6.0 * f64::from(T::FLOPS_MUL + T::FLOPS_ADD);
    println!("{seconds:.4} s, {:.1} GFLOP/s", flops / seconds / 1e9);
    let error = error(arguments.uplo, a.as_ref(), factor.as_ref());
    println!("A - L L^H is {error:.1} roundings of its terms");
    at_most("error of the factorization, in roundings", error, ROUNDINGS_MAX)?;
    if arguments.matrix.is_some() {
        solve(&rt, arguments.uplo, &a, &factor, &options)?;
    }

    let written = ChromeTrace::new(&recording).write(File::create(&arguments.trace)?)?;
    let (trace, slices, arrows) = (arguments.trace.display(), written.slices, written.arrows);
    println!(
        "trace: {trace} ({slices} tasks, {arrows} hazards); open it in chrome://tracing or https://ui.perfetto.dev"
    );
    let Analysis { overview, path, parallelism, .. } = Analysis::new(&Trace::open(&arguments.trace)?);
    print!("{overview}{path}{parallelism}");
    if let Some(file) = &arguments.dot {
        write!(BufWriter::new(File::create(file)?), "{}", Dot::new(&recording))?;
        println!("task graph: {} ({} tasks)", file.display(), recording.tasks.len());
    }
    Ok(())
}

/// Factors the matrix and returns the seconds. Shows a progress bar on a terminal if it takes long.
fn factorize<T: Scalar>(rt: &Runtime, uplo: Uplo, a: MatMut<'_, T>, nb: usize, options: &Options) -> Outcome<f64> {
    let nt = a.nrows().div_ceil(nb) as u64;
    let bar = ProgressBar::new(nt * (nt + 1) * (nt + 2) / 6);
    bar.set_style(ProgressStyle::with_template("{bar:50} {pos}/{len} tasks, {eta} left")?);
    let is_done = AtomicBool::new(!std::io::stderr().is_terminal());
    std::thread::scope(|threads| {
        let watcher = threads.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                std::thread::park_timeout(Duration::from_millis(500));
                if !is_done.load(Ordering::Relaxed) {
                    bar.set_position(rt.tasks_done());
                }
            }
            bar.finish_and_clear();
        });
        let begun = Instant::now();
        let outcome = potrf(rt, uplo, a, options);
        let seconds = begun.elapsed().as_secs_f64();
        is_done.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        Ok(outcome.map(|()| seconds)?)
    })
}

/// Makes a triangle of a random Hermitian positive definite matrix.
fn random<T: Scalar>(n: usize, uplo: Uplo) -> Outcome<Matrix<T>> {
    let mut a = Matrix::try_zeros(n, n)?;
    Random::new(1).positive_definite(uplo, a.as_mut());
    Ok(a)
}

fn read<T: Scalar>(file: &Path) -> Outcome<Matrix<T>> {
    let market: Market = matrix_market::read_file(file)?;
    let shape = market.shape();
    if !market.is_hermitian() && !market.is_symmetric() {
        return Err(
            format!("{}: the matrix is not symmetric, so it has no Cholesky factorization", file.display()).into()
        );
    }
    let a = Matrix::from_market(&market)?;
    println!("{}: {} x {}, {} entries", file.display(), shape.m, shape.n, market.nnz());
    Ok(a)
}

/// Returns the error A − L Lᴴ or A − Uᴴ U, in roundings of its terms.
fn error<T: Scalar>(uplo: Uplo, a: MatRef<'_, T>, factor: MatRef<'_, T>) -> f64 {
    let ops = if uplo == Uplo::Lower { [Op::None, Op::ConjTrans] } else { [Op::ConjTrans, Op::None] };
    let product = ops.map(|op| triangle(uplo, op, Diag::NonUnit, factor));
    Sum::new(a.nrows()).plus(T::ONE, product).minus([stored(Storage::Hermitian(uplo), a)]).columnwise()
}

/// Solves A x = b for b = A (1, …, 1), prints the backward error, and returns an error if it is too large.
fn solve<T: Scalar>(rt: &Runtime, uplo: Uplo, a: &Matrix<T>, factor: &Matrix<T>, options: &Options) -> Outcome {
    let n = a.nrows();
    let ones = Matrix::from_fn(n, 1, |_, _| T::ONE);
    let mut x = Matrix::zeros(n, 1);
    cpu::gemm(T::ONE, Op::None, a.as_ref(), Op::None, ones.as_ref(), T::ZERO, x.as_mut());
    let b = x.clone();
    potrs(rt, uplo, factor.as_ref(), x.as_mut(), options)?;
    let error = backward_error(a.as_ref(), x.as_ref(), b.as_ref()) / (n as f64 * T::EPSILON.to_f64());
    println!("solution: |b - A x| / (n |A| |x| eps) = {error:.3}");
    Ok(at_most("backward error of the solution, in n eps", error, BOUND)?)
}
