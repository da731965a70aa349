//! Rates of the Level-1 and Level-2 BLAS in doubles, compared with another BLAS: `cargo bench -p superscalar-kernels
//! --bench vectors [-- FILTER...]`.
//!
//! Prints one line per routine and size: the median rate in bytes, counting each operand read or written once; that of
//! the peer on one thread; and the ratio of the two. Both are measured in each round, so that other load on the machine
//! affects them equally. A filter is a word that a line must contain. The peer is the library named by
//! `SUPERSCALAR_PEER`, or Debian's OpenBLAS; without one its columns are empty.

#[allow(dead_code)] // Other benchmarks use the rest.
mod timing;

use libloading::Library;
use std::ffi::{c_char, c_int};
use std::hint::black_box;
use std::time::Instant;
use superscalar_kernels::{Diag, MatMut, MatRef, Op, Uplo, VecMut, VecRef, cpu};
use timing::{Filters, ROUNDS, SAMPLE_S, median};

const OPENBLAS: &str = "/usr/lib/x86_64-linux-gnu/libopenblas.so.0";

struct Operands {
    n: usize,
    a: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Operands {
    fn new(n: usize) -> Self {
        let number = |i: usize| ((i * 7919) % 101) as f64 / 101.0 - 0.5;
        let mut a: Vec<f64> = (0..n * n).map(|i| number(i) / n as f64).collect();
        (0..n).for_each(|i| a[i + i * n] = 1.0);
        Self { n, a, x: (0..n).map(number).collect(), y: (0..n).map(|i| number(i + 3)).collect() }
    }

    fn views(&mut self) -> (MatRef<'_, f64>, VecRef<'_, f64>, VecMut<'_, f64>) {
        let a = MatRef::from_col_major(&self.a, self.n, self.n, self.n).expect("n x n elements");
        (a, VecRef::from_slice(&self.x), VecMut::from_slice(&mut self.y))
    }
}

/// Arguments of Fortran routines, which are addresses.
type Int = *const c_int;
type Letter = *const c_char;
type Number = *const f64;
type Vector = *mut f64;

const N: Letter = c"N".as_ptr();
const L: Letter = c"L".as_ptr();
const T: Letter = c"T".as_ptr();

/// Declares the routines of another BLAS with the types of their arguments; the lengths of letters come last.
macro_rules! peer {
    ($($field:ident $symbol:literal: ($($of:ty),*) $(-> $result:ty)?;)*) => {
        struct Peer {
            $($field: unsafe extern "C" fn($($of),*) $(-> $result)?,)*
        }

        impl Peer {
            /// Loads the routines.
            ///
            /// # Errors
            /// If the library or one of its routines does not exist.
            fn open(path: &str) -> Result<Self, libloading::Error> {
                // SAFETY: the initializers of a BLAS are safe to run, its routines have these arguments, and the
                // library is leaked, so the routines stay loaded.
                unsafe {
                    let library: &'static Library = Box::leak(Box::new(Library::new(path)?));
                    Ok(Self { $($field: *library.get($symbol)?,)* })
                }
            }
        }
    };
}

peer! {
    axpy b"daxpy_": (Int, Number, Number, Int, Vector, Int);
    dot b"ddot_": (Int, Number, Int, Number, Int) -> f64;
    nrm2 b"dnrm2_": (Int, Number, Int) -> f64;
    iamax b"idamax_": (Int, Number, Int) -> c_int;
    gemv b"dgemv_": (Letter, Int, Int, Number, Number, Int, Number, Int, Number, Vector, Int, usize);
    ger b"dger_": (Int, Int, Number, Number, Int, Number, Int, Vector, Int);
    symv b"dsymv_": (Letter, Int, Number, Number, Int, Number, Int, Number, Vector, Int, usize);
    trmv b"dtrmv_": (Letter, Letter, Letter, Int, Number, Int, Vector, Int, usize, usize, usize);
    trsv b"dtrsv_": (Letter, Letter, Letter, Int, Number, Int, Vector, Int, usize, usize, usize);
}

/// Calls a routine of the peer.
macro_rules! call {
    ($peer:ident.$name:ident($($argument:expr),*)) => {
        // SAFETY: the arguments are addresses that live through the call, of operands of order n as the routine
        // requires.
        unsafe { ($peer.$name)($($argument),*) }
    };
}

/// A routine: its name, the bytes that it moves, in multiples of 8 n² and of 8 n, and the calls.
struct Benchmark {
    name: &'static str,
    squares: f64,
    lengths: f64,
    ours: fn(&mut Operands),
    theirs: fn(&Peer, &mut Operands),
}

fn level1() -> Vec<Benchmark> {
    vec![
        Benchmark {
            name: "axpy",
            squares: 0.0,
            lengths: 3.0,
            ours: |o| cpu::axpy(1e-9, VecRef::from_slice(&o.x), VecMut::from_slice(&mut o.y)),
            theirs: |peer, o| {
                let (n, one, alpha) = (o.n as c_int, 1, 1e-9);
                call!(peer.axpy(&n, &alpha, o.x.as_ptr(), &one, o.y.as_mut_ptr(), &one));
            },
        },
        Benchmark {
            name: "dot",
            squares: 0.0,
            lengths: 2.0,
            ours: |o| {
                black_box(cpu::dotu(VecRef::from_slice(&o.x), VecRef::from_slice(&o.y)));
            },
            theirs: |peer, o| {
                let (n, one) = (o.n as c_int, 1);
                black_box(call!(peer.dot(&n, o.x.as_ptr(), &one, o.y.as_ptr(), &one)));
            },
        },
        Benchmark {
            name: "nrm2",
            squares: 0.0,
            lengths: 1.0,
            ours: |o| {
                black_box(cpu::nrm2(VecRef::from_slice(&o.x)));
            },
            theirs: |peer, o| {
                let (n, one) = (o.n as c_int, 1);
                black_box(call!(peer.nrm2(&n, o.x.as_ptr(), &one)));
            },
        },
        Benchmark {
            name: "iamax",
            squares: 0.0,
            lengths: 1.0,
            ours: |o| {
                black_box(cpu::iamax(VecRef::from_slice(&o.x)));
            },
            theirs: |peer, o| {
                let (n, one) = (o.n as c_int, 1);
                black_box(call!(peer.iamax(&n, o.x.as_ptr(), &one)));
            },
        },
    ]
}

fn gemv(peer: &Peer, letter: Letter, o: &mut Operands) {
    let (n, one, alpha) = (o.n as c_int, 1, 1e-9);
    let (a, x, y) = (o.a.as_ptr(), o.x.as_ptr(), o.y.as_mut_ptr());
    call!(peer.gemv(letter, &n, &n, &alpha, a, &n, x, &one, &1.0, y, &one, 1));
}

fn level2() -> Vec<Benchmark> {
    macro_rules! routine {
        ($name:literal, $squares:expr, |$a:pat_param, $x:pat_param, $y:pat_param| $ours:expr, $theirs:expr) => {
            Benchmark {
                name: $name,
                squares: $squares,
                lengths: 2.0,
                ours: |operands| {
                    let ($a, $x, $y) = operands.views();
                    $ours
                },
                theirs: $theirs,
            }
        };
    }
    vec![
        routine!("gemv N", 1.0, |a, x, y| cpu::gemv(Op::None, 1e-9, a, x, 1.0, y), |peer, o| gemv(peer, N, o)),
        routine!("gemv T", 1.0, |a, x, y| cpu::gemv(Op::Trans, 1e-9, a, x, 1.0, y), |peer, o| gemv(peer, T, o)),
        Benchmark {
            name: "ger",
            squares: 2.0,
            lengths: 2.0,
            ours: |o| {
                let a = MatMut::from_col_major(&mut o.a, o.n, o.n, o.n).expect("n x n elements");
                cpu::geru(1e-9, VecRef::from_slice(&o.x), VecRef::from_slice(&o.y), a);
            },
            theirs: |peer, o| {
                let (n, one, alpha) = (o.n as c_int, 1, 1e-9);
                call!(peer.ger(&n, &n, &alpha, o.x.as_ptr(), &one, o.y.as_ptr(), &one, o.a.as_mut_ptr(), &n));
            },
        },
        routine!("symv L", 0.5, |a, x, y| cpu::symv(Uplo::Lower, 1e-9, a, x, 1.0, y), |peer, o| {
            let (n, one, alpha) = (o.n as c_int, 1, 1e-9);
            let (a, x, y) = (o.a.as_ptr(), o.x.as_ptr(), o.y.as_mut_ptr());
            call!(peer.symv(L, &n, &alpha, a, &n, x, &one, &1.0, y, &one, 1));
        }),
        routine!("trmv LN", 0.5, |a, _, y| cpu::trmv(Uplo::Lower, Op::None, Diag::NonUnit, a, y), |peer, o| {
            let (n, one) = (o.n as c_int, 1);
            call!(peer.trmv(L, N, N, &n, o.a.as_ptr(), &n, o.y.as_mut_ptr(), &one, 1, 1, 1));
        }),
        routine!("trsv LN", 0.5, |a, _, y| cpu::trsv(Uplo::Lower, Op::None, Diag::NonUnit, a, y), |peer, o| {
            let (n, one) = (o.n as c_int, 1);
            call!(peer.trsv(L, N, N, &n, o.a.as_ptr(), &n, o.y.as_mut_ptr(), &one, 1, 1, 1));
        }),
        routine!("trsv LT", 0.5, |a, _, y| cpu::trsv(Uplo::Lower, Op::Trans, Diag::NonUnit, a, y), |peer, o| {
            let (n, one) = (o.n as c_int, 1);
            call!(peer.trsv(L, T, N, &n, o.a.as_ptr(), &n, o.y.as_mut_ptr(), &one, 1, 1, 1));
        }),
    ]
}

/// Returns the seconds per call of one sample.
fn sample(operands: &mut Operands, calls: usize, mut body: impl FnMut(&mut Operands)) -> f64 {
    // Repeated products shrink or grow the vector, so each sample starts from the same numbers.
    operands.y.copy_from_slice(&operands.x);
    let start = Instant::now();
    (0..calls).for_each(|_| body(black_box(operands)));
    start.elapsed().as_secs_f64() / calls as f64
}

fn measure(benchmark: &Benchmark, peer: Option<&Peer>, operands: &mut Operands) {
    let n = operands.n as f64;
    let giga = 8e-9 * (benchmark.squares * n * n + benchmark.lengths * n);
    let once = sample(operands, 10, benchmark.ours);
    let calls = ((SAMPLE_S / once) as usize).clamp(1, 100_000);
    let (mut rates, mut of_peer, mut ratios) = (vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        rates.push(giga / sample(operands, calls, benchmark.ours));
        if let Some(peer) = peer {
            of_peer.push(giga / sample(operands, calls, |operands| (benchmark.theirs)(peer, operands)));
            ratios.push(rates[rates.len() - 1] / of_peer[of_peer.len() - 1]);
        }
    }
    let of_peer =
        peer.map(|_| format!("{:7.1} GB/s of the peer, {:5.2} times its rate", median(of_peer), median(ratios)));
    println!("{:<8} n={:<5} {:7.1} GB/s {}", benchmark.name, operands.n, median(rates), of_peer.unwrap_or_default());
}

fn main() {
    let filters = Filters::from_arguments();
    let path = std::env::var("SUPERSCALAR_PEER").unwrap_or_else(|_| OPENBLAS.to_owned());
    // SAFETY: the process has one thread, so nothing reads the environment meanwhile.
    unsafe { std::env::set_var("OPENBLAS_NUM_THREADS", "1") };
    let peer = Peer::open(&path).map_err(|error| println!("no peer: {error}")).ok();
    for n in [100, 1000, 4000] {
        let mut operands = Operands::new(n);
        for benchmark in level1().iter().chain(&level2()) {
            if filters.matches(&format!("{} {n}", benchmark.name)) {
                measure(benchmark, peer.as_ref(), &mut operands);
            }
        }
    }
}
