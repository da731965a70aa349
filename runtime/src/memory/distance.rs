//! The cost of bringing a value to a memory node.

#![forbid(unsafe_code)]

use super::{
    directory::{Directory, EntryId},
    entry::Node,
};
use crate::device::HostRegion;

/// The cost of having a value on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Distance {
    /// Forecast duration of the copy, from what is known of the links; zero if the value is there or being copied.
    pub(crate) ns: f64,
    /// Two if the value is there or being copied, one if the node can copy it from another device, otherwise zero.
    pub(crate) locality: u32,
    /// Whether the value comes, or is being copied, from host memory.
    pub(crate) from_host: bool,
    /// Bytes of the node's memory that are still to be allocated for it.
    pub(crate) missing_bytes: usize,
}

impl Directory {
    /// Returns the distance of the value from the node. Without an entry the value is on the host only.
    pub(crate) fn distance(&self, id: Option<EntryId>, host: Option<HostRegion>, to: Node) -> Distance {
        let Some(id) = id else {
            return self.distance_from_host(host.map_or(0, |region| region.bytes()), to);
        };
        let entry = self.entry(id);
        let bytes = entry.host.bytes();
        if entry.is_valid(to) {
            let is_coming = entry.replicas[to.at()].arrival.is_some_and(|arrival| !self.is_done(arrival));
            return Distance { locality: 2, from_host: is_coming, ..Distance::default() };
        }
        let from = |from: Node| self.links.forecast_ns(from, to, bytes);
        let peer = entry.holders().filter_map(from).min_by(f64::total_cmp);
        let host = if entry.is_valid(Node::HOST) { from(Node::HOST) } else { None };
        let (ns, from_host) = match (peer, host) {
            (Some(peer), host) => host.filter(|&host| host < peer).map_or((peer, false), |host| (host, true)),
            (None, Some(host)) => (host, true),
            // From a device to the host, and from there to the node.
            (None, None) => {
                let home = entry.holders().filter_map(|from| self.links.forecast_ns(from, Node::HOST, bytes));
                (home.fold(0.0, f64::max) + from(Node::HOST).unwrap_or(0.0), true)
            }
        };
        let missing_bytes = if self.segment_on(id, to).is_some() { 0 } else { bytes };
        Distance { ns, locality: u32::from(peer.is_some()), from_host, missing_bytes }
    }

    fn distance_from_host(&self, bytes: usize, to: Node) -> Distance {
        if to == Node::HOST {
            return Distance { locality: 2, ..Distance::default() };
        }
        let ns = self.links.forecast_ns(Node::HOST, to, bytes).unwrap_or(0.0);
        Distance { ns, locality: 0, from_host: true, missing_bytes: bytes }
    }
}
