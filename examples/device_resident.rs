//! A factorization and solves on matrices that stay on devices, and the bytes that each step moves from and to the
//! host.
//!
//! ```text
//! cargo run --release --example device_resident
//! cargo run --release --example device_resident -- --n 2048 --nb 256 --devices sim:0..2
//! cargo run --release --example device_resident -- --n 16384 --nb 1024 --devices cuda:0
//! ```
//!
//! A matrix that is lent to a scope is copied back to host memory when the scope ends. The tiles of a `DeviceMatrix`
//! stay in the devices' memory, where the next scope uses them. The example uploads a matrix and right-hand sides,
//! factors, solves, and solves again for the residual (a refinement step, whose residual is a product on devices). Then
//! it downloads the solution. After each step it prints the megabytes moved from and to host memory.
//!
//! By default the tiles are distributed over two simulated devices.

use clap::Parser;
use std::{error::Error, time::Instant};
use superscalar::{
    Runtime, devices,
    dla::{BlockSize, DeviceMatrix, Layout, Matrix, spawn},
    kernels::{Op, Uplo},
};
use superscalar_oracle::{at_most, largest};

/// Factors and solves with matrices that stay on devices.
#[derive(Parser)]
struct Arguments {
    /// Order of the matrix.
    #[arg(long, default_value_t = 768)]
    n: usize,
    /// Order of a tile.
    #[arg(long, default_value_t = 128)]
    nb: usize,
    /// Right-hand sides.
    #[arg(long, default_value_t = 32)]
    nrhs: usize,
    /// The devices.
    #[arg(long, default_value = "sim:0..2")]
    devices: String,
}

/// Prints the time of each step and the bytes that it moved.
struct Log<'a> {
    rt: &'a Runtime,
    since: Instant,
    moved: u64,
}

impl Log<'_> {
    /// Returns the bytes moved from and to host memory so far.
    fn host_bytes(&self) -> u64 {
        let traffic = self.rt.traffic();
        traffic.iter().filter(|link| link.from == "host" || link.to == "host").map(|link| link.bytes).sum()
    }

    /// Ends a step, and returns the bytes that it moved from and to host memory.
    fn step(&mut self, name: &str) -> u64 {
        let so_far = self.host_bytes();
        let moved = so_far - std::mem::replace(&mut self.moved, so_far);
        let seconds = std::mem::replace(&mut self.since, Instant::now()).elapsed().as_secs_f64();
        println!("{name:<32} {seconds:>8.3} s {:>9.3} MB from and to the host", moved as f64 * 1e-6);
        moved
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { n, nb, nrhs, devices: names } = Arguments::parse();
    let rt = devices::open(&names, None)?.builder().build()?;
    // Diagonally dominant, hence positive definite; the solution is all ones.
    let element = |i: usize, j: usize| if i == j { 2.0 } else { 1.0 / n as f64 };
    let a = Matrix::from_fn(n, n, element);
    let b = Matrix::from_fn(n, nrhs, |_, _| 2.0 + (n - 1) as f64 / n as f64);
    let mut log = Log { rt: &rt, since: Instant::now(), moved: 0 };

    let tiles = Layout::tiles(BlockSize::Fixed(nb));
    let mut factor = DeviceMatrix::from_host(&rt, a.as_ref(), tiles)?;
    let mut x = DeviceMatrix::from_host(&rt, b.as_ref(), tiles)?;
    log.step("upload of A and B");
    // Copies, zeros and products are made where the tiles are.
    let mut whole = DeviceMatrix::zeros(&rt, (n, n), tiles)?;
    let mut residual = DeviceMatrix::zeros(&rt, (n, nrhs), tiles)?;
    rt.scope(|s| {
        spawn::copy(s, &factor.lend_ref(s), &whole.lend(s));
        spawn::copy(s, &x.lend_ref(s), &residual.lend(s));
    })?;
    let mut inside = log.step("copies of both, on devices");

    rt.scope(|s| spawn::potrf(s, Uplo::Lower, &factor.lend(s)))?;
    inside += log.step("potrf: A = L Lᵀ");
    rt.scope(|s| spawn::potrs(s, Uplo::Lower, &factor.lend_ref(s), &x.lend(s)))?;
    inside += log.step("potrs: X = A⁻¹ B");
    // Two routines in one scope overlap tile by tile, as they do with matrices in host memory.
    rt.scope(|s| {
        let (factor, residual) = (factor.lend_ref(s), residual.lend(s));
        spawn::gemm(s, -1.0, Op::None, &whole.lend_ref(s), Op::None, &x.lend_ref(s), 1.0, &residual);
        spawn::potrs(s, Uplo::Lower, &factor, &residual);
    })?;
    inside += log.step("gemm, potrs: A⁻¹ (B − A X)");

    let (mut solution, mut correction) = (Matrix::zeros(n, nrhs), Matrix::zeros(n, nrhs));
    x.download(&rt, solution.as_mut())?;
    residual.download(&rt, correction.as_mut())?;
    log.step("download of X and its correction");
    for (at, device) in rt.devices().iter().enumerate() {
        println!("{} has {:.3} MB of the factor", device.name, factor.bytes_on(at) as f64 * 1e-6);
    }

    let error = |i: usize, j: usize| (solution.at(i, j) + correction.at(i, j) - 1.0).abs();
    let error = largest((0..nrhs).flat_map(|j| (0..n).map(move |i| error(i, j))));
    println!("largest error after a step of refinement: {error:.1e}");
    // The condition number of the matrix is 3.
    at_most("error of the solution", error, 3.0 * n as f64 * f64::EPSILON)?;
    let room = rt.devices().iter().filter_map(|device| Some(device.memory.as_ref()?.bytes)).sum::<usize>();
    // Four matrices, times two for the replicas that the policy makes on other devices.
    let fits = room > 2 * (2 * n * n + 2 * n * nrhs) * size_of::<f64>() * rt.devices().len();
    if fits && rt.devices().len() == 1 && inside > 0 {
        return Err(format!("{inside} bytes moved to the host although the device had enough memory").into());
    }
    Ok(())
}
