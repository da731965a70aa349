//! Captured `tracing` spans of the host, to be shown beside a recording.

use std::time::Instant;

/// Spans and instants of host threads, ready to be written [beside a recording](super::ChromeTrace::host_spans).
#[derive(Debug, Clone)]
pub struct HostCapture {
    /// The origin of the events' times.
    pub started: Instant,
    /// The names of the threads.
    pub threads: Vec<String>,
    /// Sorted by thread, then by start; an outer span precedes the spans within it.
    pub events: Vec<HostEvent>,
    /// The number of span entries, exits and instants after the capture was full.
    pub dropped: u64,
}

/// A span or an instant on a host thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostEvent {
    /// Its name.
    pub name: String,
    /// The module that created it: the category in a trace.
    pub target: String,
    /// Index into [`HostCapture::threads`].
    pub thread: usize,
    /// Start, in nanoseconds since [`HostCapture::started`].
    pub start_ns: u64,
    /// Its duration; `None` for an instant.
    pub duration_ns: Option<u64>,
    /// Its fields: a JSON object, written unchanged.
    pub arguments: String,
}
