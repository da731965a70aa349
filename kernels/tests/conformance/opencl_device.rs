//! The OpenCL device that the suite is run on, with the kernels for it and with those of every class of devices: one for all tests, since
//! programs take long to compile.

use super::{Image, OnDevice, Runner};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use superscalar_devices::opencl::{OpenclDevice, OpenclQueue, Settings, devices, named};
use superscalar_kernels::{
    Scalar,
    device::Call,
    opencl::{Class, Parameters, enqueue_with, scratch_bytes_with},
};
use superscalar_runtime::DeviceError;

const HEAP_BYTES: usize = 64 << 20;

/// The device, for one test at a time, with the kernels of this class, if not with its own.
struct Shared(MutexGuard<'static, OnDevice>, Option<Class>);

impl<T: Scalar> Runner<T> for Shared {
    fn run(&mut self, call: &Call<T>, image: &mut Image) -> Result<(), DeviceError> {
        let Self(device, class) = self;
        let Some(class) = *class else { return device.run(call, image) };
        let parameters = Parameters::of(class, T::LETTER);
        device.run_by(scratch_bytes_with(&parameters, call), image, &mut |context| {
            let scratch = context.scratch();
            enqueue_with(&parameters, context.queue::<OpenclQueue>()?, scratch, call)
        })
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
    with_kernels_of(None)
}

pub fn wide<T: Scalar>() -> Option<Box<dyn Runner<T>>> {
    with_kernels_of(Some(Class::WideCpu))
}

pub fn narrow<T: Scalar>() -> Option<Box<dyn Runner<T>>> {
    with_kernels_of(Some(Class::Cpu))
}

pub fn gpu<T: Scalar>() -> Option<Box<dyn Runner<T>>> {
    with_kernels_of(Some(Class::Gpu))
}

fn with_kernels_of<T: Scalar>(class: Option<Class>) -> Option<Box<dyn Runner<T>>> {
    static DEVICE: OnceLock<Option<(bool, Mutex<OnDevice>)>> = OnceLock::new();
    let (has_f64, device) = DEVICE.get_or_init(open).as_ref()?;
    let is_double = size_of::<T::Real>() == size_of::<f64>();
    // A test that failed has left nothing in it that another one reads.
    let shared = || Shared(device.lock().unwrap_or_else(PoisonError::into_inner), class);
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
