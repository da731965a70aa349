//! The end of work in a device's queues: collects finished tasks and copies, and retires tasks. `placement/mod.rs`
//! describes the protocol.

use super::{
    PlacementContext,
    device_record::{DeviceRecord, unpack},
    issue::Issuing,
};
use crate::{
    device::{DeviceError, Event, Finished},
    error::Cause,
    memory::EndedCopy,
    recorder::{DeviceQueue, Recorder},
    recording::{Outcome, TaskId},
    seat::Seat,
    shared::Completed,
    task::{Exec, Release, TaskResult},
};
use smallvec::SmallVec;
use std::sync::atomic::Ordering;

/// Buffers for a device's reports, sorted into tasks and copies.
#[derive(Default)]
pub(super) struct FinishedWork {
    all: Vec<Reported>,
    /// Reports of tasks, each with its slot.
    tasks: Vec<(u32, Reported)>,
    copies: Vec<ReportedCopy>,
}

struct ReportedCopy {
    event: Event,
    times: Times,
    ended_copy: EndedCopy,
}

pub(super) struct Reported {
    pub(super) one: Finished,
    /// When it ended, by the recording's clock; `None` if that is unknown or nothing is recorded.
    ended_ns: Option<u64>,
    /// Whether the driver was asked for its duration.
    pub(super) is_timed: bool,
}

/// When a device worked on something, as far as known.
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

