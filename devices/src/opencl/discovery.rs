//! Lists devices and finds them by name.
//!
//! A name is `opencl:N` or `opencl:N-M`. Numbers count over all devices of all platforms, in the drivers' order. A
//! device that can be divided takes one number for each of its compute units; any other device takes one. For a CPU
//! with two cores, `opencl:0` and `opencl:1` are the single cores, as two devices, and `opencl:0-1` is one device with
//! both.

use super::{KIND, class::DeviceClass, context::Setup, failure::check, object::SubDevice};
use ocl::ffi::{self, cl_device_id, cl_platform_id};
use std::{ops::Range, ptr, sync::Arc};
use superscalar_runtime::DeviceError;

/// A device or sub-device that was found, for [`OpenclDevice::open`](super::OpenclDevice::open).
#[derive(Clone, Debug)]
pub struct DiscoveredDevice {
    pub(super) platform: DriverId,
    device: DriverId,
    sub_device: Option<Arc<SubDevice>>,
    pub(super) class: DeviceClass,
}

/// A platform or a whole device, which the driver keeps until the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DriverId(pub(super) *mut std::ffi::c_void);

// SAFETY: it identifies an object that exists until the process ends and is not tied to a thread.
unsafe impl Send for DriverId {}
// SAFETY: the identifier is immutable, and several threads may query the object at once.
unsafe impl Sync for DriverId {}

/// The error codes for a platform without devices, and for a system without platforms.
const NONE: [ffi::cl_int; 2] = [ffi::CL_DEVICE_NOT_FOUND, ffi::CL_PLATFORM_NOT_FOUND_KHR];

/// Lists all devices of all platforms. The list may be empty.
///
/// # Errors
/// If a driver refuses a query.
///
/// # Examples
/// ```
/// # mod superscalar { pub use superscalar_devices as devices; pub use superscalar_runtime::*; }
/// for found in superscalar::devices::opencl::devices()? {
///     println!("{}, {} compute units", found.class().name, found.class().compute_units);
/// }
/// # Ok::<(), superscalar::DeviceError>(())
/// ```
pub fn devices() -> Result<Vec<DiscoveredDevice>, DeviceError> {
    let _alone = Setup::begin();
    let mut found = Vec::new();
    for platform in platforms()? {
        let every = list("clGetDeviceIDs", |count, place, there| {
            // SAFETY: the driver returned `platform`, and `list` passes room for `count` devices.
            unsafe { ffi::clGetDeviceIDs(platform, ffi::CL_DEVICE_TYPE_ALL, count, place, there) }
        })?;
        for device in every {
            let class = DeviceClass::of(platform, device)?;
            found.push(DiscoveredDevice {
                platform: DriverId(platform),
                device: DriverId(device),
                sub_device: None,
                class,
            });
        }
    }
    Ok(found)
}

fn platforms() -> Result<Vec<cl_platform_id>, DeviceError> {
    list("clGetPlatformIDs", |count, place, there| {
        // SAFETY: `list` passes room for `count` platforms.
        unsafe { ffi::clGetPlatformIDs(count, place, there) }
    })
}

/// Returns the results of a listing call. `ask` is called once for the number and once for the items.
fn list<T>(
    call: &str,
    mut ask: impl FnMut(u32, *mut *mut T, *mut u32) -> ffi::cl_int,
) -> Result<Vec<*mut T>, DeviceError> {
    let mut there = 0;
    let code = ask(0, ptr::null_mut(), &raw mut there);
    if NONE.contains(&code) || there == 0 {
        return Ok(Vec::new());
    }
    check(code, call)?;
    let mut things = vec![ptr::null_mut(); there as usize];
    check(ask(there, things.as_mut_ptr(), ptr::null_mut()), call)?;
    Ok(things)
}

/// Finds a device by name: `opencl:N`, or `opencl:N-M` for a group of compute units. Numbers count over all devices; a
/// device that can be divided takes one for each compute unit.
///
/// # Errors
/// If the name has another form, or there is no such device.
///
/// # Examples
/// ```
/// # mod superscalar { pub use superscalar_devices as devices; pub use superscalar_runtime::*; }
/// use superscalar::devices::opencl::{devices, named};
///
/// let found = devices()?;
/// if !found.is_empty() {
///     let first = named("opencl:0", &found)?;
///     assert!(first.class().compute_units >= 1);
/// }
/// assert!(named("opencl:first", &found).is_err());
/// # Ok::<(), superscalar::DeviceError>(())
/// ```
pub fn named(name: &str, found: &[DiscoveredDevice]) -> Result<DiscoveredDevice, DeviceError> {
    let numbers = numbers(name).ok_or_else(|| {
        DeviceError::new(format!(
            "`{name}` is not the name of an OpenCL device: expected opencl:N, or opencl:N-M for a group"
        ))
    })?;
    let mut first = 0;
    for whole in found {
        let end = first + if whole.class.is_divisible { whole.class.compute_units } else { 1 };
        if (first..end).contains(&numbers.start) && numbers.end <= end {
            let is_whole = numbers == (first..end);
            return if is_whole { Ok(whole.clone()) } else { whole.part(numbers.start - first..numbers.end - first) };
        }
        first = end;
    }
    Err(DeviceError::new(format!("there is no OpenCL device `{name}`: expected numbers below {first}")))
}

