//! Machine parameters of the cost model.
//!
//! The rate of a core, the wake-up time and the task overhead were measured on CPUs with 2 to 16 cores and AVX-512. The
//! other parameters are fitted so that the model chooses the measured optimum on these machines
//! (`docs/decisions/0024-one-plan.md`).

use superscalar_kernels::Scalar;
use superscalar_runtime::{DeviceInfo, Runtime};

/// Multiply-adds of doubles per nanosecond and core: 110 Gflop/s.
const DOUBLES_PER_NS: f64 = 55.0;
/// Bandwidth within a core's own caches, as when packing, in bytes per nanosecond. Fitted.
const OWN_BYTES_PER_NS: f64 = 80.0;
/// Bandwidth from another core's cache or the last-level cache, in bytes per nanosecond. Fitted.
const SHARED_BYTES_PER_NS: f64 = 40.0;
/// Overhead of a task: insertion, hazards and a steal.
pub(super) const TASK_NS: f64 = 1e3;
/// Time to wake a sleeping worker. Work of up to twice this time runs without tasks.
const WAKE_NS: f64 = 37.5e3;
/// Matrices of up to this many elements are traversed without tasks: that takes no longer than waking a worker.
pub(super) const ELEMENTS_SERIAL_MAX: usize = 1 << 16;
/// Expected delay of the last task by interruptions, in tasks per pair of workers. Fitted; measured:
/// docs/measurements/2026-11-28-constants.md.
const DELAY_PER_PAIR: f64 = 0.01;
/// Bytes of a second-level cache that a block of rows of a tall matrix may occupy.
const CACHE_BYTES: usize = 1 << 20;
/// A device with at least this rate is an accelerator: faster than any host. In flop/s.
const ACCELERATOR_FLOPS_MIN: f64 = 5e12;
/// Smallest subtask worth handing out, in multiplications: its time is several times the cost of a steal.
pub(crate) const PART_MULTIPLICATIONS_MIN: usize = 1 << 20;
/// Smallest tile that several workers share if there are devices, in multiplications: some milliseconds of one worker.
pub(crate) const TEAM_MULTIPLICATIONS_MIN: usize = 1 << 26;
/// Inner block of a QR factorization without tasks: reflectors per triangular factor.
pub(crate) const INNER_BLOCK: usize = 32;

/// The flops that an accelerator computes in the latency of one kernel, for which the rules of tiles were measured: an
/// H100 with CUDA.
const ACCELERATOR_LATENCY_FLOPS: f64 = 52e12 * 4e-6;
/// Tiles are at most this many times as wide as measured.
pub(super) const EDGE_FACTOR_MAX: f64 = 4.0;

/// Returns whether some device is an accelerator, which needs tiles as large as possible.
pub(crate) fn has_accelerator(devices: &[DeviceInfo]) -> bool {
    edge_factor(devices).is_some()
}

/// Returns whether all devices are accelerators.
pub(crate) fn are_accelerators(devices: &[DeviceInfo]) -> bool {
    devices.iter().all(|device| device.speed.flops_per_s >= ACCELERATOR_FLOPS_MIN)
}

/// Returns the factor by which tiles for accelerators are wider than measured, so that the work of a tile takes the
/// same multiple of the latency; `None` without an accelerator.
fn edge_factor(devices: &[DeviceInfo]) -> Option<f64> {
    let accelerators = devices.iter().map(|device| device.speed).filter(|it| it.flops_per_s >= ACCELERATOR_FLOPS_MIN);
    let factors = accelerators.map(|speed| {
        let flops = speed.flops_per_s * speed.latency_ns as f64 * 1e-9;
        (flops / ACCELERATOR_LATENCY_FLOPS).cbrt().clamp(1.0, EDGE_FACTOR_MAX)
    });
    factors.reduce(f64::max)
}

/// Workers and devices that a problem is planned for, and the speed of arithmetic on its elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Machine {
    pub(crate) workers: usize,
    pub(crate) devices: usize,
    /// See [`edge_factor`].
    pub(super) edge_factor: Option<f64>,
    element_bytes: usize,
    /// Time of a multiply-add.
    pub(super) multiply_ns: f64,
    /// Number of the type's real numbers that fit into 8 bytes.
    pub(super) lanes: f64,
}

impl Machine {
    /// Returns the parameters of a runtime's workers and devices.
    pub(crate) fn of<T: Scalar>(rt: &Runtime) -> Self {
        let host = Self::of_workers::<T>(rt.workers());
        if !rt.has_devices() {
            return host;
        }
        let devices = rt.devices();
        host.with_devices(devices.len(), edge_factor(&devices))
    }

    /// Returns the same machine with this number of devices, and the factor of tiles if one is an accelerator.
    pub(crate) fn with_devices(self, devices: usize, edge_factor: Option<f64>) -> Self {
        Self { devices, edge_factor, ..self }
    }

    /// See [`has_accelerator`].
    pub(crate) fn has_accelerator(&self) -> bool {
        self.edge_factor.is_some()
    }

    /// Returns the parameters of this number of workers without devices.
    pub(crate) fn of_workers<T: Scalar>(workers: usize) -> Self {
        let element_bytes = size_of::<T>();
        let parts = if T::COMPLEX { 2.0 } else { 1.0 };
        let lanes = 8.0 * parts / element_bytes as f64;
        // A complex multiplication is four real ones.
        let multiply_ns = parts * parts / lanes / DOUBLES_PER_NS;
        Self { workers, devices: 0, edge_factor: None, element_bytes, multiply_ns, lanes }
    }

    /// Returns whether a product is too small for tasks.
    pub(super) fn is_small(&self, [m, n, k]: [usize; 3]) -> bool {
        self.is_brief(m.saturating_mul(n).saturating_mul(k) as f64 * self.multiply_ns)
    }

    /// Returns whether work of this time is too short for tasks.
    pub(crate) fn is_brief(&self, work_ns: f64) -> bool {
        work_ns <= 2.0 * WAKE_NS
    }

    /// Returns the highest rate of a core in flop/ns.
    pub(crate) fn flops_per_ns<T: Scalar>() -> f64 {
        2.0 * DOUBLES_PER_NS * (8 / size_of::<T::Real>()) as f64
    }

    /// Returns whether one tile per worker keeps all workers busy to the end. With more workers, delays of single
    /// workers require several tiles each. Measured: docs/measurements/2026-11-28-constants.md.
    pub(super) fn has_few_workers(&self) -> bool {
        self.workers <= 2
    }

    /// Returns the number of rows of n elements that fit into a core's cache.
    pub(super) fn rows_in_cache(&self, n: usize) -> usize {
        CACHE_BYTES / n.saturating_mul(self.element_bytes).max(1)
    }

    /// Returns the time to pack, read or write an element in the core's own cache.
    pub(super) fn move_ns(&self) -> f64 {
        self.element_bytes as f64 / OWN_BYTES_PER_NS
    }

    /// Returns the time to read an element from another core's cache.
    pub(super) fn fetch_ns(&self) -> f64 {
        self.element_bytes as f64 / SHARED_BYTES_PER_NS
    }

    /// Returns the time until other workers have started, if there are any.
    pub(super) fn wake_ns(&self) -> f64 {
        if self.workers > 1 { WAKE_NS } else { 0.0 }
    }

    /// Returns the expected delay of the last of this many tiles, relative to the time of a task.
    pub(super) fn delay(&self, tiles: f64) -> f64 {
        let workers = tiles.min(self.workers as f64);
        let late = DELAY_PER_PAIR * workers * (workers - 1.0) / 2.0;
        late / (1.0 + late)
    }
}
