//! The main job: a Cholesky factorization on all cores, checked, with a trace.
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
    kernels::{
        MatMut, MatRef, Op, Real, Uplo,
        accuracy::{at_most, largest},
        c32, c64, cpu,
    },
    recording::{ChromeTrace, Dot},
};
use superscalar_traces::{Trace, analysis::Analysis};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Backward errors may be so many times n eps; usual is a tenth of one.
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
    /// Tile size; measured by default.
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
    /// Where the trace goes.
    #[arg(long, default_value = "cholesky.trace.json")]
    trace: PathBuf,
    /// Where the task graph goes, as GraphViz source.
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
        None => random::<T>(arguments.n)?,
    };
    let options = Options::default().block_size(arguments.nb.map_or(BlockSize::Auto, BlockSize::Fixed));
    let (n, nb) = (a.nrows(), options.factorization_nb::<T>(a.nrows(), rt.workers())?);
    println!("n = {n}, type {}, nb = {nb}, {} workers, policy {}", T::LETTER, rt.workers(), rt.policy());

    let mut factor = a.clone();
    let seconds = factorize(&rt, arguments.uplo, factor.as_mut(), nb, &options)?;
    let recording = rt.take_recording().unwrap_or_default();
    let flops = (n as f64).powi(3) / 6.0 * f64::from(T::FLOPS_MUL + T::FLOPS_ADD);
    println!("{seconds:.4} s, {:.1} GFLOP/s", flops / seconds / 1e9);
    let error = backward_error(&rt, arguments.uplo, &a, &factor)?;
    println!("backward error |A - L L^H| / (n |A| eps) = {error:.3}");
    at_most("backward error of the factorization, in n eps", error, BOUND)?;
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

/// Factors, with a progress bar when it takes long and somebody looks.
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

/// A random Hermitian matrix with a dominant diagonal, so that it is positive definite.
fn random<T: Scalar>(n: usize) -> Outcome<Matrix<T>> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let mut a = Matrix::try_zeros(n, n)?;
    let mut view = a.as_mut();
    for j in 0..n {
        view[(j, j)] = T::from_f64(n as f64);
        for i in j + 1..n {
            let value = T::from_parts(real::<T>(next()), real::<T>(next()));
            view[(i, j)] = value;
            view[(j, i)] = value.conj();
        }
    }
    Ok(a)
}

fn real<T: Scalar>(value: f64) -> T::Real {
    T::from_f64(value).re()
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

/// ‖A − L Lᴴ‖ / (n ‖A‖ ε) in the Frobenius norm, computed on all cores, a block column of the named triangle a task.
fn backward_error<T: Scalar>(rt: &Runtime, uplo: Uplo, a: &Matrix<T>, factor: &Matrix<T>) -> Outcome<f64> {
    let n = a.nrows();
    let (a, l) = match uplo {
        Uplo::Lower => (a.as_ref(), factor.as_ref()),
        // The transposed views: Uᵀ is the lower factor of Aᵀ.
        Uplo::Upper => (a.as_ref().transpose(), factor.as_ref().transpose()),
    };
    const WIDTH: usize = 256;
    let mut sums = vec![(0.0, 0.0); n.div_ceil(WIDTH)];
    rt.scope(|s| {
        for (at, sums) in sums.iter_mut().enumerate() {
            let sums = s.lend(sums);
            s.spawn("check", sums.write(), move |sums| *sums = column_error(a, l, at * WIDTH..n.min((at + 1) * WIDTH)));
        }
    })?;
    let (error, norm) = sums.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    Ok(error.sqrt() / (n.max(1) as f64 * norm.sqrt().max(f64::MIN_POSITIVE) * T::EPSILON.to_f64()))
}

/// Squares of the norms of A − L Lᴴ and A in some columns, from the diagonal block down.
fn column_error<T: Scalar>(a: MatRef<'_, T>, l: MatRef<'_, T>, cols: std::ops::Range<usize>) -> (f64, f64) {
    let (n, first, end) = (a.nrows(), cols.start, cols.end);
    let mut residual = Matrix::from_fn(n - first, cols.len(), |i, j| a.at(first + i, first + j));
    let norm = square(&residual);
    // The part of L right of the diagonal holds what was there before.
    let triangle =
        Matrix::from_fn(n - first, cols.len(), |i, j| if i >= j { l.at(first + i, first + j) } else { T::ZERO });
    let left = l.submatrix(first..n, 0..first);
    let right = l.submatrix(first..end, 0..first);
    let minus = T::from_f64(-1.0);
    cpu::gemm(minus, Op::None, left, Op::ConjTrans, right, T::ONE, residual.as_mut());
    let block = triangle.as_ref().submatrix(0..cols.len(), 0..cols.len());
    cpu::gemm(minus, Op::None, triangle.as_ref(), Op::ConjTrans, block, T::ONE, residual.as_mut());
    (square(&residual), norm)
}

/// Sum of the squares of a block column, each element below the diagonal block's diagonal counted for its mirror image, too.
fn square<T: Scalar>(block: &Matrix<T>) -> f64 {
    let mut sum = 0.0;
    for j in 0..block.ncols() {
        for i in j..block.nrows() {
            let weight = if i == j { 1.0 } else { 2.0 };
            sum += weight * block.at(i, j).abs().to_f64().powi(2);
        }
    }
    sum
}

/// Solves A x = b for b = A (1, …, 1), prints how far the solution is off, and refuses one that is too far off.
fn solve<T: Scalar>(rt: &Runtime, uplo: Uplo, a: &Matrix<T>, factor: &Matrix<T>, options: &Options) -> Outcome {
    let n = a.nrows();
    let ones = Matrix::from_fn(n, 1, |_, _| T::ONE);
    let mut x = Matrix::zeros(n, 1);
    cpu::gemm(T::ONE, Op::None, a.as_ref(), Op::None, ones.as_ref(), T::ZERO, x.as_mut());
    let b = x.clone();
    potrs(rt, uplo, factor.as_ref(), x.as_mut(), options)?;
    let mut residual = b.clone();
    cpu::gemm(T::from_f64(-1.0), Op::None, a.as_ref(), Op::None, x.as_ref(), T::ONE, residual.as_mut());
    let length = |v: &Matrix<T>| largest((0..n).map(|i| v.at(i, 0).abs().to_f64()));
    let norm = largest((0..n).map(|i| (0..n).map(|j| a.at(i, j).abs().to_f64()).sum::<f64>()));
    let error = length(&residual) / (norm * length(&x) * n as f64 * T::EPSILON.to_f64());
    println!("solution: |b - A x| / (n |A| |x| eps) = {error:.3}");
    Ok(at_most("backward error of the solution, in n eps", error, BOUND)?)
}
