//! What `tracing` spans of the host left, to be shown beside a recording.

use std::time::Instant;

/// Spans and instants of host threads, ready to be written [beside a recording](super::ChromeTrace::host_spans).
#[derive(Debug, Clone)]
pub struct HostCapture {
    /// The instant that the times of the events count from.
    pub started: Instant,
    /// The names of the threads.
    pub threads: Vec<String>,
    /// By thread, then by start; the outer one first.
    pub events: Vec<HostEvent>,
    /// How many entries, exits and instants came after the capture was full.
    pub dropped: u64,
}

/// A span or an instant on one thread of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostEvent {
    /// Its name.
    pub name: String,
    /// The module that it is from: the category in a trace.
    pub target: String,
    /// Index into [`HostCapture::threads`].
    pub thread: usize,
    /// Start, in nanoseconds since [`HostCapture::started`].
    pub start_ns: u64,
    /// How long it took; `None` for an instant.
    pub duration_ns: Option<u64>,
    /// Its fields: a JSON object, written as it is.
    pub arguments: String,
}
