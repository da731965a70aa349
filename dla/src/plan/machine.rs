//! What a plan knows of the machine: all rates and costs of the model.
//!
//! They were measured on an EPYC of two cores and on Xeons of up to 16, with AVX-512, in November 2026, and hold for each of them within a third. What is
//! chosen changes little where one is half as large, or twice (`docs/decisions/0020-one-plan.md`).

use superscalar_kernels::Scalar;
use superscalar_runtime::{DeviceInfo, Runtime};

/// Multiplications of doubles, each with its addition, that a core does in a nanosecond: 110 GFLOP/s (one thread: 100 to 122).
const DOUBLES_PER_NS: f64 = 55.0;
/// Bytes that a core moves in a nanosecond within its own caches, as packing does.
const OWN_BYTES_PER_NS: f64 = 80.0;
/// The same where another core has left them: out of its cache, or of the last-level one.
const SHARED_BYTES_PER_NS: f64 = 25.0;
/// What a task costs the worker that runs it: insertion, hazards, a steal.
const TASK_NS: f64 = 1e3;
/// Work up to which a problem is done at once where it was called: twice what it takes to wake another worker (40 µs).
const AT_ONCE_NS: f64 = 75e3;
/// Elements that are gone through at once, as long as waking another worker takes.
const ELEMENTS_AT_ONCE: usize = 1 << 16;
/// By which part of a task each pair of workers makes the last one late, because someone is held up: 2 workers by 0.4 % in all, 16 by nearly 40 % (a
/// tile for each of them has 0.6 of the rate of two for each, a Xeon, 2026-11-23).
const LATE_PER_PAIR: f64 = 0.004;
/// Bytes of a second-level cache that a block of rows of a tall matrix may take.
const CACHE_BYTES: usize = 1 << 20;
/// Floating-point operations per second from which on a device is an accelerator: above any host's.
const ACCELERATOR: f64 = 5e12;
/// Multiplications of a part of a task that is worth handing out: some 30 µs of them, several times what it costs another worker to take them.
pub(crate) const PART: usize = 1 << 20;
/// Multiplications from which on a tile is handed out in parts where there are devices: some milliseconds of one worker.
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
    multiply_ns: f64,
}

impl Machine {
    /// The workers and devices of a runtime.
    pub(crate) fn of<T: Scalar>(rt: &Runtime) -> Self {
        let devices = if rt.has_devices() { rt.devices() } else { Vec::new() };
        Self {
            devices: devices.len(),
            has_accelerator: has_accelerator(&devices),
            ..Self::of_workers::<T>(rt.workers())
        }
    }

    /// So many workers, without devices.
    pub(crate) fn of_workers<T: Scalar>(workers: usize) -> Self {
        let element_bytes = size_of::<T>();
        // A complex multiplication is four real ones, of numbers half as long as the element.
        let doubles = element_bytes as f64 / 8.0 * if T::COMPLEX { 2.0 } else { 1.0 };
        Self { workers, devices: 0, has_accelerator: false, element_bytes, multiply_ns: doubles / DOUBLES_PER_NS }
    }

    /// Whether a product is not worth a task.
    pub(super) fn is_little(&self, [m, n, k]: [usize; 3]) -> bool {
        m.saturating_mul(n).saturating_mul(k) as f64 * self.multiply_ns <= AT_ONCE_NS
    }

    /// Whether so many elements, each touched once, are not worth a task.
    pub(super) fn are_few(&self, (m, n): (usize, usize)) -> bool {
        self.workers == 1 || m.saturating_mul(n) <= ELEMENTS_AT_ONCE
    }

    /// How many rows of n columns fit into a core's cache.
    pub(super) fn rows_in_cache(&self, n: usize) -> usize {
        CACHE_BYTES / n.saturating_mul(self.element_bytes).max(1)
    }

    /// A multiplication with its addition.
    pub(super) fn multiply_ns(&self) -> f64 {
        self.multiply_ns
    }

    /// An element that is packed, or added to once more.
    pub(super) fn pack_ns(&self) -> f64 {
        self.element_bytes as f64 / OWN_BYTES_PER_NS
    }

    /// An element that comes from another core's cache.
    pub(super) fn fetch_ns(&self) -> f64 {
        self.element_bytes as f64 / SHARED_BYTES_PER_NS
    }

    /// A task besides its work.
    pub(super) fn task_ns(&self) -> f64 {
        TASK_NS
    }

    /// By which part of a task the last one is late.
    pub(super) fn late(&self) -> f64 {
        let workers = self.workers as f64;
        1.0 - (-LATE_PER_PAIR * workers * (workers - 1.0) / 2.0).exp()
    }
}
