//! [`Group`]: devices that were opened together, so that each can look up the others' events.
//!
//! A failed task or copy fails the work that waits for it. Usually the failure is known when that work is issued; then
//! nothing is put into the stream but an empty entry that fails, too, behind everything else that it waits for. If a
//! failure is known only when a task's outcome is checked, work that was issued meanwhile fails at its own end.
//!
//! Only its event ends a wait in a stream. CUDA does not specify what happens to the wait when the event's device is
//! lost: the driver may release the stream or not. If it does, the work ends and is reported as failed, since what it
//! waited for was never done. If it does not within [`LOST_DEVICE_TIMEOUT`], the waiting device's stream is unusable,
//! and so this device is lost, too.

use super::{
    device_state::DeviceState,
    queue_state::{EventStatus, QueueState, Stage},
    stream::{is_over, wait_for},
};
use cudarc::driver::sys::CUstream;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use superscalar_runtime::{DeviceError, Event};

/// How long a device's queue may wait for a lost device before its own device is lost, too.
pub const LOST_DEVICE_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Group {
    members: Vec<Arc<DeviceState>>,
    /// Whether any work has failed. While it is false, no failures need to be looked up.
    has_failures: AtomicBool,
}

/// The result of making a stream wait for events.
pub(super) enum StreamWaits {
    /// The stream waits for them, if any are left.
    Ready { is_any: bool },
    /// An awaited event belongs to failed work.
    Refused(DeviceError),
}

impl Group {
    pub(super) fn new(members: Vec<Arc<DeviceState>>) -> Self {
        Self { members, has_failures: AtomicBool::new(false) }
    }

    pub(super) fn members(&self) -> &[Arc<DeviceState>] {
        &self.members
    }

    /// Returns the device with this index. The indices of a group are consecutive.
    #[inline]
    pub(super) fn member(&self, index: u16) -> Option<&DeviceState> {
        let first = self.members.first()?.index;
        self.members.get(usize::from(index.checked_sub(first)?)).map(|member| &**member)
    }

    /// Records that some work has failed.
    pub(super) fn note_failure(&self) {
        self.has_failures.store(true, Ordering::SeqCst);
    }

    /// Fails if an event belongs to a device that is not in the group, or to a queue that the device does not have.
    #[inline]
    pub(super) fn check(&self, waits: &[Event]) -> Result<(), DeviceError> {
        let is_known = |event: &Event| {
            self.member(event.device).is_some_and(|member| usize::from(event.queue) < member.queues.len())
        };
        match waits.iter().find(|event| !is_known(event)) {
            None => Ok(()),
            Some(Event { device, queue, .. }) => {
                Err(DeviceError::new(format!("it cannot wait for events of queue {queue} of device {device}")))
            }
        }
    }

    /// Returns the status of an event.
    pub(super) fn status(&self, event: Event) -> EventStatus {
        let Some(member) = self.member(event.device) else { return EventStatus::Over };
        let Some(queue) = member.queues.get(usize::from(event.queue)) else { return EventStatus::Over };
        match queue.status(event.ticket) {
            EventStatus::Event(..) | EventStatus::NoEvent if member.is_lost() => EventStatus::Failed,
            status => status,
        }
    }

    /// Waits on the host until all awaited work has an event, that is, until copiers have put the last piece of their
    /// copies into the streams.
    pub(super) fn await_events(&self, waits: &[Event]) {
        for &event in waits.iter().filter(|event| self.has_copier_work(event)) {
            while self.status(event) == EventStatus::NoEvent {
                if let Some(member) = self.member(event.device) {
                    // The time-out covers a device that is lost meanwhile.
                    member.queues[usize::from(event.queue)].wait_for_copier(event.ticket, Duration::from_millis(50));
                }
            }
        }
    }

    /// Returns whether copiers hold some of the awaited work.
    pub(super) fn any_at_copiers(&self, waits: &[Event]) -> bool {
        let is_with = |event: &Event| {
            matches!(self.status(*event), EventStatus::NoEvent | EventStatus::Event(_, Stage::WritingHost))
        };
        waits.iter().filter(|event| self.has_copier_work(event)).any(is_with)
    }

    /// Returns whether a copier holds work of the event's queue.
    fn has_copier_work(&self, event: &Event) -> bool {
        let queue = self.member(event.device).and_then(|member| member.queues.get(usize::from(event.queue)));
        queue.is_some_and(QueueState::has_copier_work)
    }

