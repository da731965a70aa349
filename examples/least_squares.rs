//! Least-squares and minimum-norm solutions: gels with a tall matrix and with its transpose.
//!
//! ```text
//! cargo run --release --example least_squares
//! cargo run --release --example least_squares -- --matrix mahindas.mtx
//! ```
//!
//! The example recovers a signal from noisy samples; the columns of A are Chebyshev polynomials. Alternatively it reads
//! a Matrix Market file, by default `../shared/data/mahindas.mtx` (an economic model of the Harwell-Boeing collection)
//! if that exists, and approximates one column by a combination of the columns to its left. A is the left part of the
//! matrix, at most half as wide as it is tall, so that the system is over-determined; b is the next column.
//!
//! The residual r of a least-squares solution is orthogonal to the columns of A: ‖Aᵀ r‖ is zero up to rounding. The
//! minimum-norm solution z of Aᵀ z = c is a combination of the columns of A, so any other solution y satisfies
//! ‖y‖² = ‖z‖² + ‖y − z‖².

use clap::Parser;
use std::{
    error::Error,
    path::{Path, PathBuf},
    time::Instant,
};
use superscalar::{
    Runtime, devices,
    dla::{Matrix, Options, gels, gemm, lange, matrix_market},
    kernels::{Norm, Op},
};
use superscalar_oracle::{at_most, element};

/// The default file, which is used if it exists.
const MATRIX: &str = "../shared/data/mahindas.mtx";

/// The default number of samples.
const SAMPLES: usize = 20_000;
/// The noise is uniform between −NOISE and NOISE.
const NOISE: f64 = 0.5;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Solves an over-determined system and an under-determined one.
#[derive(Parser)]
struct Arguments {
    /// Matrix Market file with the problem, instead of samples of a signal
    #[arg(long)]
    matrix: Option<PathBuf>,
    /// Number of samples of a signal; no file is read then [default: 20000]
    #[arg(long, conflicts_with = "matrix")]
    m: Option<usize>,
    /// Number of polynomials
    #[arg(long, default_value_t = 100)]
    n: usize,
}

fn main() {
    if let Err(error) = run() {
        eprintln!("least_squares: {error}");
        std::process::exit(1);
    }
}

fn run() -> Outcome {
    let arguments = Arguments::parse();
    let rt = devices::builder()?.build()?;
    let present = || Some(PathBuf::from(MATRIX)).filter(|file| arguments.m.is_none() && file.exists());
    let file = arguments.matrix.clone().or_else(present);
    let (a, b) = match &file {
        Some(file) => read(file)?,
        None => samples(arguments.m.unwrap_or(SAMPLES), arguments.n)?,
    };
    let x = fit(&rt, &a, &b)?;
    if file.is_none() {
        compare_with_the_signal(&rt, &a, &x)?;
    }
    least_norm(&rt, &a)
}

/// Finds the x that minimizes ‖b − A x‖, and checks that the residual is orthogonal to the columns of A.
fn fit(rt: &Runtime, a: &Matrix<f64>, b: &Matrix<f64>) -> Outcome<Matrix<f64>> {
    let (m, n) = (a.nrows(), a.ncols());
    let (mut qr, mut x) = (a.clone(), b.clone());
    let begun = Instant::now();
    gels(rt, Op::None, qr.as_mut(), x.as_mut(), &Options::default())?;
    println!("least squares, A {m} x {n}: {:.3} s", begun.elapsed().as_secs_f64());

    let x = first_rows(&x, n);
    let residual = subtract(b, &product(rt, Op::None, a, &x)?);
    let gradient = product(rt, Op::Trans, a, &residual)?;
    let error = norm(rt, &gradient)? / (norm(rt, a)? * norm(rt, &residual)?);
    println!("  left of b: |b - A x| / |b|      = {:.3}", norm(rt, &residual)? / norm(rt, b)?);
    println!("  optimality: |A^T r| / (|A| |r|) = {error:.1e}");
    at_most("optimality of the residual", error, m as f64 * f64::EPSILON)?;
    Ok(x)
}

