//! Times of batches of small matrices beside another library's routines in a loop:
//! `OPENBLAS_NUM_THREADS=1 cargo bench -p superscalar-kernels --bench batch [-- FILTER...]`.
//!
//! Prints one line per routine and order: the nanoseconds per matrix, those of the other library, and their ratio. Both
//! are measured in each round, on one thread; the medians are printed. `SUPERSCALAR_PEER` is the path of the
//! other library, OpenBLAS's by default. `SUPERSCALAR_BENCH_COUNT` is the number of matrices. A filter is a word that a
//! line must contain, such as `potrf`.

#[allow(dead_code)] // Other benchmarks use the rest.
mod timing;

use libloading::Library;
use std::ffi::c_char;
use std::time::Instant;
use superscalar_kernels::{MatMut, MatRef, Op, Uplo, cpu, cpu::batch};
use timing::{Filters, median, numbers};

const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/libopenblas.so.0";
const ORDERS: [usize; 8] = [2, 4, 8, 12, 16, 24, 32, 40];
const ROUNDS: usize = 7;

type Gemm = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const i32,
    *const i32,
    *const i32,
    *const f64,
    *const f64,
    *const i32,
    *const f64,
    *const i32,
    *const f64,
    *mut f64,
    *const i32,
);
type Potrf = unsafe extern "C" fn(*const c_char, *const i32, *mut f64, *const i32, *mut i32);
type Getrf = unsafe extern "C" fn(*const i32, *const i32, *mut f64, *const i32, *mut i32, *mut i32);
type Geqrf =
    unsafe extern "C" fn(*const i32, *const i32, *mut f64, *const i32, *mut f64, *mut f64, *const i32, *mut i32);

/// The routines of the other library.
struct Peer {
    gemm: Gemm,
    potrf: Potrf,
    getrf: Getrf,
    geqrf: Geqrf,
    _library: Library,
}

impl Peer {
    fn open(path: &str) -> Result<Self, libloading::Error> {
        // SAFETY: the library is a BLAS with LAPACK, whose routines have these types under these names; loading it has
        // no other effect.
        unsafe {
            let library = Library::new(path)?;
            Ok(Self {
                gemm: *library.get(b"dgemm_\0")?,
                potrf: *library.get(b"dpotrf_\0")?,
                getrf: *library.get(b"dgetrf_\0")?,
                geqrf: *library.get(b"dgeqrf_\0")?,
                _library: library,
            })
        }
    }
}

/// The operands of a batch of square matrices.
struct Operands {
    n: usize,
    a: Vec<f64>,
    b: Vec<f64>,
    /// A copy of A, which the routines overwrite.
    x: Vec<f64>,
    tau: Vec<f64>,
    ipiv: Vec<i32>,
    info: Vec<i32>,
}

impl Operands {
    fn new(n: usize, count: usize) -> Self {
        let mut next = numbers();
        let mut a: Vec<f64> = (0..n * n * count).map(|_| next()).collect();
        let b = a.iter().rev().copied().collect();
        // The diagonal makes the lower triangles definite, and is often not the largest element of its column.
        for matrix in a.chunks_exact_mut(n * n) {
            (0..n).for_each(|i| matrix[i * (n + 1)] = (n as f64).sqrt() + 0.6);
        }
        let x = a.clone();
        Self { n, a, b, x, tau: vec![0.0; n * count], ipiv: vec![0; n * count], info: vec![0; count] }
    }

    fn views<'a>(&self, data: &'a [f64]) -> Vec<MatRef<'a, f64>> {
        let view = |matrix| MatRef::from_col_major(matrix, self.n, self.n, self.n).expect("n x n elements");
        data.chunks_exact(self.n * self.n).map(view).collect()
    }
}

fn views_mut<T>(data: &mut [T], m: usize, n: usize) -> Vec<MatMut<'_, T>> {
    data.chunks_exact_mut(m * n).map(|x| MatMut::from_col_major(x, m, n, m).expect("m x n elements")).collect()
}

