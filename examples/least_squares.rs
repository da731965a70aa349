//! Least squares, and solutions of least norm: gels with a tall matrix, and with its transpose.
//!
//! ```text
//! cargo run --release --example least_squares
//! cargo run --release --example least_squares -- --matrix mahindas.mtx
//! ```
//!
//! A signal is recovered from noisy samples: the columns of A are Chebyshev polynomials. From a Matrix Market file, which is
//! `../shared/data/mahindas.mtx` (an economic model of the Harwell-Boeing collection) where that is present, comes another tall
//! problem: how much of one column is a combination of those to its left. A square matrix would leave nothing
//! to minimise, so A is its left part, half as wide as it is tall at most, and b the column that follows.
//!
//! The residual r of a least-squares solution is orthogonal to the columns of A: ‖Aᵀ r‖ is zero but for rounding. The solution z
//! of Aᵀ z = c of least norm is a combination of the columns of A, so any other solution y has ‖y‖² = ‖z‖² + ‖y − z‖².

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

/// Taken where it is present and nothing else is asked for.
const MATRIX: &str = "../shared/data/mahindas.mtx";

/// Samples, unless their number is given.
const SAMPLES: usize = 20_000;
/// Noise is uniform between minus and plus this.
const NOISE: f64 = 0.5;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Solves an over-determined system and an under-determined one.
#[derive(Parser)]
struct Arguments {
    /// A Matrix Market file to take the problem from, instead of samples of a signal
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

/// Finds the x that makes ‖b − A x‖ least, and looks whether the residual is orthogonal to A's columns.
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

/// Solves Aᵀ z = c, where c = Aᵀ y for a known y: of all solutions z is the shortest.
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
    at_most("backward error of the solution of least norm", error, m as f64 * f64::EPSILON)?;
    let excess = (whole.powi(2) - least.powi(2) - rest.powi(2)).abs() / whole.powi(2);
    println!("  ||y|^2 - |z|^2 - |y - z|^2| / |y|^2 = {excess:.1e}");
    // An error of z in the range of A grows with A's condition number, for which this has room up to ten thousand.
    Ok(at_most("what the solution is longer than the least one", excess, 1e4 * m as f64 * f64::EPSILON)?)
}

/// Polynomials of degree 0 to n - 1 at m times from -1 to 1, and the noisy signal at these times.
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

/// Of the noise only what looks like one of n polynomials stays: √(n/m) of it.
fn compare_with_the_signal(rt: &Runtime, a: &Matrix<f64>, x: &Matrix<f64>) -> Outcome {
    let (m, n) = (a.nrows(), a.ncols());
    let truth = Matrix::from_fn(m, 1, |i, _| signal(time(i, m)));
    let error = norm(rt, &subtract(&truth, &product(rt, Op::None, a, x)?))? / (m as f64).sqrt();
    let (noise, expected) = (NOISE / 3.0_f64.sqrt(), NOISE / 3.0_f64.sqrt() * (n as f64 / m as f64).sqrt());
    println!("  noise in the samples {noise:.3}, in the fit {error:.4}, expected {expected:.4} (root mean squares)");
    Ok(at_most("error of the recovered signal", error, 2.0 * expected)?)
}

/// The first columns of a matrix, half as many as it has rows at most, and the column that follows.
fn read(file: &Path) -> Outcome<(Matrix<f64>, Matrix<f64>)> {
    let market = matrix_market::read_file(file)?;
    let shape = market.shape();
    println!("{}: {} x {}, {} entries", file.display(), shape.m, shape.n, market.nnz());
    let whole = Matrix::<f64>::from_market(&market)?;
    let n = (shape.m / 2).min(shape.n.saturating_sub(1));
    if n == 0 {
        return Err("a matrix of two rows and two columns, or more, is needed".into());
    }
    Ok((Matrix::from_fn(shape.m, n, |i, j| whole.at(i, j)), Matrix::from_fn(shape.m, 1, |i, _| whole.at(i, n))))
}

/// op(A) X.
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
