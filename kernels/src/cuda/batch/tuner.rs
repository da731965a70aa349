//! Measures which tiles are the fastest for batched products on a GPU.
//!
//! Each candidate's products are compared with the host's before it is timed. All candidates are timed once; the best
//! few, and cuBLAS, several times by turns.

use super::{
    operand::Operand,
    products::Product,
    tile_table::{HasTileLimits, TunedTile},
};
use crate::{
    BatchBacking, BatchRef, BatchView, MatMut, Op, Scalar, cpu,
    cuda::{stream::Stream, tile::ProductTile},
    operations::BatchMat,
    try_zeros,
};
use std::time::Instant;
use superscalar_devices::cuda::{GpuClass, KIND, Queue};
use superscalar_runtime::{
    Codelet, DeviceError, IssueContext, Operand as DeviceOperand, Operands, Reads, Resident, Runtime, TaskSpec, Updates,
};

/// The bytes of a trial's operands: more than caches hold.
const TRIAL_BYTES: usize = 96 << 20;
const TRIAL_PROBLEMS_MAX: usize = 10_000;
/// Calls that are timed together, and rounds for the best candidates.
const CALLS: usize = 10;
const ROUNDS: usize = 5;
const FINALISTS: usize = 3;
/// Products of a trial that are compared with the host's.
const COMPARED: usize = 3;
/// The operations of the products that are timed.
const PLAIN: (Op, Op) = (Op::None, Op::None);

/// A kernel for batched products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProductKernel {
    /// This crate's, with tiles.
    Tiles(ProductTile),
    /// cuBLAS's.
    Cublas,
}

/// Finds the fastest tile for products of an order on a runtime's GPU, its only device. At most `most` candidates are
/// measured, and only the first of them after the moment `until`. `report` receives each kernel with its rate in
/// Gflop/s, or why it was discarded.
///
/// # Errors
/// If the runtime has other devices or none, memory runs out, the device fails, or no candidate computes right
/// products.
///
/// ```no_run
/// use superscalar::{Runtime, devices::cuda, kernels::cuda::tuning};
///
/// let gpu = cuda::open(0, &cuda::Options::default())?;
/// let class = gpu.class().clone();
/// let rt = Runtime::builder().workers(1).device(gpu).build()?;
/// let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
/// let tuned = tuning::measure::<f64>(&rt, &class, 64, 10, until, |kernel, rate| println!("{kernel:?}: {rate:?}"))?;
/// println!("{}", tuned.tile);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn measure<T: Scalar>(
    rt: &Runtime,
    gpu: &GpuClass,
    order: usize,
    most: usize,
    until: Instant,
    mut report: impl FnMut(ProductKernel, Result<f64, &DeviceError>),
) -> Result<TunedTile, DeviceError> {
    if rt.devices().len() != 1 {
        return Err(DeviceError::new("tiles are measured by a runtime whose only device is the GPU"));
    }
    let mut trial = Trial::<T>::new(rt, order)?;
    let mut timed = Vec::new();
    for tile in ProductTile::candidates::<T>(gpu.tile_limits(), order, most) {
        if !timed.is_empty() && Instant::now() >= until {
            break;
        }
        let kernel = ProductKernel::Tiles(tile);
        match trial.check(kernel).and_then(|()| trial.gflops(kernel)) {
            Ok(rate) => {
                report(kernel, Ok(rate));
                timed.push((rate, tile));
            }
            Err(error) => report(kernel, Err(&error)),
        }
    }
    timed.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    timed.truncate(FINALISTS);
    let mut rates = vec![Vec::new(); timed.len()];
    let mut cublas = Vec::new();
    for _ in 0..ROUNDS {
        for (&(_, tile), rates) in timed.iter().zip(&mut rates) {
            // A round that failed does not count.
            rates.extend(trial.gflops(ProductKernel::Tiles(tile)).ok());
        }
        // Without cuBLAS there is nothing to compare with.
        cublas.extend(trial.gflops(ProductKernel::Cublas).ok());
    }
    let finals = rates.into_iter().map(median).zip(timed.iter().map(|&(_, tile)| tile));
    let best = finals.max_by(|(a, _), (b, _)| a.total_cmp(b));
    let best = best.filter(|&(gflops, _)| gflops > 0.0);
    let (gflops, tile) = best.ok_or_else(|| DeviceError::new("no tile computes right products"))?;
    let cublas_gflops = median(cublas);
    report(ProductKernel::Cublas, Ok(cublas_gflops));
    Ok(TunedTile { letter: T::LETTER, order, tile, gflops, cublas_gflops })
}

