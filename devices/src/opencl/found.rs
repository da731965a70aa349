//! Which devices there are, and how they are named.
//!
//! A name is `opencl:N` or `opencl:N-M`. Numbers run over all devices of all platforms, in the order in which the drivers give them. A
//! device that can be divided takes a number for each of its compute units; any other takes one. So `opencl:0` and
//! `opencl:1` are two cores of a CPU with two of them, as two devices that run beside each other; `opencl:0-1` is one device of both.

use super::{KIND, class::DeviceClass, context::Setup, failure::check, object::Part};
use ocl::ffi::{self, cl_device_id, cl_platform_id};
use std::{ops::Range, ptr, sync::Arc};
use superscalar_runtime::DeviceError;

/// A device that was found, or a part of one: for [`OpenclDevice::open`](super::OpenclDevice::open).
#[derive(Clone, Debug)]
pub struct Found {
    pub(super) platform: Id,
    device: Id,
    part: Option<Arc<Part>>,
    class: DeviceClass,
}

/// A platform or a whole device: the driver's for the length of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id(pub(super) *mut std::ffi::c_void);

// SAFETY: it names something that is there until the process ends, and belongs to no thread.
unsafe impl Send for Id {}
// SAFETY: as above.
unsafe impl Sync for Id {}

/// What a platform without devices, and a system without platforms, answer.
const NONE: [ffi::cl_int; 2] = [ffi::CL_DEVICE_NOT_FOUND, ffi::CL_PLATFORM_NOT_FOUND_KHR];

/// All devices of all platforms. There may be none.
///
/// # Errors
/// If a driver does not answer as it should.
///
/// # Examples
/// ```
/// for found in superscalar::devices::opencl::devices()? {
///     println!("{}, {} compute units", found.class().name, found.class().compute_units);
/// }
/// # Ok::<(), superscalar::DeviceError>(())
/// ```
pub fn devices() -> Result<Vec<Found>, DeviceError> {
    let _alone = Setup::begin();
    let mut found = Vec::new();
    for platform in platforms()? {
        let every = list("clGetDeviceIDs", |count, place, there| {
            // SAFETY: the platform is there, and the place is for so many, as `list` promises.
            unsafe { ffi::clGetDeviceIDs(platform, ffi::CL_DEVICE_TYPE_ALL, count, place, there) }
        })?;
        for device in every {
            let class = DeviceClass::of(platform, device)?;
            found.push(Found { platform: Id(platform), device: Id(device), part: None, class });
        }
    }
    Ok(found)
}

fn platforms() -> Result<Vec<cl_platform_id>, DeviceError> {
    list("clGetPlatformIDs", |count, place, there| {
        // SAFETY: the place is for so many, as `list` promises.
        unsafe { ffi::clGetPlatformIDs(count, place, there) }
    })
}

/// What a listing call lists: asked once for the number and once for the things.
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

/// The device of a name; see above for names.
///
/// # Errors
/// If it is no name, or there is no such device.
///
/// # Examples
/// ```
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
pub fn named(name: &str, found: &[Found]) -> Result<Found, DeviceError> {
    let numbers = numbers(name).ok_or_else(|| {
        DeviceError::new(format!(
            "`{name}` names no OpenCL device: they are called opencl:N, and opencl:N-M for a group"
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
    Err(DeviceError::new(format!("there is no OpenCL device `{name}`: numbers run up to, but not including, {first}")))
}

/// The numbers in a name.
fn numbers(name: &str) -> Option<Range<u32>> {
    let text = name.strip_prefix(KIND.0)?.strip_prefix(':')?;
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some(first..last.checked_add(1)?)
}

impl Found {
    /// What sort of device it is.
    #[must_use]
    pub fn class(&self) -> &DeviceClass {
        &self.class
    }

    /// Some of its compute units, as a device.
    ///
    /// # Errors
    /// If it has not those, or can not be divided.
    pub fn part(&self, units: Range<u32>) -> Result<Self, DeviceError> {
        if units.is_empty() || units.end > self.class.compute_units {
            let message = format!("{} has no compute units {units:?} of {}", self.class.name, self.class.compute_units);
            return Err(DeviceError::new(message));
        }
        let _alone = Setup::begin();
        // Dividing the device begins with its first unit, so those before the part are one, too, and are given back.
        let counts = [units.start, units.end - units.start].into_iter().filter(|&count| count > 0);
        let part = divide(self.raw(), counts)?
            .pop()
            .ok_or_else(|| DeviceError::new(format!("clCreateSubDevices makes none of {}", self.class.name)))?;
        let class = DeviceClass::of(self.platform.0, part.raw())?;
        Ok(Self { platform: self.platform, device: self.device, part: Some(Arc::new(part)), class })
    }

    /// The driver's whole device.
    pub(super) fn whole(&self) -> cl_device_id {
        self.device.0
    }

    /// The driver's device.
    pub(super) fn raw(&self) -> cl_device_id {
        self.part.as_ref().map_or(self.device.0, |part| part.raw())
    }
}

/// Divides a device into parts of so many compute units.
fn divide(device: cl_device_id, counts: impl Iterator<Item = u32>) -> Result<Vec<Part>, DeviceError> {
    const CALL: &str = "clCreateSubDevices";
    type Property = ffi::cl_device_partition_property;
    let mut properties = vec![ffi::CL_DEVICE_PARTITION_BY_COUNTS as Property];
    properties.extend(counts.map(|count| count as Property));
    let parts = properties.len() - 1;
    properties.extend([ffi::CL_DEVICE_PARTITION_BY_COUNTS_LIST_END as Property, 0]);
    let mut made: Vec<cl_device_id> = vec![ptr::null_mut(); parts];
    // SAFETY: the device is there, the properties end with zero, and there is room for as many parts as counts.
    let code = unsafe {
        ffi::clCreateSubDevices(device, properties.as_ptr(), parts as u32, made.as_mut_ptr(), ptr::null_mut())
    };
    check(code, CALL)?;
    for &part in &made {
        // One reference that is never given back: PoCL 3.1 looks at a part when an event of its queues is freed, which a thread of its own
        // may do after everything here has been released. A part is small, and there are few.
        // SAFETY: the call has made it.
        check(unsafe { ffi::clRetainDevice(part) }, "clRetainDevice")?;
    }
    // SAFETY: the call has made them for us.
    made.into_iter().map(|part| unsafe { Part::made(part, code, CALL) }).collect()
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn names_are_read() {
        assert_eq!(numbers("opencl:3"), Some(3..4));
        assert_eq!(numbers("opencl:0-1"), Some(0..2));
        for wrong in ["opencl", "opencl:", "opencl:x", "opencl:1-0", "opencl:-1", "cpu:0", "opencl:4294967295"] {
            assert_eq!(numbers(wrong), None, "{wrong}");
        }
    }
}
