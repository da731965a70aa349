//! Rates of the tile kernels: `cargo bench -p superscalar-kernels --bench tiles [-- FILTER...]`.
//!
//! Prints one line per kernel, type, tile size and leading dimension: the median rate, its fraction of the multiply-add
//! peak, and its ratio to the rate of gemm (N·N, same type, size and leading dimension). All three are measured in each
//! round, so that other load on the machine and changes of the clock affect them equally.
//!
//! A filter is a word that a line must contain, such as `gemm`, `f64` or `256`; all given filters must match.

#[allow(dead_code)] // Other benchmarks use the rest.
mod timing;

use std::hint::black_box;
use std::time::Instant;
use superscalar_kernels::{Diag, MatMut, MatRef, Op, Scalar, Side, Uplo, c32, c64, cpu};
use timing::{Filters, SAMPLE_S, numbers, print_peak, print_rates};

/// The operands of one benchmark: two factors, a well conditioned Hermitian matrix, and the result.
struct Operands<T> {
    n: usize,
    ld: usize,
    a: Vec<T>,
    b: Vec<T>,
    spd: Vec<T>,
    c: Vec<T>,
}

/// The timed function. A kernel that overwrites its inputs gets fresh ones before each call.
type Body<T> = fn(&mut Operands<T>);

/// A kernel: its name, its operations in units of those of an n x n x n product, and the call.
struct Benchmark<T> {
    name: &'static str,
    share: f64,
    /// Whether each call needs a fresh copy of the positive definite matrix, which is not timed.
    fresh: bool,
    body: Body<T>,
}

impl<T: Scalar> Operands<T> {
    fn new(n: usize, ld: usize) -> Self {
        let mut next = numbers();
        let mut random = |scale: f64| (0..ld * n).map(|_| T::from_f64(scale * next())).collect::<Vec<_>>();
        let (a, b, c) = (random(1.0), random(1.0), random(1.0));
        let mut spd = random(0.5 / n as f64);
        (0..n).for_each(|i| spd[i + i * ld] = T::from_f64(2.0));
        Self { n, ld, a, b, spd, c }
    }

    fn split(&mut self) -> (MatRef<'_, T>, MatRef<'_, T>, MatRef<'_, T>, MatMut<'_, T>) {
        let view = |x| MatRef::from_col_major(x, self.n, self.n, self.ld).expect("operands fit");
        let c = MatMut::from_col_major(&mut self.c, self.n, self.n, self.ld).expect("operands fit");
        (view(&self.a), view(&self.b), view(&self.spd), c)
    }
}

fn benchmarks<T: Scalar>() -> Vec<Benchmark<T>> {
    use Side::{Left, Right};
    use Uplo::{Lower, Upper};
    macro_rules! kernel {
        ($name:literal, $share:expr, |$a:pat_param, $b:pat_param, $s:pat_param, $c:pat_param| $call:expr) => {
            Benchmark {
                name: $name,
                share: $share,
                fresh: $name.starts_with("potrf"),
                body: |operands| {
                    let ($a, $b, $s, $c) = operands.split();
                    $call
                },
            }
        };
    }
    let (one, half, third) = (1.0, 0.5, 1.0 / 6.0);
    vec![
        kernel!("gemm N·N", one, |a, b, _, c| cpu::gemm(-T::ONE, Op::None, a, Op::None, b, T::ONE, c)),
        kernel!("gemm N·T", one, |a, b, _, c| cpu::gemm(-T::ONE, Op::None, a, Op::Trans, b, T::ONE, c)),
        kernel!("gemm N·C", one, |a, b, _, c| cpu::gemm(-T::ONE, Op::None, a, Op::ConjTrans, b, T::ONE, c)),
        kernel!("gemm T·N", one, |a, b, _, c| cpu::gemm(-T::ONE, Op::Trans, a, Op::None, b, T::ONE, c)),
        kernel!("gemm beta", one, |a, b, _, c| cpu::gemm(-T::ONE, Op::None, a, Op::None, b, T::from_f64(0.5), c)),
        kernel!("syrk L N", half, |a, _, _, c| cpu::syrk(Lower, Op::None, -T::ONE, a, T::ONE, c)),
        kernel!("herk L N", half, |a, _, _, c| cpu::herk(Lower, Op::None, -T::Real::ONE, a, T::Real::ONE, c)),
        kernel!("herk U C", half, |a, _, _, c| cpu::herk(Upper, Op::ConjTrans, -T::Real::ONE, a, T::Real::ONE, c)),
        kernel!("trsm R L C", half, |_, _, s, c| cpu::trsm(Right, Lower, Op::ConjTrans, Diag::NonUnit, T::ONE, s, c)),
        kernel!("trsm L L N", half, |_, _, s, c| cpu::trsm(Left, Lower, Op::None, Diag::Unit, T::ONE, s, c)),
        kernel!("trsm L U N", half, |_, _, s, c| cpu::trsm(Left, Upper, Op::None, Diag::NonUnit, T::ONE, s, c)),
        kernel!("potrf L", third, |_, _, _, c| cpu::potrf(Lower, c).expect("positive definite")),
        kernel!("potrf U", third, |_, _, _, c| cpu::potrf(Upper, c).expect("positive definite")),
    ]
}

/// Returns the seconds per call of one sample of `calls` calls.
fn sample<T: Scalar>(operands: &mut Operands<T>, benchmark: &Benchmark<T>, calls: usize) -> f64 {
    if benchmark.fresh {
        let mut seconds = 0.0;
        for _ in 0..calls {
            operands.c.copy_from_slice(&operands.spd);
            let start = Instant::now();
            (benchmark.body)(black_box(operands));
            seconds += start.elapsed().as_secs_f64();
        }
        return seconds / calls as f64;
    }
    // Repeated solves shrink or grow the right-hand side, so each sample starts from the same numbers.
    operands.c.copy_from_slice(&operands.b);
    let start = Instant::now();
    (0..calls).for_each(|_| (benchmark.body)(black_box(operands)));
    start.elapsed().as_secs_f64() / calls as f64
}

fn measure<T: Scalar>(type_name: &str, n: usize, ld: usize, filters: &Filters) {
    let chosen: Vec<Benchmark<T>> = benchmarks()
        .into_iter()
        .filter(|benchmark| {
            let text = format!("{type_name} {} {n} ld={ld}", benchmark.name);
            filters.matches(&text)
        })
        .collect();
    if chosen.is_empty() {
        return;
    }
    let flops = f64::from(T::FLOPS_MUL + T::FLOPS_ADD) * (n as f64).powi(3);
    let gemm = benchmarks().remove(0);
    let mut operands = Operands::<T>::new(n, ld);
    let start = Instant::now();
    (gemm.body)(&mut operands);
    let once = start.elapsed().as_secs_f64();
    let calls = ((SAMPLE_S / once) as usize).max(1);
    for benchmark in &chosen {
        print_rates::<T::Real>(&format!("{type_name} {:<11} n={n:<4} ld={ld:<5}", benchmark.name), || {
            let gemm = flops / sample(&mut operands, &gemm, calls);
            (flops * benchmark.share / sample(&mut operands, benchmark, calls), gemm)
        });
    }
}

fn main() {
    let filters = Filters::from_arguments();
    print_peak();
    for n in [128, 192, 256, 512] {
        for ld in [n, 4096] {
            measure::<f64>("f64", n, ld, &filters);
            measure::<f32>("f32", n, ld, &filters);
            measure::<c64>("c64", n, ld, &filters);
            measure::<c32>("c32", n, ld, &filters);
        }
    }
}
