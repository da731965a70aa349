//! Links between memory nodes: their bandwidth, load and traffic.

#![forbid(unsafe_code)]

use super::entry::Node;
use crate::{
    device::{DeviceInfo, LinkInfo},
    running_mean::{RANKED_SAMPLES, RunningMean},
};

/// Why a copy was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CopyKind {
    /// A task needs the value on the target node.
    Fetch,
    /// The only valid replica is evicted: the value goes to host memory.
    Eviction,
    /// A device needs a value that it cannot copy directly from the device that has it. The value goes through host
    /// memory.
    Staging,
}

impl CopyKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Fetch, Self::Eviction, Self::Staging];
}

/// The traffic of one kind over a link in one direction; see [`Runtime::traffic`](crate::Runtime::traffic).
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// The source node: `host`, or the device's name.
    pub from: String,
    /// The target node.
    pub to: String,
    /// Why the copies were made.
    pub kind: CopyKind,
    /// Number of copies, or parts of copies.
    pub copies: u64,
    /// Bytes.
    pub bytes: u64,
}

#[derive(Clone, Debug, Default)]
struct Link {
    /// With the bandwidth measured so far. `None` if no direct copy is possible.
    info: Option<LinkInfo>,
    /// The measured time of a byte.
    ns_per_byte: Option<RunningMean>,
    /// The same while all links between host memory and devices were in use in this direction, and none in the other.
    busy_ns_per_byte: Option<RunningMean>,
    /// Bytes of the copies in progress.
    pending: u64,
    /// Number of copies and bytes, per kind.
    carried: [(u64, u64); 3],
}

/// All links of a runtime.
#[derive(Debug)]
pub(super) struct Links {
    nodes: usize,
    links: Vec<Link>,
}

/// A copy that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct CarriedCopy {
    pub(super) from: Node,
    pub(super) to: Node,
    pub(super) bytes: usize,
    /// Whether its columns are adjacent in host memory, and all links between host memory and devices were in use when
    /// it was issued, see [`Links::all_are_in_use`].
    pub(super) tells_busy_rate: bool,
}

impl Links {
    pub(super) fn new(devices: &[DeviceInfo]) -> Self {
        let nodes = devices.len() + 1;
        let mut all = Self { nodes, links: vec![Link::default(); nodes * nodes] };
        for (device, memory) in devices.iter().enumerate().filter_map(|(at, info)| Some((at, info.memory.as_ref()?))) {
            let node = Node::of_device(device as u16);
            all.link_mut(Node::HOST, node).info = Some(memory.host);
            all.link_mut(node, Node::HOST).info = Some(memory.host);
            for &(peer, link) in memory.peers.iter().filter(|(peer, _)| usize::from(*peer) < devices.len()) {
                if usize::from(peer) != device {
                    all.link_mut(Node::of_device(peer), node).info = Some(link);
                }
            }
        }
        all
    }

    fn link_mut(&mut self, from: Node, to: Node) -> &mut Link {
        &mut self.links[from.at() * self.nodes + to.at()]
    }

    fn link(&self, from: Node, to: Node) -> &Link {
        &self.links[from.at() * self.nodes + to.at()]
    }

    /// Returns the links from host memory to a device and back, with the bandwidths measured so far.
    pub(super) fn of_host(&self, device: u16) -> Option<[LinkInfo; 2]> {
        let node = Some(Node::of_device(device)).filter(|node| node.at() < self.nodes)?;
        Some([self.link(Node::HOST, node).info?, self.link(node, Node::HOST).info?])
    }

    /// Iterates over the links for which there is this property: source, target and property.
    fn each<P>(&self, property: impl Fn(&Link) -> Option<P>) -> impl Iterator<Item = (Node, Node, P)> {
        let node = |at: usize| Node(at as u16);
        let all = self.links.iter().enumerate();
        all.filter_map(move |(at, link)| Some((node(at / self.nodes), node(at % self.nodes), property(link)?)))
    }