    /// Makes a stream of the queue `own` (device, queue) wait for the events.
    pub(super) fn add_waits(
        &self,
        stream: CUstream,
        own: (u16, u16),
        waits: &[Event],
    ) -> Result<StreamWaits, DeviceError> {
        let (mut refused, mut is_any) = (None, false);
        for &event in waits {
            if (event.device, event.queue) == own && !self.has_failures() {
                // The stream is in order anyway.
                continue;
            }
            match self.status(event) {
                EventStatus::Over => {}
                EventStatus::Failed | EventStatus::NoEvent => refused = Some(event),
                EventStatus::Event(..) if (event.device, event.queue) == own => {}
                EventStatus::Event(raw, _) => {
                    if is_implied(event, waits, |other| self.waits_for(other, event)) {
                        continue;
                    }
                    match wait_for(stream, raw) {
                        Ok(()) => is_any = true,
                        // The error may be that of the event's device.
                        Err(_) if event.device != own.0 => refused = Some(event),
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        Ok(refused.map_or(StreamWaits::Ready { is_any }, |event| StreamWaits::Refused(self.awaited_failure(event))))
    }

    /// Returns whether work in flight waits for an event or for a later one of the same queue.
    fn waits_for(&self, waiting: Event, event: Event) -> bool {
        let queue = self.member(waiting.device).and_then(|member| member.queues.get(usize::from(waiting.queue)));
        queue.is_some_and(|queue| {
            queue.work_waits_for(waiting.ticket, |awaited| awaited == event || comes_after(awaited, event))
        })
    }

    /// Returns the error of work that waits for failed work.
    pub(super) fn awaited_failure(&self, event: Event) -> DeviceError {
        let Event { device, queue, ticket } = event;
        let name = self.member(device).map_or("another device", DeviceState::name);
        DeviceError::new(format!("it did not run, because ticket {ticket} of queue {queue} of {name} failed"))
    }

    /// Returns the first of these events whose work has failed.
    pub(super) fn first_failed(&self, waits: impl IntoIterator<Item = Event>) -> Option<Event> {
        waits.into_iter().find(|&event| self.status(event) == EventStatus::Failed)
    }

    /// Returns whether any work has failed.
    #[inline]
    pub(super) fn has_failures(&self) -> bool {
        self.has_failures.load(Ordering::SeqCst)
    }

    /// Gives up a device that has waited for a lost one for longer than [`LOST_DEVICE_TIMEOUT`].
    pub(super) fn give_up_if_stuck(&self, own: &DeviceState, queue: usize) -> Option<DeviceError> {
        if !self.has_failures() || own.is_lost() {
            return None;
        }
        let is_lost =
            |event: Event| event.device != own.index && self.member(event.device).is_some_and(DeviceState::is_lost);
        if !own.queues[queue].any_waits_for(is_lost) || own.stuck_since().elapsed() < LOST_DEVICE_TIMEOUT {
            return None;
        }
        own.context.abandon();
        let names: Vec<&str> =
            self.members.iter().filter(|member| member.is_lost()).map(|member| member.name()).collect();
        Some(
            own.device_error(DeviceError::lost(format!(
                "its queue {queue} waits for lost devices: {}",
                names.join(", ")
            ))),
        )
    }

    /// Waits on the host until all events are reached, including host memory. Returns the error of those that failed.
    /// Called by copiers only.
    pub(super) fn await_ends(&self, own: &DeviceState, waits: &[Event]) -> Option<DeviceError> {
        let mut failure = None;
        for &event in waits {
            let mut nap = Duration::from_micros(10);
            let begin = Instant::now();
            loop {
                match self.status(event) {
                    EventStatus::Over => break,
                    EventStatus::Failed => {
                        failure = Some(self.awaited_failure(event));
                        break;
                    }
                    EventStatus::Event(raw, Stage::Issued) => match is_over(raw) {
                        Ok(true) => break,
                        Ok(false) => {}
                        Err(_) => {
                            failure = Some(self.awaited_failure(event));
                            break;
                        }
                    },
                    EventStatus::Event(..) | EventStatus::NoEvent => {
                        let queue = self.member(event.device).map(|member| &member.queues[usize::from(event.queue)]);
                        queue.inspect(|queue| queue.wait_for_copier(event.ticket, Duration::from_millis(5)));
                        continue;
                    }
                }
                if let Some(loss) = own.loss() {
                    return Some(loss.clone());
                }
                if begin.elapsed() > Duration::from_micros(20) {
                    thread::sleep(nap);
                    nap = (nap * 2).min(Duration::from_micros(200));
                }
            }
        }
        failure
    }
}

/// Returns whether an event is a later one of the same queue as the other.
fn comes_after(event: Event, other: Event) -> bool {
    (event.device, event.queue) == (other.device, other.queue) && event.ticket > other.ticket
}

/// Returns whether another awaited event implies this one: it is a later one of the same queue, or its work waits for
/// this event (`waits_for`), as the copy of a task's result does. Each wait in a stream costs the host and the device
/// time.
fn is_implied(event: Event, waits: &[Event], waits_for: impl Fn(Event) -> bool) -> bool {
    waits.iter().any(|&other| other != event && (comes_after(other, event) || waits_for(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn event(device: u16, queue: u16, ticket: u64) -> Event {
        Event { device, queue, ticket }
    }

    #[test]
    fn implied_waits_are_omitted() {
        // A task of the second device reads the output of one of the first and overwrites a value that the first has
        // copied.
        let (writer, old_copy, copy) = (event(0, 1, 5), event(0, 4, 7), event(1, 4, 3));
        let works = [(copy, vec![writer]), (writer, vec![old_copy, event(0, 1, 4)]), (old_copy, vec![])];
        let waits_for = |other: Event, event: Event| {
            works
                .iter()
                .any(|(of, waits)| *of == other && waits.iter().any(|&it| it == event || comes_after(it, event)))
        };
        let left = |waits: &[Event]| -> Vec<Event> {
            let needed = |event: &Event| !is_implied(*event, waits, |other| waits_for(other, *event));
            waits.iter().copied().filter(needed).collect()
        };
        assert_eq!(left(&[writer, old_copy, copy]), [copy]);
        assert_eq!(left(&[old_copy, writer]), [writer]);
        // Work that waits for a later event of a queue waits for the earlier ones, too, but not the reverse.
        assert_eq!(left(&[copy, event(0, 1, 2)]), [copy]);
        assert_eq!(left(&[copy, event(0, 1, 6)]), [copy, event(0, 1, 6)]);
        // An event is not implied by itself or by unrelated ones.
        assert_eq!(left(&[writer, writer]), [writer, writer]);
        assert_eq!(left(&[event(2, 0, 1), old_copy]), [event(2, 0, 1), old_copy]);
    }
}
