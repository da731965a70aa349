//! The end of work in a device's queues: tasks and copies that have finished, and tasks that are settled by it. The protocol is in
//! `device/mod.rs`.

use super::{
    DeviceError, Event, Finished,
    issue::{DeviceSide, Issuing, unpack},
};
use crate::{
    error::Cause,
    memory::Landed,
    recorder::{DeviceQueue, Recorder},
    recording::{Outcome, TaskId},
    runtime::Shared,
    task::{Exec, Release, Verdict},
    worker::{Completed, Seat},
};
use std::sync::atomic::Ordering;

/// What a device has reported, sorted; kept for its room.
#[derive(Default)]
pub(super) struct Ends {
    all: Vec<Finished>,
    /// Each with its slot.
    tasks: Vec<(u32, Finished)>,
    /// Each with how long it took.
    copies: Vec<(Event, Option<u64>, Landed)>,
}

impl Shared {
    /// Takes note of finished work; says whether there was any.
    pub(super) fn collect(&self, issuing: &mut Issuing<'_>) -> bool {
        let (device, mut ends) = (issuing.device, std::mem::take(&mut issuing.ends));
        self.devices.all[device].device.poll(&mut |one| ends.all.push(one));
        let any = !ends.all.is_empty();
        if any {
            if ends.all.iter().any(|one| one.result.as_ref().is_err_and(DeviceError::is_lost)) {
                self.lose(device);
            }
            self.end_in_directory(issuing, &mut ends);
            for (event, busy_ns, landed) in ends.copies.drain(..) {
                self.landed(issuing.seat, event, busy_ns, landed);
            }
            self.note_ends(ends.tasks.iter().map(|(slot, _)| *slot));
            let now_ns = self.weights.now_ns();
            for (slot, Finished { result, busy_ns, .. }) in ends.tasks.drain(..) {
                self.weigh_device_task(device, slot, (busy_ns, now_ns), &result);
                self.slab.slot(slot).device_side().busy_ns.store(busy_ns.unwrap_or(0), Ordering::Relaxed);
                self.give_back_hold(issuing.seat, slot, result.err());
            }
            // Others may wait for room, or for an event that they can not wait for in a queue.
            self.devices.notify_waiting();
        }
        issuing.ends = ends;
        any
    }

    /// Tells the directory what has finished, well or not, and ends what it held: all at once. An outcome is a value like another.
    fn end_in_directory(&self, issuing: &mut Issuing<'_>, ends: &mut Ends) {
        let device = issuing.device as u16;
        let mut directory = self.devices.any_memory().then(|| self.memory.lock());
        for one in ends.all.drain(..) {
            let event = Event { device, queue: one.queue, ticket: one.ticket };
            let at = issuing.in_flight.iter().position(|work| work.queue == one.queue && work.ticket == one.ticket);
            let work = at.and_then(|at| issuing.in_flight.remove(at));
            if work.is_some() {
                issuing.queues.ended(one.queue);
            }
            match (work, &mut directory) {
                (Some(work), Some(directory)) => {
                    directory.done(event);
                    if one.result.as_ref().is_err_and(|error| !error.is_outcome()) {
                        directory.failed(work.held.demand(issuing.device), event);
                    }
                    work.held.release(directory, device);
                    ends.tasks.push((work.slot, one));
                }
                (Some(work), None) => ends.tasks.push((work.slot, one)),
                (None, Some(directory)) => {
                    let busy_ns = one.busy_ns;
                    let landed = directory.landed(event, one.result.map(|()| busy_ns));
                    ends.copies.extend(landed.map(|landed| (event, busy_ns, landed)));
                }
                (None, None) => {}
            }
        }
    }

    /// Records when a device was at a task, once its predecessors are recorded: completions are noticed in any order, but what a trace
    /// shows goes by the hazards.
    fn record_device_span(&self, recorder: &Recorder, seat: &Seat, id: TaskId, side: &DeviceSide, outcome: Outcome) {
        let Event { device, queue, .. } = unpack(side.event.load(Ordering::Relaxed));
        let since_ns = side.started_ns.load(Ordering::Relaxed).max(side.not_before_ns.load(Ordering::Relaxed));
        let busy_ns = Some(side.busy_ns.load(Ordering::Relaxed)).filter(|&busy_ns| busy_ns > 0);
        let slice = recorder.slice(seat, DeviceQueue { device, queue }, since_ns, busy_ns);
        recorder.device_span(seat, id, slice, outcome);
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
        let Exec { header, body, label } = unsafe { slot.exec() };
        let (scope, id) = (slot.scope(), header.id);
        let result = side.take_failure();
        let fail = |cause: Cause| self.failed(scope, id, label, cause);
        let verdict = match scope.cancelled() {
            Some(failure) => {
                body.discard(&failure);
                Verdict::Cancelled(failure)
            }
            None => body.complete(result.map_or(Ok(()), |error| Err(error.into_cause())), &fail),
        };
        self.tell_cancelled(scope, &verdict);
        match &self.recorder {
            Some(recorder) if side.event.load(Ordering::Relaxed) != 0 => {
                self.record_device_span(recorder, seat, id, side, verdict.outcome());
            }
            // It never stood in a queue.
            Some(recorder) => recorder.span(seat, id, side.started_ns.load(Ordering::Relaxed), verdict.outcome()),
            None => {}
        }
        debug_assert!(verdict.outcome() != Outcome::Panicked, "a device's panic is a device's error");
        let next = self.finish_one(seat, index, completed);
        debug_assert!(next.is_none(), "where there are devices, every ready task goes through the policy");
    }
}
