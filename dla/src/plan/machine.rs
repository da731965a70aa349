//! What a plan knows of the machine: all rates and costs of the model.
//!
//! The rate of a core, the time to wake a worker and a task's cost were measured on an EPYC of two cores and on Xeons
//! of up to 16, with AVX-512, in November 2026. The others are fitted: with them the model chooses what was measured as
//! best on these machines (`docs/decisions/0024-one-plan.md`).

use superscalar_kernels::Scalar;
use superscalar_runtime::{DeviceInfo, Runtime};

/// Multiplications of doubles, each with its addition, that a core does in a nanosecond: 110 GFLOP/s.
const DOUBLES_PER_NS: f64 = 55.0;
/// Bytes that a core moves in a nanosecond within its own caches, as packing does. Fitted.
const OWN_BYTES_PER_NS: f64 = 80.0;
/// The same where they come from another core's cache, or the last-level one. Fitted.
const SHARED_BYTES_PER_NS: f64 = 40.0;
/// Insertion, hazards and a steal of one task.
pub(super) const TASK_NS: f64 = 1e3;
/// Until a worker that sleeps is at work. What takes no more than two of these is done at once.
const WAKE_NS: f64 = 37.5e3;
/// Elements that are gone through at once: it takes some 20 µs, as long as waking another worker.
pub(super) const ELEMENTS_AT_ONCE: usize = 1 << 16;
/// How late the last task is because someone is held up, in tasks for each pair of workers. Fitted: on 16 cores of a
/// Xeon one tile for each worker had 0.6 of the rate of two (2026-11-23), on two cores 1.01 to 1.03 (2026-11-25).
const LATE_PER_PAIR: f64 = 0.01;
/// Bytes of a second-level cache that a block of rows of a tall matrix may take.
const CACHE_BYTES: usize = 1 << 20;
/// Floating-point operations per second from which on a device is an accelerator: above any host's.
const ACCELERATOR: f64 = 5e12;
/// Multiplications of a part of a task that is worth handing out: 30 µs, several times what it costs another worker to
/// take.
pub(crate) const PART: usize = 1 << 20;
/// Multiplications from which on several workers share a tile where there are devices: some milliseconds of one worker.
pub(crate) const TEAM: usize = 1 << 26;
/// Reflectors for each triangular factor of a QR factorization that is done at once.
pub(crate) const REFLECTORS: usize = 32;

/// Whether some device is so fast that its tiles have to be as large as can be.
pub(crate) fn has_accelerator(devices: &[DeviceInfo]) -> bool {
    devices.iter().any(|device| device.speed.flops_per_s >= ACCELERATOR)
}

/// Who a problem is cut for, and how long elements of its type take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Machine {
    pub(crate) workers: usize,
    pub(crate) devices: usize,
    /// See [`has_accelerator`].
    pub(crate) has_accelerator: bool,
    element_bytes: usize,
    /// A multiplication with its addition.
    pub(super) multiply_ns: f64,
    /// How many of the type's real numbers are as long as a double.
    pub(super) lanes: f64,
}

impl Machine {
    /// The workers and devices of a runtime.
    pub(crate) fn of<T: Scalar>(rt: &Runtime) -> Self {
        let host = Self::of_workers::<T>(rt.workers());
        if !rt.has_devices() {
            return host;
        }
        let devices = rt.devices();
        host.with_devices(devices.len(), has_accelerator(&devices))
    }

    /// The same with so many devices.
    pub(super) fn with_devices(self, devices: usize, has_accelerator: bool) -> Self {
        Self { devices, has_accelerator, ..self }
    }

    /// So many workers, without devices.
    pub(crate) fn of_workers<T: Scalar>(workers: usize) -> Self {
        let element_bytes = size_of::<T>();
        let parts = if T::COMPLEX { 2.0 } else { 1.0 };
        let lanes = 8.0 * parts / element_bytes as f64;
        // A complex multiplication is four real ones.
        let multiply_ns = parts * parts / lanes / DOUBLES_PER_NS;
        Self { workers, devices: 0, has_accelerator: false, element_bytes, multiply_ns, lanes }
    }

    /// Whether a product is not worth a task.
    pub(super) fn is_little(&self, [m, n, k]: [usize; 3]) -> bool {
        m.saturating_mul(n).saturating_mul(k) as f64 * self.multiply_ns <= 2.0 * WAKE_NS
    }

    /// Whether there are so few workers that one tile for each keeps all of them at work to the end: two had 1.01 to
    /// 1.03 of the rate with two tiles each, 16 had 0.6 (2026-11-23 and 25).
    pub(super) fn are_few(&self) -> bool {
        self.workers <= 2
    }

    /// How many rows of n columns fit into a core's cache.
    pub(super) fn rows_in_cache(&self, n: usize) -> usize {
        CACHE_BYTES / n.saturating_mul(self.element_bytes).max(1)
    }

    /// An element that is packed, read or written by a core that has it.
    pub(super) fn move_ns(&self) -> f64 {
        self.element_bytes as f64 / OWN_BYTES_PER_NS
    }

    /// An element that comes from another core's cache.
    pub(super) fn fetch_ns(&self) -> f64 {
        self.element_bytes as f64 / SHARED_BYTES_PER_NS
    }

    /// Until other workers are at work, if there are any.
    pub(super) fn wake_ns(&self) -> f64 {
        if self.workers > 1 { WAKE_NS } else { 0.0 }
    }

    /// By which part of a task the last one of so many tiles is late.
    pub(super) fn late(&self, tiles: f64) -> f64 {
        let workers = tiles.min(self.workers as f64);
        let late = LATE_PER_PAIR * workers * (workers - 1.0) / 2.0;
        late / (1.0 + late)
    }
}
