//! The thread that issues to one device, and the offered tasks' way through it. The protocol is in `device/mod.rs`.

use super::{Cost, Event, Finished, IssueContext, Takers, table::Entry};
use crate::{
    error::Cause,
    recording::Outcome,
    runtime::Shared,
    schedule::{Outlook, ReadyTask, Want},
    sync::fence,
    task::{Exec, Lock, Release, Released, Runnable, Slot, TaskRef, TaskSpec, Verdict},
    worker::{Next, Seat},
};
use std::{
    collections::VecDeque,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
    time::Duration,
};

/// What a slot keeps of a task that devices can take. Made when first needed, and kept with the slot.
#[derive(Default)]
pub(crate) struct DeviceSide {
    /// Where the task was issued to: read by the issuers of its successors.
    event: AtomicU64,
    /// Who can take the task; nobody, if it was not offered.
    takers: AtomicU32,
    /// Whom it waits for. Written at insertion, read by the one who takes the task.
    predecessors: std::cell::UnsafeCell<Vec<TaskRef>>,
    started_ns: AtomicU64,
    /// When it was put into a queue, by the clock of the weights.
    pub(super) issued_ns: AtomicU64,
    /// Its kernel's name and its cost. Written at insertion.
    call: std::cell::UnsafeCell<(&'static str, Cost)>,
    failed: std::sync::Mutex<Option<super::DeviceError>>,
}

// SAFETY: `predecessors` and `call` have one writer, the inserter, before the task is pushed, and are not written while anybody has
// the task; the rest is atomic.
unsafe impl Sync for DeviceSide {}

impl DeviceSide {
    pub(super) fn takers(&self) -> Takers {
        Takers(self.takers.load(Ordering::Relaxed))
    }

    /// The kernel's name and the call's cost.
    pub(super) fn call(&self) -> (&'static str, Cost) {
        // SAFETY: written before the task was pushed, and not while it is in flight; the caller holds the task, or its policy does.
        unsafe { *self.call.get() }
    }
}

fn pack(event: Event) -> u64 {
    u64::from(event.device) << 48 | u64::from(event.queue) << 32 | u64::from(event.ticket)
}

fn unpack(word: u64) -> Event {
    Event { device: (word >> 48) as u16, queue: (word >> 32) as u16, ticket: word as u32 }
}

/// One issuer's work in flight.
struct InFlight {
    queue: u16,
    ticket: u32,
    slot: u32,
}

impl Shared {
    /// Notes who can take a task that is being inserted; says whether it is offered to devices.
    pub(crate) fn offer(&self, slot: &Slot, body: &impl Runnable, spec: &TaskSpec, predecessors: Vec<TaskRef>) -> bool {
        let takers = match (body.takers(&self.devices.kinds), spec.lock) {
            (takers, Lock::Device) => Takers(takers.devices()),
            (_, Lock::Host | Lock::Worker(_)) => Takers::HOST,
            (takers, Lock::None) => takers,
        };
        let side = slot.device_side();
        side.takers.store(takers.0, Ordering::Relaxed);
        side.event.store(0, Ordering::Relaxed);
        // SAFETY: the slot is being filled, so it is this thread's.
        unsafe { *side.predecessors.get() = predecessors };
        let cost = Cost { flops: spec.flops, bytes: spec.bytes, level: spec.level };
        // SAFETY: as above.
        unsafe { *side.call.get() = (spec.name, cost) };
        takers.devices() != 0
    }

    /// What to do about a task that has had a release.
    #[inline]
    pub(crate) fn after_release(&self, seat: &Seat, index: u32, released: Released) -> Next {
        if self.devices.is_empty() {
            if !released.runnable() {
                return Next::Nothing;
            }
            self.push(seat, index);
            return Next::Ready;
        }
        self.after_release_with_devices(seat, index, released)
    }

    fn after_release_with_devices(&self, seat: &Seat, index: u32, released: Released) -> Next {
        let offered = self.slab.slot(index).device_side().takers().devices() != 0;
        match offered {
            false if released.runnable() => {
                self.push(seat, index);
                Next::Ready
            }
            true if released.issuable() => {
                self.push(seat, index);
                self.devices.notify();
                Next::Ready
            }
            true if released.runnable() => Next::Retire,
            // It lies in the policy, and now a host worker, or a device that can not wait for its predecessors, can take it.
            true if released.only_hold_left() => {
                self.devices.notify();
                Next::Ready
            }
            _ => Next::Nothing,
        }
    }

