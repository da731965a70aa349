//! Rates of the factorizations LU and QR: `cargo bench -p superscalar-kernels --bench panels [-- FILTER...]`.
//!
//! Prints one line per routine, type and shape, for squares and tall panels: the median rate, its fraction of the
//! multiply-add peak, and its ratio to the rate of gemm on squares of 256. All three are measured in each round. geqrt
//! is geqrf with a factor T for every 32 reflectors. As in LAPACK, only the operations of the factorization count, not
//! those that geqrf needs for T (about half as many again).
//!
//! A filter is a word that a line must contain, such as `getrf`, `f64` or `4096x128`; all given filters must match.

#[allow(dead_code)] // Other benchmarks use the rest.
mod timing;

use std::hint::black_box;
use std::time::Instant;
use superscalar_kernels::cpu::{self, BlockReflector};
use superscalar_kernels::{MatMut, MatRef, Op, Scalar, Side, c32, c64};
use timing::{Filters, SAMPLE_S, numbers, print_peak, print_rates};

/// Reflectors per factor T in the benchmark geqrt.
const INNER: usize = 32;
const SHAPES: [(usize, usize); 10] = [
    (64, 64),
    (128, 128),
    (256, 256),
    (512, 512),
    (4096, 16),
    (4096, 32),
    (4096, 64),
    (4096, 128),
    (100_000, 32),
    (1024, 256),
];

/// A matrix and the results of its factorization.
struct Operands<T> {
    m: usize,
    n: usize,
    a: Vec<T>,
    c: Vec<T>,
    ipiv: Vec<i32>,
    tau: Vec<T>,
    t: Vec<T>,
}

/// A routine: its name, its multiply-adds of the type for a shape (m, n), and the call.
struct Benchmark<T> {
    name: &'static str,
    work: fn(f64, f64) -> f64,
    body: fn(&mut Operands<T>),
}

impl<T: Scalar> Operands<T> {
    fn new(m: usize, n: usize) -> Self {
        let mut next = numbers();
        let a: Vec<T> = (0..m * n).map(|_| T::from_f64(next())).collect();
        let c = a.clone();
        Self { m, n, a, c, ipiv: vec![0; n], tau: vec![T::ZERO; n], t: vec![T::ZERO; n * n] }
    }

    /// Returns views of the matrix and of T, the interchanges, and tau.
    fn split(&mut self) -> (MatMut<'_, T>, MatMut<'_, T>, &mut [i32], &mut [T]) {
        let c = MatMut::from_col_major(&mut self.c, self.m, self.n, self.m).expect("operands fit");
        let t = MatMut::from_col_major(&mut self.t, self.n, self.n, self.n).expect("operands fit");
        (c, t, &mut self.ipiv, &mut self.tau)
    }
}

fn benchmarks<T: Scalar>() -> Vec<Benchmark<T>> {
    vec![
        Benchmark {
            name: "getrf",
            work: |m, n| (m * n * n - n * n * n / 3.0) / 2.0,
            body: |operands| {
                let (c, _, ipiv, _) = operands.split();
                cpu::getrf(c, ipiv).expect("no pivot is zero");
            },
        },
        Benchmark {
            name: "geqrf",
            work: |m, n| m * n * n - n * n * n / 3.0,
            body: |operands| {
                let (c, t, _, tau) = operands.split();
                cpu::geqrf(c, tau, t);
            },
        },
        Benchmark {
            name: "geqrt",
            work: |m, n| m * n * n - n * n * n / 3.0,
            body: |operands| {
                let (c, t, _, tau) = operands.split();
                let (block, n) = (t.ncols().min(INNER), t.ncols());
                cpu::geqrf(c, tau, t.submatrix(0..block, 0..n));
            },
        },
        Benchmark {
            // The values of V and T do not affect the time, so they are not the result of a factorization.
            name: "larfb",
            work: |m, n| 2.0 * m * n * n,
            body: |operands| {
                let v = MatRef::from_col_major(&operands.a, operands.m, operands.n, operands.m).expect("operands fit");
                let t = MatRef::from_col_major(&operands.t, operands.n, operands.n, operands.n).expect("operands fit");
                let c =
                    MatMut::from_col_major(&mut operands.c, operands.m, operands.n, operands.m).expect("operands fit");
                cpu::larfb(Side::Left, Op::ConjTrans, BlockReflector::new(v, t), c);
            },
        },
    ]
}

/// Returns the seconds per call of one sample; each call starts from the same matrix, whose copy is not timed.
fn sample<T: Scalar>(operands: &mut Operands<T>, benchmark: &Benchmark<T>) -> f64 {
    let (mut seconds, mut calls) = (0.0, 0);
    while seconds < SAMPLE_S {
        operands.c.copy_from_slice(&operands.a);
        let start = Instant::now();
        (benchmark.body)(black_box(operands));
        seconds += start.elapsed().as_secs_f64();
        calls += 1;
    }
    seconds / f64::from(calls)
}

/// Returns the multiply-adds per second of gemm.
fn gemm_rate<T: Scalar>(a: &[T], c: &mut [T]) -> f64 {
    const N: usize = 256;
    let a = MatRef::from_col_major(a, N, N, N).expect("operands fit");
    let start = Instant::now();
    cpu::gemm(-T::ONE, Op::None, a, Op::None, a, T::ONE, MatMut::from_col_major(c, N, N, N).expect("operands fit"));
    (N * N * N) as f64 / start.elapsed().as_secs_f64()
}

fn measure<T: Scalar>(type_name: &str, m: usize, n: usize, filters: &Filters) {
    let wanted = |benchmark: &Benchmark<T>| {
        let text = format!("{} {type_name} {m}x{n}", benchmark.name);
        filters.matches(&text)
    };
    let chosen: Vec<_> = benchmarks().into_iter().filter(wanted).collect();
    if chosen.is_empty() {
        return;
    }
    let flops = f64::from(T::FLOPS_MUL + T::FLOPS_ADD);
    let mut operands = Operands::<T>::new(m, n);
    let square = Operands::<T>::new(256, 256);
    let mut product = square.a.clone();
    for benchmark in &chosen {
        print_rates::<T::Real>(&format!("{type_name} {} {:<10}", benchmark.name, format!("{m}x{n}")), || {
            let gemm = flops * gemm_rate(&square.a, &mut product);
            (flops * (benchmark.work)(m as f64, n as f64) / sample(&mut operands, benchmark), gemm)
        });
    }
}

fn main() {
    let filters = Filters::from_arguments();
    print_peak();
    for (m, n) in SHAPES {
        measure::<f64>("f64", m, n, &filters);
        measure::<f32>("f32", m, n, &filters);
        measure::<c64>("c64", m, n, &filters);
        measure::<c32>("c32", m, n, &filters);
    }
}
