//! Transfers between memory nodes, and evictions from them.

use super::{
    intervals::{self, Interval},
    table::{TextTable, bytes, ms},
};
use crate::{Activity, ActivityKind, Trace};
use serde::Serialize;
use std::{cmp::Reverse, collections::BTreeMap, fmt};

/// The transfers and evictions of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Links {
    /// One row for each pair of memory nodes between which data moved, in descending order of bytes.
    pub rows: Vec<LinkTraffic>,
    /// One row for each memory node that evicted replicas, in descending order of bytes.
    pub evictions: Vec<Evictions>,
}

/// The transfers from one memory node to another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkTraffic {
    /// The source node; empty if the trace does not name it.
    pub from: String,
    /// The destination node, or the name of the transfer if the trace does not name the nodes.
    pub to: String,
    /// The number of transfers.
    pub transfers: usize,
    /// Bytes moved.
    pub bytes: u64,
    /// The time during which at least one was in progress.
    pub time_ns: u64,
    /// Bytes per nanosecond of that time, which is GB/s; zero if they took none.
    pub rate_gb_s: f64,
}

/// The replicas that one memory node evicted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evictions {
    /// The node.
    pub node: String,
    /// The number of evictions.
    pub evictions: usize,
    /// Bytes freed.
    pub bytes: u64,
    /// The time during which at least one was in progress.
    pub time_ns: u64,
}

/// Totals of the activities between the same nodes.
#[derive(Default)]
struct ActivityTotals {
    count: usize,
    bytes: u64,
    times: Vec<Interval>,
}

impl ActivityTotals {
    /// Adds an activity. Activities must be added in the order of their starts.
    fn add(&mut self, activity: &Activity) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(activity.bytes);
        intervals::unite(&mut self.times, (activity.start_ns, activity.end_ns));
    }

    fn time_ns(&self) -> u64 {
        intervals::length_ns(&self.times)
    }
}

impl Links {
    pub(super) fn new(trace: &Trace) -> Self {
        let name = |name: u32| trace.names.get(name as usize).cloned().unwrap_or_default();
        let (mut links, mut nodes) = (BTreeMap::<_, ActivityTotals>::new(), BTreeMap::<_, ActivityTotals>::new());
        for activity in &trace.activities {
            match activity.kind {
                ActivityKind::Transfer => {
                    let ends = activity.link.map_or((None, activity.name), |(from, to)| (Some(from), to));
                    links.entry(ends).or_default().add(activity);
                }
                ActivityKind::Eviction => nodes.entry(activity.name).or_default().add(activity),
                _ => {}
            }
        }
        let link = |((from, to), traffic): ((Option<u32>, u32), ActivityTotals)| {
            let time_ns = traffic.time_ns();
            LinkTraffic {
                from: from.map_or(String::new(), name),
                to: name(to),
                transfers: traffic.count,
                bytes: traffic.bytes,
                time_ns,
                rate_gb_s: super::ratio(traffic.bytes as f64, time_ns as f64),
            }
        };
        let evictions = |(node, traffic): (u32, ActivityTotals)| {
            let time_ns = traffic.time_ns();
            Evictions { node: name(node), evictions: traffic.count, bytes: traffic.bytes, time_ns }
        };
        let mut links: Vec<LinkTraffic> = links.into_iter().map(link).collect();
        let mut nodes: Vec<Evictions> = nodes.into_iter().map(evictions).collect();
        links.sort_by_key(|link| Reverse(link.bytes));
        nodes.sort_by_key(|node| Reverse(node.bytes));
        Self { rows: links, evictions: nodes }
    }

    /// Returns the bytes moved over all links.
    pub fn moved_bytes(&self) -> u64 {
        intervals::sum(self.rows.iter().map(|link| link.bytes))
    }
}

/// Writes a table of the links and the evictions, or one line if nothing was moved.
impl fmt::Display for Links {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.is_empty() && self.evictions.is_empty() {
            return writeln!(out, "Transfers between memory nodes: none");
        }
        let mut table =
            TextTable::titled("Transfers between memory nodes", &["from", "to<", "bytes", "transfers", "ms", "GB/s"]);
        for link in &self.rows {
            let moved = bytes(link.bytes as f64);
            let (count, rate) = (link.transfers.to_string(), format!("{:.3}", link.rate_gb_s));
            table.row([link.from.clone(), link.to.clone(), moved, count, ms(link.time_ns), rate]);
        }
        for node in &self.evictions {
            let (freed, count) = (bytes(node.bytes as f64), node.evictions.to_string());
            table.row([node.node.clone(), "evicted".to_owned(), freed, count, ms(node.time_ns), String::new()]);
        }
        table.fmt(out)
    }
}
