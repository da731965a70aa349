//! Rates of the OpenCL kernels on the first device, or on the first core of a CPU, compared with the host's kernels on
//! one core: `cargo bench -p superscalar-kernels --features opencl --bench opencl [-- FILTER...]`.
//!
//! Prints one line per operation, type and size: the median rates of both, measured in each round, and their ratio. The
//! device's time is from the issue to the reported end, including packing, but not copies. A filter is a word that a
//! line must contain.

mod heap;
#[allow(dead_code)] // Other benchmarks use the rest.
mod timing;

use heap::Heap;
use std::time::Instant;
use superscalar_kernels::{
    Diag, MatMut, MatRef, Op, Scalar, Side, Symmetry, Uplo, c32, c64, cpu,
    device::{Call, Mat},
    opencl::{enqueue, scratch_bytes},
    operations::{Gemm, Potrf, RankK, Symm, Triangular, TriangularAction},
};
use timing::{Filters, median, numbers};

/// Rounds per benchmark; the median is reported.
const ROUNDS: usize = 9;

/// Three n x n matrices: the first two are read, the third is read and written.
struct Operands<T> {
    n: usize,
    data: Vec<T>,
}

impl<T: Scalar> Operands<T> {
    fn new(n: usize) -> Self {
        let mut next = numbers();
        let mut data: Vec<T> = (0..3 * n * n).map(|_| T::from_f64(next() / n as f64)).collect();
        for block in data.chunks_exact_mut(n * n) {
            (0..n).for_each(|i| block[i * (n + 1)] = T::from_f64(2.0));
        }
        Self { n, data }
    }

    fn device(&self) -> [Mat<T>; 3] {
        [0, 1, 2].map(|at| Mat::at(at * self.n * self.n, (self.n, self.n), self.n))
    }

    fn host(&mut self) -> Views<'_, T> {
        let n = self.n;
        let (read, written) = self.data.split_at_mut(2 * n * n);
        let (a, b) = read.split_at(n * n);
        let view = |x| MatRef::from_col_major(x, n, n, n).expect("operands fit");
        (view(a), view(b), MatMut::from_col_major(written, n, n, n).expect("operands fit"))
    }
}

/// Views of the three matrices on the host.
type Views<'a, T> = (MatRef<'a, T>, MatRef<'a, T>, MatMut<'a, T>);