    /// Iterates over all links, with the bandwidths measured so far.
    pub(super) fn all(&self) -> impl Iterator<Item = (Node, Node, LinkInfo)> {
        self.each(|link| link.info)
    }

    /// Iterates over the links whose bandwidth was measured while all links between host memory and devices were in
    /// use in their direction: source, target, and bytes per second.
    pub(super) fn busy(&self) -> impl Iterator<Item = (Node, Node, f64)> {
        self.each(|link| Some(1e9 / told(link.busy_ns_per_byte)?.value))
    }

    /// Returns the forecast duration of a copy that starts now, from the bandwidth measured so far and the copies in
    /// progress; `None` without a link.
    pub(super) fn forecast_ns(&self, from: Node, to: Node, bytes: usize) -> Option<f64> {
        let link = self.link(from, to);
        Some(link.info?.copy_ns(link.pending as f64 + bytes as f64))
    }

    /// Returns a link, with the bandwidth measured so far.
    pub(super) fn info(&self, from: Node, to: Node) -> Option<LinkInfo> {
        self.link(from, to).info
    }

    /// Records that a copy was issued.
    pub(super) fn copy_issued(&mut self, from: Node, to: Node, bytes: usize) {
        self.link_mut(from, to).pending += bytes as u64;
    }

    /// Records that a copy has ended. `ended` is `None` if it failed; the duration is `None` if the driver does not
    /// know it.
    pub(super) fn copy_ended(&mut self, copy: CarriedCopy, ended: Option<(CopyKind, Option<u64>)>) {
        let CarriedCopy { from, to, bytes, tells_busy_rate } = copy;
        let were_all_in_use = tells_busy_rate && self.all_are_in_use(from, to);
        let link = self.link_mut(from, to);
        link.pending -= bytes as u64;
        let Some((kind, busy_ns)) = ended else { return };
        let carried = &mut link.carried[kind as usize];
        *carried = (carried.0 + 1, carried.1 + bytes as u64);
        if let (Some(info), Some(busy_ns)) = (&mut link.info, busy_ns) {
            let moving_ns = busy_ns.saturating_sub(info.latency_ns).max(1);
            // A small copy takes mostly latency, and does not tell the bandwidth.
            let is_telling = info.bytes_per_s <= 0.0 || info.copy_ns(bytes as f64) > 2.0 * info.latency_ns as f64;
            if is_telling && bytes > 0 && moving_ns > info.latency_ns {
                let sample = moving_ns as f64 / bytes as f64;
                observe(&mut link.ns_per_byte, sample);
                // The first copies are often cold: the stated bandwidth, if there is one, counts until there are some.
                if let Some(ns) = told(link.ns_per_byte).or(link.ns_per_byte.filter(|_| info.bytes_per_s <= 0.0)) {
                    info.bytes_per_s = 1e9 / ns.value;
                }
                if were_all_in_use {
                    observe(&mut link.busy_ns_per_byte, sample);
                }
            }
        }
    }

    /// Returns whether copies over all links between host memory and devices in the direction of this one are issued
    /// and have not ended, and none the other way. Some of them may still wait for an event.
    pub(super) fn all_are_in_use(&self, from: Node, to: Node) -> bool {
        let pending = |from: Node, to: Node| self.link(from, to).pending > 0;
        let mut devices = (0..self.nodes - 1).map(|device| Node::of_device(device as u16));
        match (from == Node::HOST, to == Node::HOST) {
            (true, false) => devices.all(|node| pending(Node::HOST, node) && !pending(node, Node::HOST)),
            (false, true) => devices.all(|node| pending(node, Node::HOST) && !pending(Node::HOST, node)),
            _ => false,
        }
    }

    /// Returns the traffic of every link that was used.
    pub(super) fn traffic(&self, name: impl Fn(Node) -> String) -> Vec<Traffic> {
        let mut all = Vec::new();
        for (at, link) in self.links.iter().enumerate() {
            let (from, to) = (Node((at / self.nodes) as u16), Node((at % self.nodes) as u16));
            for kind in CopyKind::ALL {
                let (copies, bytes) = link.carried[kind as usize];
                if copies > 0 {
                    all.push(Traffic { from: name(from), to: name(to), kind, copies, bytes });
                }
            }
        }
        all
    }
}

