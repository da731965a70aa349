//! [`DeviceClass`]: the properties of a device that kernels and the driver need.

use super::failure::check;
use bytemuck::Pod;
use ocl::ffi::{self, cl_device_id, cl_platform_id, cl_uint};
use std::ffi::c_void;
use superscalar_runtime::DeviceError;

/// Queries of the extension `cl_nv_device_attribute_query`.
const COMPUTE_CAPABILITY_MAJOR_NV: cl_uint = 0x4000;
const COMPUTE_CAPABILITY_MINOR_NV: cl_uint = 0x4001;

/// The properties of a device, by which kernels are chosen and generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceClass {
    /// The platform's name and version.
    pub platform: String,
    /// The device's vendor.
    pub vendor: String,
    /// The device's name; for a sub-device, that of the whole device.
    pub name: String,
    /// The driver's version.
    pub driver: String,
    /// Whether it is a CPU.
    pub is_cpu: bool,
    /// The number of compute units; for a sub-device, its own.
    pub compute_units: u32,
    /// The clock in hertz; zero if the driver does not say.
    pub clock_hz: u64,
    /// The compute capability of a GPU by NVIDIA.
    pub compute_capability: Option<(u32, u32)>,
    /// Whether the driver compiles NVIDIA's matrix instructions for `double` (`mma.m16n8k8`) in inline PTX, and the
    /// device has them. Known only of a device that is open.
    pub has_matrix_f64: bool,
    /// The number of work groups of a launch that are sure to run at the same time, whatever else the queues for tasks
    /// contain, so that they can wait for each other; 0 if there is no such number. It is known only of an open GPU by
    /// NVIDIA: its groups stay where they are until they end, so there is room for one group per unit. If the process
    /// has opened the GPU several times, only one of the devices has concurrent groups: the first that was opened while
    /// no other had them. Work of other processes does no harm, because the driver gives the whole GPU to one process
    /// after another.
    pub concurrent_groups: usize,
    /// The largest size of a work group.
    pub max_work_group: usize,
    /// The largest size of a work group in each of three directions.
    pub max_work_items: [usize; 3],
    /// The local memory of a work group in bytes.
    pub local_bytes: usize,
    /// Whether local memory is separate hardware and not a part of global memory, as in a CPU.
    pub has_local_memory: bool,
    /// The number of `float` elements in a register.
    pub vector_f32: u32,
    /// The number of `double` elements in a register; zero if `double` is not supported.
    pub vector_f64: u32,
    /// Whether `double` is supported.
    pub has_f64: bool,
    /// The size of its global memory in bytes.
    pub memory_bytes: usize,
    /// The size of the largest buffer in bytes.
    pub buffer_bytes_max: usize,
    /// Whether its global memory is the host's memory.
    pub is_unified: bool,
    /// The alignment of buffers in bytes.
    pub align_bytes: usize,
    /// Whether it can be divided into sub-devices with chosen numbers of compute units.
    pub is_divisible: bool,
}

