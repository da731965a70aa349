//! [`Trial`]: checks and times rows on a device, by the tasks of a runtime that has only this device.

use crate::{
    BatchBacking, BatchView, Op, Scalar, Side, Symmetry, Uplo,
    device::Call,
    opencl::{
        Parameters, check, enqueue_with,
        product::{Product, Repeats},
        scratch_bytes_with,
        stream::Stream,
        view::View,
    },
    operations::{Gemm, Mat, RankK, Symm},
};
use std::{path::Path, time::Instant};
use superscalar_devices::opencl::{DiscoveredDevice, KIND, OpenclDevice, OpenclQueue, Settings};
use superscalar_runtime::{Codelet, DeviceError, IssueContext, Operand, Resident, Runtime, TaskSpec, Updates};

/// Products and copies that are timed together.
const PRODUCTS: usize = 4;
const COPIES: usize = 20;
/// A row that takes so many times the time of the fastest one is not timed again.
const SLOW: f64 = 4.0;
/// On a busy machine the first task may have taken longer than one that does more. Then the latter is repeated.
const TRIES: usize = 3;
/// The seed of the operands.
const SEED: u64 = 1;
/// Room in the heap besides the matrices of the largest product and its packed factors.
const ROOM_BYTES: usize = 64 << 20;

/// What a task does with its operand.
#[derive(Clone, Copy, Debug)]
enum Work {
    /// Runs the calls of [`checked_calls`].
    Check,
    /// Computes C := op(A) op(B) of some order.
    Time { order: usize, op: Op, repeats: Repeats },
}

#[derive(Clone, Copy, Debug)]
struct TrialCall {
    row: Parameters,
    work: Work,
}

/// Operands on a device.
pub(super) struct Trial<T: Scalar> {
    checked: Resident<BatchBacking<T>>,
    timed: Resident<BatchBacking<T>>,
    order: usize,
    expected: Vec<T>,
    rt: Runtime,
    heap_bytes: usize,
}

impl<T: Scalar> Trial<T> {
    /// Opens the device for products of this order. It finds compiled programs in the folder.
    pub fn new(found: &DiscoveredDevice, folder: &Path, order: usize) -> Result<Self, DeviceError> {
        let (calls, elements) = checked_calls::<T>(0);
        let mut expected: Vec<T> = std::iter::repeat_with(numbers(SEED)).take(elements).collect();
        for call in calls {
            call.run_in(bytemuck::cast_slice_mut(&mut expected))?;
        }
        Self::expecting(expected, found, folder, order)
    }

    /// Opens the device anew, which has failed or shall compute products of another order.
    pub fn reopen(&mut self, found: &DiscoveredDevice, folder: &Path, order: usize) -> Result<(), DeviceError> {
        *self = Self::expecting(self.expected.clone(), found, folder, order)?;
        Ok(())
    }

    /// Opens the device, on which [`checked_calls`] shall have these results.
    pub fn expecting(
        expected: Vec<T>,
        found: &DiscoveredDevice,
        folder: &Path,
        order: usize,
    ) -> Result<Self, DeviceError> {
        let class = found.class();
        let most = if class.is_cpu { 1024 } else { 4096 };
        let heap_bytes = bytes_for::<T>(most).min(class.buffer_bytes_max).min(class.memory_bytes / 2);
        let settings =
            Settings { queues: 1, memory_bytes: Some(heap_bytes), cache: Some(folder.into()), ..Settings::new(0) };
        let devices = OpenclDevice::open(&[(found.clone(), settings)])?;
        let builder = Runtime::builder().workers(1).bind(false).trace(false).weights_file(None);
        let builder = devices.into_iter().fold(builder, |builder, device| builder.device(device));
        let rt = builder.build().map_err(device_error)?;
        let column = |rows: usize| -> Result<_, DeviceError> {
            Ok(Resident::new(&rt, BatchBacking::uniform((rows, 1), 1).map_err(device_error)?))
        };
        let (checked, timed) = (column(expected.len())?, column(3 * order * order)?);
        let mut this = Self { checked, timed, order, expected, rt, heap_bytes };
        this.fill()?;
        Ok(this)
    }

