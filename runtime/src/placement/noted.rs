//! What a recording says of a device's memory: how full it is, what made room, who waited for room.

#![forbid(unsafe_code)]

use super::{Site, issue::Issuing};
use crate::memory::Gauge;

/// What was recorded last.
#[derive(Default)]
pub(super) struct Noted {
    gauge: Gauge,
    /// Since when a task has waited for room, and for how many bytes.
    waiting: Option<(u64, u64)>,
}

impl Site<'_> {
    /// Records what has changed in the device's memory since the last call.
    pub(super) fn note_memory(&self, issuing: &mut Issuing) {
        let Some(recorder) = &self.recorder else { return };
        let seat = self.other_seat(issuing.device);
        let Issuing { device, noted, .. } = issuing;
        let Some(now) = self.memory.lock().gauge(*device as u16) else { return };
        let (node, before) = (*device as u16 + 1, std::mem::replace(&mut noted.gauge, now));
        if now.evicted_bytes > before.evicted_bytes {
            recorder.eviction(seat, node, now.evicted_bytes - before.evicted_bytes);
        }
        if now.used_bytes != before.used_bytes {
            recorder.memory_in_use(seat, node, now.used_bytes);
        }
        match noted.waiting {
            None if now.wanted_bytes > 0 => noted.waiting = Some((recorder.now_ns(), now.wanted_bytes)),
            Some((since_ns, bytes)) if now.wanted_bytes == 0 => {
                recorder.allocation(seat, node, bytes, since_ns);
                noted.waiting = None;
            }
            _ => {}
        }
    }
}
