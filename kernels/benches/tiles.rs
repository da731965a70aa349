//! Rates of the tile kernels: `cargo bench -p superscalar-kernels --bench tiles [-- FILTER...]`.
//!
//! One line per kernel, type, tile size and leading dimension: the median rate, its fraction of the multiply-add peak,
//! and of the rate of gemm (N·N, same type, size and leading dimension). The four are measured in turn, round by round,
//! so that a neighbour on the machine or a change of clock hits them alike. A filter is a word that a line must contain,
//! such as `gemm`, `f64` or `256`; all of the given ones must match.

#[allow(dead_code)] // Other benchmarks use the rest.
mod timing;

use std::hint::black_box;
use std::time::Instant;
use superscalar_kernels::{Diag, MatMut, MatRef, Op, Scalar, Side, Uplo, c32, c64, cpu};
use timing::{Filters, SAMPLE_S, numbers, print_peak, print_rates};

/// The operands of one line: two factors, a well conditioned Hermitian matrix, and room for the result.
struct Operands<T> {
    n: usize,
    ld: usize,
    a: Vec<T>,
    b: Vec<T>,
    spd: Vec<T>,
    c: Vec<T>,
}

/// What is timed: fresh inputs are written before each call where the kernel destroys them.
type Body<T> = fn(&mut Operands<T>);

/// A kernel: name, operations in units of one multiply-add of n x n x n, and the call.
struct Line<T> {
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

fn lines<T: Scalar>() -> Vec<Line<T>> {
    use Side::{Left, Right};
    use Uplo::{Lower, Upper};
    macro_rules! line {
        ($name:literal, $share:expr, |$a:pat_param, $b:pat_param, $s:pat_param, $c:pat_param| $call:expr) => {
            Line {
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
        line!("gemm N·N", one, |a, b, _, c| cpu::gemm(-T::ONE, Op::None, a, Op::None, b, T::ONE, c)),
        line!("gemm N·T", one, |a, b, _, c| cpu::gemm(-T::ONE, Op::None, a, Op::Trans, b, T::ONE, c)),
        line!("gemm N·C", one, |a, b, _, c| cpu::gemm(-T::ONE, Op::None, a, Op::ConjTrans, b, T::ONE, c)),
        line!("gemm T·N", one, |a, b, _, c| cpu::gemm(-T::ONE, Op::Trans, a, Op::None, b, T::ONE, c)),
        line!("gemm beta", one, |a, b, _, c| cpu::gemm(-T::ONE, Op::None, a, Op::None, b, T::from_f64(0.5), c)),
        line!("syrk L N", half, |a, _, _, c| cpu::syrk(Lower, Op::None, -T::ONE, a, T::ONE, c)),
        line!("herk L N", half, |a, _, _, c| cpu::herk(Lower, Op::None, -T::Real::ONE, a, T::Real::ONE, c)),
        line!("herk U C", half, |a, _, _, c| cpu::herk(Upper, Op::ConjTrans, -T::Real::ONE, a, T::Real::ONE, c)),
        line!("trsm R L C", half, |_, _, s, c| cpu::trsm(Right, Lower, Op::ConjTrans, Diag::NonUnit, T::ONE, s, c)),
        line!("trsm L L N", half, |_, _, s, c| cpu::trsm(Left, Lower, Op::None, Diag::Unit, T::ONE, s, c)),
        line!("trsm L U N", half, |_, _, s, c| cpu::trsm(Left, Upper, Op::None, Diag::NonUnit, T::ONE, s, c)),
        line!("potrf L", third, |_, _, _, c| cpu::potrf(Lower, c).expect("positive definite")),
        line!("potrf U", third, |_, _, _, c| cpu::potrf(Upper, c).expect("positive definite")),
    ]
}

/// Seconds per call of one sample of `calls` calls.
fn sample<T: Scalar>(operands: &mut Operands<T>, line: &Line<T>, calls: usize) -> f64 {
    if line.fresh {
        let mut seconds = 0.0;
        for _ in 0..calls {
            operands.c.copy_from_slice(&operands.spd);
            let start = Instant::now();
            (line.body)(black_box(operands));
            seconds += start.elapsed().as_secs_f64();
        }
        return seconds / calls as f64;
    }
    // Repeated solves shrink or grow the right-hand side; start each sample from the same numbers.
    operands.c.copy_from_slice(&operands.b);
    let start = Instant::now();
    (0..calls).for_each(|_| (line.body)(black_box(operands)));
    start.elapsed().as_secs_f64() / calls as f64
}

fn measure<T: Scalar>(type_name: &str, n: usize, ld: usize, filters: &Filters) {
    let chosen: Vec<Line<T>> = lines()
        .into_iter()
        .filter(|line| {
            let text = format!("{type_name} {} {n} ld={ld}", line.name);
            filters.take(&text)
        })
        .collect();
    if chosen.is_empty() {
        return;
    }
    let flops = f64::from(T::FLOPS_MUL + T::FLOPS_ADD) * (n as f64).powi(3);
    let gemm = lines().remove(0);
    let mut operands = Operands::<T>::new(n, ld);
    let start = Instant::now();
    (gemm.body)(&mut operands);
    let once = start.elapsed().as_secs_f64();
    let calls = ((SAMPLE_S / once) as usize).max(1);
    for line in &chosen {
        print_rates::<T::Real>(&format!("{type_name} {:<11} n={n:<4} ld={ld:<5}", line.name), || {
            let gemm = flops / sample(&mut operands, &gemm, calls);
            (flops * line.share / sample(&mut operands, line, calls), gemm)
        });
    }
}

fn main() {
    let filters = Filters::given();
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
