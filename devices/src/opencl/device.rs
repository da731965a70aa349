//! [`OpenclDevice`]: the device that the runtime sees.

use super::{
    KIND, cache_directory, cache_in,
    class::DeviceClass,
    concurrency::ConcurrencyClaim,
    context::{Setup, SharedContext},
    discovery::DiscoveredDevice,
    lane::Lane,
    object::{Context, Queue},
    program::{Programs, Target},
    queue::{DeviceState, OpenclQueue},
    source::Source,
    speed,
};
use crate::{
    clock::Clock,
    signal::{Inserted, Signal},
};
use ocl::ffi;
use std::{
    ops::RangeInclusive,
    path::PathBuf,
    ptr,
    sync::{Arc, OnceLock},
    time::Duration,
};
use superscalar_runtime::{
    Device, DeviceError, DeviceInfo, DeviceMemory, Event, Finished, Issue, LinkInfo, MemoryInfo, Speed,
};

/// The queues for copies in, out and from peers, behind those for tasks.
const COPY_QUEUES: u16 = 3;
/// The smallest alignment of columns in a heap: two cache lines, or the widest vector.
const ALIGN_BYTES_MIN: usize = 128;
/// The assumed links: if the host's memory is the device's, a copy in memory; otherwise PCI Express of the third
/// generation.
const UNIFIED: LinkInfo = LinkInfo { bytes_per_s: 8e9, latency_ns: 10_000 };
const LINKED: LinkInfo = LinkInfo { bytes_per_s: 12e9, latency_ns: 20_000 };

/// Options for opening a device.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its index in the runtime: the number of devices that the builder is given before it.
    pub index: u16,
    /// The number of queues for tasks; at least one.
    pub queues: u16,
    /// The number of tasks that are issued ahead of their completion; at least one.
    pub depth: usize,
    /// The size of the heap in bytes. Default: seven eighths of the device's memory, or one eighth if that is the
    /// host's memory, but at most the largest buffer.
    pub memory_bytes: Option<usize>,
    /// The assumed speed of the device. Default: an estimate from what the driver reports.
    pub speed: Option<Speed>,
    /// The assumed link to host memory and to its peers, if known.
    pub link: Option<LinkInfo>,
    /// The directory for compiled programs, if they are to be kept.
    pub cache: Option<PathBuf>,
}

impl Settings {
    /// Returns the default settings: two queues, a depth of six tasks, programs kept in
    /// [`cache_directory`](super::cache_directory).
    #[must_use]
    pub fn new(index: u16) -> Self {
        Self { index, queues: 2, depth: 6, memory_bytes: None, speed: None, link: None, cache: cache_directory() }
    }
}

/// An OpenCL device that was opened for a runtime.
#[derive(Debug)]
pub struct OpenclDevice {
    pub(super) state: Arc<DeviceState>,
    info: DeviceInfo,
    pub(super) lanes: Vec<Lane>,
    /// The reason for the loss of the device.
    lost: OnceLock<DeviceError>,
}

impl OpenclDevice {
    /// Opens devices for one runtime. Those of one platform share a context: they can wait for each other's events and
    /// copy from each other.
    ///
    /// # Errors
    /// If two have the same index, a setting does not suit its device, or a driver refuses.
    ///
    /// # Examples
    /// ```
    /// # mod superscalar { pub use superscalar_devices as devices; pub use superscalar_runtime::*; }
    /// use superscalar::devices::opencl::{OpenclDevice, Settings, devices, named};
    ///
    /// let found = devices()?;
    /// if !found.is_empty() {
    ///     let settings = Settings { memory_bytes: Some(1 << 20), ..Settings::new(0) };
    ///     let opened = OpenclDevice::open(&[(named("opencl:0", &found)?, settings)])?;
    ///     assert_eq!(opened.len(), 1);
    /// }
    /// # Ok::<(), superscalar::DeviceError>(())
    /// ```
    pub fn open(devices: &[(DiscoveredDevice, Settings)]) -> Result<Vec<Arc<Self>>, DeviceError> {
        for (at, (found, settings)) in devices.iter().enumerate() {
            settings.check(found.class())?;
            if devices[..at].iter().any(|(_, before)| before.index == settings.index) {
                return Err(DeviceError::new(format!("two devices have the index {}", settings.index)));
            }
        }
        let mut setup = Setup::begin();
        let mut contexts: Vec<(&DiscoveredDevice, Arc<SharedContext>)> = Vec::new();
        let mut opened = Vec::new();
        for (found, settings) in devices {
            let known = contexts.iter().find(|(other, _)| other.platform == found.platform);
            let context = match known {
                Some((_, context)) => Arc::clone(context),
                None => {
                    let context = Arc::new(context_of(found, devices)?);
                    setup.keep(found.platform.0, &context.context)?;
                    contexts.push((found, Arc::clone(&context)));
                    context
                }
            };
            opened.push(Arc::new(Self::open_in(context, found, settings)?));
        }
        Ok(opened)
    }

