//! [`DeviceState`]: the state of a device that its queues share and that other devices of its group see.

use super::{
    buffer::DeviceBuffer,
    clock::DeviceClock,
    context::{Context, GpuClass},
    failure::check,
    program::Programs,
    queue_state::QueueState,
};
use crate::{heap::not_allocated, signal::Signal};
use cudarc::driver::sys::{self, CUdevice_P2PAttribute as PeerAttribute};
use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Instant,
};
use superscalar_runtime::{DeviceError, LinkInfo};

/// The approximate latency of a copy over PCI Express and over NVLink.
const HOST_LATENCY_NS: u64 = 8_000;
const PEER_LATENCY_NS: u64 = 5_000;
/// The assumed bandwidth of a GPU's bus if the system does not report it, by the major compute capability from which on
/// it applies.
const BUS_BYTES_PER_S: [(i32, f64); 3] = [(9, 54e9), (8, 26e9), (0, 12e9)];
/// The bandwidth of a link between GPUs in one direction: NVLink of the fourth generation, the bus, and within one GPU.
const NVLINK_BYTES_PER_S: f64 = 350e9;
const PEER_BUS_BYTES_PER_S: f64 = 40e9;
const SAME_GPU_BYTES_PER_S: f64 = 1.5e12;

/// The lowest compute capability whose thread blocks run in clusters.
const CLUSTERS_SINCE: (i32, i32) = (9, 0);

/// What the queues of a device share.
#[derive(Debug)]
pub(super) struct DeviceState {
    /// The device's index in the runtime.
    pub(super) index: u16,
    name: String,
    /// The work in each queue.
    pub(super) queues: Vec<QueueState>,
    heap: OnceLock<DeviceBuffer>,
    pub(super) heap_bytes: usize,
    pub(super) programs: Programs,
    /// Whether thread blocks run in clusters.
    pub(super) has_clusters: bool,
    pub(super) signal: Signal,
    /// The device's clock, if tasks are timed.
    pub(super) clock: OnceLock<DeviceClock>,
    /// The reason for the loss of the device.
    lost: OnceLock<DeviceError>,
    /// Since when the device has been waiting for a lost one.
    pub(super) stuck: Mutex<Option<Instant>>,
    pub(super) context: Arc<Context>,
}

impl DeviceState {
    pub(super) fn new(context: Arc<Context>, index: u16, heap_bytes: usize, queues: u16, programs: Programs) -> Self {
        let class = context.class();
        Self {
            index,
            name: format!("cuda:{} {}", class.ordinal, class.name),
            queues: (0..queues).map(|_| QueueState::new(Arc::clone(&context))).collect(),
            heap: OnceLock::new(),
            heap_bytes,
            programs,
            has_clusters: context.class().compute_capability >= CLUSTERS_SINCE,
            signal: Signal::default(),
            clock: OnceLock::new(),
            lost: OnceLock::new(),
            stuck: Mutex::default(),
            context,
        }
    }

