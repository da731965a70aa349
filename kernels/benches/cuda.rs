//! Rates of the CUDA kernels on the first GPU: `cargo bench -p superscalar-kernels --bench cuda [-- FILTER...]`.
//!
//! Prints one line per operation, type and size: the time of a call when many are queued, and its rate in operations,
//! or in bytes read and written for operations that only move data. The operand of a factorization is copied anew
//! before each call, and the time of the copies is subtracted. A filter is a word that a line must contain.

#[allow(dead_code)] // Other benchmarks use the rest.
mod gpu;
#[allow(dead_code)] // Other benchmarks use the rest.
mod timing;

use gpu::Gpu;
use superscalar_devices::cuda::{self, Options};
use superscalar_kernels::{
    Diag, Direction, Op, Scalar, Side, Symmetry, Uplo, c32, c64,
    device::{Call, Mat},
    operations::{
        Geadd, Gemm, Geqrf, Getrf, Lacpy, Larfb, Laswp, Potrf, Rank2k, RankK, Scale, Symm, Triangular, TriangularAction,
    },
};
use superscalar_runtime::{Device as _, DeviceError};
use timing::{Filters, numbers};

const ORDERS: [usize; 5] = [256, 512, 1024, 2048, 4096];
/// Columns of a block reflector, and the number of interchanges.
const DEPTH: usize = 256;

/// An operation to time.
struct Benchmark<T: Scalar> {
    name: &'static str,
    /// Operations in units of those of a product, or bytes in units of those of a matrix.
    share: f64,
    is_copy: bool,
    /// Whether the overwritten operand is copied anew before each call.
    is_fresh: bool,
    call: Call<T>,
}

/// Returns the benchmarks on three n x n matrices, the first two of which are read, and on interchanges.
fn benchmarks<T: Scalar>(n: usize) -> Vec<Benchmark<T>> {
    let [a, b, c] = [0, 1, 2].map(|at| Mat::<T>::at(at * n * n, (n, n), n));
    let ipiv = Mat::<i32>::at(3 * n * n * size_of::<T>() / size_of::<i32>(), (DEPTH, 1), DEPTH);
    let (alpha, beta, uplo, diag) = (T::ONE, T::ZERO, Uplo::Lower, Diag::NonUnit);
    let benchmark = |name, share, call| Benchmark { name, share, is_copy: false, is_fresh: false, call };
    let moved = |name, share, call| Benchmark { name, share, is_copy: true, is_fresh: false, call };
    let gemm = |part, op_a, op_b| Call::Gemm(Gemm { part, op_a, op_b, alpha, a, b, beta, c });
    let triangle = |action, side, op| Call::Triangular(Triangular { action, side, uplo, op, diag, alpha, a, b: c });
    let (none, adjoint) = (Op::None, Op::ConjTrans);
    let rank_k = Call::RankK(RankK { symmetry: Symmetry::Hermitian, uplo, op: none, alpha, a, beta, c });
    let rank_2k = Call::Rank2k(Rank2k { symmetry: Symmetry::Hermitian, uplo, op: none, alpha, a, b, beta, c });
    let symm = Call::Symm(Symm { symmetry: Symmetry::Hermitian, side: Side::Left, uplo, alpha, a, b, beta, c });
    let sum = |op| Call::Geadd(Geadd { op, alpha, a, beta: -T::ONE, b: c });
    let depth = DEPTH.min(n);
    let v = a.submatrix(0..n, 0..depth);
    let larfb = Call::Larfb(Larfb { side: Side::Left, op: adjoint, v, t: b.submatrix(0..depth, 0..depth), c });
    let laswp = Call::Laswp(Laswp { a: c, first: 0, ipiv: vec![ipiv], direction: Direction::Forward });
    vec![
        benchmark("gemm NN", 1.0, gemm(None, none, none)),
        benchmark("gemm NC", 1.0, gemm(None, none, adjoint)),
        benchmark("gemmt NC", 0.5, gemm(Some(uplo), none, adjoint)),
        benchmark("herk LN", 0.5, rank_k),
        benchmark("her2k LN", 1.0, rank_2k),
        benchmark("hemm LL", 1.0, symm),
        benchmark("trmm LLN", 0.5, triangle(TriangularAction::Multiply, Side::Left, none)),
        benchmark("trmm RLC", 0.5, triangle(TriangularAction::Multiply, Side::Right, adjoint)),
        benchmark("trsm LLN", 0.5, triangle(TriangularAction::Solve, Side::Left, none)),
        benchmark("trsm RLC", 0.5, triangle(TriangularAction::Solve, Side::Right, adjoint)),
        Benchmark { is_fresh: true, ..benchmark("potrf L", 1.0 / 6.0, Call::Potrf(Potrf { uplo, first: 0, a: c })) },
        benchmark("larfb LC", 2.0 * depth as f64 / n as f64, larfb),
        moved("copy", 2.0, Call::Lacpy(Lacpy { op: none, a, b: c })),
        moved("transpose", 2.0, Call::Lacpy(Lacpy { op: adjoint, a, b: c })),
        moved("geadd", 3.0, sum(none)),
        moved("geadd C", 3.0, sum(adjoint)),
        moved("scale", 2.0, Call::Scale(Scale { part: None, beta: -T::ONE, a: c })),
        moved("laswp", 4.0 * depth as f64 / n as f64, laswp),
    ]
}

