//! [`Context`]: the primary context of a GPU, retained while it is in use; and [`GpuClass`]: the properties of a GPU.

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

/// The properties of a GPU, by which kernels are chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuClass {
    /// CUDA's number of the device, which depends on `CUDA_VISIBLE_DEVICES`.
    pub ordinal: usize,
    /// Its name, as reported by the driver.
    pub name: String,
    /// Major and minor version, such as (9, 0).
    pub compute_capability: (i32, i32),
    /// The number of multiprocessors.
    pub multiprocessors: usize,
    /// The highest clock rate of the multiprocessors in hertz; zero if the driver does not report it.
    pub clock_hz: u64,
    /// The size of its memory in bytes.
    pub memory_bytes: usize,
    /// The peak bandwidth of its memory in bytes per second; zero if the driver does not report it.
    pub memory_bytes_per_s: u64,
    /// Its PCI address, such as `0000:1b:00.0`, under which the system has other information on it.
    pub bus: String,
    /// The number of copies that can run concurrently with kernels.
    pub copy_engines: usize,
    /// Whether it is an integrated GPU, which can share memory with the host without copies.
    pub is_integrated: bool,
    /// The most shared memory that one block of threads can ask for, in bytes.
    pub block_shared_bytes: usize,
}

impl GpuClass {
    /// Returns the compiler's name of its architecture, such as `sm_90`.
    #[must_use]
    pub fn arch(&self) -> String {
        let (major, minor) = self.compute_capability;
        format!("sm_{major}{minor}")
    }