impl DeviceClass {
    /// Queries the properties from the driver.
    pub(super) fn of(platform: cl_platform_id, device: cl_device_id) -> Result<Self, DeviceError> {
        let text = |which| device_bytes(device, which).map(as_text);
        let platform_text = |which| platform_bytes(platform, which).map(as_text);
        let unit = |which| number::<cl_uint>(device, which);
        let word = |which| number::<u64>(device, which).map(as_size);
        let vector_f64 = unit(ffi::CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE)?;
        let partitions = device_bytes(device, ffi::CL_DEVICE_PARTITION_PROPERTIES)?;
        let by_counts = ffi::CL_DEVICE_PARTITION_BY_COUNTS as ffi::cl_device_partition_property;
        let kind = number::<ffi::cl_device_type>(device, ffi::CL_DEVICE_TYPE)?;
        Ok(Self {
            platform: format!("{} {}", platform_text(ffi::CL_PLATFORM_NAME)?, platform_text(ffi::CL_PLATFORM_VERSION)?),
            vendor: text(ffi::CL_DEVICE_VENDOR)?,
            name: text(ffi::CL_DEVICE_NAME)?,
            driver: text(ffi::CL_DRIVER_VERSION)?,
            is_cpu: kind & ffi::CL_DEVICE_TYPE_CPU != 0,
            compute_units: unit(ffi::CL_DEVICE_MAX_COMPUTE_UNITS)?,
            clock_hz: u64::from(unit(ffi::CL_DEVICE_MAX_CLOCK_FREQUENCY).unwrap_or(0)) * 1_000_000,
            // Only NVIDIA's driver knows these queries.
            compute_capability: unit(COMPUTE_CAPABILITY_MAJOR_NV).ok().zip(unit(COMPUTE_CAPABILITY_MINOR_NV).ok()),
            has_matrix_f64: false,
            concurrent_groups: 0,
            max_work_group: number::<usize>(device, ffi::CL_DEVICE_MAX_WORK_GROUP_SIZE)?,
            max_work_items: number::<[usize; 3]>(device, ffi::CL_DEVICE_MAX_WORK_ITEM_SIZES)?,
            local_bytes: word(ffi::CL_DEVICE_LOCAL_MEM_SIZE)?,
            has_local_memory: unit(ffi::CL_DEVICE_LOCAL_MEM_TYPE)? == ffi::CL_LOCAL,
            vector_f32: unit(ffi::CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT)?,
            vector_f64,
            // Old drivers may not know this query; then they do not support `double`.
            has_f64: number::<u64>(device, ffi::CL_DEVICE_DOUBLE_FP_CONFIG).is_ok_and(|config| config != 0),
            memory_bytes: word(ffi::CL_DEVICE_GLOBAL_MEM_SIZE)?,
            buffer_bytes_max: word(ffi::CL_DEVICE_MAX_MEM_ALLOC_SIZE)?,
            is_unified: unit(ffi::CL_DEVICE_HOST_UNIFIED_MEMORY)? != 0,
            align_bytes: as_size(u64::from(unit(ffi::CL_DEVICE_MEM_BASE_ADDR_ALIGN)? / 8)),
            is_divisible: partitions
                .chunks_exact(size_of::<ffi::cl_device_partition_property>())
                .any(|one| bytemuck::pod_read_unaligned::<ffi::cl_device_partition_property>(one) == by_counts),
        })
    }
}

fn as_size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn as_text(mut bytes: Vec<u8>) -> String {
    while bytes.last().is_some_and(|&last| last == 0) {
        bytes.pop();
    }
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

fn number<T: Pod>(device: cl_device_id, which: cl_uint) -> Result<T, DeviceError> {
    let bytes = device_bytes(device, which)?;
    bytemuck::try_pod_read_unaligned(&bytes)
        .map_err(|_| DeviceError::new(format!("clGetDeviceInfo returned {} bytes for {which:#x}", bytes.len())))
}

fn device_bytes(device: cl_device_id, which: cl_uint) -> Result<Vec<u8>, DeviceError> {
    answer("clGetDeviceInfo", |size, place, needed| {
        // SAFETY: the driver returned `device`, and `answer` passes a buffer of this size.
        unsafe { ffi::clGetDeviceInfo(device, which, size, place, needed) }
    })
}

fn platform_bytes(platform: cl_platform_id, which: cl_uint) -> Result<Vec<u8>, DeviceError> {
    answer("clGetPlatformInfo", |size, place, needed| {
        // SAFETY: the driver returned `platform`, and `answer` passes a buffer of this size.
        unsafe { ffi::clGetPlatformInfo(platform, which, size, place, needed) }
    })
}

/// Returns the result of one of OpenCL's queries. `ask` is called once for the size and once for the bytes. Its
/// arguments are a size, a buffer of that size (or null), and a place for the needed size (or null).
pub(super) fn answer(
    call: &str,
    mut ask: impl FnMut(usize, *mut c_void, *mut usize) -> ffi::cl_int,
) -> Result<Vec<u8>, DeviceError> {
    let mut size = 0;
    check(ask(0, std::ptr::null_mut(), &raw mut size), call)?;
    let mut bytes = vec![0u8; size];
    if size > 0 {
        check(ask(size, bytes.as_mut_ptr().cast(), std::ptr::null_mut()), call)?;
    }
    Ok(bytes)
}
