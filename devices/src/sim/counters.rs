//! What a device has done so far.

/// Completed copies of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The number of copies.
    pub copies: u64,
    /// The bytes that they moved.
    pub bytes: u64,
    /// How long the link was busy.
    pub busy_ns: u64,
}

impl Traffic {
    pub(super) fn add(&mut self, bytes: usize, busy_ns: u64) {
        self.copies += 1;
        self.bytes += bytes as u64;
        self.busy_ns += busy_ns;
    }
}

/// What a device has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Tasks that were put into queues.
    pub issued: u64,
    /// Copies that were put into queues.
    pub copies_issued: u64,
    /// Calls of `issue` and `copy` that were refused.
    pub refused: u64,
    /// Tasks and copies that have ended, with or without an error.
    pub ended: u64,
    /// The part of [`ended`](Self::ended) that ended in an error.
    pub failed: u64,
    /// Events that tasks and copies were given to wait for.
    pub events: u64,
    /// Kernels that have run without an error.
    pub kernels: u64,
    /// How long the arithmetic unit was busy.
    pub kernels_busy_ns: u64,
    /// Copies from host memory.
    pub copies_in: Traffic,
    /// Copies to host memory.
    pub copies_out: Traffic,
    /// Copies from each peer, by the peer's device index.
    pub copies_peer: Vec<(u16, Traffic)>,
    /// The largest number of tasks and copies in queues at the same time.
    pub in_flight_peak: u64,
    /// The end of the highest range of the heap that a kernel or a copy has used.
    pub heap_peak_bytes: u64,
}

impl Counters {
    /// Returns the number of tasks and copies that were put into queues and have not ended.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.issued + self.copies_issued - self.ended
    }

    pub(super) fn peer(&mut self, device: u16) -> &mut Traffic {
        let at = self.copies_peer.iter().position(|&(peer, _)| peer == device).unwrap_or_else(|| {
            self.copies_peer.push((device, Traffic::default()));
            self.copies_peer.len() - 1
        });
        &mut self.copies_peer[at].1
    }
}