/// Bounds unknown end times: work has ended before the next work in its queue began.
fn bound_unknown_ends(all: &mut [Reported]) {
    let mut begun: SmallVec<[(u16, u64); 8]> = SmallVec::new();
    for Reported { one, ended_ns, .. } in all.iter_mut().rev() {
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

impl PlacementContext<'_> {
    /// Collects finished work; returns whether there was any.
    pub(super) fn collect(&self, issuing: &mut Issuing) -> bool {
        let (device, seat) = (issuing.device, self.other_seat(issuing.device));
        let mut ends = std::mem::take(&mut issuing.ends);
        self.devices.all[device].device.poll(&mut |one| {
            let ended_ns = self.recorder.as_ref().and_then(|recorder| recorder.ago(one.ended_ago_ns?));
            ends.all.push(Reported { one, ended_ns, is_timed: true });
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
            for ReportedCopy { event, times, ended_copy } in ends.copies.drain(..) {
                self.copy_ended(seat, event, times, ended_copy);
            }
            self.note_ends(ends.tasks.iter().map(|(slot, _)| *slot));
            if !ends.tasks.is_empty() {
                self.weigh_device_tasks(device, &ends.tasks);
            }
            for (slot, reported) in ends.tasks.drain(..) {
                let (times, Finished { result, queue, .. }) = (reported.times(), reported.one);
                self.fix_span(slot, DeviceQueue { device: device as u16, queue }, times);
                self.give_back_hold(seat, slot, result.err());
            }
            // Other issuers may wait for memory, or for an event that their queues cannot wait for.
            self.devices.notify_waiting();
        }
        issuing.ends = ends;
        any
    }

    /// Reports all finished work to the directory under one lock, and releases its memory. An outcome counts as a valid
    /// value.
    fn end_in_directory(&self, issuing: &mut Issuing, ends: &mut FinishedWork) {
        let device = issuing.device as u16;
        let mut directory = self.devices.any_memory().then(|| self.memory.lock());
        for mut reported in ends.all.drain(..) {
            let (times, one) = (reported.times(), &reported.one);
            let event = Event { device, queue: one.queue, ticket: one.ticket };
            let at = issuing.in_flight.iter().position(|work| work.queue == one.queue && work.ticket == one.ticket);
            let work = at.and_then(|at| issuing.in_flight.remove(at));
            if let Some(work) = &work {
                issuing.queues.ended(one.queue, one.ticket);
                reported.is_timed = work.is_timed;
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
                    let ended_copy = directory.copy_ended(event, reported.one.result.map(|()| times.busy_ns));
                    ends.copies.extend(ended_copy.map(|ended_copy| ReportedCopy { event, times, ended_copy }));
                }
                (None, None) => {}
            }
        }
    }

    /// Records when a device worked on a task. If the end is known, its span on the queue's lane is fixed now, because
    /// tasks of a queue are collected in queue order but may be recorded in another order.
    fn fix_span(&self, index: u32, queue: DeviceQueue, times: Times) {
        let record = self.slab.slot(index).device_record();
        let mut busy_ns = times.busy_ns.unwrap_or(0);
        if let (Some(recorder), Some(ended_ns)) = (&self.recorder, times.ended_ns) {
            let slice = recorder.lane_span(queue, record.started_ns.load(Ordering::Relaxed), times.busy_ns, ended_ns);
            busy_ns = slice.end_ns - slice.start_ns;
            record.started_ns.store(slice.start_ns, Ordering::Relaxed);
            record.is_span_fixed.store(true, Ordering::Relaxed);
        }
        record.busy_ns.store(busy_ns, Ordering::Relaxed);
    }

    /// Records a task's span after its predecessors' spans: completions are noticed in any order, but a trace must
    /// agree with the hazards. If the clocks of two devices are not aligned well enough, the later task's span is
    /// shortened. Returns when it ended.
    fn record_device_span(
        &self,
        recorder: &Recorder,
        seat: &Seat,
        id: TaskId,
        record: &DeviceRecord,
        outcome: Outcome,
    ) -> u64 {
        let Event { device, queue, .. } = unpack(record.event.load(Ordering::Relaxed));
        let queue = DeviceQueue { device, queue };
        let (since_ns, busy_ns) = (record.since_ns(), record.busy_ns.load(Ordering::Relaxed));
        let now_ns = recorder.moment(seat);
        let slice = if record.is_span_fixed.load(Ordering::Relaxed) {
            recorder.fixed_span(queue, since_ns, record.started_ns.load(Ordering::Relaxed) + busy_ns)
        } else {
            recorder.lane_span(queue, since_ns, Some(busy_ns).filter(|&busy_ns| busy_ns > 0), now_ns)
        };
        recorder.device_span(seat, id, slice, outcome);
        slice.end_ns
    }

    /// Completes a task that an issuer has taken and not put into a queue.
    pub(super) fn complete(&self, seat: &Seat, index: u32, error: Option<DeviceError>) {
        self.note_ends(std::iter::once(index));
        self.give_back_hold(seat, index, error);
    }

    /// Releases the task's own hold, and retires the task if that was the last release.
    fn give_back_hold(&self, seat: &Seat, index: u32, error: Option<DeviceError>) {
        let slot = self.slab.slot(index);
        if let Some(error) = error {
            slot.device_record().fail(error);
        }
        if slot.pending.release(Release::Done, false).runnable() {
            self.retire_all(seat, Completed::from_elem(index, 1));
        }
    }

    /// Retires finished tasks whose predecessors are all done, and the tasks that become due by this.
    pub(crate) fn retire_all(&self, seat: &Seat, mut completed: Completed) {
        while let Some(index) = completed.pop() {
            self.retire_issued(seat, index, &mut completed);
        }
    }

    fn retire_issued(&self, seat: &Seat, index: u32, completed: &mut Completed) {
        let slot = self.slab.slot(index);
        let record = slot.device_record();
        // SAFETY: the count has reached zero, which exactly one thread, this one, observes, and the decrement orders
        // all earlier accesses before it. The issuer does not touch the task any more.
        let Exec { body, label, .. } = unsafe { slot.exec() };
        let (scope, id) = (slot.scope(), slot.id());
        let result = record.take_failure();
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
            Some(recorder) if record.event.load(Ordering::Relaxed) != 0 => {
                Some(self.record_device_span(recorder, seat, id, record, verdict.outcome()))
            }
            Some(recorder) => {
                // It never was in a queue.
                recorder.span(seat, id, record.since_ns(), verdict.outcome());
                None
            }
            None => None,
        };
        debug_assert!(verdict.outcome() != Outcome::Panicked, "a device's panic is reported as an error");
        let next = self.finish_one(seat, index, ended_ns, completed);
        debug_assert!(next.is_none(), "where there are devices, every ready task goes through the policy");
    }
}
