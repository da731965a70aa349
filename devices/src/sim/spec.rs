//! What a simulated device is like.

use super::faults::Faults;
use superscalar_runtime::{DeviceError, DeviceInfo, LinkInfo, MemoryInfo, Speed};

/// A link that takes no modelled time.
const INSTANT: LinkInfo = LinkInfo { bytes_per_s: 0.0, latency_ns: 0 };

/// What a simulated device is like.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Its name, for traces and messages.
    pub name: String,
    /// How many in-order queues for tasks it has; at least one.
    pub queues: u16,
    /// How many tasks it is given ahead of their completion; at least one.
    pub depth: usize,
    /// Bytes of its heap.
    pub memory_bytes: usize,
    /// Every column in its heap begins at a multiple of this many bytes: a power of two, from 16 to a page.
    pub align: usize,
    /// How fast its arithmetic unit is; what is zero takes no modelled time.
    pub speed: Speed,
    /// Its link to the host; a bandwidth of zero takes no modelled time.
    pub host_link: LinkInfo,
    /// The devices of the machine whose heaps it can copy from, by their place among the machine's specs, and their links.
    pub peers: Vec<(u16, LinkInfo)>,
    /// What fails.
    pub faults: Faults,
}

impl Spec {
    /// A device without modelled time: two queues, four tasks ahead, 64 MiB, no peers, no faults.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            queues: 2,
            depth: 4,
            memory_bytes: 64 << 20,
            align: 64,
            speed: Speed::default(),
            host_link: INSTANT,
            peers: Vec::new(),
            faults: Faults::default(),
        }
    }

    /// One of four unequal devices; none if there is no such.
    ///
    /// | number | Gflop/s | GB/s, levels 1 and 2 | host link GB/s | memory | peer link |
    /// |---|---|---|---|---|---|
    /// | 0 | 2.0 | 2.0 | 0.5 | 256 MiB | 0.8 GB/s with 1 |
    /// | 1 | 1.6 | 1.6 | 0.5 | 256 MiB | 0.8 GB/s with 0 |
    /// | 2 | 1.0 | 1.0 | 0.4 | 128 MiB | |
    /// | 3 | 0.5 | 0.5 | 0.2 | 128 MiB | |
    ///
    /// The first three are in the ratio 10 : 8 : 5. A kernel takes 10 µs besides, a copy 20 µs (15 µs between peers). They are
    /// slow because the arithmetic is really done: all four at once must be a small part of what two cores can do, or
    /// the model would not hold. The numbers are in proportion to each other as an accelerator's are, for tiles of 64 to 128.
    #[must_use]
    pub fn preset(number: u16) -> Option<Self> {
        let (gflop_per_s, link_gb_per_s, memory_mib) = match number {
            0 => (2.0, 0.5, 256),
            1 => (1.6, 0.5, 256),
            2 => (1.0, 0.4, 128),
            3 => (0.5, 0.2, 128),
            _ => return None,
        };
        Some(Self {
            memory_bytes: memory_mib << 20,
            speed: Speed { flops_per_s: gflop_per_s * 1e9, bytes_per_s: gflop_per_s * 1e9, latency_ns: 10_000 },
            host_link: LinkInfo { bytes_per_s: link_gb_per_s * 1e9, latency_ns: 20_000 },
            ..Self::new(format!("sim:{number}"))
        })
    }

    /// Whether there can be such a device as one of `count`, at this place.
    pub(super) fn check(&self, place: usize, count: usize) -> Result<(), DeviceError> {
        let page = rustix::param::page_size();
        let is_rate = |rate: f64| rate.is_finite() && rate >= 0.0;
        let peers_exist = self.peers.iter().all(|&(peer, _)| usize::from(peer) < count && usize::from(peer) != place);
        let rates = [self.speed.flops_per_s, self.speed.bytes_per_s, self.host_link.bytes_per_s];
        let wrong = if self.queues == 0 || self.queues > u16::MAX - 3 {
            "it must have a queue for tasks, and room for three more"
        } else if self.depth == 0 {
            "it must be given one task at least"
        } else if self.memory_bytes == 0 || self.memory_bytes > isize::MAX as usize - page {
            "it must have a heap that can be addressed"
        } else if !self.align.is_power_of_two() || !(16..=page).contains(&self.align) {
            "its columns must begin at multiples of a power of two, from 16 to a page"
        } else if !rates.into_iter().chain(self.peers.iter().map(|(_, link)| link.bytes_per_s)).all(is_rate) {
            "its rates must be finite, and not negative"
        } else if !peers_exist {
            "its peers must be other devices of the machine"
        } else {
            return Ok(());
        };
        Err(DeviceError::new(format!("a device as `{}` can not be simulated: {wrong}", self.name)))
    }

    /// What the runtime is told, if the machine's first device has this index.
    pub(super) fn info(&self, first: u16) -> DeviceInfo {
        let memory = MemoryInfo {
            bytes: self.memory_bytes,
            align: self.align,
            host: self.host_link,
            peers: self.peers.iter().map(|&(peer, link)| (first + peer, link)).collect(),
        };
        DeviceInfo {
            name: self.name.clone(),
            kind: super::KIND,
            queues: self.queues,
            urgent_queues: 0,
            depth: self.depth,
            memory: Some(memory),
            speed: self.speed,
        }
    }
}