/// Returns the numbers in a name.
fn numbers(name: &str) -> Option<Range<u32>> {
    let text = name.strip_prefix(KIND.0)?.strip_prefix(':')?;
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some(first..last.checked_add(1)?)
}

impl DiscoveredDevice {
    /// Returns the properties of the device.
    #[must_use]
    pub fn class(&self) -> &DeviceClass {
        &self.class
    }

    /// Returns some of its compute units as a device.
    ///
    /// # Errors
    /// If it does not have these units, or cannot be divided.
    pub fn part(&self, units: Range<u32>) -> Result<Self, DeviceError> {
        if units.is_empty() || units.end > self.class.compute_units {
            let message =
                format!("{} has {} compute units, but not {units:?}", self.class.name, self.class.compute_units);
            return Err(DeviceError::new(message));
        }
        let _alone = Setup::begin();
        // The driver divides from the first unit on, so the units before the part become a sub-device, too, which is
        // released.
        let counts = [units.start, units.end - units.start].into_iter().filter(|&count| count > 0);
        let part = divide(self.raw(), counts)?.pop().ok_or_else(|| {
            DeviceError::new(format!("clCreateSubDevices returned no sub-device of {}", self.class.name))
        })?;
        let class = DeviceClass::of(self.platform.0, part.raw())?;
        Ok(Self { platform: self.platform, device: self.device, sub_device: Some(Arc::new(part)), class })
    }

    /// Returns the driver's handle of the whole device.
    pub(super) fn whole(&self) -> cl_device_id {
        self.device.0
    }

    /// Returns what identifies the whole device in the process.
    pub(super) fn whole_id(&self) -> DriverId {
        self.device
    }

    /// Returns the driver's handle of the device or sub-device.
    pub(super) fn raw(&self) -> cl_device_id {
        self.sub_device.as_ref().map_or(self.device.0, |part| part.raw())
    }
}

/// Divides a device into sub-devices with these numbers of compute units.
fn divide(device: cl_device_id, counts: impl Iterator<Item = u32>) -> Result<Vec<SubDevice>, DeviceError> {
    const CALL: &str = "clCreateSubDevices";
    type Property = ffi::cl_device_partition_property;
    let mut properties = vec![ffi::CL_DEVICE_PARTITION_BY_COUNTS as Property];
    properties.extend(counts.map(|count| count as Property));
    let parts = properties.len() - 1;
    properties.extend([ffi::CL_DEVICE_PARTITION_BY_COUNTS_LIST_END as Property, 0]);
    let mut made: Vec<cl_device_id> = vec![ptr::null_mut(); parts];
    // SAFETY: the device exists, the properties end with zero, and there is room for one sub-device per count.
    let code = unsafe {
        ffi::clCreateSubDevices(device, properties.as_ptr(), parts as u32, made.as_mut_ptr(), ptr::null_mut())
    };
    check(code, CALL)?;
    for &part in &made {
        // This reference is never released: PoCL 3.1 accesses a sub-device when an event of its queues is freed, which
        // one of its threads may do after everything here has been released. Sub-devices are small and few.
        // SAFETY: `clCreateSubDevices` returned it.
        check(unsafe { ffi::clRetainDevice(part) }, "clRetainDevice")?;
    }
    // SAFETY: `clCreateSubDevices` returned them, and each value releases its own reference.
    made.into_iter().map(|part| unsafe { SubDevice::made(part, code, CALL) }).collect()
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn device_numbers_are_parsed() {
        assert_eq!(numbers("opencl:3"), Some(3..4));
        assert_eq!(numbers("opencl:0-1"), Some(0..2));
        for wrong in ["opencl", "opencl:", "opencl:x", "opencl:1-0", "opencl:-1", "cpu:0", "opencl:4294967295"] {
            assert_eq!(numbers(wrong), None, "{wrong}");
        }
    }
}
