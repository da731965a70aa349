//! The end of work in a device's queues: tasks and copies that have finished, and tasks that are settled by it. The protocol is in
//! `placement/mod.rs`.

use super::{
    Site,
    issue::Issuing,
    side::{DeviceSide, unpack},
};
use crate::{
    device::{DeviceError, Event, Finished},
    error::Cause,
    memory::Landed,
    recorder::{DeviceQueue, Recorder},
    recording::{Outcome, TaskId},
    seat::Seat,
    shared::Completed,
    task::{Exec, Release, TaskResult},
};
use smallvec::SmallVec;
use std::sync::atomic::Ordering;

/// What a device has reported, sorted; kept for its room.
#[derive(Default)]
pub(super) struct Ends {
    all: Vec<Reported>,
    /// Each with its slot.
    tasks: Vec<(u32, Reported)>,
    copies: Vec<(Event, Times, Landed)>,
}

pub(super) struct Reported {
    pub(super) one: Finished,
    /// When it ended, by the recording's clock; none if that is not known or nothing is recorded.
    ended_ns: Option<u64>,
}

/// What is known of when a device was at something.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) busy_ns: Option<u64>,
    /// By the recording's clock.
    pub(super) ended_ns: Option<u64>,
}

impl Reported {
    fn times(&self) -> Times {
        Times { busy_ns: self.one.busy_ns, ended_ns: self.ended_ns }
    }
}

/// What the driver does not know the end of has ended before what is behind it in its queue has begun.
fn bound_unknown_ends(all: &mut [Reported]) {
    let mut begun: SmallVec<[(u16, u64); 8]> = SmallVec::new();
    for Reported { one, ended_ns } in all.iter_mut().rev() {
        let behind = begun.iter_mut().find(|(queue, _)| *queue == one.queue);
        *ended_ns = ended_ns.or(behind.as_ref().map(|(_, begun_ns)| *begun_ns));
        let begun_ns = ended_ns.map(|ended_ns| ended_ns.saturating_sub(one.busy_ns.unwrap_or(0)));
        match (behind, begun_ns) {
            (Some(behind), Some(begun_ns)) => behind.1 = begun_ns,
            (None, Some(begun_ns)) => begun.push((one.queue, begun_ns)),
            (_, None) => {}
        }
    }
}