    /// Whether somebody in this runtime can run a task of these takers where it is locked to.
    pub(crate) fn can_run(&self, takers: Takers, lock: Lock) -> bool {
        match lock {
            Lock::None => takers != Takers::NOBODY,
            Lock::Host | Lock::Worker(_) => takers.host(),
            Lock::Device => takers.devices() != 0,
        }
    }

    /// Whether a host worker can take this task now.
    pub(crate) fn host_can_take(&self, task: &ReadyTask) -> bool {
        if self.devices.is_empty() {
            return true;
        }
        let slot = self.slab.slot(task.slot);
        let takers = slot.device_side().takers();
        takers.devices() == 0 || takers.host() && slot.pending.only_hold_left()
    }

    /// A host worker has taken the task: gives back the hold of an offered one.
    pub(crate) fn claim_for_host(&self, slot: &Slot) {
        if slot.device_side().takers().devices() != 0 {
            let released = slot.pending.release(Release::Done, false);
            debug_assert!(released.runnable(), "taken by the host with every predecessor done");
            // From here on it is an ordinary task of the host, also if it is parked and pushed again.
            slot.device_side().takers.store(Takers::HOST.0, Ordering::Relaxed);
        }
    }

    /// What a device's issuer does until shutdown.
    pub(crate) fn issue_tasks(&self, device: usize) {
        let (entry, seat) = (&self.devices.all[device], self.issuer_seat(device));
        let (mut in_flight, mut next_queue) = (VecDeque::new(), 0);
        while seat.is_taken() || seat.try_take() {
            let mut progress = self.collect(entry, seat, &mut in_flight);
            while in_flight.len() < entry.info.depth.max(1) {
                let accepts = |task: &ReadyTask| self.device_can_take(device, task);
                let want = Want::of(&accepts).with(self.outlook());
                let task = self.policy.take(seat.place, want).or_else(|| self.policy.steal(seat.place, want));
                let Some(task) = task else { break };
                self.issue_task(device, seat, task, &mut next_queue, &mut in_flight);
                progress = true;
            }
            if progress {
                continue;
            }
            self.report(seat);
            if self.is_closing() && in_flight.is_empty() {
                return;
            }
            if !entry.idle.swap(true, Ordering::Relaxed) {
                // Once more round the loop, now that pushers can see it idle.
                fence(Ordering::SeqCst);
                continue;
            }
            // The timeouts only bound what a driver's lost wake would cost.
            entry.device.wait(if in_flight.is_empty() { Duration::from_millis(500) } else { Duration::from_millis(5) });
            entry.idle.store(false, Ordering::Relaxed);
        }
    }

    /// Whether the device can take this task now: it is of the right kind, and can wait for whoever is not done.
    fn device_can_take(&self, device: usize, task: &ReadyTask) -> bool {
        let (entry, slot) = (&self.devices.all[device], self.slab.slot(task.slot));
        let side = slot.device_side();
        if side.takers().0 & entry.kind_bit == 0 {
            return false;
        }
        slot.pending.only_hold_left() || {
            // SAFETY: written before the task was pushed, and not changed while it lies in the policy.
            let predecessors = unsafe { &*side.predecessors.get() };
            let can_wait =
                |event: Event| usize::from(event.device) == device || entry.device.can_wait_for(event.device);
            predecessors.iter().filter_map(|&task| self.event_of(task)).all(can_wait)
        }
    }

    /// The event to wait for before this task's results can be used; none if it is done.
    fn event_of(&self, task: TaskRef) -> Option<Event> {
        let slot = self.slab.slot(task.slot());
        let word = slot.device_side().event.load(Ordering::Acquire);
        // After the look at the event: if the slot had been given away by then, the task was done.
        (!self.slab.is_done(task)).then(|| unpack(word))
    }