    fn open_in(
        context: Arc<SharedContext>,
        found: &DiscoveredDevice,
        settings: &Settings,
    ) -> Result<Self, DeviceError> {
        let heap_bytes = settings.heap_bytes(found.class());
        let programs = Programs::new(cache_in(settings.cache.clone()));
        let mut found = found.clone();
        let has = |capability, probe| compiles(&programs, &context, &found, capability, probe);
        let (has_matrix_f64, has_fence) = (has(MATRIX_CAPABILITY, MATRIX_PROBE), has(FENCE_CAPABILITY, FENCE_PROBE));
        found.class.has_matrix_f64 = has_matrix_f64;
        let concurrency = if has_fence { ConcurrencyClaim::new(found.whole_id()) } else { None };
        if concurrency.is_some() {
            found.class.concurrent_groups = found.class.compute_units as usize / usize::from(settings.queues);
        }
        let info = info(&context, &found, settings);
        let state = Arc::new(DeviceState {
            index: settings.index,
            found,
            context,
            programs,
            signal: Signal::default(),
            clock: Clock::default(),
            heap: OnceLock::new(),
            heap_bytes,
            _concurrency: concurrency,
        });
        let lanes = (0..settings.queues + COPY_QUEUES).map(|number| {
            let mut code = 0;
            let how = ffi::CL_QUEUE_PROFILING_ENABLE;
            // SAFETY: context and device exist, and the device is part of the context.
            let queue = unsafe {
                let (context, device) = (state.context.context.raw(), state.found.raw());
                let raw = ffi::clCreateCommandQueue(context, device, how, &raw mut code);
                Queue::made(raw, code, "clCreateCommandQueue")?
            };
            Ok(Lane::new(OpenclQueue::new(Arc::clone(&state), queue, number)))
        });
        let lanes = lanes.collect::<Result<_, DeviceError>>()?;
        Ok(Self { state, info, lanes, lost: OnceLock::new() })
    }

    /// Returns the properties of the device.
    #[must_use]
    pub fn class(&self) -> &DeviceClass {
        self.state.found.class()
    }

    /// Returns the device as it was found, with what is known only of an open one.
    #[must_use]
    pub fn discovered(&self) -> &DiscoveredDevice {
        &self.state.found
    }

    fn put_task(&self, (queue, is_timed): (u16, bool), waits: &[Event], issue: Issue<'_>) -> Result<u64, DeviceError> {
        self.check_not_lost()?;
        let lane = self.lanes.get(usize::from(queue)).filter(|_| queue < self.info.queues);
        let lane = lane.ok_or_else(|| DeviceError::new(format!("there is no queue {queue} for tasks")))?;
        lane.put((Inserted::Task, is_timed), waits, |queue| issue(queue)).map_err(|error| self.device_error(error))
    }

    /// Fails if the device is lost.
    pub(super) fn check_not_lost(&self) -> Result<(), DeviceError> {
        self.lost.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Adds the device's name to an error, but not to an outcome. If the error loses the device, records the loss.
    pub(super) fn device_error(&self, error: DeviceError) -> DeviceError {
        if error.is_outcome() {
            return error;
        }
        if !error.is_lost() {
            return DeviceError::new(format!("{}: {error}", self.info.name));
        }
        let error = DeviceError::lost(format!("{} is lost: {error}", self.info.name));
        self.lost.get_or_init(|| error).clone()
    }
}

/// Creates a context of all devices of a device's platform.
fn context_of(
    found: &DiscoveredDevice,
    devices: &[(DiscoveredDevice, Settings)],
) -> Result<SharedContext, DeviceError> {
    let neighbours = || devices.iter().filter(|(other, _)| other.platform == found.platform);
    let raw: Vec<ffi::cl_device_id> = neighbours().map(|(other, _)| other.raw()).collect();
    let properties = [ffi::CL_CONTEXT_PLATFORM as ffi::cl_context_properties, found.platform.0 as isize, 0];
    let mut code = 0;
    // SAFETY: the properties end with zero, and platform and devices exist.
    let context = unsafe {
        let (count, data) = (raw.len() as u32, ptr::null_mut());
        let raw = ffi::clCreateContext(properties.as_ptr(), count, raw.as_ptr(), None, data, &raw mut code);
        Context::made(raw, code, "clCreateContext")?
    };
    Ok(SharedContext::new(context, neighbours().map(|(_, settings)| settings.index).collect()))
}

/// The GPUs by NVIDIA for which there are products with matrix instructions for `double`: Hopper.
const MATRIX_CAPABILITY: RangeInclusive<(u32, u32)> = (9, 0)..=(9, 0);
/// A kernel with one such instruction.
const MATRIX_PROBE: &str = r#"
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void probe(__global double *x) {
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    const double a = x[0], b = x[1];
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
        : "+d"(s0), "+d"(s1), "+d"(s2), "+d"(s3) : "d"(a), "d"(b));
    x[get_local_id(0)] = s0 + s1 + s2 + s3;
}
"#;
/// The GPUs by NVIDIA that have fences for all groups of a launch: Volta and later.
const FENCE_CAPABILITY: RangeInclusive<(u32, u32)> = (7, 0)..=(u32::MAX, 0);
const FENCE_PROBE: &str = r#"
__kernel void probe(volatile __global int *x) {
    x[0] = 1;
    asm volatile("fence.acq_rel.gpu;" : : : "memory");
    x[1] = 1;
}
"#;