impl Site<'_> {
    /// Takes note of finished work; says whether there was any.
    pub(super) fn collect(&self, issuing: &mut Issuing) -> bool {
        let (device, seat) = (issuing.device, self.other_seat(issuing.device));
        let mut ends = std::mem::take(&mut issuing.ends);
        self.devices.all[device].device.poll(&mut |one| {
            let ended_ns = self.recorder.as_ref().and_then(|recorder| recorder.ago(one.ended_ago_ns?));
            ends.all.push(Reported { one, ended_ns });
        });
        let any = !ends.all.is_empty();
        if any {
            if self.recorder.is_some() {
                bound_unknown_ends(&mut ends.all);
            }
            if ends.all.iter().any(|Reported { one, .. }| one.result.as_ref().is_err_and(DeviceError::is_lost)) {
                self.lose(device);
            }
            self.end_in_directory(issuing, &mut ends);
            for (event, times, landed) in ends.copies.drain(..) {
                self.landed(seat, event, times, landed);
            }
            self.note_ends(ends.tasks.iter().map(|(slot, _)| *slot));
            if !ends.tasks.is_empty() {
                self.weigh_device_tasks(device, &ends.tasks);
            }
            for (slot, reported) in ends.tasks.drain(..) {
                let (times, Finished { result, queue, .. }) = (reported.times(), reported.one);
                self.place(slot, DeviceQueue { device: device as u16, queue }, times);
                self.give_back_hold(seat, slot, result.err());
            }
            // Others may wait for room, or for an event that they can not wait for in a queue.
            self.devices.notify_waiting();
        }
        issuing.ends = ends;
        any
    }

    /// Tells the directory what has finished, well or not, and ends what it held: all at once. An outcome is a value like another.
    fn end_in_directory(&self, issuing: &mut Issuing, ends: &mut Ends) {
        let device = issuing.device as u16;
        let mut directory = self.devices.any_memory().then(|| self.memory.lock());
        for reported in ends.all.drain(..) {
            let (times, one) = (reported.times(), &reported.one);
            let event = Event { device, queue: one.queue, ticket: one.ticket };
            let at = issuing.in_flight.iter().position(|work| work.queue == one.queue && work.ticket == one.ticket);
            let work = at.and_then(|at| issuing.in_flight.remove(at));
            if work.is_some() {
                issuing.queues.ended(one.queue, one.ticket);
            }
            match (work, &mut directory) {
                (Some(work), Some(directory)) => {
                    directory.done(event);
                    if one.result.as_ref().is_err_and(|error| !error.is_outcome()) {
                        directory.failed(work.held.demand(issuing.device), event);
                    }
                    work.held.release(directory, device);
                    ends.tasks.push((work.slot, reported));
                }
                (Some(work), None) => ends.tasks.push((work.slot, reported)),
                (None, Some(directory)) => {
                    let landed = directory.landed(event, reported.one.result.map(|()| times.busy_ns));
                    ends.copies.extend(landed.map(|landed| (event, times, landed)));
                }
                (None, None) => {}
            }
        }
    }

    /// Takes note of when a device was at a task. If its end is known, this is the time to give it its place on the queue's lane: tasks of a
    /// queue are collected in its order, and may be recorded in another.
    fn place(&self, index: u32, queue: DeviceQueue, times: Times) {
        let side = self.slab.slot(index).device_side();
        let mut busy_ns = times.busy_ns.unwrap_or(0);
        if let (Some(recorder), Some(ended_ns)) = (&self.recorder, times.ended_ns) {
            let slice = recorder.slice(queue, side.started_ns.load(Ordering::Relaxed), times.busy_ns, ended_ns);
            busy_ns = slice.end_ns - slice.start_ns;
            side.started_ns.store(slice.start_ns, Ordering::Relaxed);
            side.is_placed.store(true, Ordering::Relaxed);
        }
        side.busy_ns.store(busy_ns, Ordering::Relaxed);
    }

    /// Records when a device was at a task, once its predecessors are recorded: completions are noticed in any order, but what a trace
    /// shows goes by the hazards. Where the clocks of two devices are not told apart well enough, the later task is what is shown shorter.
    /// Returns when it ended.
    fn record_device_span(
        &self,
        recorder: &Recorder,
        seat: &Seat,
        id: TaskId,
        side: &DeviceSide,
        outcome: Outcome,
    ) -> u64 {
        let Event { device, queue, .. } = unpack(side.event.load(Ordering::Relaxed));
        let queue = DeviceQueue { device, queue };
        let (since_ns, busy_ns) = (side.since_ns(), side.busy_ns.load(Ordering::Relaxed));
        let now_ns = recorder.moment(seat);
        let slice = if side.is_placed.load(Ordering::Relaxed) {
            recorder.placed(queue, since_ns, side.started_ns.load(Ordering::Relaxed) + busy_ns)
        } else {
            recorder.slice(queue, since_ns, Some(busy_ns).filter(|&busy_ns| busy_ns > 0), now_ns)
        };
        recorder.device_span(seat, id, slice, outcome);
        slice.end_ns
    }

    /// A task that an issuer has taken ends without having stood in a queue.
    pub(super) fn complete(&self, seat: &Seat, index: u32, error: Option<DeviceError>) {
        self.note_ends(std::iter::once(index));
        self.give_back_hold(seat, index, error);
    }

    /// The task's own completion: gives back its hold, and retires it if that was the last.
    fn give_back_hold(&self, seat: &Seat, index: u32, error: Option<DeviceError>) {
        let slot = self.slab.slot(index);
        if let Some(error) = error {
            slot.device_side().fail(error);
        }
        if slot.pending.release(Release::Done, false).runnable() {
            self.retire_all(seat, Completed::from_elem(index, 1));
        }
    }

    /// Settles tasks that a device has finished, and whose predecessors are all done; and those that this settles.
    pub(crate) fn retire_all(&self, seat: &Seat, mut completed: Completed) {
        while let Some(index) = completed.pop() {
            self.retire_issued(seat, index, &mut completed);
        }
    }

    fn retire_issued(&self, seat: &Seat, index: u32, completed: &mut Completed) {
        let slot = self.slab.slot(index);
        let side = slot.device_side();
        // SAFETY: the count has reached zero, and that told this thread alone; the issuer does not touch the task any more.
        let Exec { body, label, .. } = unsafe { slot.exec() };
        let (scope, id) = (slot.scope(), slot.id());
        let result = side.take_failure();
        let fail = |cause: Cause| self.failed(scope, id, label, cause);
        let verdict = match scope.cancelled() {
            Some(failure) => {
                body.discard(&failure);
                TaskResult::Cancelled(failure)
            }
            None => body.complete(result.map_or(Ok(()), |error| Err(error.into_cause())), &fail),
        };
        self.record_cancellation(scope, &verdict);
        let ended_ns = match &self.recorder {
            Some(recorder) if side.event.load(Ordering::Relaxed) != 0 => {
                Some(self.record_device_span(recorder, seat, id, side, verdict.outcome()))
            }
            Some(recorder) => {
                // It never stood in a queue.
                recorder.span(seat, id, side.since_ns(), verdict.outcome());
                None
            }
            None => None,
        };
        debug_assert!(verdict.outcome() != Outcome::Panicked, "a device's panic is a device's error");
        let next = self.finish_one(seat, index, ended_ns, completed);
        debug_assert!(next.is_none(), "where there are devices, every ready task goes through the policy");
    }
}
