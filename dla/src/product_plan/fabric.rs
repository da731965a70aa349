//! The memories of a machine and the links between them: when a copy over a link can begin and end.

use super::cache::are_alike;
use superscalar_runtime::{DeviceInfo, LinkInfo, Resource};

/// A memory: 0 is the host's, d + 1 that of device d.
pub(crate) type Place = usize;

/// The host's memory.
pub(crate) const HOST: Place = 0;

/// Memories and the links between them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fabric {
    places: usize,
    /// Row by source.
    links: Vec<Option<LinkInfo>>,
}

impl Fabric {
    /// Creates the memories of this many devices, without links.
    pub(crate) fn new(devices: usize) -> Self {
        let places = devices + 1;
        Self { places, links: vec![None; places * places] }
    }

    /// Returns the memories of these devices, with the links as measured so far. The links to the host are at least as
    /// fast as stated, because copies of short columns are measured as slower than the link is.
    pub(crate) fn of(devices: &[DeviceInfo], links: Vec<(Resource, Resource, LinkInfo)>) -> Self {
        let mut fabric = Self::new(devices.len());
        for (from, to, mut link) in links {
            let (from, to) = (place(from), place(to));
            let device = if from == HOST { to } else { from };
            if from.min(to) == HOST
                && let Some(memory) = &devices[device - 1].memory
            {
                link.bytes_per_s = link.bytes_per_s.max(memory.host.bytes_per_s);
            }
            fabric.set(from, to, link);
        }
        fabric
    }

    pub(crate) fn devices(&self) -> usize {
        self.places - 1
    }

    pub(crate) fn places(&self) -> usize {
        self.places
    }

    /// Sets the link from one memory to another.
    pub(crate) fn set(&mut self, from: Place, to: Place, link: LinkInfo) {
        self.links[from * self.places + to] = Some(link);
    }

    /// Returns the link from one memory to another, if there is one.
    pub(crate) fn link(&self, from: Place, to: Place) -> Option<LinkInfo> {
        self.links[from * self.places + to]
    }

    /// Returns whether another machine has the same links, at about the same rates.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let are_like = |pair: (&Option<LinkInfo>, &Option<LinkInfo>)| match pair {
            (Some(a), Some(b)) => a.latency_ns == b.latency_ns && are_alike(a.bytes_per_s, b.bytes_per_s),
            (a, b) => a.is_none() && b.is_none(),
        };
        self.places == other.places && self.links.iter().zip(&other.links).all(are_like)
    }
}

/// Returns the memory of a resource.
pub(crate) fn place(of: Resource) -> Place {
    usize::from(of.0)
}

/// The time that each column of a tile in host memory adds to a copy, in nanoseconds, and that of a short column.
/// Measured on GPUs behind PCIe 5: columns of 16, 32 and 64 KiB move at 32, 48 and 51 GB/s, adjacent columns at 55.
const COLUMN_NS: [f64; 2] = [90.0, 220.0];
/// Columns of fewer bytes are short.
const SHORT_COLUMN_BYTES: usize = 32 << 10;
/// A copy between the host and a device takes longer by this share of the time in which copies go the other way.
/// Measured there: both directions at once move at three quarters of their rates. Only the later copy is made longer.
const OPPOSITE_SHARE: f64 = 0.6;

/// What is copied: the bytes of a tile, and its columns if they are apart in host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) bytes: usize,
    pub(crate) columns: usize,
}

impl Load {
    /// Returns the time of a copy over a link.
    pub(super) fn copy_ns(self, link: LinkInfo, (from, to): (Place, Place)) -> f64 {
        let ns = link.copy_ns(self.bytes as f64);
        if self.columns <= 1 || from != HOST && to != HOST {
            return ns;
        }
        let column_ns = COLUMN_NS[usize::from(self.bytes / self.columns < SHORT_COLUMN_BYTES)];
        ns + column_ns * self.columns as f64
    }
}

/// A copy over one link. Times are nanoseconds from the start of the plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hop {
    pub(crate) from: Place,
    pub(crate) to: Place,
    pub(crate) begin: f64,
    pub(crate) end: f64,
}

/// When each link is free: the loads that a plan has given to them so far.
///
/// The links between a device and its peers share one port in each direction, as behind a switch. The host has a link
/// of its own to each device.
#[derive(Clone, Debug)]
pub(super) struct Loads<'a> {
    fabric: &'a Fabric,
    /// The end of the last copy over each link.
    free: Vec<f64>,
    /// The end of the last copy from each device to a peer, and of the last copy to it.
    ports: [Vec<f64>; 2],
    /// The bytes over each link.
    bytes: Vec<u64>,
}

impl<'a> Loads<'a> {
    pub(super) fn new(fabric: &'a Fabric) -> Self {
        let (places, links) = (fabric.places, fabric.places * fabric.places);
        let ports = [vec![0.0; places], vec![0.0; places]];
        Self { fabric, free: vec![0.0; links], ports, bytes: vec![0; links] }
    }

    /// Returns the copy that would begin as early as possible after `ready`, if there is a link.
    pub(super) fn hop(&self, from: Place, to: Place, load: Load, ready: f64) -> Option<Hop> {
        let link = self.fabric.link(from, to)?;
        let mut begin = ready.max(self.free[from * self.fabric.places + to]);
        if from != HOST && to != HOST {
            begin = begin.max(self.ports[0][from]).max(self.ports[1][to]);
        }
        let mut end = begin + load.copy_ns(link, (from, to));
        if from == HOST || to == HOST {
            let opposite = self.free[to * self.fabric.places + from];
            end += OPPOSITE_SHARE * (opposite.min(end) - begin).max(0.0);
        }
        Some(Hop { from, to, begin, end })
    }

    /// Adds a copy that [`hop`](Self::hop) returned.
    pub(super) fn add(&mut self, hop: Hop, load: Load) {
        let at = hop.from * self.fabric.places + hop.to;
        self.free[at] = hop.end;
        self.bytes[at] += load.bytes as u64;
        if hop.from != HOST && hop.to != HOST {
            (self.ports[0][hop.from], self.ports[1][hop.to]) = (hop.end, hop.end);
        }
    }

    /// Returns the bytes over each link that is used.
    pub(super) fn traffic(&self) -> Vec<(Place, Place, u64)> {
        let places = self.fabric.places;
        let all = self.bytes.iter().enumerate().map(|(at, &bytes)| (at / places, at % places, bytes));
        all.filter(|&(_, _, bytes)| bytes > 0).collect()
    }
}