/// Adds a sample to a mean.
fn observe(mean: &mut Option<RunningMean>, sample: f64) {
    match mean {
        Some(mean) => {
            mean.observe(sample);
        }
        none => *none = Some(RunningMean::new(sample)),
    }
}

/// Returns a mean of enough samples.
fn told(mean: Option<RunningMean>) -> Option<RunningMean> {
    mean.filter(|mean| mean.samples >= RANKED_SAMPLES as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two links that share a bus: either moves 55 GB/s alone, both together 40 and 50.
    #[test]
    fn links_that_share_a_bus_are_measured_together() {
        let link = Link { info: Some(LinkInfo { bytes_per_s: 55e9, latency_ns: 10_000 }), ..Link::default() };
        let mut links = Links { nodes: 3, links: vec![link; 9] };
        let (bytes, devices) = (8_000_000, [0, 1].map(Node::of_device));
        let mut copy = |to: Node, others: &[(Node, Node)], rate: f64, tells_busy_rate: bool| {
            let all: Vec<(Node, Node)> = others.iter().copied().chain([(Node::HOST, to)]).collect();
            for _ in 0..RANKED_SAMPLES {
                all.iter().for_each(|&(from, to)| links.copy_issued(from, to, bytes));
                let busy_ns = 10_000 + (bytes as f64 / rate * 1e9) as u64;
                let copy = CarriedCopy { from: Node::HOST, to, bytes, tells_busy_rate };
                links.copy_ended(copy, Some((CopyKind::Fetch, Some(busy_ns))));
                for &(from, to) in others {
                    links.copy_ended(CarriedCopy { from, to, bytes, tells_busy_rate }, None);
                }
            }
            links.busy().collect::<Vec<_>>()
        };
        let [first, second] = devices;
        assert_eq!(copy(first, &[], 55e9, true), [], "the other link is idle");
        assert_eq!(copy(first, &[(Node::HOST, second)], 40e9, false), [], "its columns are apart, or links were idle");
        assert_eq!(copy(first, &[(Node::HOST, second)], 40e9, true), [(Node::HOST, first, 40e9)]);
        let both = [(Node::HOST, first, 40e9), (Node::HOST, second, 50e9)];
        assert_eq!(copy(second, &[(Node::HOST, first)], 50e9, true), both);
        let opposite = [(Node::HOST, second), (second, Node::HOST)];
        assert_eq!(copy(first, &opposite, 20e9, true), both, "copies go both ways");
    }

    #[test]
    fn only_copies_longer_than_the_latency_tell_the_bandwidth() {
        let link = Link { info: Some(LinkInfo { bytes_per_s: 1e10, latency_ns: 10_000 }), ..Link::default() };
        let mut links = Links { nodes: 2, links: vec![link; 4] };
        let (host, device) = (Node::HOST, Node::of_device(0));
        let mut copy = |bytes: usize, busy_ns: u64| {
            links.copy_issued(host, device, bytes);
            let copy = CarriedCopy { from: host, to: device, bytes, tells_busy_rate: true };
            links.copy_ended(copy, Some((CopyKind::Fetch, Some(busy_ns))));
            links.of_host(0).expect("a link")[0].bytes_per_s
        };
        assert_eq!(copy(100, 30_000), 1e10, "mostly latency");
        assert_eq!(copy(10_000_000, 40_010_000), 1e10, "the first copy is cold");
        assert_eq!(copy(10_000_000, 2_010_000), 1e10, "two are too few");
        assert_eq!(copy(100, 30_000), 1e10, "mostly latency");
        assert_eq!(copy(10_000_000, 2_010_000), 5e9, "half as fast as stated");
        assert_eq!(copy(10_000_000, 20_010_000), 5e9, "the host was busy");
        assert_eq!(links.of_host(1), None);
    }
}
