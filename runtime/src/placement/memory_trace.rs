//! Records the use of a device's memory: the bytes in use, evictions, and waits for memory.

#![forbid(unsafe_code)]

use super::{PlacementContext, issue::Issuing};
use crate::memory::Gauge;

/// The values recorded last.
#[derive(Default)]
pub(super) struct MemoryTrace {
    gauge: Gauge,
    /// Since when a task has waited for memory, and the number of bytes.
    waiting: Option<(u64, u64)>,
}

impl PlacementContext<'_> {
    /// Records the changes of the device's memory since the last call.
    pub(super) fn note_memory(&self, issuing: &mut Issuing) {
        let Some(recorder) = &self.recorder else { return };
        let seat = self.other_seat(issuing.device);
        let Issuing { device, memory_trace, .. } = issuing;
        let Some(now) = self.memory.lock().gauge(*device as u16) else { return };
        let (node, before) = (*device as u16 + 1, std::mem::replace(&mut memory_trace.gauge, now));
        if now.evicted_bytes > before.evicted_bytes {
            recorder.eviction(seat, node, now.evicted_bytes - before.evicted_bytes);
        }
        if now.used_bytes != before.used_bytes {
            recorder.memory_in_use(seat, node, now.used_bytes);
        }
        match memory_trace.waiting {
            None if now.wanted_bytes > 0 => memory_trace.waiting = Some((recorder.now_ns(), now.wanted_bytes)),
            Some((since_ns, bytes)) if now.wanted_bytes == 0 => {
                recorder.allocation(seat, node, bytes, since_ns);
                memory_trace.waiting = None;
            }
            _ => {}
        }
    }
}