/// Returns operands for which no result overflows, then interchanges with rows far below.
fn operands<T: Scalar>(n: usize) -> Vec<u8> {
    let mut next = numbers();
    let mut data: Vec<T> = (0..3 * n * n).map(|_| T::from_f64(next() / n as f64)).collect();
    for block in data.chunks_exact_mut(n * n) {
        (0..n).for_each(|i| block[i * (n + 1)] = T::ONE);
    }
    let rows = n - DEPTH.min(n) + 1;
    let ipiv: Vec<i32> = (0..DEPTH).map(|i| (i + (next().abs() * 2.0 * rows as f64) as usize) as i32 + 1).collect();
    let mut bytes = bytemuck::cast_slice::<T, u8>(&data).to_vec();
    bytes.extend_from_slice(bytemuck::cast_slice(&ipiv));
    bytes
}

fn measure<T: Scalar>(gpu: &mut Gpu, filters: &Filters) -> Result<(), DeviceError> {
    for n in ORDERS {
        let mut bytes = operands::<T>(n);
        gpu.operands = bytes.len();
        for benchmark in benchmarks::<T>(n) {
            let title = format!("{:<10} {} n={n:<5}", benchmark.name, T::LETTER);
            if !filters.matches(&title) {
                continue;
            }
            gpu.load(&mut bytes)?;
            let [a, c] = [0, 2].map(|at| Mat::<T>::at(at * n * n, (n, n), n));
            let copy = Call::Lacpy(Lacpy { op: Op::None, a, b: c });
            let seconds = match benchmark.is_fresh {
                false => gpu.seconds(&[benchmark.call])?,
                true => gpu.seconds(&[copy.clone(), benchmark.call])? - gpu.seconds(&[copy])?,
            };
            let (unit, amount) = match benchmark.is_copy {
                true => ("GB/s", (n * n * size_of::<T>()) as f64),
                false => ("GFLOP/s", f64::from(T::FLOPS_MUL + T::FLOPS_ADD) * (n as f64).powi(3)),
            };
            println!("{title} {:9.1} µs {:9.1} {unit}", seconds * 1e6, amount * benchmark.share / seconds * 1e-9);
        }
    }
    Ok(())
}

/// Rows and columns of panels, and orders of tiles.
const PANEL_ROWS: [usize; 4] = [4096, 8192, 16384, 32768];
const PANEL_COLUMNS: [usize; 6] = [16, 32, 64, 128, 256, 512];
const TILES: [usize; 8] = [128, 256, 384, 512, 768, 1024, 1536, 2048];

