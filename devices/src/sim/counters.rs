//! What happened to a device so far.

/// Copies of one kind that were done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// How many.
    pub copies: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// How long the link was at it.
    pub busy_ns: u64,
}

impl Traffic {
    pub(super) fn add(&mut self, bytes: usize, busy_ns: u64) {
        self.copies += 1;
        self.bytes += bytes as u64;
        self.busy_ns += busy_ns;
    }
}

/// What happened to a device so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Tasks that were put into queues.
    pub issued: u64,
    /// Copies that were put into queues.
    pub copies_issued: u64,
    /// Calls of `issue` and `copy` that were refused.
    pub refused: u64,
    /// Tasks and copies that have ended, well or not.
    pub ended: u64,
    /// Of these, those that ended in an error.
    pub failed: u64,
    /// Events that tasks and copies were told to wait for.
    pub events: u64,
    /// Kernels that were run.
    pub kernels: u64,
    /// How long the arithmetic unit was at it.
    pub kernels_busy_ns: u64,
    /// Copies from host memory.
    pub copies_in: Traffic,
    /// Copies to host memory.
    pub copies_out: Traffic,
    /// Copies from each peer, by the peer's index in the builder's order.
    pub copies_peer: Vec<(u16, Traffic)>,
    /// Tasks and copies that stood in queues at the same time, at most.
    pub in_flight_peak: u64,
    /// How far into the heap a kernel or a copy has reached.
    pub heap_peak_bytes: u64,
}

impl Counters {
    /// Tasks and copies that were put into queues and have not ended.
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