    /// Returns the device's name, for traces and messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn class(&self) -> &GpuClass {
        self.context.class()
    }

    #[inline]
    pub(super) fn heap(&self) -> Result<&DeviceBuffer, DeviceError> {
        self.heap.get().ok_or_else(|| DeviceError::new("the heap is not reserved"))
    }

    pub(super) fn reserve(&self) -> Result<(), DeviceError> {
        if self.heap.get().is_some() {
            return Err(DeviceError::new("the heap is already reserved"));
        }
        let bytes = self.heap_bytes;
        let heap = DeviceBuffer::new(&self.context, bytes).map_err(|error| not_allocated(bytes, &error))?;
        self.heap.set(heap).map_err(|_| DeviceError::new("the heap was reserved by two threads at once"))
    }

    /// Returns whether the device is lost.
    #[inline]
    pub(super) fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// Returns the reason for the loss of the device, if it is lost.
    pub(super) fn loss(&self) -> Option<&DeviceError> {
        self.lost.get()
    }

    /// Fails if the device is lost.
    #[inline]
    pub(super) fn check_not_lost(&self) -> Result<(), DeviceError> {
        self.lost.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Adds the device's name to an error. If the error loses the device, records the loss.
    #[cold]
    pub(super) fn device_error(&self, error: DeviceError) -> DeviceError {
        if error.is_outcome() {
            return error;
        }
        if !error.is_lost() {
            return super::failure::with_subject(&self.name, error);
        }
        let lost = self.lost.get_or_init(|| DeviceError::lost(format!("{} is lost: {error}", self.name)));
        self.signal.raise();
        lost.clone()
    }

    /// Returns since when the device has been waiting for a lost one. The first call starts that time.
    pub(super) fn stuck_since(&self) -> Instant {
        *self.stuck.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Instant::now)
    }

    /// Returns the link to host memory, as the system describes the GPU's bus.
    pub(super) fn host_link(&self) -> LinkInfo {
        let class = self.class();
        let entry = |name: &str| {
            fs::read_to_string(Path::new("/sys/bus/pci/devices").join(class.bus.to_lowercase()).join(name))
        };
        let reported = || bus_bytes_per_s(&entry("max_link_speed").ok()?, &entry("max_link_width").ok()?);
        let (major, _) = class.compute_capability;
        let assumed = || BUS_BYTES_PER_S.iter().find(|(from, _)| major >= *from).map_or(12e9, |(_, speed)| *speed);
        LinkInfo { bytes_per_s: reported().unwrap_or_else(assumed), latency_ns: HOST_LATENCY_NS }
    }

    /// Returns the link from another device's heap to this device, if there is one, and enables peer access.
    pub(super) fn link_to(&self, other: &Self) -> Result<Option<LinkInfo>, DeviceError> {
        let link = |bytes_per_s| Some(LinkInfo { bytes_per_s, latency_ns: PEER_LATENCY_NS });
        if self.class().ordinal == other.class().ordinal {
            return Ok(link(SAME_GPU_BYTES_PER_S));
        }
        if !self.context.enable_peer_access(&other.context)? {
            return Ok(None);
        }
        let mut has_atomics = 0;
        let attribute = PeerAttribute::CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED;
        let (here, there) = (self.context.device(), other.context.device());
        // SAFETY: both devices were returned by the driver, which keeps them until the process ends, and the place for
        // the result is valid.
        let code = unsafe { sys::cuDeviceGetP2PAttribute(&raw mut has_atomics, attribute, here, there) };
        check(code, "cuDeviceGetP2PAttribute")?;
        // Among links between GPUs, only NVLink supports atomic operations.
        Ok(link(if has_atomics != 0 { NVLINK_BYTES_PER_S } else { PEER_BUS_BYTES_PER_S }))
    }
}

/// Returns the bandwidth of a bus in one direction, from texts such as `32.0 GT/s PCIe` and `16`. The result is 0.87 of
/// the rate of its lanes after encoding.
fn bus_bytes_per_s(speed: &str, width: &str) -> Option<f64> {
    let transfers: f64 = speed.split_whitespace().next()?.parse().ok()?;
    let lanes: f64 = width.trim().parse().ok()?;
    // Up to the second generation, ten bits encode eight; from then on, 130 encode 128.
    let encoding = if transfers < 6.0 { 0.8 } else { 128.0 / 130.0 };
    let bytes_per_s = transfers * 1e9 * lanes / 8.0 * encoding * 0.87;
    (bytes_per_s.is_finite() && bytes_per_s >= 1e8 && lanes <= 32.0).then_some(bytes_per_s)
}

#[cfg(test)]
mod tests {
    use super::bus_bytes_per_s;

    #[test]
    fn bus_speed_is_parsed() {
        let fifth = bus_bytes_per_s("32.0 GT/s PCIe\n", "16\n").expect("a speed");
        assert!((52e9..58e9).contains(&fifth), "{fifth}");
        let third = bus_bytes_per_s("8.0 GT/s PCIe", "16").expect("a speed");
        assert!((12e9..15e9).contains(&third), "{third}");
        let second = bus_bytes_per_s("5 GT/s", "8").expect("a speed");
        assert!((3e9..4e9).contains(&second), "{second}");
        for (speed, width) in
            [("Unknown", "16"), ("32.0 GT/s PCIe", "0"), ("", ""), ("32.0 GT/s PCIe", "255"), ("1e999", "16")]
        {
            assert_eq!(bus_bytes_per_s(speed, width), None, "{speed} {width}");
        }
    }
}
