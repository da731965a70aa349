//! The end of work in a device's queues: tasks and copies that have finished, and tasks that are settled by it. The protocol is in
//! `device/mod.rs`.

use super::{
    DeviceError, Event, Finished,
    issue::{DeviceSide, Issuing, unpack},
    reside::Held,
};
use crate::{
    error::Cause,
    recorder::{DeviceQueue, Recorder},
    recording::{Outcome, TaskId},
    runtime::Shared,
    task::{Exec, Release, Verdict},
    worker::Seat,
};
use std::sync::atomic::Ordering;

impl Shared {
    /// Takes note of finished work; says whether there was any.
    pub(super) fn collect(&self, issuing: &mut Issuing<'_>) -> bool {
        let (device, mut finished) = (issuing.device, Vec::new());
        self.devices.all[device].device.poll(&mut |one| finished.push(one));
        let any = !finished.is_empty();
        let mut completed = Vec::new();
        for Finished { queue, ticket, result, busy_ns } in finished {
            if matches!(&result, Err(error) if error.is_lost()) {
                self.lose(device);
            }
            let event = Event { device: device as u16, queue, ticket };
            let at = issuing.in_flight.iter().position(|work| work.queue == queue && work.ticket == ticket);
            match at.and_then(|at| issuing.in_flight.remove(at)) {
                Some(work) => {
                    self.note_done(event, work.held, &result);
                    self.weigh_device_task(device, work.slot, busy_ns, &result);
                    self.slab.slot(work.slot).device_side().busy_ns.store(busy_ns.unwrap_or(0), Ordering::Relaxed);
                    completed.push((work.slot, result.err()));
                }
                None => self.landed(issuing.seat, event, result.map(|()| busy_ns)),
            }
        }
        for (slot, error) in completed {
            self.complete(issuing.seat, slot, error);
        }
        if any {
            // Others may wait for room, or for an event that they can not wait for in a queue.
            self.devices.notify_waiting();
        }
        any
    }

    /// Tells the directory that a task's work is finished, well or not, and ends what it held. An outcome is a value like another.
    fn note_done(&self, event: Event, held: Held, result: &Result<(), DeviceError>) {
        let mut directory = self.memory.lock();
        directory.done(event);
        if result.as_ref().is_err_and(|error| !error.is_outcome()) {
            directory.failed(held.demand(usize::from(event.device)), event);
        }
        held.release(&mut directory, event.device);
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

    /// The task's own completion: gives back its hold, and retires it if that was the last.
    pub(super) fn complete(&self, seat: &Seat, index: u32, error: Option<DeviceError>) {
        let slot = self.slab.slot(index);
        self.note_end(slot);
        if let Some(error) = error {
            slot.device_side().fail(error);
        }
        if slot.pending.release(Release::Done, false).runnable() {
            self.retire_issued(seat, index);
        }
    }

    /// Settles a task that a device has finished, and whose predecessors are all done.
    pub(crate) fn retire_issued(&self, seat: &Seat, index: u32) {
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
        let next = self.finish(seat, index);
        debug_assert!(next.is_none(), "where there are devices, every ready task goes through the policy");
    }
}
