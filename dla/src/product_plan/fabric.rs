//! The memories of a machine and the links between them: when a copy over a link can begin and end.

use super::cache::{RATE_RATIO_MAX, are_alike};
use superscalar_runtime::{DeviceInfo, LinkInfo, Nesting, Resource};

/// A memory: 0 is the host's, d + 1 that of device d.
pub(crate) type Place = usize;

/// The host's memory.
pub(crate) const HOST: Place = 0;

/// Like [`RATE_RATIO_MAX`], for links to the host, which bound most plans: their rates vary less, and links that turn
/// out to share a bus need another plan.
const HOST_RATE_RATIO_MAX: f64 = 1.15;

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
    /// fast as stated, because copies of short columns are measured as slower than the link is. Plans keep all of them
    /// busy: where the rate of a link was measured while all were, it counts, because links may share a bus.
    pub(crate) fn of(devices: &[DeviceInfo], nesting: Nesting<'_>) -> Self {
        let (mut fabric, busy) = (Self::new(devices.len()), nesting.busy_links());
        for (from, to, mut link) in nesting.links() {
            let busy = busy.iter().find(|busy| (busy.0, busy.1) == (from, to)).map(|busy| busy.2);
            let (from, to) = (place(from), place(to));
            let device = if from == HOST { to } else { from };
            if from.min(to) == HOST
                && let Some(memory) = &devices[device - 1].memory
            {
                link.bytes_per_s = host_rate(link.bytes_per_s, memory.host.bytes_per_s, busy);
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
        let is_of_host = |at: usize| at < self.places || at.is_multiple_of(self.places);
        let are_like = |(at, pair): (usize, (&Option<LinkInfo>, &Option<LinkInfo>))| match pair {
            (Some(a), Some(b)) => {
                let ratio = if is_of_host(at) { HOST_RATE_RATIO_MAX } else { RATE_RATIO_MAX };
                a.latency_ns == b.latency_ns && are_alike(a.bytes_per_s, b.bytes_per_s, ratio)
            }
            (a, b) => a.is_none() && b.is_none(),
        };
        self.places == other.places && self.links.iter().zip(&other.links).enumerate().all(are_like)
    }
}

/// Returns the rate of a link to the host that counts for plans, from the measured and the stated one, and the one that
/// was measured while all links were busy.
fn host_rate(measured: f64, stated: f64, busy: Option<f64>) -> f64 {
    measured.max(stated).min(busy.unwrap_or(f64::INFINITY))
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
/// to each device; if these share a bus, each has its share of it all the time.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_busy_links_count() {
        assert_eq!(host_rate(47e9, 55e9, None), 55e9, "short columns");
        assert_eq!(host_rate(57e9, 55e9, None), 57e9);
        assert_eq!(host_rate(47e9, 55e9, Some(40e9)), 40e9, "a shared bus");
        assert_eq!(host_rate(57e9, 55e9, Some(60e9)), 57e9);
    }

    /// Host links that turn out to be a quarter slower need another plan; other links vary by more.
    #[test]
    fn fabrics_are_alike() {
        let with = |host: f64, peer: f64| {
            let mut fabric = Fabric::new(2);
            for (from, to, rate) in [(0, 1, host), (1, 0, host), (0, 2, host), (2, 0, host), (1, 2, peer), (2, 1, peer)]
            {
                fabric.set(from, to, LinkInfo { bytes_per_s: rate * 1e9, latency_ns: 10 });
            }
            fabric
        };
        assert!(with(50.0, 350.0).is_like(&with(55.0, 270.0)));
        assert!(!with(40.0, 350.0).is_like(&with(55.0, 350.0)));
        assert!(!with(50.0, 350.0).is_like(&with(50.0, 200.0)));
    }
}
