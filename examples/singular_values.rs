//! The singular values of many matrices: bidiagonal reduction by the library, then bisection.
//!
//! ```text
//! cargo run --release --example singular_values
//! ```
//!
//! gebrd reduces each matrix to a bidiagonal one with the same singular values. A task of this program for each chunk
//! finds them by bisection. It begins when its chunk is reduced: there is no barrier between the two.
//!
//! The matrices are H Σ G with reflectors H and G, so that their singular values are known. Some are equal, and some
//! are zero. The sum of their squares is the square of the matrix's Frobenius norm.

use clap::Parser;
use std::{error::Error, time::Instant};
use superscalar::{
    Runtime, TaskSpec,
    dla::{
        BatchMut,
        batch::{Chunked, Chunks, spawn},
    },
};
use superscalar_oracle::{at_most, element, largest};

/// Rows and columns of the matrices.
const M: usize = 24;
const N: usize = 16;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Computes the singular values of many matrices.
#[derive(Parser)]
struct Arguments {
    /// Number of matrices.
    #[arg(long, default_value_t = 10_000)]
    count: usize,
    /// Matrices in a chunk.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    chunk: u32,
}

fn main() -> Outcome {
    let arguments = Arguments::parse();
    let (rt, count) = (Runtime::new()?, arguments.count);
    println!("{count} matrices of {M} x {N}, {} workers", rt.workers());
    let matrices: Vec<f64> = (0..count).flat_map(matrix).collect();
    let begun = Instant::now();
    let values = singular_values(&rt, matrices.clone(), &Chunks::equal(count, arguments.chunk as usize))?;
    let seconds = begun.elapsed().as_secs_f64();
    println!("all singular values: {seconds:.3} s, {:.1} µs each matrix", seconds * 1e6 / count.max(1) as f64);

    let squares = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    let each = || matrices.chunks_exact(M * N).zip(values.chunks_exact(N)).enumerate();
    let norms = largest(each().map(|(_, (a, found))| (squares(found) - squares(a)).abs() / squares(a)));
    let errors = largest(each().map(|(p, (_, found))| {
        let mut known: Vec<f64> = (0..N).map(|i| singular_value(p, i)).collect();
        known.sort_by(f64::total_cmp);
        largest(found.iter().zip(&known).map(|(x, y)| (x - y).abs())) / known[N - 1]
    }));
    println!("sum of squares, beside the Frobenius norm, relative: {norms:.1e}");
    println!("error of a singular value, relative to the largest:  {errors:.1e}");
    let bound = M as f64 * f64::EPSILON;
    at_most("error of the sum of squares", norms, bound)?;
    Ok(at_most("error of a singular value", errors, bound)?)
}

/// Returns a known singular value of matrix p: a sequence that falls, one of pairs, or one that ends in zeros.
fn singular_value(p: usize, i: usize) -> f64 {
    let size = (1 + p % 7) as f64;
    match p % 3 {
        0 => size * 0.7_f64.powi(i as i32),
        1 => size / (1 + i / 2) as f64,
        _ if i < N / 2 => size,
        _ => 0.0,
    }
}

/// Returns matrix p = H Σ G, column by column.
fn matrix(p: usize) -> Vec<f64> {
    let [h, g]: [Vec<f64>; 2] = [M, N].map(|n| (0..n).map(|i| element::<f64>(n as u64, p, i) + 1.0).collect());
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let mut a = vec![0.0; M * N];
    for (j, column) in a.chunks_exact_mut(M).enumerate() {
        // Σ (I − 2 g gᵀ / gᵀg), then the same with h from the left.
        for i in 0..N {
            let unit = if i == j { 1.0 } else { 0.0 };
            column[i] = singular_value(p, i) * (unit - 2.0 * g[i] * g[j] / dot(&g, &g));
        }
        let factor = 2.0 * dot(&h, column) / dot(&h, &h);
        column.iter_mut().zip(&h).for_each(|(a, h)| *a -= factor * h);
    }
    a
}

/// Returns the singular values of each matrix in ascending order.
fn singular_values(rt: &Runtime, mut a: Vec<f64>, chunks: &Chunks) -> Outcome<Vec<f64>> {
    let count = chunks.problems();
    let [mut d, mut e, mut tauq, mut taup] = [N, N - 1, N, N].map(|size| vec![0.0; count * size]);
    let (a, to_d, e) =
        (BatchMut::packed(&mut a, (M, N))?, BatchMut::packed(&mut d, (N, 1))?, BatchMut::packed(&mut e, (N - 1, 1))?);
    let (tauq, taup) = (BatchMut::packed(&mut tauq, (N, 1))?, BatchMut::packed(&mut taup, (N, 1))?);
    rt.scope(|s| {
        let [a, d, e, tauq, taup] = [a, to_d, e, tauq, taup].map(|batch| Chunked::new(s, batch, chunks));
        spawn::gebrd(s, &a, &d, &e, &tauq, &taup);
        for chunk in 0..chunks.len() {
            let accesses = (e.handle(chunk).read(), d.handle(chunk).read_write());
            s.spawn(TaskSpec::new("bisection").index([chunk as u32]), accesses, |(e, d)| {
                let (e, mut d) = (e.as_ref(), d.as_mut().expect("a batch that may be changed"));
                for p in 0..e.len() {
                    let mut diagonal = d.get_mut(p);
                    let values = bisection(diagonal.as_ref().col(0).to_vec(), e.get(p).col(0).to_vec());
                    values.into_iter().enumerate().for_each(|(i, value)| diagonal[(i, 0)] = value);
                }
            });
        }
    })?;
    Ok(d)
}

/// Returns the singular values of the bidiagonal matrix B with these diagonals, in ascending order.
///
/// ±σ are the eigenvalues of the tridiagonal matrix T with zeros on its diagonal and d₁, e₁, d₂, e₂ … beside it (Golub
/// and Kahan, SIAM J. Numer. Anal. 1965). By Sylvester's law of inertia, the number of them below x is that of negative
/// pivots in the elimination of T − x I.
fn bisection(d: Vec<f64>, e: Vec<f64>) -> Vec<f64> {
    let beside: Vec<f64> = (0..2 * d.len() - 1).map(|i| if i % 2 == 0 { d[i / 2] } else { e[i / 2] }).collect();
    let count_below = |x: f64| {
        let (mut pivot, mut negative) = (-x, 1);
        for b in &beside {
            let pivot_above = if pivot == 0.0 { -f64::MIN_POSITIVE } else { pivot };
            pivot = -x - b * b / pivot_above;
            negative += usize::from(pivot <= 0.0);
        }
        negative.saturating_sub(d.len())
    };
    // By Gershgorin's theorem none is larger.
    let top = largest((0..beside.len()).map(|i| beside[i].abs() + beside.get(i + 1).map_or(0.0, |b| b.abs())));
    let value = |i: usize| {
        // The difference of two neighbouring numbers up to `top` is at most the bound, so that the middle is between.
        let (mut low, mut high) = (0.0, top);
        // Halving a double's range this often leaves its roundoff. A NaN ends it, too.
        for _ in 0..f64::MANTISSA_DIGITS {
            let middle = 0.5 * (low + high);
            if count_below(middle) > i { high = middle } else { low = middle }
        }
        0.5 * (low + high)
    };
    (0..d.len()).map(value).collect()
}
