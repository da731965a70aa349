//! [`Context`]: a GPU's primary context, held for as long as something of it is in use; and [`GpuClass`], what sort of GPU it is.

use super::{failure::check, library};
use cudarc::driver::sys::{self, CUcontext, CUdevice, CUdevice_attribute as Attribute, CUresult};
use std::{
    ffi::{CStr, c_char},
    ptr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use superscalar_runtime::DeviceError;

/// What sort of GPU this is: what kernels are chosen by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuClass {
    /// Which of CUDA's devices it is; `CUDA_VISIBLE_DEVICES` has its say in that.
    pub ordinal: usize,
    /// Its name, as the driver has it.
    pub name: String,
    /// Major and minor, such as (9, 0).
    pub compute_capability: (i32, i32),
    /// How many multiprocessors it has.
    pub multiprocessors: usize,
    /// The highest clock of the multiprocessors; zero if the driver does not say.
    pub clock_hz: u64,
    /// Bytes of its memory.
    pub memory_bytes: usize,
    /// What the memory's bus carries in a second at most; zero if the driver does not say.
    pub memory_bytes_per_s: u64,
    /// Where it is on the bus, such as `0000:1b:00.0`: what the system's other names for it are found by.
    pub bus: String,
    /// How many copies run beside kernels.
    pub copy_engines: usize,
    /// Whether it can be made to share memory with the host without copies, as integrated ones do.
    pub is_integrated: bool,
}

impl GpuClass {
    /// What the compiler calls its architecture.
    #[must_use]
    pub fn arch(&self) -> String {
        let (major, minor) = self.compute_capability;
        format!("sm_{major}{minor}")
    }