    fn of(ordinal: usize, device: CUdevice) -> Result<Self, DeviceError> {
        let number = |attribute| number(device, attribute);
        // Newer drivers may not report these.
        let reported = |attribute| number(attribute).map_or(0, |reported| u64::try_from(reported).unwrap_or(0));
        let bus_bits = reported(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
        let mut memory_bytes = 0;
        // SAFETY: `device` was returned by the driver, and the place for the result is valid.
        check(unsafe { sys::cuDeviceTotalMem_v2(&raw mut memory_bytes, device) }, "cuDeviceTotalMem")?;
        Ok(Self {
            ordinal,
            name: text("cuDeviceGetName", |place, length| {
                // SAFETY: `text` passes a buffer of `length` bytes.
                unsafe { sys::cuDeviceGetName(place, length, device) }
            })?,
            compute_capability: (
                number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            multiprocessors: number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.max(1) as usize,
            clock_hz: reported(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE) * 1000,
            memory_bytes,
            // Two transfers per clock cycle.
            memory_bytes_per_s: 2 * reported(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) * 1000 * bus_bits / 8,
            bus: text("cuDeviceGetPCIBusId", |place, length| {
                // SAFETY: `text` passes a buffer of `length` bytes.
                unsafe { sys::cuDeviceGetPCIBusId(place, length, device) }
            })?,
            copy_engines: number(Attribute::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT)?.max(0) as usize,
            is_integrated: number(Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED)? != 0,
            block_shared_bytes: reported(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) as usize,
        })
    }
}

pub(super) fn number(device: CUdevice, attribute: Attribute) -> Result<i32, DeviceError> {
    let mut value = 0;
    // SAFETY: `device` was returned by the driver, and the place for the result is valid.
    check(unsafe { sys::cuDeviceGetAttribute(&raw mut value, attribute, device) }, "cuDeviceGetAttribute")?;
    Ok(value)
}

fn text(call: &str, ask: impl FnOnce(*mut c_char, i32) -> CUresult) -> Result<String, DeviceError> {
    let mut bytes = [0u8; 256];
    check(ask(bytes.as_mut_ptr().cast(), bytes.len() as i32), call)?;
    let text = CStr::from_bytes_until_nul(&bytes).unwrap_or_default();
    Ok(text.to_string_lossy().into_owned())
}

/// Returns how many GPUs CUDA sees: zero if CUDA is not installed.
///
/// # Errors
/// If the driver is installed but cannot be initialized.
///
/// # Examples
/// ```
/// # mod superscalar { pub use superscalar_devices as devices; pub use superscalar_runtime::*; }
/// println!("{} GPUs", superscalar::devices::cuda::count()?);
/// # Ok::<(), superscalar::DeviceError>(())
/// ```
pub fn count() -> Result<usize, DeviceError> {
    if !library::has_driver() {
        return Ok(0);
    }
    library::driver()?;
    // SAFETY: the driver is loaded; `cuInit` may be called more than once.
    let code = unsafe { sys::cuInit(0) };
    if matches!(code, CUresult::CUDA_ERROR_NO_DEVICE | CUresult::CUDA_ERROR_STUB_LIBRARY) {
        return Ok(0);
    }
    check(code, "cuInit")?;
    let mut count = 0;
    // SAFETY: the driver is initialized, and the place for the result is valid.
    check(unsafe { sys::cuDeviceGetCount(&raw mut count) }, "cuDeviceGetCount")?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// Returns the properties of every GPU that CUDA sees.
///
/// # Errors
/// As for [`count`], and if the driver refuses a query.
pub fn devices() -> Result<Vec<GpuClass>, DeviceError> {
    (0..count()?).map(|ordinal| GpuClass::of(ordinal, device(ordinal)?)).collect()
}

fn device(ordinal: usize) -> Result<CUdevice, DeviceError> {
    let there = count()?;
    if ordinal >= there {
        return Err(DeviceError::new(format!("there is no GPU {ordinal}; number of GPUs that CUDA sees: {there}")));
    }
    let mut device = 0;
    // SAFETY: `count` has initialized the driver, and the place for the result is valid.
    check(unsafe { sys::cuDeviceGet(&raw mut device, ordinal as i32) }, "cuDeviceGet")?;
    Ok(device)
}

/// Returns whether the thread has a current context.
pub(super) fn has_current() -> bool {
    let mut raw = ptr::null_mut();
    // SAFETY: callers have loaded the driver. An uninitialized driver returns an error.
    unsafe { sys::cuCtxGetCurrent(&raw mut raw) == CUresult::CUDA_SUCCESS && !raw.is_null() }
}

/// A GPU's primary context, which CUDA's other libraries use, too.
#[derive(Debug)]
pub(super) struct Context {
    raw: CUcontext,
    device: CUdevice,
    class: GpuClass,
    /// Whether one of its streams never ends; then calls that wait for the device would not return.
    is_stuck: AtomicBool,
}

// SAFETY: a context is not tied to a thread; each thread that uses it makes it current.
unsafe impl Send for Context {}
// SAFETY: the driver's functions may be called on one context by several threads at once.
unsafe impl Sync for Context {}

impl Context {
    pub(super) fn of(ordinal: usize) -> Result<Arc<Self>, DeviceError> {
        let device = device(ordinal)?;
        let class = GpuClass::of(ordinal, device)?;
        let mut raw = ptr::null_mut();
        // SAFETY: `device` was returned by the driver, and the place for the result is valid.
        check(unsafe { sys::cuDevicePrimaryCtxRetain(&raw mut raw, device) }, "cuDevicePrimaryCtxRetain")?;
        Ok(Arc::new(Self { raw, device, class, is_stuck: AtomicBool::new(false) }))
    }

    /// From now on, keeps everything of this context: to destroy it, the driver would wait for a stream that never
    /// ends.
    pub(super) fn abandon(&self) {
        self.is_stuck.store(true, Ordering::SeqCst);
    }

    /// Makes the context current in order to destroy a part of it. Returns false if nothing may be destroyed.
    pub(super) fn can_destroy(&self) -> bool {
        !self.is_stuck.load(Ordering::SeqCst) && self.make_current().is_ok()
    }

    pub(super) fn device(&self) -> CUdevice {
        self.device
    }

    pub(super) fn class(&self) -> &GpuClass {
        &self.class
    }

    /// Makes it the thread's current context. Called before every use, because other code in the thread may use CUDA as
    /// well.
    #[inline]
    pub(super) fn make_current(&self) -> Result<(), DeviceError> {
        // SAFETY: this value retains the context.
        check(unsafe { sys::cuCtxSetCurrent(self.raw) }, "cuCtxSetCurrent")
    }

    /// Returns the free and the total memory of the device in bytes.
    pub(super) fn memory(&self) -> Result<(usize, usize), DeviceError> {
        self.make_current()?;
        let (mut free, mut all) = (0, 0);
        // SAFETY: the context is current, and the places for the results are valid.
        check(unsafe { sys::cuMemGetInfo_v2(&raw mut free, &raw mut all) }, "cuMemGetInfo")?;
        Ok((free, all))
    }

    /// Enables access to the other device's memory. Returns whether that is possible.
    pub(super) fn enable_peer_access(&self, other: &Self) -> Result<bool, DeviceError> {
        let mut can = 0;
        // SAFETY: both devices were returned by the driver, and the place for the result is valid.
        let code = unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, self.device, other.device) };
        check(code, "cuDeviceCanAccessPeer")?;
        if can == 0 {
            return Ok(false);
        }
        self.make_current()?;
        // SAFETY: this context is current, and `other` is retained by its value.
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
        // SAFETY: retained by this value, and released once. A driver that refuses keeps it.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}