/// Runs the routine on all members and returns the seconds, without those for making views.
fn ours(routine: &str, operands: &mut Operands) -> f64 {
    let n = operands.n;
    let (a, b) = (operands.views(&operands.a), operands.views(&operands.b));
    let mut x = views_mut(&mut operands.x, n, n);
    let mut tau = views_mut(&mut operands.tau, n, 1);
    let mut ipiv = views_mut(&mut operands.ipiv, n, 1);
    let start = Instant::now();
    match routine {
        "gemm" => batch::gemm(1.0, Op::None, &a, Op::None, &b, 0.0, &mut x),
        "gemm one by one" => {
            for ((a, b), x) in a.iter().zip(&b).zip(&mut x) {
                cpu::gemm(1.0, Op::None, *a, Op::None, *b, 0.0, x.rb_mut());
            }
        }
        "potrf" => batch::potrf(Uplo::Lower, &mut x, &mut operands.info),
        "potrf one by one" => x.iter_mut().for_each(|x| cpu::potrf(Uplo::Lower, x.rb_mut()).expect("definite")),
        "getrf" => batch::getrf(&mut x, &mut ipiv, &mut operands.info),
        "getrf one by one" => {
            for (x, ipiv) in x.iter_mut().zip(&mut ipiv) {
                let _ = cpu::getrf(x.rb_mut(), ipiv.col_as_slice_mut(0).expect("a column"));
            }
        }
        "geqrf" => batch::geqrf(&mut x, &mut tau),
        _ => {
            let mut t = vec![0.0; n * n];
            for (x, tau) in x.iter_mut().zip(&mut tau) {
                let t = MatMut::from_col_major(&mut t, n, n, n).expect("n x n elements");
                cpu::geqrf(x.rb_mut(), tau.col_as_slice_mut(0).expect("a column"), t);
            }
        }
    }
    start.elapsed().as_secs_f64()
}

/// Runs the other library's routine on all members and returns the seconds.
fn theirs(peer: &Peer, routine: &str, operands: &mut Operands) -> f64 {
    let (n, size) = (operands.n as i32, operands.n * operands.n);
    let order = operands.n;
    let (mut work, lwork, mut info) = (vec![0.0; 64 * order], 64 * n, 0);
    let (no, lower) = (c"N".as_ptr(), c"L".as_ptr());
    let (one, zero) = (1.0, 0.0);
    let start = Instant::now();
    for (i, x) in operands.x.chunks_exact_mut(size).enumerate() {
        let (a, b) = (operands.a[i * size..].as_ptr(), operands.b[i * size..].as_ptr());
        let (tau, ipiv) = (&mut operands.tau[i * order..], &mut operands.ipiv[i * order..]);
        // SAFETY: all matrices are n x n without gaps, tau and ipiv have n elements from here on, and `work` has lwork.
        unsafe {
            match routine.split(' ').next().unwrap_or_default() {
                "gemm" => {
                    (peer.gemm)(no, no, &n, &n, &n, &one, a, &n, b, &n, &zero, x.as_mut_ptr(), &n);
                }
                "potrf" => (peer.potrf)(lower, &n, x.as_mut_ptr(), &n, &mut info),
                "getrf" => (peer.getrf)(&n, &n, x.as_mut_ptr(), &n, ipiv.as_mut_ptr(), &mut info),
                _ => {
                    let (tau, work) = (tau.as_mut_ptr(), work.as_mut_ptr());
                    (peer.geqrf)(&n, &n, x.as_mut_ptr(), &n, tau, work, &lwork, &mut info);
                }
            }
        }
    }
    start.elapsed().as_secs_f64()
}

fn main() {
    let filters = Filters::from_arguments();
    let path = std::env::var("SUPERSCALAR_PEER").unwrap_or_else(|_| LIBRARY.to_owned());
    let peer = match Peer::open(&path) {
        Ok(peer) => peer,
        Err(error) => return println!("skipped: {error}"),
    };
    let count = std::env::var("SUPERSCALAR_BENCH_COUNT").ok().and_then(|count| count.parse().ok()).unwrap_or(100_000);
    println!("{count} matrices, {}, {path}", cpu::InstructionSet::in_use());
    for routine in ["gemm", "potrf", "getrf", "geqrf"] {
        for variant in ["", " one by one"] {
            let routine = format!("{routine}{variant}");
            for n in ORDERS {
                let title = format!("{routine:17} {n:3}");
                if !filters.matches(&title) {
                    continue;
                }
                let mut operands = Operands::new(n, count);
                let (mut here, mut there, mut ratios) = (vec![], vec![], vec![]);
                for _ in 0..ROUNDS {
                    operands.x.copy_from_slice(&operands.a);
                    let ours_s = ours(&routine, &mut operands);
                    operands.x.copy_from_slice(&operands.a);
                    let theirs_s = theirs(&peer, &routine, &mut operands);
                    let ns = 1e9 / count as f64;
                    here.push(ours_s * ns);
                    there.push(theirs_s * ns);
                    ratios.push(theirs_s / ours_s);
                }
                let [here, there, ratio] = [here, there, ratios].map(median);
                println!("{title} {here:9.1} ns, peer {there:9.1} ns, ratio {ratio:5.2}");
            }
        }
    }
}