    /// Fills the operands that are timed.
    fn fill(&mut self) -> Result<(), DeviceError> {
        let Self { timed, rt, .. } = self;
        let filled = rt.scope(|s| {
            s.spawn(TaskSpec::new("fill"), timed.lend(s, &()).write(), |batch: &mut BatchView<'_, T>| {
                if let Some(mut batch) = batch.as_mut() {
                    let mut column = batch.get_mut(0);
                    let mut next = numbers::<T>(SEED);
                    (0..column.nrows()).for_each(|i| column[(i, 0)] = next());
                }
            });
        });
        filled.map_err(device_error)
    }

    pub fn order(&self) -> usize {
        self.order
    }

    /// Returns whether the heap has room for products of twice the order.
    pub fn can_double(&self) -> bool {
        bytes_for::<T>(2 * self.order) <= self.heap_bytes
    }

    /// Returns whether a row computes what the host's kernels compute, up to rounding.
    pub fn is_right(&mut self, row: &Parameters) -> Result<bool, DeviceError> {
        let call = TrialCall { row: packing(row), work: Work::Check };
        let mut is_right = false;
        let Self { checked, rt, expected, .. } = self;
        let (expected, answer) = (&*expected, &mut is_right);
        let checked = rt.scope(|s| {
            let datum = checked.lend(s, &());
            s.spawn(TaskSpec::new("write"), datum.write(), move |batch: &mut BatchView<'_, T>| {
                if let Some(mut batch) = batch.as_mut() {
                    let mut column = batch.get_mut(0);
                    let mut next = numbers(SEED);
                    (0..column.nrows()).for_each(|i| column[(i, 0)] = next());
                }
            });
            codelet::<T>().spawn(s, datum.read_write(), call);
            s.spawn(TaskSpec::new("compare"), datum.read(), move |batch: &BatchView<'_, T>| {
                let batch = batch.as_ref();
                let column = batch.get(0);
                *answer = agree(expected, |i| column.at(i, 0));
            });
        });
        checked.map_err(device_error)?;
        Ok(is_right)
    }

    /// Returns the seconds of the multiplication of packed factors. `fastest_s` is the time of the fastest row.
    pub fn product_s(&mut self, row: &Parameters, fastest_s: f64) -> Result<f64, DeviceError> {
        let repeats = Repeats { multiplication: 1 + PRODUCTS, ..Repeats::ONCE };
        self.apart_s(row, Op::None, [Repeats::ONCE, repeats], PRODUCTS, fastest_s)
    }

    /// Returns the seconds of packing a factor in both orders of its elements.
    pub fn packing_s(&mut self, row: &Parameters, factor: usize, fastest_s: f64) -> Result<f64, DeviceError> {
        let mut once = Repeats { packing: [0, 0], multiplication: 0 };
        once.packing[factor] = 1;
        let mut repeats = once;
        repeats.packing[factor] = 1 + COPIES;
        let orders = [Op::None, Op::Trans];
        orders.into_iter().map(|op| self.apart_s(row, op, [once, repeats], COPIES, fastest_s)).sum()
    }

    /// Returns the seconds of packing both factors and multiplying them.
    pub fn whole_s(&mut self, row: &Parameters) -> Result<f64, DeviceError> {
        let repeats = Repeats { packing: [1 + PRODUCTS; 2], multiplication: 1 + PRODUCTS };
        self.apart_s(row, Op::None, [Repeats::ONCE, repeats], PRODUCTS, f64::INFINITY)
    }

    /// Times a task that does something once, and one that does it `more` times more often. Their difference excludes
    /// what a task takes besides.
    fn apart_s(
        &mut self,
        row: &Parameters,
        op: Op,
        [once, repeated]: [Repeats; 2],
        more: usize,
        fastest_s: f64,
    ) -> Result<f64, DeviceError> {
        // The first task may copy operands and load programs.
        self.run_s(row, op, once)?;
        let one = self.run_s(row, op, once)?.min(self.run_s(row, op, once)?);
        if one > SLOW * fastest_s + TASK_S {
            return Ok(one);
        }
        for _ in 0..TRIES {
            let seconds = (self.run_s(row, op, repeated)? - one) / more as f64;
            if seconds > 0.0 {
                return Ok(seconds);
            }
        }
        Err(DeviceError::new("the kernel takes less time than a task"))
    }

    fn run_s(&mut self, row: &Parameters, op: Op, repeats: Repeats) -> Result<f64, DeviceError> {
        let call = TrialCall { row: packing(row), work: Work::Time { order: self.order, op, repeats } };
        let Self { timed, rt, .. } = self;
        let begun = Instant::now();
        rt.scope(|s| codelet::<T>().spawn(s, timed.lend(s, &()).read_write(), call)).map_err(device_error)?;
        Ok(begun.elapsed().as_secs_f64())
    }
}

