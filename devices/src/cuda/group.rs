//! [`Group`]: devices that were opened together, so that each finds the others' events.
//!
//! A failed task or copy fails those that wait for it. What will fail is mostly known when others are issued behind it: then they put nothing
//! in but an empty place that fails, too, behind all else that they wait for. A result that is judged only at the end fails those that
//! were issued meanwhile when they end.
//!
//! Nothing ends a wait in a stream but its event. What that is worth when its device is lost, CUDA does not say: the driver may release
//! it, or not. If it does, the work ends and is reported as failed, since what it waited for was never done. If it does not within
//! [`GRACE`], nobody can use that stream any more, and so its device is lost, too.

use super::{
    board::Board,
    line::{Line, Look, Stage},
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

/// For how long a device's queue may wait for a device that is lost.
pub const GRACE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Group {
    members: Vec<Arc<Board>>,
    /// Something has failed, so it must be asked what.
    has_failures: AtomicBool,
}

/// What the work that is being put in must wait for.
pub(super) enum Waits {
    /// It is in the stream, if there is anything.
    Ready { is_any: bool },
    /// Something that it waits for fails.
    Refused(DeviceError),
}

impl Group {
    pub(super) fn new(members: Vec<Arc<Board>>) -> Self {
        Self { members, has_failures: AtomicBool::new(false) }
    }

    pub(super) fn members(&self) -> &[Arc<Board>] {
        &self.members
    }

    /// The device with this index. Indices follow each other.
    #[inline]
    pub(super) fn member(&self, index: u16) -> Option<&Board> {
        let first = self.members.first()?.index;
        self.members.get(usize::from(index.checked_sub(first)?)).map(|member| &**member)
    }

    /// Takes note that something has failed.
    pub(super) fn note_failure(&self) {
        self.has_failures.store(true, Ordering::SeqCst);
    }

    /// Fails if an event is of a device that is not in the group, or of a queue that it has not.
    #[inline]
    pub(super) fn check(&self, waits: &[Event]) -> Result<(), DeviceError> {
        let is_known = |event: &Event| {
            self.member(event.device).is_some_and(|member| usize::from(event.queue) < member.lines.len())
        };
        match waits.iter().find(|event| !is_known(event)) {
            None => Ok(()),
            Some(Event { device, queue, .. }) => {
                Err(DeviceError::new(format!("it can not wait for events of queue {queue} of device {device}")))
            }
        }
    }

    /// What there is to wait for before an event comes.
    pub(super) fn look(&self, event: Event) -> Look {
        let Some(member) = self.member(event.device) else { return Look::Over };
        let Some(line) = member.lines.get(usize::from(event.queue)) else { return Look::Over };
        match line.look(event.ticket) {
            Look::Event(..) | Look::Held if member.is_lost() => Look::Failed,
            look => look,
        }
    }

    /// Waits on the host until everything that is waited for has an event: until copiers have put the last piece of what they have into its stream.
    pub(super) fn await_events(&self, waits: &[Event]) {
        for &event in waits.iter().filter(|event| self.is_with_copier(event)) {
            while self.look(event) == Look::Held {
                if let Some(member) = self.member(event.device) {
                    // The time-out is for a device that is lost meanwhile.
                    member.lines[usize::from(event.queue)].wait_for_copier(event.ticket, Duration::from_millis(50));
                }
            }
        }
    }

    /// Whether copiers have part in something that is waited for.
    pub(super) fn is_with_copiers(&self, waits: &[Event]) -> bool {
        let is_with = |event: &Event| matches!(self.look(*event), Look::Held | Look::Event(_, Stage::Landing));
        waits.iter().filter(|event| self.is_with_copier(event)).any(is_with)
    }

    /// Whether an event is of a queue that a copier has work of.
    fn is_with_copier(&self, event: &Event) -> bool {
        let line = self.member(event.device).and_then(|member| member.lines.get(usize::from(event.queue)));
        line.is_some_and(Line::is_with_copier)
    }

    /// Makes a stream of `own` (device, queue) wait for the events.
    pub(super) fn condition(&self, stream: CUstream, own: (u16, u16), waits: &[Event]) -> Result<Waits, DeviceError> {
        let (mut refused, mut is_any) = (None, false);
        for &event in waits {
            if (event.device, event.queue) == own && !self.has_failures() {
                // The stream is in order by itself.
                continue;
            }
            match self.look(event) {
                Look::Over => {}
                Look::Failed | Look::Held => refused = Some(event),
                Look::Event(..) if (event.device, event.queue) == own => {}
                Look::Event(raw, _) => {
                    if is_implied(event, waits, |other| self.waits_for(other, event)) {
                        continue;
                    }
                    match wait_for(stream, raw) {
                        Ok(()) => is_any = true,
                        // The answer may be about the event's device.
                        Err(_) if event.device != own.0 => refused = Some(event),
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        Ok(refused.map_or(Waits::Ready { is_any }, |event| Waits::Refused(self.failure_behind(event))))
    }

    /// Whether something in flight waits for an event itself, or for a later one of its queue.
    fn waits_for(&self, waiting: Event, event: Event) -> bool {
        let line = self.member(waiting.device).and_then(|member| member.lines.get(usize::from(waiting.queue)));
        line.is_some_and(|line| line.awaits(waiting.ticket, |awaited| awaited == event || comes_after(awaited, event)))
    }

    /// What is said of work that waits for something that fails.
    pub(super) fn failure_behind(&self, event: Event) -> DeviceError {
        let Event { device, queue, ticket } = event;
        let name = self.member(device).map_or("another device", Board::name);
        DeviceError::new(format!(
            "it did not run, as what it waited for failed: ticket {ticket} of queue {queue} of {name}"
        ))
    }

    /// What has failed of that which work waited for that has ended.
    pub(super) fn failed_among(&self, waits: impl IntoIterator<Item = Event>) -> Option<Event> {
        waits.into_iter().find(|&event| self.look(event) == Look::Failed)
    }

    /// Whether it is worth asking.
    #[inline]
    pub(super) fn has_failures(&self) -> bool {
        self.has_failures.load(Ordering::SeqCst)
    }

    /// Gives a device up that has waited for a lost one for too long.
    pub(super) fn give_up_if_stuck(&self, own: &Board, line: usize) -> Option<DeviceError> {
        if !self.has_failures() || own.is_lost() {
            return None;
        }
        let is_lost = |event: Event| event.device != own.index && self.member(event.device).is_some_and(Board::is_lost);
        if !own.lines[line].waits_for(is_lost) || own.stuck_since().elapsed() < GRACE {
            return None;
        }
        own.context.leave();
        let names: Vec<&str> =
            self.members.iter().filter(|member| member.is_lost()).map(|member| member.name()).collect();
        Some(own.noted(DeviceError::lost(format!("its queue {line} waits for what is lost: {}", names.join(", ")))))
    }

    /// Waits on the host until all events have come, host memory included. Returns what failed of them. Called by copiers, which have time.
    pub(super) fn await_ends(&self, own: &Board, waits: &[Event]) -> Option<DeviceError> {
        let mut failure = None;
        for &event in waits {
            let mut nap = Duration::from_micros(10);
            let begin = Instant::now();
            loop {
                match self.look(event) {
                    Look::Over => break,
                    Look::Failed => {
                        failure = Some(self.failure_behind(event));
                        break;
                    }
                    Look::Event(raw, Stage::Issued) => match is_over(raw) {
                        Ok(true) => break,
                        Ok(false) => {}
                        Err(_) => {
                            failure = Some(self.failure_behind(event));
                            break;
                        }
                    },
                    Look::Event(..) | Look::Held => {
                        let line = self.member(event.device).map(|member| &member.lines[usize::from(event.queue)]);
                        line.inspect(|line| line.wait_for_copier(event.ticket, Duration::from_millis(5)));
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

/// Whether an event is of the same queue as the other, and comes later.
fn comes_after(event: Event, other: Event) -> bool {
    (event.device, event.queue) == (other.device, other.queue) && event.ticket > other.ticket
}

/// Whether another of the events that are waited for comes after this one: in the same queue, or because its work waits for it, as
/// `waits_for` says. The copy of what a task has written is such; and each wait in a stream costs the host and the device time.
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
    fn what_others_wait_for_is_not_waited_for_again() {
        // A task of the second device reads what one of the first has written, and overwrites what that has copied from there.
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
        // What waits for a later one of a queue waits for the earlier ones, too; not the other way about.
        assert_eq!(left(&[copy, event(0, 1, 2)]), [copy]);
        assert_eq!(left(&[copy, event(0, 1, 6)]), [copy, event(0, 1, 6)]);
        // Nobody is implied by itself, or by what has nothing to do with it.
        assert_eq!(left(&[writer, writer]), [writer, writer]);
        assert_eq!(left(&[event(2, 0, 1), old_copy]), [event(2, 0, 1), old_copy]);
    }
}
