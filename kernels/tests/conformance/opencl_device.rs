//! The OpenCL device that the suite is run on: one for all tests, since programs take long to compile.

use super::{Image, OnDevice, Runner};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use superscalar_devices::opencl::{OpenclDevice, Settings, devices, named};
use superscalar_kernels::{Scalar, device::Call};
use superscalar_runtime::DeviceError;

const HEAP_BYTES: usize = 64 << 20;

/// The device, for one test at a time.
struct Shared(MutexGuard<'static, OnDevice>);

impl<T: Scalar> Runner<T> for Shared {
    fn run(&mut self, call: &Call<T>, image: &mut Image) -> Result<(), DeviceError> {
        self.0.run(call, image)
    }

    fn has_panels(&self) -> bool {
        Runner::<T>::has_panels(&*self.0)
    }
}

/// The first device there is; none if there is none, or it has no arithmetic for the type.
///
/// # Panics
/// If there is none although `REQUIRE_OPENCL` is 1.
pub fn runner<T: Scalar>() -> Option<Box<dyn Runner<T>>> {
    static DEVICE: OnceLock<Option<(bool, Mutex<OnDevice>)>> = OnceLock::new();
    let (has_f64, device) = DEVICE.get_or_init(open).as_ref()?;
    let is_double = size_of::<T::Real>() == size_of::<f64>();
    // A test that failed has left nothing in it that another one reads.
    let shared = || Shared(device.lock().unwrap_or_else(PoisonError::into_inner));
    (*has_f64 || !is_double).then(|| Box::new(shared()) as Box<dyn Runner<T>>)
}

/// The device, and whether it has double precision.
fn open() -> Option<(bool, Mutex<OnDevice>)> {
    let found = devices().expect("drivers answer");
    if found.is_empty() {
        let required = std::env::var_os("REQUIRE_OPENCL").is_some_and(|value| value == "1");
        assert!(!required, "REQUIRE_OPENCL=1, and there is no OpenCL device");
        return None;
    }
    let first = named("opencl:0", &found).expect("there is a device");
    let has_f64 = first.class().has_f64;
    let settings = Settings { memory_bytes: Some(HEAP_BYTES), ..Settings::new(0) };
    let device = OpenclDevice::open(&[(first, settings)]).expect("it opens").remove(0);
    Some((has_f64, Mutex::new(OnDevice::new(device))))
}