/// Measures the panels of LU and QR factorizations and the tiles of Cholesky factorizations, with the time per column.
fn measure_panels<T: Scalar>(gpu: &mut Gpu, filters: &Filters) -> Result<(), DeviceError> {
    let panels = PANEL_ROWS.iter().flat_map(|&m| PANEL_COLUMNS.map(|n| (m, n)));
    for (m, n) in panels.chain(TILES.map(|n| (n, n))) {
        let [a, c] = [0, 1].map(|at| Mat::<T>::at(at * m * n, (m, n), m));
        let (t, tau) = (Mat::<T>::at(2 * m * n, (n, n), n), Mat::<T>::at((2 * m + n) * n, (n, 1), n));
        let behind = (2 * m + n + 1) * n * size_of::<T>() / size_of::<i32>();
        let ipiv = Mat::<i32>::at(behind, (n, 1), n);
        let lu = (n * n) as f64 * (m as f64 - n as f64 / 3.0) / 2.0;
        let calls = match m > n {
            true => vec![
                ("getrf P", lu, Call::Getrf(Getrf { a: c, first: 0, ipiv })),
                ("geqrf P", 2.0 * lu, Call::Geqrf(Geqrf { a: c, t, tau })),
            ],
            false => vec![("potrf T", lu / 2.0, Call::Potrf(Potrf { uplo: Uplo::Lower, first: 0, a: c }))],
        };
        for (name, multiplications, call) in calls {
            let title = format!("{name:<10} {} {m:>6} x {n:<5}", T::LETTER);
            if !filters.matches(&title) {
                continue;
            }
            gpu.operands = (behind + n) * size_of::<i32>();
            gpu.load(&mut to_factor::<T>((m, n)))?;
            let copy = Call::Lacpy(Lacpy { op: Op::None, a, b: c });
            let seconds = gpu.seconds(&[copy.clone(), call])? - gpu.seconds(&[copy])?;
            let rate = f64::from(T::FLOPS_MUL + T::FLOPS_ADD) * multiplications / seconds * 1e-9;
            println!("{title} {:9.1} µs {:7.2} µs/column {rate:9.1} GFLOP/s", seconds * 1e6, seconds * 1e6 / n as f64);
        }
    }
    Ok(())
}

/// Returns the operand of a factorization: a positive definite tile, or a panel whose rows are exchanged.
fn to_factor<T: Scalar>((m, n): (usize, usize)) -> Vec<u8> {
    let mut next = numbers();
    let by = if m > n { 1.0 } else { n as f64 };
    let mut data: Vec<T> = (0..m * n).map(|_| T::from_f64(next() / by)).collect();
    if m == n {
        (0..n).for_each(|i| data[i * (m + 1)] = T::ONE);
    }
    bytemuck::cast_slice::<T, u8>(&data).to_vec()
}

fn main() -> Result<(), DeviceError> {
    let filters = Filters::from_arguments();
    if cuda::count()? == 0 {
        println!("there is no GPU");
        return Ok(());
    }
    let device = cuda::open(0, &Options { heap_bytes: Some(3 << 30), ..Options::default() })?;
    device.memory().ok_or_else(|| DeviceError::new("the GPU has no memory"))?.reserve()?;
    println!("{}", device.class().name);
    let mut gpu = Gpu { device, operands: 0 };
    measure_panels::<f64>(&mut gpu, &filters)?;
    measure_panels::<f32>(&mut gpu, &filters)?;
    measure_panels::<c32>(&mut gpu, &filters)?;
    measure_panels::<c64>(&mut gpu, &filters)?;
    measure::<f64>(&mut gpu, &filters)?;
    measure::<f32>(&mut gpu, &filters)?;
    measure::<c32>(&mut gpu, &filters)?;
    measure::<c64>(&mut gpu, &filters)
}