/// Returns a row that packs the factors of all products: the search is for the kernels that pack and multiply them.
fn packing(row: &Parameters) -> Parameters {
    Parameters { direct_order: 0, ..*row }
}

/// What a task and its packing may take besides the product: generous, because slow rows are only not timed again.
const TASK_S: f64 = 0.005;

/// Returns the bytes of a product's matrices and packed factors.
fn bytes_for<T>(order: usize) -> usize {
    6 * order * order * size_of::<T>() + ROOM_BYTES
}

fn device_error(error: impl std::error::Error) -> DeviceError {
    DeviceError::new(error.to_string())
}

type TrialOperand<'s, T> = Updates<BatchView<'s, T>>;

fn codelet<'s, T: Scalar>() -> Codelet<TrialOperand<'s, T>, TrialCall> {
    let scratch_bytes = |_: Operand<BatchView<'s, T>>, &TrialCall { row, work }: &TrialCall| match work {
        Work::Check => checked_calls::<T>(0).0.iter().map(|call| scratch_bytes_with(&row, call)).max().unwrap_or(0),
        Work::Time { order, op, .. } => scratch_bytes_with(&row, &Call::Gemm(timed::<T>(0, order, op))),
    };
    Codelet::new("gemm").on_device_with_scratch(KIND, scratch_bytes, issue::<T>)
}

/// Puts a task's calls into the queue.
fn issue<T: Scalar>(
    context: &mut IssueContext<'_>,
    operand: Operand<BatchView<'_, T>>,
    &TrialCall { row, work }: &TrialCall,
) -> Result<(), DeviceError> {
    let (base, scratch) = (operand.region()?.offset / size_of::<T>(), context.scratch());
    let queue = context.queue::<OpenclQueue>()?;
    match work {
        Work::Check => {
            let (calls, _) = checked_calls::<T>(base);
            calls.iter().try_for_each(|call| enqueue_with(&row, queue, scratch.clone(), call))
        }
        Work::Time { order, op, repeats } => {
            let product = timed::<T>(base, order, op);
            check(&row, queue, &scratch, &Call::Gemm(product))?;
            let Gemm { alpha, a, b, beta, c, .. } = product;
            let (a, b, c) = (View::with(op, a), View::with(op, b), View::of(c));
            Product { part: None, alpha, a, b, beta, c }.repeated(&mut Stream::new(row, queue, scratch), repeats)
        }
    }
}

/// Returns the product that is timed.
fn timed<T: Scalar>(base: usize, order: usize, op: Op) -> Gemm<T, Mat<T>> {
    let [a, b, c] = [0, 1, 2].map(|at| Mat::at(base + at * order * order, (order, order), order));
    Gemm { part: None, op_a: op, op_b: op, alpha: T::ONE, a, b, beta: T::ZERO, c }
}

/// Rows, columns and steps of the products that are checked. They have whole blocks of most kernels and parts of them.
const SIZES: (usize, usize, usize) = (301, 277, 93);
/// The same of a product with several blocks of steps, and on CPUs with steps that are packed later.
const DEEP_SIZES: (usize, usize, usize) = (35, 41, 1100);
/// The order of the Hermitian matrices.
const HERMITIAN_ORDER: usize = 131;