/// Returns whether the device's compute capability is in a range and the driver compiles a kernel.
fn compiles(
    programs: &Programs,
    context: &SharedContext,
    found: &DiscoveredDevice,
    capability: RangeInclusive<(u32, u32)>,
    probe: &str,
) -> bool {
    let class = found.class();
    let target = Target { context: &context.context, device: found.raw(), whole: found.whole(), class };
    class.compute_capability.is_some_and(|its| capability.contains(&its))
        && programs.get(target, &Source::new(probe, "-cl-std=CL1.2")).is_ok()
}

fn info(context: &SharedContext, found: &DiscoveredDevice, settings: &Settings) -> DeviceInfo {
    let class = found.class();
    let link = settings.link.unwrap_or(if class.is_unified { UNIFIED } else { LINKED });
    let matrix = if class.has_matrix_f64 { ", matrix instructions" } else { "" };
    let peers = context.devices.iter().filter(|&&device| device != settings.index).map(|&device| (device, link));
    DeviceInfo {
        name: format!("{} ({} units{matrix})", class.name, class.compute_units),
        kind: KIND,
        queues: settings.queues,
        urgent_queues: 0,
        depth: settings.depth,
        memory: Some(MemoryInfo {
            bytes: settings.heap_bytes(class),
            align: align(class),
            host: link,
            peers: peers.collect(),
        }),
        speed: settings.speed.unwrap_or_else(|| speed::estimate(class)),
    }
}

fn align(class: &DeviceClass) -> usize {
    class.align_bytes.next_power_of_two().max(ALIGN_BYTES_MIN)
}

impl Settings {
    fn heap_bytes(&self, class: &DeviceClass) -> usize {
        let share = if class.is_unified { class.memory_bytes / 8 } else { class.memory_bytes / 8 * 7 };
        let bytes = self.memory_bytes.unwrap_or(share.min(class.buffer_bytes_max));
        bytes - bytes % align(class)
    }

    fn check(&self, class: &DeviceClass) -> Result<(), DeviceError> {
        let Self { queues, depth, .. } = *self;
        let bytes = self.heap_bytes(class);
        if queues == 0 || queues > u16::MAX - COPY_QUEUES || depth == 0 {
            return Err(DeviceError::new(format!(
                "{}: {queues} queues with a depth of {depth} tasks are not possible: expected at least 1 each",
                class.name
            )));
        }
        if bytes == 0 || bytes > class.buffer_bytes_max {
            let (name, most) = (&class.name, class.buffer_bytes_max);
            return Err(DeviceError::new(format!(
                "{name}: a heap of {bytes} bytes is not possible: expected 1 to {most}"
            )));
        }
        Ok(())
    }
}

// SAFETY: work is reported as finished only when its event is complete.
unsafe impl Device for OpenclDevice {
    fn info(&self) -> DeviceInfo {
        self.info.clone()
    }

    fn can_wait_for(&self, device: u16) -> bool {
        self.state.context.devices.contains(&device)
    }

    fn issue(&self, queue: u16, waits: &[Event], issue: Issue<'_>) -> Result<u64, DeviceError> {
        self.put_task((queue, true), waits, issue)
    }

    fn issue_untimed(&self, queue: u16, waits: &[Event], issue: Issue<'_>) -> Result<u64, DeviceError> {
        self.put_task((queue, false), waits, issue)
    }

    fn poll(&self, report: &mut dyn FnMut(Finished)) {
        for lane in &self.lanes {
            lane.collect(&mut |mut finished| {
                finished.result = finished.result.map_err(|error| self.device_error(error));
                report(finished);
            });
        }
    }

    fn wait(&self, at_most: Duration) {
        let (signal, lanes) = (&self.state.signal, &self.lanes);
        signal.wait(
            at_most,
            || lanes.iter().any(|lane| signal.is_raised() || lane.is_due()),
            || lanes.iter().any(Lane::is_busy),
        );
    }

    fn wake(&self) {
        self.state.signal.raise();
    }

    fn memory(&self) -> Option<&dyn DeviceMemory> {
        Some(self)
    }
}

impl Drop for OpenclDevice {
    fn drop(&mut self) {
        self.lanes.iter_mut().for_each(Lane::close);
        self.state.context.forget(self.state.index);
    }
}
