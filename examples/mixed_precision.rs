//! A system that is factored in single precision and refined to double precision.
//!
//! ```text
//! cargo run --release --example mixed_precision
//! cargo run --release --example mixed_precision -- --n 4000
//! ```
//!
//! `gesv_mixed` replaces `gesv` and returns the number of refinement steps, LAPACK's `ITER`. Each step gains about 7
//! digits, less those that the condition number costs. Hilbert matrices, whose condition number grows about 30 times
//! with each order, show the limit: from some order on, `ITER` is negative, and the system is solved in double
//! precision.

use clap::Parser;
use std::{error::Error, time::Instant};
use superscalar::{
    Runtime,
    dla::{Matrix, Options, gecon, gesv, gesv_mixed, getrf, lange},
    kernels::Norm,
};
use superscalar_oracle::{at_most, element, residual::backward_error};

const REPEATS: usize = 3;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Solves systems in mixed precision and in double precision.
#[derive(Parser)]
struct Arguments {
    /// Order of the large matrix.
    #[arg(long, default_value_t = 2000)]
    n: usize,
}

fn main() -> Outcome {
    let (n, rt) = (Arguments::parse().n, Runtime::new()?);
    println!("n = {n}, {} workers", rt.workers());
    compare_with_double(&rt, n)?;
    solve_hilbert_systems(&rt)
}

/// Solves the same system with both routines in turn, and compares times and errors.
fn compare_with_double(rt: &Runtime, n: usize) -> Outcome {
    let random = |columns, seed| Matrix::from_fn(n, columns, |i, j| element::<f64>(seed, i, j));
    let (a, b) = (random(n, 1), random(1, 2));
    let (mut seconds, mut steps, mut errors) = ([Vec::new(), Vec::new()], 0, [0.0; 2]);
    for _ in 0..REPEATS {
        let (mut lu, mut x) = (a.clone(), b.clone());
        let begun = Instant::now();
        gesv(rt, lu.as_mut(), &mut vec![0; n], x.as_mut(), &Options::default())?;
        seconds[0].push(begun.elapsed().as_secs_f64());
        errors[0] = backward_error(a.as_ref(), x.as_ref(), b.as_ref());

        let (mut lu, mut x) = (a.clone(), Matrix::zeros(n, 1));
        let begun = Instant::now();
        steps = gesv_mixed(rt, lu.as_mut(), &mut vec![0; n], b.as_ref(), x.as_mut(), &Options::default())?;
        seconds[1].push(begun.elapsed().as_secs_f64());
        errors[1] = backward_error(a.as_ref(), x.as_ref(), b.as_ref());
    }
    let [double, mixed] = seconds.map(median);
    println!("gesv       {double:.3} s, backward error {:.1e}", errors[0]);
    println!("gesv_mixed {mixed:.3} s, backward error {:.1e}, {steps} refinements", errors[1]);
    println!("time of gesv over that of gesv_mixed: {:.2}", double / mixed);
    for (routine, error) in ["backward error of gesv", "backward error of gesv_mixed"].into_iter().zip(errors) {
        at_most(routine, error, n as f64 * f64::EPSILON)?;
    }
    if steps < 0 { Err(format!("gesv_mixed returned {steps}, expected refinement steps").into()) } else { Ok(()) }
}

/// Solves systems with Hilbert matrices up to orders at which the refinement fails.
fn solve_hilbert_systems(rt: &Runtime) -> Outcome {
    let options = Options::default();
    println!("Hilbert's matrix:");
    println!("  order  condition   ITER  backward error");
    let mut fell_back = false;
    for n in 2..=12 {
        let a = Matrix::from_fn(n, n, |i, j| 1.0 / (i + j + 1) as f64);
        let (b, mut ipiv) = (Matrix::from_fn(n, 1, |_, _| 1.0), vec![0; n]);
        let mut lu = a.clone();
        getrf(rt, lu.as_mut(), &mut ipiv, &options)?;
        let rcond = gecon(Norm::One, lu.as_ref(), lange(rt, Norm::One, a.as_ref(), &options)?)?;

        let (mut system, mut x) = (a.clone(), Matrix::zeros(n, 1));
        let iter = gesv_mixed(rt, system.as_mut(), &mut ipiv, b.as_ref(), x.as_mut(), &options)?;
        let error = backward_error(a.as_ref(), x.as_ref(), b.as_ref());
        println!("  {n:>5}  {:>9.1e}  {iter:>5}  {error:.1e}{}", 1.0 / rcond, meaning(iter));
        at_most("backward error of gesv_mixed", error, 10.0 * n as f64 * f64::EPSILON)?;
        fell_back |= iter < 0;
    }
    if fell_back { Ok(()) } else { Err("expected a negative ITER for a Hilbert matrix".into()) }
}

/// Returns the meaning of a negative `ITER`.
fn meaning(iter: i32) -> &'static str {
    match iter {
        -2 => "  (a number is too large for single precision)",
        -3 => "  (singular in single precision)",
        i32::MIN..0 => "  (did not converge)",
        _ => "",
    }
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}
