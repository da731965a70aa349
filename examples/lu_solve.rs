//! A general system: factorization, solution and residual in one scope, the accuracy of the solution, and the error for
//! a singular matrix.
//!
//! ```text
//! cargo run --release --example lu_solve
//! cargo run --release --example lu_solve -- --n 4000
//! ```
//!
//! getrf, getrs and gemm insert their tasks one after the other, and the runtime infers the hazards from the tiles. LU
//! uses block columns, since a panel chooses pivots among whole columns. The product may divide the same matrix in
//! another way.
//!
//! Two numbers describe the accuracy of the solution. The backward error is the smallest relative change of A for which
//! x is exact. The condition number states how much such a change affects x.

use clap::Parser;
use std::{error::Error, time::Instant};
use superscalar::{
    Runtime, devices,
    dla::{ErrorKind, Matrix, Options, Tiled, gecon, gesv, lange, spawn},
    kernels::{Norm, Op},
};
use superscalar_oracle::{Random, at_most, largest};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Solves a general system, checks the solution, and shows the error for a singular matrix.
#[derive(Parser)]
struct Arguments {
    /// Order of the matrix.
    #[arg(long, default_value_t = 2000)]
    n: usize,
    /// Columns of a block column.
    #[arg(long, default_value_t = 96)]
    nb: usize,
}

fn main() {
    if let Err(error) = run() {
        eprintln!("lu_solve: {error}");
        std::process::exit(1);
    }
}

fn run() -> Outcome {
    let arguments = Arguments::parse();
    let (rt, options) = (devices::builder()?.build()?, Options::default());
    println!("n = {}, {} workers, policy {}", arguments.n, rt.workers(), rt.policy());
    solve(&rt, &arguments, &options)?;
    solve_singular_system(&rt, arguments.n, &options)
}

/// Solves A x = b for a known x of ones.
fn solve(rt: &Runtime, &Arguments { n, nb }: &Arguments, options: &Options) -> Outcome {
    let a = random(n)?;
    let b = Matrix::from_fn(n, 1, |i, _| (0..n).map(|j| a.at(i, j)).sum());
    let (mut lu, mut ipiv, mut x, mut residual) = (a.clone(), vec![0; n], b.clone(), b.clone());

    let begun = Instant::now();
    rt.scope(|s| {
        let (lu, x_columns) = (Tiled::columns(s, lu.as_mut(), nb), Tiled::columns(s, x.as_mut(), nb));
        let pivots = spawn::getrf(s, &lu, &mut ipiv);
        spawn::getrs(s, Op::None, &lu, &pivots, &x_columns);
        // r = b − A x, by block rows
        let (a_rows, r) = (Tiled::read_only(s, a.as_ref(), nb, n), Tiled::new(s, residual.as_mut(), nb, 1));
        spawn::gemm(s, -1.0, Op::None, &a_rows, Op::None, &x_columns, 1.0, &r);
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    println!("getrf, getrs and gemm in one scope: {seconds:.3} s");

    let norm = |a: &Matrix<f64>| lange(rt, Norm::Inf, a.as_ref(), options);
    let a_norm = norm(&a)?;
    let backward = norm(&residual)? / (a_norm * norm(&x)?);
    let rcond = gecon(Norm::Inf, lu.as_ref(), a_norm)?;
    let forward = largest((0..n).map(|i| (x.at(i, 0) - 1.0).abs()));
    println!("backward error |b - A x| / (|A| |x|) = {backward:.1e}");
    println!("condition number, estimated         = {:.1e}", 1.0 / rcond);
    println!("error of x, which was all ones      = {forward:.1e}, at most about {:.1e}", 2.0 * backward / rcond);
    at_most("backward error", backward, n as f64 * f64::EPSILON)?;
    Ok(at_most("error of x", forward, 10.0 * backward / rcond)?)
}

/// Factors a matrix with a column of zeros. The factorization completes and reports the column; the right-hand side is
/// unchanged.
fn solve_singular_system(rt: &Runtime, n: usize, options: &Options) -> Outcome {
    let zero = n / 2;
    let mut a = random(n)?;
    a.as_mut().col(zero).fill(0.0);
    let ones = Matrix::from_fn(n, 1, |_, _| 1.0);
    let (mut ipiv, mut x) = (vec![0; n], ones.clone());
    match gesv(rt, a.as_mut(), &mut ipiv, x.as_mut(), options) {
        Err(error) if error.kind() == ErrorKind::Singular && error.info() == Some(zero + 1) && x == ones => {
            println!("column {} set to zero: {error} (info = {})", zero + 1, zero + 1);
            Ok(())
        }
        Err(error) => Err(error.into()),
        Ok(()) => Err("gesv returned no error for a singular matrix".into()),
    }
}

/// Makes a matrix with elements uniform in ±½.
fn random(n: usize) -> Outcome<Matrix<f64>> {
    let mut a = Matrix::try_zeros(n, n)?;
    Random::new(1).general(a.as_mut());
    Ok(a)
}
