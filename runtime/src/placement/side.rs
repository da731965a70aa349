//! What a slot keeps of a task that devices can take.

use super::table::{DEVICES_MAX, Takers};
use crate::{
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

/// What a slot keeps of a task that devices can take. Made when the slot has its first task, and kept by [`Sides`]. What policies and issuers ask of every
/// task is in the first two lines of the cache.
#[derive(Default)]
#[repr(C, align(64))]
pub(crate) struct DeviceSide {
    /// Where the task was issued to: read by the issuers of its successors.
    pub(super) event: AtomicU64,
    /// Who can take the task; nobody, if it was not offered.
    pub(super) takers: AtomicU32,
    /// Copies whose end a host task waits for.
    pub(super) fetching: AtomicU32,
    /// Devices that can not take it after all, a bit each: an operand stays on the host, it does not fit, or the device is gone.
    pub(super) barred: AtomicU64,
    /// What is called, and what it costs. Written at insertion.
    pub(super) call: UnsafeCell<(&'static str, Cost)>,
    /// Whom it waits for. Written at insertion, read by the one who takes the task.
    pub(super) predecessors: UnsafeCell<Vec<TaskRef>>,
    /// When it was issued, for the recording; once it is placed there, its start.
    pub(super) started_ns: AtomicU64,
    /// When it was put into a queue, by the clock of the weights.
    pub(super) issued_ns: AtomicU64,
    /// How long a device was at it, if it was and its driver knows; for the recording. Once it is placed there, its length.
    pub(super) busy_ns: AtomicU64,
    /// When the last of its predecessors has ended, for the recording.
    pub(super) not_before_ns: AtomicU64,
    has_failed: AtomicBool,
    /// Its place in the recording is known, as its driver has said when it ended.
    pub(super) is_placed: AtomicBool,
    failure: Mutex<Option<DeviceError>>,
}

// SAFETY: `predecessors` and `call` have one owner at a time, like the slot's `exec`; the rest is atomic.
unsafe impl Sync for DeviceSide {}

impl DeviceSide {
    /// What is called, and what it costs. Asked by whoever has the task, or is the policy's while that has it.
    pub(crate) fn call(&self) -> (&'static str, Cost) {
        // SAFETY: written before the task was pushed.
        unsafe { *self.call.get() }
    }

    /// A predecessor has ended then.
    pub(crate) fn not_before(&self, ended_ns: u64) {
        self.not_before_ns.fetch_max(ended_ns, Ordering::Relaxed);
    }

    /// When it can have begun, for the recording: once it was issued, and its predecessors had ended.
    pub(super) fn since_ns(&self) -> u64 {
        self.started_ns.load(Ordering::Relaxed).max(self.not_before_ns.load(Ordering::Relaxed))
    }

    pub(super) fn takers(&self) -> Takers {
        Takers(self.takers.load(Ordering::Relaxed))
    }

    /// Whether the task turned out not to be for this device.
    pub(crate) fn is_barred_from(&self, device: usize) -> bool {
        self.barred.load(Ordering::Relaxed) >> device & 1 != 0
    }

    /// Whether there is a device that the task turned out not to be for.
    pub(super) fn is_barred_from_any(&self) -> bool {
        self.barred.load(Ordering::Relaxed) != 0
    }

    /// Says why the task can not be done.
    pub(super) fn fail(&self, error: DeviceError) {
        *held(self.failure.lock()) = Some(error);
        self.has_failed.store(true, Ordering::Release);
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Acquire)
    }

    /// Why the task can not be done, if somebody said so.
    pub(crate) fn take_failure(&self) -> Option<DeviceError> {
        if !self.has_failed() {
            return None;
        }
        self.has_failed.store(false, Ordering::Relaxed);
        held(self.failure.lock()).take()
    }
}

/// The sides of all slots: made when first needed, and kept until the runtime ends.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "sides are referred to by address")]
pub(super) struct Sides(Mutex<Vec<Box<DeviceSide>>>);

impl Sides {
    /// The side of a slot whose task is being inserted.
    pub(super) fn made<'a>(&self, slot: &'a Slot) -> &'a DeviceSide {
        slot.made_device_side().unwrap_or_else(|| self.make(slot))
    }

    #[cold]
    fn make<'a>(&self, slot: &'a Slot) -> &'a DeviceSide {
        let mut sides = held(self.0.lock());
        let at = sides.len();
        sides.push(Box::default());
        // The inserter alone has the slot.
        slot.placement_data.store(NonNull::from(&*sides[at]).as_ptr().cast(), Ordering::Release);
        slot.device_side()
    }
}

impl Slot {
    /// What devices need of the task, in a runtime that has them. Each task gets it when it is inserted, before it is sealed.
    #[inline]
    pub(super) fn device_side(&self) -> &DeviceSide {
        self.made_device_side().unwrap_or_else(|| unreachable!("made when the slot was first used"))
    }

    /// The same, if it was made.
    #[inline]
    pub(super) fn made_device_side(&self) -> Option<&DeviceSide> {
        // SAFETY: null, or what `Sides::make` put there, which is freed when the runtime ends.
        unsafe { self.placement_data.load(Ordering::Acquire).cast::<DeviceSide>().as_ref() }
    }
}

const QUEUE_BITS: u32 = 10;
const TICKET_BITS: u32 = 48;

/// Devices have at most so many queues, those for copies among them.
pub(super) const QUEUES_MAX: usize = 1 << QUEUE_BITS;

// With the index of a device they fill a word.
const _: () = assert!(DEVICES_MAX <= 1 << (u64::BITS - QUEUE_BITS - TICKET_BITS));

/// An event in one word, which is not zero: tickets are counted from one. A queue that is given a million tasks a second has
/// tickets for nine years.
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
    fn events_of_the_last_device_queue_and_ticket_fit_a_word() {
        for (device, queue, ticket) in [(0, 0, 1), (62, 1023, (1 << 48) - 1), (62, 0, 1 << 32), (0, 1023, 1)] {
            let event = Event { device, queue, ticket };
            assert_eq!(unpack(pack(event)), event);
        }
    }
}