    fn issue_task(
        &self,
        device: usize,
        seat: &Seat,
        task: ReadyTask,
        next_queue: &mut u16,
        in_flight: &mut VecDeque<InFlight>,
    ) {
        let (entry, slot) = (&self.devices.all[device], self.slab.slot(task.slot));
        let side = slot.device_side();
        // SAFETY: this thread has taken the task, so it owns the slot's `exec` and `predecessors` until it is done.
        let (exec, predecessors) = unsafe { (slot.exec(), &*side.predecessors.get()) };
        if slot.scope().cancelled().is_some() {
            return self.complete_unissued(seat, task.slot, None);
        }
        let waits: Vec<Event> = predecessors.iter().filter_map(|&task| self.event_of(task)).collect();
        // The queue of a predecessor, where the order comes for free; otherwise the next in turn.
        let own = waits.iter().find(|event| usize::from(event.device) == device).map(|event| event.queue);
        let queue = own.unwrap_or_else(|| {
            *next_queue = (*next_queue + 1) % entry.info.queues.max(1);
            *next_queue
        });
        let kind = entry.info.kind;
        side.started_ns.store(self.recorder.as_ref().map_or(0, |recorder| recorder.moment(seat)), Ordering::Relaxed);
        let mut issue = |queue: &mut dyn std::any::Any| {
            let mut context = IssueContext { queue, kind, cost: Cost::default(), scratch: 0..0 };
            // Drivers and implementations are foreign code: a panic in one fails this task.
            let mut result = Ok(());
            let caught = crate::task::guarded(|| {
                result = exec.body.issue(&mut context, &[]);
                Ok(())
            });
            match caught {
                Ok(()) => result,
                Err(_) => Err(super::DeviceError::new("its implementation panicked while it was issued")),
            }
        };
        let mut issued = Err(super::DeviceError::new("its driver panicked while it was issued"));
        let _ = crate::task::guarded(|| {
            issued = entry.device.issue(queue, &waits, &mut issue);
            Ok(())
        });
        match issued {
            Err(error) => self.complete_unissued(seat, task.slot, Some(error)),
            Ok(ticket) => {
                side.event.store(pack(Event { device: device as u16, queue, ticket }), Ordering::Release);
                side.issued_ns.store(self.now_ns(), Ordering::Relaxed);
                in_flight.push_back(InFlight { queue, ticket, slot: task.slot });
                self.release_issued(seat, slot);
            }
        }
    }

    /// Tells the successors that the task is issued.
    fn release_issued(&self, seat: &Seat, slot: &Slot) {
        let mut ready = false;
        slot.successors.issue(|successor| {
            let released = self.slab.slot(successor).pending.release(Release::Issue, false);
            ready |= !matches!(self.after_release(seat, successor, released), Next::Nothing);
        });
        if ready {
            self.wake_for(seat, std::ptr::NonNull::from(slot.scope()));
        }
    }

    /// Takes note of finished work; says whether there was any.
    fn collect(&self, entry: &Entry, seat: &Seat, in_flight: &mut VecDeque<InFlight>) -> bool {
        let mut finished = Vec::new();
        entry.device.poll(&mut |one| finished.push(one));
        let any = !finished.is_empty();
        for Finished { queue, ticket, result, busy_ns } in finished {
            let at = in_flight.iter().position(|work| work.queue == queue && work.ticket == ticket);
            let Some(work) = at.and_then(|at| in_flight.remove(at)) else { continue };
            self.note_device_end(seat, work.slot, busy_ns, result.is_ok());
            self.complete(seat, work.slot, result.err());
        }
        any
    }

    /// A task whose work never stood in a queue.
    fn complete_unissued(&self, seat: &Seat, index: u32, error: Option<super::DeviceError>) {
        self.note_device_end(seat, index, None, false);
        self.complete(seat, index, error);
    }

    /// The task's own completion: gives back its hold, and retires it if that was the last.
    fn complete(&self, seat: &Seat, index: u32, error: Option<super::DeviceError>) {
        let slot = self.slab.slot(index);
        *crate::sync::held(slot.device_side().failed.lock()) = error;
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
        let result = crate::sync::held(side.failed.lock()).take();
        let fail = |cause: Cause| self.failed(scope, id, label, cause);
        let verdict = match scope.cancelled() {
            Some(failure) => {
                body.discard(&failure);
                Verdict::Cancelled(failure)
            }
            None => body.complete(result.map_or(Ok(()), |error| Err(Cause::Device(error.to_string()))), &fail),
        };
        self.settle_recorded(seat, scope, id, side.started_ns.load(Ordering::Relaxed), &verdict);
        debug_assert!(verdict.outcome() != Outcome::Panicked, "a device's panic is a device's error");
        let next = self.finish(seat, index);
        debug_assert!(next.is_none(), "where there are devices, every ready task goes through the policy");
    }
}