/// Returns the median, or zero of none.
fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or_default()
}

/// The products C = op(A) op(B) of a trial, and the kernel and the number of times that they are computed.
#[derive(Clone, Copy, Debug)]
struct TrialCall {
    kernel: ProductKernel,
    ops: (Op, Op),
    order: usize,
    count: usize,
    times: usize,
}

type TrialOperands<'s, T> = (Reads<BatchView<'s, T>>, Reads<BatchView<'s, T>>, Updates<BatchView<'s, T>>);

/// The operands of trials, on the GPU.
struct Trial<'r, T: Scalar> {
    rt: &'r Runtime,
    order: usize,
    count: usize,
    a: Resident<BatchBacking<T>>,
    b: Resident<BatchBacking<T>>,
    c: Resident<BatchBacking<T>>,
}

impl<'r, T: Scalar> Trial<'r, T> {
    fn new(rt: &'r Runtime, order: usize) -> Result<Self, DeviceError> {
        let count = (TRIAL_BYTES / (3 * order * order * size_of::<T>()).max(1)).clamp(1, TRIAL_PROBLEMS_MAX);
        let batch = || -> Result<_, DeviceError> {
            Ok(Resident::new(rt, BatchBacking::uniform((order, order), count).map_err(device_error)?))
        };
        let mut trial = Self { rt, order, count, a: batch()?, b: batch()?, c: batch()? };
        let Self { a, b, c, .. } = &mut trial;
        rt.scope(|s| {
            for (seed, batch) in [a, b, c].into_iter().enumerate() {
                s.spawn(TaskSpec::new("fill"), batch.lend(s, &()).write(), move |batch: &mut BatchView<'_, T>| {
                    if let Some(mut batch) = batch.as_mut() {
                        (0..batch.len()).for_each(|p| fill(batch.get_mut(p), p * 3 + seed));
                    }
                });
            }
        })
        .map_err(device_error)?;
        Ok(trial)
    }

    /// Computes the products, and returns the seconds.
    fn run(&mut self, kernel: ProductKernel, ops: (Op, Op), times: usize) -> Result<f64, DeviceError> {
        let call = TrialCall { kernel, ops, order: self.order, count: self.count, times };
        let Self { rt, a, b, c, .. } = self;
        let begun = Instant::now();
        rt.scope(|s| {
            let codelet: Codelet<TrialOperands<'_, T>, TrialCall> = Codelet::new("gemm").on_device(KIND, issue::<T>);
            let (a, b, c) = (a.lend_ref(s, &()), b.lend_ref(s, &()), c.lend(s, &()));
            codelet.spawn(s, (a.read(), b.read(), c.read_write()), call);
        })
        .map_err(device_error)?;
        Ok(begun.elapsed().as_secs_f64())
    }

    /// Returns the rate of a kernel in Gflop/s.
    fn gflops(&mut self, kernel: ProductKernel) -> Result<f64, DeviceError> {
        // The first run may copy operands. What one call takes besides the kernel is subtracted.
        self.run(kernel, PLAIN, 1)?;
        let one = self.run(kernel, PLAIN, 1)?.min(self.run(kernel, PLAIN, 1)?);
        let seconds = (self.run(kernel, PLAIN, 1 + CALLS)? - one) / CALLS as f64;
        if seconds <= 0.0 {
            return Err(DeviceError::new("the time of the kernel is less than that of a task"));
        }
        let flops = f64::from(T::FLOPS_MUL + T::FLOPS_ADD) * (self.order as f64).powi(3) * self.count as f64;
        Ok(flops / seconds * 1e-9)
    }

    /// Compares some of a kernel's products with the host's, for each combination of operations.
    fn check(&mut self, kernel: ProductKernel) -> Result<(), DeviceError> {
        let each = [Op::None, Op::ConjTrans].map(|a| [Op::None, Op::ConjTrans].map(|b| (a, b)));
        each.as_flattened().iter().try_for_each(|&ops| self.check_one(kernel, ops))
    }

    fn check_one(&mut self, kernel: ProductKernel, ops: (Op, Op)) -> Result<(), DeviceError> {
        self.run(kernel, ops, 1)?;
        let (order, count) = (self.order, self.count);
        let Self { rt, a, b, c, .. } = self;
        rt.scope(|s| {
            let (a, b, c) = (a.lend_ref(s, &()), b.lend_ref(s, &()), c.lend(s, &()));
            let operands = (a.read(), b.read(), c.read_write());
            s.spawn(
                TaskSpec::new("compare"),
                operands,
                move |(a, b, c): (&BatchView<'_, T>, &BatchView<'_, T>, &mut BatchView<'_, T>)| {
                    let problems = (0..COMPARED).map(|at| at * (count - 1) / (COMPARED - 1).max(1));
                    let is_right =
                        problems.into_iter().all(|p| is_product(ops, [a.as_ref(), b.as_ref(), c.as_ref()], p));
                    // The next kernel must not find the products of this one.
                    if let Some(mut c) = c.as_mut() {
                        (0..c.len()).for_each(|p| c.get_mut(p).fill(T::ZERO));
                    }
                    match is_right {
                        true => Ok(()),
                        false => Err(format!("the kernel computes wrong products of order {order}")),
                    }
                },
            );
        })
        .map_err(device_error)
    }
}