/// Returns calls that use each packing kernel for each factor, each with its own matrices from `base` on, and the
/// number of their elements. The matrices have gaps between their columns.
fn checked_calls<T: Scalar>(base: usize) -> ([Call<T>; 6], usize) {
    let mut next = base;
    let mut mat = |m: usize, n: usize| {
        let mat = Mat::at(next, (m, n), m + 1);
        next += (m + 1) * n;
        mat
    };
    let ((m, n, k), deep) = (SIZES, DEEP_SIZES);
    let real = |x: f64| T::from_f64(x);
    let complex = |x: f64, y: f64| T::from_parts(T::Real::from_f64(x), T::Real::from_f64(y));
    let (alpha, beta) = (complex(0.75, -0.5), complex(-0.5, 0.25));
    let (symmetry, uplo, order) = (Symmetry::Hermitian, Uplo::Lower, HERMITIAN_ORDER);
    let gemm = |op_a, op_b, [a, b, c]: [Mat<T>; 3]| Call::Gemm(Gemm { part: None, op_a, op_b, alpha, a, b, beta, c });
    let calls = [
        gemm(Op::None, Op::ConjTrans, [mat(m, k), mat(n, k), mat(m, n)]),
        gemm(Op::ConjTrans, Op::None, [mat(k, m), mat(k, n), mat(m, n)]),
        gemm(Op::None, Op::None, [mat(deep.0, deep.2), mat(deep.2, deep.1), mat(deep.0, deep.1)]),
        Call::Symm(Symm {
            symmetry,
            side: Side::Left,
            uplo,
            alpha,
            a: mat(order, order),
            b: mat(order, n),
            beta,
            c: mat(order, n),
        }),
        Call::Symm(Symm {
            symmetry,
            side: Side::Right,
            uplo: Uplo::Upper,
            alpha,
            a: mat(order, order),
            b: mat(m, order),
            beta,
            c: mat(m, order),
        }),
        Call::RankK(RankK {
            symmetry,
            uplo,
            op: Op::ConjTrans,
            alpha: real(0.75),
            a: mat(k, m),
            beta: real(-0.5),
            c: mat(m, m),
        }),
    ];
    (calls, next - base)
}

/// Returns random numbers whose parts are between -1 and 1.
fn numbers<T: Scalar>(seed: u64) -> impl FnMut() -> T {
    let mut state = seed;
    let mut part = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        T::Real::from_f64((state >> 40) as f64 / f64::powi(2.0, 23) - 1.0)
    };
    move || {
        let re = part();
        T::from_parts(re, part())
    }
}

/// Returns whether all elements are those expected, up to rounding. NaN is not.
fn agree<T: Scalar>(expected: &[T], element: impl Fn(usize) -> T) -> bool {
    let bound = T::Real::from_f64(16.0 * SIZES.0 as f64) * T::EPSILON;
    expected.iter().enumerate().all(|(i, &x)| (element(i) - x).abs() <= bound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c32;

    #[test]
    fn wrong_elements_and_nan_do_not_agree() {
        let expected = [c32::new(1.0, 2.0), c32::new(-3.0, 0.0)];
        let with = |last: c32| agree(&expected, |i| if i == 0 { expected[0] } else { last });
        assert!(with(expected[1]) && with(c32::new(-3.0, 1e-5)));
        assert!(!with(c32::new(-3.1, 0.0)) && !with(c32::new(-3.0, f32::NAN)) && !with(c32::new(f32::INFINITY, 0.0)));
        assert!(!agree(&[c32::new(f32::NAN, 0.0)], |_| c32::new(f32::NAN, 0.0)));
    }

    #[test]
    fn checked_calls_are_valid_and_apart() {
        let (calls, elements) = checked_calls::<f64>(1000);
        let ends = calls.iter().map(|call| {
            call.check().expect("shapes agree");
            call.matrices().map(|used| used.end().expect("small")).max().expect("operands")
        });
        let ends: Vec<usize> = ends.collect();
        assert!(ends.is_sorted() && ends[4] <= (1000 + elements) * size_of::<f64>(), "{ends:?}");
    }
}