    fn of(ordinal: usize, device: CUdevice) -> Result<Self, DeviceError> {
        let number = |attribute| number(device, attribute);
        // Newer drivers may have nothing to say of these.
        let told = |attribute| number(attribute).map_or(0, |told| u64::try_from(told).unwrap_or(0));
        let bus_bits = told(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
        let mut memory_bytes = 0;
        // SAFETY: the device is there.
        check(unsafe { sys::cuDeviceTotalMem_v2(&raw mut memory_bytes, device) }, "cuDeviceTotalMem")?;
        Ok(Self {
            ordinal,
            name: text("cuDeviceGetName", |place, length| {
                // SAFETY: the place has the length, as `text` promises.
                unsafe { sys::cuDeviceGetName(place, length, device) }
            })?,
            compute_capability: (
                number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            multiprocessors: number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.max(1) as usize,
            clock_hz: told(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE) * 1000,
            memory_bytes,
            // Twice a cycle.
            memory_bytes_per_s: 2 * told(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) * 1000 * bus_bits / 8,
            bus: text("cuDeviceGetPCIBusId", |place, length| {
                // SAFETY: as above.
                unsafe { sys::cuDeviceGetPCIBusId(place, length, device) }
            })?,
            copy_engines: number(Attribute::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT)?.max(0) as usize,
            is_integrated: number(Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED)? != 0,
        })
    }
}

pub(super) fn number(device: CUdevice, attribute: Attribute) -> Result<i32, DeviceError> {
    let mut value = 0;
    // SAFETY: the device is there.
    check(unsafe { sys::cuDeviceGetAttribute(&raw mut value, attribute, device) }, "cuDeviceGetAttribute")?;
    Ok(value)
}

fn text(call: &str, ask: impl FnOnce(*mut c_char, i32) -> CUresult) -> Result<String, DeviceError> {
    let mut bytes = [0u8; 256];
    check(ask(bytes.as_mut_ptr().cast(), bytes.len() as i32), call)?;
    let text = CStr::from_bytes_until_nul(&bytes).unwrap_or_default();
    Ok(text.to_string_lossy().into_owned())
}

/// How many GPUs CUDA sees. None where there is no CUDA.
///
/// # Errors
/// If there is a driver, and it does not start.
///
/// # Examples
/// ```
/// println!("{} GPUs", superscalar::devices::cuda::count()?);
/// # Ok::<(), superscalar::DeviceError>(())
/// ```
pub fn count() -> Result<usize, DeviceError> {
    if !library::has_driver() {
        return Ok(0);
    }
    library::driver()?;
    // SAFETY: the driver is loaded; it may be started more than once.
    let code = unsafe { sys::cuInit(0) };
    if matches!(code, CUresult::CUDA_ERROR_NO_DEVICE | CUresult::CUDA_ERROR_STUB_LIBRARY) {
        return Ok(0);
    }
    check(code, "cuInit")?;
    let mut count = 0;
    // SAFETY: the driver is started.
    check(unsafe { sys::cuDeviceGetCount(&raw mut count) }, "cuDeviceGetCount")?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// Every GPU that CUDA sees.
///
/// # Errors
/// As for [`count`], and if the driver does not answer as it should.
pub fn devices() -> Result<Vec<GpuClass>, DeviceError> {
    (0..count()?).map(|ordinal| GpuClass::of(ordinal, device(ordinal)?)).collect()
}

fn device(ordinal: usize) -> Result<CUdevice, DeviceError> {
    let there = count()?;
    if ordinal >= there {
        return Err(DeviceError::new(format!("there is no GPU {ordinal}: CUDA sees {there}")));
    }
    let mut device = 0;
    // SAFETY: the driver is started, as `count` has seen to.
    check(unsafe { sys::cuDeviceGet(&raw mut device, ordinal as i32) }, "cuDeviceGet")?;
    Ok(device)
}

/// Whether the thread has a context, whichever.
pub(super) fn has_current() -> bool {
    let mut raw = ptr::null_mut();
    // SAFETY: the driver is loaded, as callers have made sure; one that is not started answers with an error.
    unsafe { sys::cuCtxGetCurrent(&raw mut raw) == CUresult::CUDA_SUCCESS && !raw.is_null() }
}

/// A GPU's primary context: the one that CUDA's other libraries use, too.
#[derive(Debug)]
pub(super) struct Context {
    raw: CUcontext,
    device: CUdevice,
    class: GpuClass,
    /// A stream of it never ends, so calls that wait for the device would not, either.
    is_stuck: AtomicBool,
}

// SAFETY: a context belongs to no thread; it is made current in those that use it.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    pub(super) fn of(ordinal: usize) -> Result<Arc<Self>, DeviceError> {
        let device = device(ordinal)?;
        let class = GpuClass::of(ordinal, device)?;
        let mut raw = ptr::null_mut();
        // SAFETY: the device is there.
        check(unsafe { sys::cuDevicePrimaryCtxRetain(&raw mut raw, device) }, "cuDevicePrimaryCtxRetain")?;
        Ok(Arc::new(Self { raw, device, class, is_stuck: AtomicBool::new(false) }))
    }

    /// From now on nothing of it is destroyed, as the driver would wait for what never ends.
    pub(super) fn leave(&self) {
        self.is_stuck.store(true, Ordering::SeqCst);
    }

    /// Makes it current to destroy something of it; false if that is to be left alone.
    pub(super) fn can_destroy(&self) -> bool {
        !self.is_stuck.load(Ordering::SeqCst) && self.make_current().is_ok()
    }

    pub(super) fn device(&self) -> CUdevice {
        self.device
    }

    pub(super) fn class(&self) -> &GpuClass {
        &self.class
    }

    /// Makes it the thread's current one. Asked before every use, as the thread may belong to a program that uses CUDA in its own way.
    #[inline]
    pub(super) fn make_current(&self) -> Result<(), DeviceError> {
        // SAFETY: the context is held.
        check(unsafe { sys::cuCtxSetCurrent(self.raw) }, "cuCtxSetCurrent")
    }

    /// Free bytes of the device's memory, and all of them.
    pub(super) fn memory(&self) -> Result<(usize, usize), DeviceError> {
        self.make_current()?;
        let (mut free, mut all) = (0, 0);
        // SAFETY: the context is current.
        check(unsafe { sys::cuMemGetInfo_v2(&raw mut free, &raw mut all) }, "cuMemGetInfo")?;
        Ok((free, all))
    }

    /// Whether this device can reach the other's memory; from then on it does.
    pub(super) fn reach(&self, other: &Self) -> Result<bool, DeviceError> {
        let mut can = 0;
        // SAFETY: both devices are there.
        let code = unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, self.device, other.device) };
        check(code, "cuDeviceCanAccessPeer")?;
        if can == 0 {
            return Ok(false);
        }
        self.make_current()?;
        // SAFETY: this context is current, and the other is held.
        let code = unsafe { sys::cuCtxEnablePeerAccess(other.raw, 0) };
        if code != CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED {
            check(code, "cuCtxEnablePeerAccess")?;
        }
        Ok(true)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.is_stuck.load(Ordering::SeqCst) {
            return;
        }
        // SAFETY: retained for this value, and released once. A driver that refuses keeps it.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}