/// An operation: its name, its operations in units of those of a product, the call, and the same on the host.
struct Benchmark<T: Scalar> {
    name: &'static str,
    share: f64,
    call: fn([Mat<T>; 3]) -> Call<T>,
    host: fn(Views<'_, T>),
}

fn product<T: Scalar>(op_a: Op, op_b: Op, [a, b, c]: [Mat<T>; 3]) -> Call<T> {
    Call::Gemm(Gemm { part: None, op_a, op_b, alpha: T::ONE, a, b, beta: T::ZERO, c })
}

fn triangle<T: Scalar>(action: TriangularAction, side: Side, uplo: Uplo, op: Op, [a, _, b]: [Mat<T>; 3]) -> Call<T> {
    Call::Triangular(Triangular { action, side, uplo, op, diag: Diag::NonUnit, alpha: T::ONE, a, b })
}

fn products<T: Scalar>() -> Vec<Benchmark<T>> {
    vec![
        Benchmark {
            name: "gemm N·N",
            share: 1.0,
            call: |m| product(Op::None, Op::None, m),
            host: |(a, b, c)| cpu::gemm(T::ONE, Op::None, a, Op::None, b, T::ZERO, c),
        },
        Benchmark {
            name: "gemm N·C",
            share: 1.0,
            call: |m| product(Op::None, Op::ConjTrans, m),
            host: |(a, b, c)| cpu::gemm(T::ONE, Op::None, a, Op::ConjTrans, b, T::ZERO, c),
        },
        Benchmark {
            name: "gemm T·N",
            share: 1.0,
            call: |m| product(Op::Trans, Op::None, m),
            host: |(a, b, c)| cpu::gemm(T::ONE, Op::Trans, a, Op::None, b, T::ZERO, c),
        },
        Benchmark {
            name: "herk LN",
            share: 0.5,
            call: |[a, _, c]| {
                let (uplo, op, alpha, beta) = (Uplo::Lower, Op::None, T::ONE, T::ZERO);
                Call::RankK(RankK { symmetry: Symmetry::Hermitian, uplo, op, alpha, a, beta, c })
            },
            host: |(a, _, c)| cpu::herk(Uplo::Lower, Op::None, T::Real::from_f64(1.0), a, T::Real::from_f64(0.0), c),
        },
        Benchmark {
            name: "hemm LL",
            share: 1.0,
            call: |[a, b, c]| {
                let (alpha, beta) = (T::ONE, T::ZERO);
                Call::Symm(Symm {
                    symmetry: Symmetry::Hermitian,
                    side: Side::Left,
                    uplo: Uplo::Lower,
                    alpha,
                    a,
                    b,
                    beta,
                    c,
                })
            },
            host: |(a, b, c)| cpu::hemm(Side::Left, Uplo::Lower, T::ONE, a, b, T::ZERO, c),
        },
    ]
}

fn triangular<T: Scalar>() -> Vec<Benchmark<T>> {
    use {Side::*, Uplo::*};
    vec![
        Benchmark {
            name: "trsm RLC",
            share: 0.5,
            call: |m| triangle(TriangularAction::Solve, Right, Lower, Op::ConjTrans, m),
            host: |(a, _, c)| cpu::trsm(Right, Lower, Op::ConjTrans, Diag::NonUnit, T::ONE, a, c),
        },
        Benchmark {
            name: "trsm LLN",
            share: 0.5,
            call: |m| triangle(TriangularAction::Solve, Left, Lower, Op::None, m),
            host: |(a, _, c)| cpu::trsm(Left, Lower, Op::None, Diag::NonUnit, T::ONE, a, c),
        },
        Benchmark {
            name: "trmm LLN",
            share: 0.5,
            call: |m| triangle(TriangularAction::Multiply, Left, Lower, Op::None, m),
            host: |(a, _, c)| cpu::trmm(Left, Lower, Op::None, Diag::NonUnit, T::ONE, a, c),
        },
        Benchmark {
            name: "potrf L",
            share: 1.0 / 6.0,
            call: |[.., a]| Call::Potrf(Potrf { uplo: Lower, first: 0, a }),
            host: |(_, _, c)| cpu::potrf(Lower, c).expect("a dominant diagonal"),
        },
    ]
}

fn measure<T: Scalar>(heap: &Heap, filters: &Filters) {
    for n in [256, 512, 1024] {
        for benchmark in products::<T>().into_iter().chain(triangular()) {
            let title = format!("{:<9} {} n={n:<5}", benchmark.name, T::LETTER);
            if !filters.matches(&title) {
                continue;
            }
            let fresh = Operands::<T>::new(n);
            let call = (benchmark.call)(fresh.device());
            let scratch = size_of_val(&fresh.data[..]).next_multiple_of(128);
            let scratch = scratch..scratch + scratch_bytes(&call);
            assert!(scratch.end <= heap.bytes(), "{title} needs {} bytes", scratch.end);
            let (mut device_s, mut busy_s, mut host_s) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                heap.write(bytemuck::cast_slice(&fresh.data));
                let start = Instant::now();
                let finished = heap.run(|queue| enqueue(queue, scratch.clone(), &call));
                device_s.push(start.elapsed().as_secs_f64());
                busy_s.extend(finished.expect("the call succeeds").busy_ns.map(|ns| ns as f64 * 1e-9));
                let mut operands = Operands { n, data: fresh.data.clone() };
                let start = Instant::now();
                (benchmark.host)(operands.host());
                host_s.push(start.elapsed().as_secs_f64());
            }
            let flops = f64::from(T::FLOPS_MUL + T::FLOPS_ADD) * (n as f64).powi(3) * benchmark.share;
            let [device, busy, host] = [device_s, busy_s, host_s].map(|times| flops / median(times) * 1e-9);
            println!(
                "{title} opencl {device:7.1} GFLOP/s (kernels alone {busy:7.1}), host {host:7.1}, ratio {:.2}",
                device / host
            );
        }
    }
}

fn main() {
    let filters = Filters::from_arguments();
    let Some(heap) = Heap::open(160 << 20) else { return };
    println!("{}", heap.name());
    measure::<f32>(&heap, &filters);
    measure::<f64>(&heap, &filters);
    measure::<c32>(&heap, &filters);
    measure::<c64>(&heap, &filters);
}
