//! The properties of a simulated device.

use super::faults::Faults;
use superscalar_runtime::{DeviceError, DeviceInfo, LinkInfo, MemoryInfo, Speed};

/// A link that takes no modelled time.
const INSTANT: LinkInfo = LinkInfo { bytes_per_s: 0.0, latency_ns: 0 };

/// The properties of a simulated device.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Its name, for traces and messages.
    pub name: String,
    /// The number of in-order queues for tasks; at least one.
    pub queues: u16,
    /// The number of tasks that are issued ahead of their completion; at least one.
    pub depth: usize,
    /// The size of its heap in bytes.
    pub memory_bytes: usize,
    /// The alignment of every column in its heap in bytes: a power of two, from 16 to a page.
    pub align: usize,
    /// The speed of its arithmetic unit; a rate of zero takes no modelled time.
    pub speed: Speed,
    /// Its link to the host; a bandwidth of zero takes no modelled time.
    pub host_link: LinkInfo,
    /// The devices whose heaps it can copy from, by their index among the machine's specs, and the links to them.
    pub peers: Vec<(u16, LinkInfo)>,
    /// The faults to inject.
    pub faults: Faults,
}

impl Spec {
    /// Returns a device without modelled time: two queues, a depth of four tasks, 64 MiB, no peers, no faults.
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

    /// Returns one of four unequal devices, or `None` if the number is above 3.
    ///
    /// | number | Gflop/s | GB/s, levels 1 and 2 | host link GB/s | memory | peer link |
    /// |---|---|---|---|---|---|
    /// | 0 | 2.0 | 2.0 | 0.5 | 256 MiB | 0.8 GB/s with 1 |
    /// | 1 | 1.6 | 1.6 | 0.5 | 256 MiB | 0.8 GB/s with 0 |
    /// | 2 | 1.0 | 1.0 | 0.4 | 128 MiB | |
    /// | 3 | 0.5 | 0.5 | 0.2 | 128 MiB | |
    ///
    /// The speeds of the first three are in the ratio 10 : 8 : 5. A kernel takes 10 µs in addition, a copy 20 µs (15 µs
    /// between peers). The devices are slow because their arithmetic is really executed: the model holds only while all
    /// four together need a small part of what two cores can do. The figures are in proportion to those of an
    /// accelerator, for tiles of 64 to 128.
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

    /// Checks that this can be device number `index` of a machine with `count` devices.
    pub(super) fn check(&self, index: usize, count: usize) -> Result<(), DeviceError> {
        let page = rustix::param::page_size();
        let is_rate = |rate: f64| rate.is_finite() && rate >= 0.0;
        let peers_exist = self.peers.iter().all(|&(peer, _)| usize::from(peer) < count && usize::from(peer) != index);
        let rates = [self.speed.flops_per_s, self.speed.bytes_per_s, self.host_link.bytes_per_s];
        let mut all_rates = rates.into_iter().chain(self.peers.iter().map(|(_, link)| link.bytes_per_s));
        let wrong = if self.queues == 0 || self.queues > u16::MAX - 3 {
            format!("{} queues, expected 1 to {} (3 are for copies)", self.queues, u16::MAX - 3)
        } else if self.depth == 0 {
            "a depth of 0 tasks, expected at least 1".into()
        } else if self.memory_bytes == 0 || self.memory_bytes > isize::MAX as usize - page {
            format!("{} bytes of memory, expected 1 to {}", self.memory_bytes, isize::MAX as usize - page)
        } else if !self.align.is_power_of_two() || !(16..=page).contains(&self.align) {
            format!("an alignment of {}, expected a power of two from 16 to {page}", self.align)
        } else if let Some(rate) = all_rates.find(|&rate| !is_rate(rate)) {
            format!("a rate of {rate}, expected a finite rate of at least 0")
        } else if !peers_exist {
            let peers: Vec<u16> = self.peers.iter().map(|&(peer, _)| peer).collect();
            format!("device {index} of {count} has the peers {peers:?}, expected other devices of the machine")
        } else {
            return Ok(());
        };
        Err(DeviceError::new(format!("`{}` cannot be simulated: {wrong}", self.name)))
    }

    /// Returns what the runtime is told of this device, if `first` is the runtime's index of the machine's first
    /// device.
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