fn device_error(error: impl std::error::Error) -> DeviceError {
    DeviceError::new(error.to_string())
}

/// Puts the products of a trial into the queue.
fn issue<T: Scalar>(
    context: &mut IssueContext<'_>,
    (a, b, c): <TrialOperands<'_, T> as Operands>::Of,
    call: &TrialCall,
) -> Result<(), DeviceError> {
    let &TrialCall { kernel, ops, order, count, times } = call;
    let of = |operand: DeviceOperand<BatchView<'_, T>>| -> Result<Operand<T>, DeviceError> {
        Ok(Operand::of(&BatchMat::packed(operand.region()?, (order, order), order, count), 0..count))
    };
    let (a, b, c) = (of(a)?, of(b)?, of(c)?);
    let product = Product { ops, alpha: T::ONE, a, b, beta: T::ZERO, c, count };
    let mut stream = Stream::new(context.queue::<Queue>()?, 0..0);
    (0..times).try_for_each(|_| match kernel {
        ProductKernel::Tiles(tile) => product.enqueue_tiles(&mut stream, tile),
        ProductKernel::Cublas => product.enqueue_cublas(&mut stream),
    })
}

/// Fills a matrix with numbers whose parts are between -1 and 1.
fn fill<T: Scalar>(mut a: MatMut<'_, T>, seed: usize) {
    let mut state = seed as u64 + 1;
    for j in 0..a.ncols() {
        for i in 0..a.nrows() {
            let mut next = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                T::Real::from_f64((state >> 40) as f64 / f64::powi(2.0, 23) - 1.0)
            };
            a[(i, j)] = T::from_parts(next(), next());
        }
    }
}

/// Returns whether problem p of C is op(A) op(B), up to rounding.
fn is_product<T: Scalar>(ops: (Op, Op), batches: [BatchRef<'_, T>; 3], p: usize) -> bool {
    let [a, b, c] = batches.map(|batch| batch.get(p));
    let (m, n) = c.shape();
    let Ok(mut wanted) = try_zeros::<T>(m, n) else { return false };
    let Ok(mut product) = MatMut::from_col_major(&mut wanted, m, n, m.max(1)) else { return false };
    cpu::gemm(T::ONE, ops.0, a, ops.1, b, T::ZERO, product.rb_mut());
    let bound = T::Real::from_f64(8.0 * a.ncols() as f64) * T::EPSILON;
    // NaN is not right.
    (0..n).all(|j| (0..m).all(|i| (product[(i, j)] - c.at(i, j)).abs() <= bound))
}
