//! The per-slot record of a task that devices can take.

use super::table::{DEVICES_MAX, Takers};
use crate::{
    datum::HomeCell,
    device::{Cost, DeviceError, Event},
    hazard::TaskRef,
    sync::held,
    task::Slot,
};
use std::{
    cell::UnsafeCell,
    ptr::NonNull,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
};

/// The record of a task that devices can take. It is created with the first task of a slot, and owned by
/// [`DeviceRecords`]. The fields that policies and issuers read for every task are in the first two cache lines.
#[derive(Default)]
#[repr(C, align(64))]
pub(crate) struct DeviceRecord {
    /// The event that the task was issued as: read by the issuers of its successors.
    pub(super) event: AtomicU64,
    /// The kinds of worker that can take the task; empty if it was not offered.
    pub(super) takers: AtomicU32,
    /// Number of copies that a host task waits for.
    pub(super) fetching: AtomicU32,
    /// Devices that cannot take the task after all, one bit each: an operand stays on the host, the task does not fit,
    /// or the device is lost.
    pub(super) barred: AtomicU64,
    /// The kernel's name and cost. Written at insertion.
    pub(super) call: UnsafeCell<(&'static str, Cost)>,
    /// The resource that the task was dealt to. Written at insertion.
    pub(super) home: HomeCell,
    /// The task's predecessors. Written at insertion, read by the thread that takes the task.
    pub(super) predecessors: UnsafeCell<Vec<TaskRef>>,
    /// When it was issued, for the recording. Once `is_span_fixed`, the start of its span.
    pub(super) started_ns: AtomicU64,
    /// When it was put into a queue, by the clock of the weights.
    pub(super) issued_ns: AtomicU64,
    /// How long a device worked on it, if the driver knows, for the recording. Once `is_span_fixed`, the length of its
    /// span.
    pub(super) busy_ns: AtomicU64,
    /// When the last of its predecessors ended, for the recording.
    pub(super) not_before_ns: AtomicU64,
    has_failed: AtomicBool,
    /// Whether its span in the recording is known, because the driver reported when it ended.
    pub(super) is_span_fixed: AtomicBool,
    failure: Mutex<Option<DeviceError>>,
}

// SAFETY: `predecessors` and `call` are accessed by one owner at a time: the inserter until the task is pushed, then
// readers only; the push to the policy orders the two. All other fields are atomic or locked.
unsafe impl Sync for DeviceRecord {}

impl DeviceRecord {
    /// Returns the kernel's name and cost. Called by the thread that has taken the task, or by the policy that holds
    /// it.
    pub(crate) fn call(&self) -> (&'static str, Cost) {
        // SAFETY: the inserter wrote it before it pushed the task, and nobody writes it while the task exists. The
        // policy's synchronization orders the write before this read.
        unsafe { *self.call.get() }
    }

    /// Records that a predecessor has ended at this time.
    pub(crate) fn not_before(&self, ended_ns: u64) {
        self.not_before_ns.fetch_max(ended_ns, Ordering::Relaxed);
    }

    /// Returns the earliest time at which it can have begun, for the recording: it was issued, and its predecessors had
    /// ended.
    pub(super) fn since_ns(&self) -> u64 {
        self.started_ns.load(Ordering::Relaxed).max(self.not_before_ns.load(Ordering::Relaxed))
    }

    pub(super) fn takers(&self) -> Takers {
        Takers(self.takers.load(Ordering::Relaxed))
    }

    /// Returns whether the device has been found unable to take the task.
    pub(crate) fn is_barred_from(&self, device: usize) -> bool {
        self.barred.load(Ordering::Relaxed) >> device & 1 != 0
    }

    /// Returns whether any device has been found unable to take the task.
    pub(super) fn is_barred_from_any(&self) -> bool {
        self.barred.load(Ordering::Relaxed) != 0
    }

    /// Stores the error because of which the task fails.
    pub(super) fn fail(&self, error: DeviceError) {
        *held(self.failure.lock()) = Some(error);
        self.has_failed.store(true, Ordering::Release);
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Acquire)
    }

    /// Takes the error because of which the task fails, if there is one.
    pub(crate) fn take_failure(&self) -> Option<DeviceError> {
        if !self.has_failed() {
            return None;
        }
        self.has_failed.store(false, Ordering::Relaxed);
        held(self.failure.lock()).take()
    }
}

/// Owns the device records of all slots. They are created when first needed, and live until the runtime ends.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "sides are referred to by address")]
pub(super) struct DeviceRecords(Mutex<Vec<Box<DeviceRecord>>>);

impl DeviceRecords {
    /// Returns the record of a slot whose task is being inserted, and creates it if needed.
    pub(super) fn get_or_make<'a>(&self, slot: &'a Slot) -> &'a DeviceRecord {
        slot.try_device_record().unwrap_or_else(|| self.make(slot))
    }

    #[cold]
    fn make<'a>(&self, slot: &'a Slot) -> &'a DeviceRecord {
        let mut records = held(self.0.lock());
        let at = records.len();
        records.push(Box::default());
        // The inserter is the only thread that uses the slot.
        slot.placement_data.store(NonNull::from(&*records[at]).as_ptr().cast(), Ordering::Release);
        slot.device_record()
    }
}

impl Slot {
    /// Returns the device record. In a runtime with devices, every task has one from before it is sealed.
    #[inline]
    pub(super) fn device_record(&self) -> &DeviceRecord {
        self.try_device_record().unwrap_or_else(|| unreachable!("created when the slot was first used"))
    }

    /// Returns the device record, if it was created.
    #[inline]
    pub(super) fn try_device_record(&self) -> Option<&DeviceRecord> {
        // SAFETY: the pointer is null, or was stored by `DeviceRecords::make` with release ordering and points to a
        // record that `DeviceRecords` owns until the runtime ends. Only shared references to records exist.
        unsafe { self.placement_data.load(Ordering::Acquire).cast::<DeviceRecord>().as_ref() }
    }
}

const QUEUE_BITS: u32 = 10;
const TICKET_BITS: u32 = 48;

/// The maximum number of queues of a device, including those for copies.
pub(super) const QUEUES_MAX: usize = 1 << QUEUE_BITS;

// Together with the index of a device, queue and ticket fill one word.
const _: () = assert!(DEVICES_MAX <= 1 << (u64::BITS - QUEUE_BITS - TICKET_BITS));

/// Packs an event into one word, which is not zero because tickets count from one. At a million tasks a second, a queue
/// has tickets for nine years.
pub(super) fn pack(event: Event) -> u64 {
    debug_assert!(event.ticket >> TICKET_BITS == 0 && usize::from(event.queue) < QUEUES_MAX, "{event:?}");
    u64::from(event.device) << (QUEUE_BITS + TICKET_BITS) | u64::from(event.queue) << TICKET_BITS | event.ticket
}

pub(super) fn unpack(word: u64) -> Event {
    let (device, queue) = (word >> (QUEUE_BITS + TICKET_BITS), word >> TICKET_BITS & (QUEUES_MAX as u64 - 1));
    Event { device: device as u16, queue: queue as u16, ticket: word & ((1 << TICKET_BITS) - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_events_fit_a_word() {
        for (device, queue, ticket) in [(0, 0, 1), (62, 1023, (1 << 48) - 1), (62, 0, 1 << 32), (0, 1023, 1)] {
            let event = Event { device, queue, ticket };
            assert_eq!(unpack(pack(event)), event);
        }
    }
}