/// Computes the minimum-norm solution z of Aᵀ z = c, where c = Aᵀ y for a known y, and compares their norms.
fn least_norm(rt: &Runtime, a: &Matrix<f64>) -> Outcome {
    let (m, n) = (a.nrows(), a.ncols());
    let y = Matrix::from_fn(m, 1, |i, _| 1.0 + (i % 7) as f64);
    let c = product(rt, Op::Trans, a, &y)?;
    // The right-hand side has n rows, the solution m.
    let mut z = Matrix::from_fn(m, 1, |i, _| if i < n { c.at(i, 0) } else { 0.0 });
    gels(rt, Op::Trans, a.clone().as_mut(), z.as_mut(), &Options::default())?;

    let residual = subtract(&c, &product(rt, Op::Trans, a, &z)?);
    let error = norm(rt, &residual)? / (norm(rt, a)? * norm(rt, &z)?);
    let (whole, least, rest) = (norm(rt, &y)?, norm(rt, &z)?, norm(rt, &subtract(&y, &z))?);
    println!("least norm, A^T {n} x {m}:");
    println!("  |c - A^T z| / (|A| |z|)         = {error:.1e}");
    println!("  |z| = {least:.3}, of a known solution |y| = {whole:.3}, and |y - z| = {rest:.3}");
    at_most("backward error of the minimum-norm solution", error, m as f64 * f64::EPSILON)?;
    let excess = (whole.powi(2) - least.powi(2) - rest.powi(2)).abs() / whole.powi(2);
    println!("  ||y|^2 - |z|^2 - |y - z|^2| / |y|^2 = {excess:.1e}");
    // An error of z in the range of A grows with the condition number of A. The bound allows numbers up to ten
    // thousand.
    Ok(at_most("violation of |y|^2 = |z|^2 + |y - z|^2", excess, 1e4 * m as f64 * f64::EPSILON)?)
}

/// Returns the polynomials of degrees 0 to n − 1 at m times from −1 to 1, and the noisy signal at these times.
fn samples(m: usize, n: usize) -> Outcome<(Matrix<f64>, Matrix<f64>)> {
    let mut a = Matrix::try_zeros(m, n)?;
    let mut view = a.as_mut();
    for at in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))) {
        view[at] = (at.1 as f64 * time(at.0, m).acos()).cos();
    }
    let noise = |i| 2.0 * NOISE * element::<f64>(1, i, 0);
    Ok((a, Matrix::from_fn(m, 1, |i, _| signal(time(i, m)) + noise(i))))
}

fn time(i: usize, m: usize) -> f64 {
    2.0 * i as f64 / (m - 1) as f64 - 1.0
}

fn signal(t: f64) -> f64 {
    (-t * t).exp() * (20.0 * t).sin()
}

/// Checks the error of the recovered signal. A fit with n polynomials is expected to keep √(n/m) of the noise.
fn compare_with_the_signal(rt: &Runtime, a: &Matrix<f64>, x: &Matrix<f64>) -> Outcome {
    let (m, n) = (a.nrows(), a.ncols());
    let truth = Matrix::from_fn(m, 1, |i, _| signal(time(i, m)));
    let error = norm(rt, &subtract(&truth, &product(rt, Op::None, a, x)?))? / (m as f64).sqrt();
    let (noise, expected) = (NOISE / 3.0_f64.sqrt(), NOISE / 3.0_f64.sqrt() * (n as f64 / m as f64).sqrt());
    println!("  noise in the samples {noise:.3}, in the fit {error:.4}, expected {expected:.4} (root mean squares)");
    Ok(at_most("error of the recovered signal", error, 2.0 * expected)?)
}

/// Reads a matrix and returns its first columns, at most half as many as it has rows, and the next column.
fn read(file: &Path) -> Outcome<(Matrix<f64>, Matrix<f64>)> {
    let market = matrix_market::read_file(file)?;
    let shape = market.shape();
    println!("{}: {} x {}, {} entries", file.display(), shape.m, shape.n, market.nnz());
    let whole = Matrix::<f64>::from_market(&market)?;
    let n = (shape.m / 2).min(shape.n.saturating_sub(1));
    if n == 0 {
        return Err(format!("the matrix is {} x {}, expected at least 2 x 2", shape.m, shape.n).into());
    }
    Ok((Matrix::from_fn(shape.m, n, |i, j| whole.at(i, j)), Matrix::from_fn(shape.m, 1, |i, _| whole.at(i, n))))
}

/// Returns op(A) X.
fn product(rt: &Runtime, op: Op, a: &Matrix<f64>, x: &Matrix<f64>) -> Outcome<Matrix<f64>> {
    let (m, _) = op.shape((a.nrows(), a.ncols()));
    let mut y = Matrix::zeros(m, x.ncols());
    gemm(rt, 1.0, op, a.as_ref(), Op::None, x.as_ref(), 0.0, y.as_mut(), &Options::default())?;
    Ok(y)
}

fn norm(rt: &Runtime, a: &Matrix<f64>) -> Outcome<f64> {
    Ok(lange(rt, Norm::Frobenius, a.as_ref(), &Options::default())?)
}

fn subtract(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    Matrix::from_fn(a.nrows(), a.ncols(), |i, j| a.at(i, j) - b.at(i, j))
}

fn first_rows(a: &Matrix<f64>, m: usize) -> Matrix<f64> {
    Matrix::from_fn(m, a.ncols(), |i, j| a.at(i, j))
}
