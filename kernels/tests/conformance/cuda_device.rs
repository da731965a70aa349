//! The GPU that the suite runs on, opened with clusters and without. Each is opened once for all tests, because its
//! kernels are compiled when they are first used.

use super::{Image, OnDevice, Runner};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use superscalar_devices::cuda::{self, Options};
use superscalar_kernels::{Scalar, device::Call};
use superscalar_runtime::DeviceError;

const HEAP_BYTES: usize = 64 << 20;

/// The GPU, locked by one test at a time.
struct LockedDevice(MutexGuard<'static, OnDevice>);

impl<T: Scalar> Runner<T> for LockedDevice {
    fn run(&mut self, call: &Call<T>, image: &mut Image) -> Result<(), DeviceError> {
        self.0.run(call, image)
    }

    fn divides_by_subnormals(&self) -> bool {
        // cuBLAS multiplies by reciprocals.
        false
    }

    fn is_gpu(&self) -> bool {
        true
    }
}

/// Returns the first GPU, or `None` if there is none.
///
/// # Panics
/// If there is no GPU although `REQUIRE_CUDA` is 1.
pub fn runner<T: Scalar>() -> Option<Box<dyn Runner<T>>> {
    Some(Box::new(LockedDevice(device()?)))
}

/// Returns the first GPU, which no other test uses meanwhile, or `None` if there is none.
///
/// # Panics
/// If there is no GPU although `REQUIRE_CUDA` is 1.
pub fn device() -> Option<MutexGuard<'static, OnDevice>> {
    static DEVICE: OnceLock<Option<Mutex<OnDevice>>> = OnceLock::new();
    locked(&DEVICE, true)
}

/// Like [`runner`], opened without clusters of blocks, so that panels use the kernels of older devices.
///
/// # Panics
/// If there is no GPU although `REQUIRE_CUDA` is 1.
pub fn runner_without_clusters<T: Scalar>() -> Option<Box<dyn Runner<T>>> {
    static DEVICE: OnceLock<Option<Mutex<OnDevice>>> = OnceLock::new();
    Some(Box::new(LockedDevice(locked(&DEVICE, false)?)))
}

fn locked(device: &'static OnceLock<Option<Mutex<OnDevice>>>, clusters: bool) -> Option<MutexGuard<'static, OnDevice>> {
    let device = device.get_or_init(|| open(clusters)).as_ref()?;
    // A failed test leaves no state that another one reads.
    Some(device.lock().unwrap_or_else(PoisonError::into_inner))
}

fn open(clusters: bool) -> Option<Mutex<OnDevice>> {
    if cuda::count().expect("the driver answers") == 0 {
        let required = std::env::var_os("REQUIRE_CUDA").is_some_and(|value| value == "1");
        assert!(!required, "REQUIRE_CUDA is 1, but there is no GPU");
        return None;
    }
    let options = Options { heap_bytes: Some(HEAP_BYTES), clusters, ..Options::default() };
    Some(Mutex::new(OnDevice::new(cuda::open(0, &options).expect("the GPU can be opened"))))
}
