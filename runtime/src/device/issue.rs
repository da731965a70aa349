//! The thread that issues to one device, and the offered tasks' way through it. The protocol is in `device/mod.rs`.

use super::{
    Cost, Event, IssueContext, Takers,
    finish::Ends,
    noted::Noted,
    queues::Queues,
    reside::{Admission, Held},
    shielded,
    table::Entry,
};
use crate::{
    memory::Waits,
    runtime::Shared,
    schedule::{Outlook, ReadyTask, Want},
    scope::ScopeState,
    sync::fence,
    task::{Body, Lock, Release, Released, Runnable, Slot, TaskRef, TaskSpec},
    worker::{Next, Seat},
};
use std::{
    collections::VecDeque,
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    time::Duration,
};

/// What a slot keeps of a task that devices can take. Made when first needed, and kept with the slot. What policies and issuers ask of every
/// task is in the first two lines of the cache.
#[derive(Default)]
#[repr(C, align(64))]
pub(crate) struct DeviceSide {
    /// Where the task was issued to: read by the issuers of its successors.
    pub(super) event: AtomicU64,
    /// Who can take the task; nobody, if it was not offered.
    takers: AtomicU32,
    /// Copies whose end a host task waits for.
    pub(super) fetching: AtomicU32,
    /// Devices that can not take it after all, a bit each: an operand stays on the host, it does not fit, or the device is gone.
    barred: AtomicU64,
    /// What is called, and what it costs. Written at insertion.
    call: std::cell::UnsafeCell<(&'static str, Cost)>,
    /// Whom it waits for. Written at insertion, read by the one who takes the task.
    predecessors: std::cell::UnsafeCell<Vec<TaskRef>>,
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
    failure: std::sync::Mutex<Option<super::DeviceError>>,
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

    /// Says why the task can not be done.
    pub(super) fn fail(&self, error: super::DeviceError) {
        *crate::sync::held(self.failure.lock()) = Some(error);
        self.has_failed.store(true, Ordering::Release);
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Acquire)
    }

    /// Why the task can not be done, if somebody said so.
    pub(crate) fn take_failure(&self) -> Option<super::DeviceError> {
        if !self.has_failed() {
            return None;
        }
        self.has_failed.store(false, Ordering::Relaxed);
        crate::sync::held(self.failure.lock()).take()
    }
}

fn pack(event: Event) -> u64 {
    u64::from(event.device) << 48 | u64::from(event.queue) << 32 | u64::from(event.ticket)
}

pub(super) fn unpack(word: u64) -> Event {
    Event { device: (word >> 48) as u16, queue: (word >> 32) as u16, ticket: word as u32 }
}

/// A task whose work is in a queue.
pub(super) struct InFlight {
    pub(super) queue: u16,
    pub(super) ticket: u32,
    pub(super) slot: u32,
    pub(super) held: Held,
}

/// What an issuer knows of its device.
pub(super) struct Issuing<'a> {
    pub(super) device: usize,
    pub(super) seat: &'a Seat,
    pub(super) queues: Queues,
    pub(super) in_flight: VecDeque<InFlight>,
    /// Room for what the device reports.
    pub(super) ends: Ends,
    /// A task that it has taken and that can not be admitted yet.
    waiting: Option<ReadyTask>,
    /// What was recorded last of its memory.
    pub(super) noted: Noted,
}

/// What came of a task that an issuer has taken.
enum Taken {
    /// It is in a queue, or has failed, or was given back.
    Settled,
    /// It can be tried again when something has finished.
    NotYet(ReadyTask),
}

impl Shared {
    /// The list of predecessors that the slot's former task has left, empty, for its room.
    #[inline]
    pub(crate) fn spare_predecessors(&self, slot: &Slot) -> Vec<TaskRef> {
        if self.devices.is_empty() {
            return Vec::new();
        }
        // SAFETY: the slot is being filled, so it is this thread's.
        let mut spare = std::mem::take(unsafe { &mut *slot.device_side().predecessors.get() });
        spare.clear();
        spare
    }

    /// Notes who can take a task that is being inserted, and returns it. If devices are among them, it is offered.
    pub(crate) fn offer(
        &self,
        slot: &Slot,
        body: &impl Runnable,
        spec: &TaskSpec,
        predecessors: Vec<TaskRef>,
    ) -> Takers {
        let takers = match (body.takers(&self.devices.kinds), spec.lock) {
            (takers, Lock::Device) => Takers(takers.devices()),
            (_, Lock::Host | Lock::Worker(_)) => Takers::HOST,
            (takers, Lock::None) => takers,
        };
        let side = slot.device_side();
        side.takers.store(takers.0, Ordering::Relaxed);
        side.event.store(0, Ordering::Relaxed);
        side.barred.store(0, Ordering::Relaxed);
        side.busy_ns.store(0, Ordering::Relaxed);
        side.not_before_ns.store(0, Ordering::Relaxed);
        side.is_placed.store(false, Ordering::Relaxed);
        // SAFETY: the slot is being filled, so it is this thread's.
        unsafe { *side.predecessors.get() = predecessors };
        let cost = Cost { flops: spec.flops, bytes: spec.bytes, level: spec.level };
        // SAFETY: as above.
        unsafe { *side.call.get() = (spec.name, cost) };
        takers
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
        let side = self.slab.slot(index).device_side();
        let takers = side.takers();
        let is_offered = takers.devices() != 0;
        if is_offered && released.issuable() {
            return self.push_offered(seat, index, takers);
        }
        if !released.runnable() {
            // It lies in the policy, unless it was issued: a host worker, or a device that can not wait for its predecessors, can take it now.
            let is_news = is_offered && released.only_hold_left() && side.event.load(Ordering::Relaxed) == 0;
            if is_news && !self.devices.all_wait_for_all() {
                self.devices.notify_takers(takers);
            }
            return if is_news && self.may_be_for_host(takers) { Next::Ready } else { Next::Nothing };
        }
        if is_offered {
            return Next::Retire;
        }
        self.push(seat, index);
        Next::Ready
    }

    /// Pushes a task that devices can take, and wakes their issuers. Host workers are to be woken only if it may be for them ([`Next::Ready`]).
    ///
    /// They can not take it before its predecessors are done. If the last of these ends now, either that is seen here, behind the fence of
    /// the notification, or whoever ends it wakes them, behind a fence of its own, and they see the push. (If somebody has taken the task by
    /// now, the slot may be another's, and they are woken for nothing.)
    fn push_offered(&self, seat: &Seat, index: u32, takers: Takers) -> Next {
        self.push(seat, index);
        self.devices.notify_takers(takers);
        let is_runnable = self.slab.slot(index).pending.only_hold_left();
        if is_runnable && self.may_be_for_host(takers) { Next::Ready } else { Next::Nothing }
    }

    /// The same for one that its inserter has found issuable.
    #[inline(never)]
    pub(crate) fn push_inserted(&self, seat: &Seat, index: u32, takers: Takers, scope: std::ptr::NonNull<ScopeState>) {
        if matches!(self.push_offered(seat, index, takers), Next::Ready) {
            self.wake_for(seat, scope);
        }
    }

    /// Whether host workers may have use for such a task, which was pushed before, and devices notified. If a device is lost later, that wakes
    /// them.
    fn may_be_for_host(&self, takers: Takers) -> bool {
        takers.host() && (self.host_helps || self.devices.any_lost())
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
        takers.devices() == 0 || takers.host() && slot.pending.only_hold_left() && self.is_the_hosts(task.slot)
    }

    /// Whether the host may have the task, when it can be run: it helps, or nobody else can do it.
    pub(super) fn is_the_hosts(&self, index: u32) -> bool {
        self.host_helps || !self.some_device_can_take(self.slab.slot(index))
    }

    /// Whether the host, or a device that is not lost, can take this task, now or later.
    fn somebody_can_take(&self, slot: &Slot) -> bool {
        slot.device_side().takers().host() || self.some_device_can_take(slot)
    }

    /// Whether a device can take this task, now or later.
    fn some_device_can_take(&self, slot: &Slot) -> bool {
        let side = slot.device_side();
        let can = |(at, entry): (usize, &Entry)| {
            side.takers().0 & entry.kind_bit != 0 && !side.is_barred_from(at) && !entry.is_lost()
        };
        self.devices.all.iter().enumerate().any(can)
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
        let mut issuing = Issuing {
            device,
            seat,
            queues: Queues::new(&entry.info),
            in_flight: VecDeque::new(),
            ends: Ends::default(),
            waiting: None,
            noted: Noted::default(),
        };
        while seat.is_taken() || seat.try_take() {
            // First what keeps the device busy: an issuer is mostly woken for a task.
            if self.issue_ahead(&mut issuing) && issuing.in_flight.len() < entry.info.depth {
                // Perhaps there is another by now: nothing of these has ended so soon.
                continue;
            }
            // One that has just said that it is idle looks for tasks only: for ends it looks while it waits.
            let has_collected = !entry.idle.load(Ordering::Relaxed) && self.collect(&mut issuing);
            self.note_memory(&mut issuing);
            if has_collected {
                continue;
            }
            self.report(seat);
            // What stays in the devices' memory may still be copied when all tasks are done.
            let at_rest = || !self.memory.lock().is_copying(issuing.device as u16);
            if self.is_closing() && issuing.in_flight.is_empty() && issuing.waiting.is_none() && at_rest() {
                return;
            }
            if !entry.idle.swap(true, Ordering::Relaxed) {
                // Once more round the loop, now that pushers can see it idle.
                fence(Ordering::SeqCst);
                continue;
            }
            // The timeouts only bound what a driver's lost wake would cost.
            let is_idle = issuing.in_flight.is_empty() && issuing.waiting.is_none();
            entry.device.wait(Duration::from_millis(if is_idle { 500 } else { 5 }));
            // If it was woken for something, that is more urgent.
            if entry.idle.swap(false, Ordering::Relaxed) && !is_idle {
                self.look_whether_late(device);
            }
        }
    }

    /// Puts tasks into the queues while there are any and the device takes more; says whether there were.
    fn issue_ahead(&self, issuing: &mut Issuing<'_>) -> bool {
        let (entry, mut any) = (&self.devices.all[issuing.device], false);
        while issuing.in_flight.len() < entry.info.depth.max(1) {
            let task = issuing.waiting.take().or_else(|| self.task_for(issuing.device, issuing.seat));
            let Some(task) = task else { break };
            let taken = self.issue_task(issuing, task);
            self.note_memory(issuing);
            if let Taken::NotYet(task) = taken {
                issuing.waiting = Some(task);
                // It is tried once more before the issuer sleeps: now that whoever finishes something can see that it waits. Both look under
                // the directory's lock, so one of the two sees the other.
                any |= !entry.waits.swap(true, Ordering::Relaxed);
                break;
            }
            entry.waits.store(false, Ordering::Relaxed);
            any = true;
        }
        any
    }

    fn task_for(&self, device: usize, seat: &Seat) -> Option<ReadyTask> {
        let accepts = |task: &ReadyTask| self.device_can_take(device, task);
        let want = &Want::of(&accepts).with(self.outlook());
        self.policy.take(seat.place, want).or_else(|| self.policy.steal(seat.place, want))
    }

    /// Whether the device is one for this task: of the right kind, and not barred from it. A lost one is for what nobody else can do, to
    /// fail it.
    pub(super) fn is_for(&self, device: usize, slot: &Slot) -> bool {
        let (entry, side) = (&self.devices.all[device], slot.device_side());
        let is_able = side.takers().0 & entry.kind_bit != 0 && !side.is_barred_from(device);
        is_able && !(entry.is_lost() && self.somebody_can_take(slot))
    }

    /// Whether the device can take this task now: it is one for it, and can wait for whoever is not done.
    fn device_can_take(&self, device: usize, task: &ReadyTask) -> bool {
        let (entry, slot) = (&self.devices.all[device], self.slab.slot(task.slot));
        if !self.is_for(device, slot) {
            return false;
        }
        entry.waits_for_all || slot.pending.only_hold_left() || {
            // SAFETY: written before the task was pushed, and not changed while it lies in the policy.
            let predecessors = unsafe { &*slot.device_side().predecessors.get() };
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

    fn issue_task(&self, issuing: &mut Issuing<'_>, task: ReadyTask) -> Taken {
        let (device, seat) = (issuing.device, issuing.seat);
        let (entry, slot) = (&self.devices.all[device], self.slab.slot(task.slot));
        let side = slot.device_side();
        // SAFETY: this thread has taken the task, so it owns the slot's `exec` and `predecessors` until it is done.
        let (exec, predecessors) = unsafe { (slot.exec(), &*side.predecessors.get()) };
        if slot.scope().cancelled().is_some() {
            self.complete(seat, task.slot, None);
            return Taken::Settled;
        }
        let (held, admitted) = match self.admit(device, &exec.body) {
            Admission::Admitted(held, admitted) => (held, admitted),
            Admission::NotYet => return Taken::NotYet(task),
            Admission::Barred(error) => {
                self.bar(issuing, task.slot, error);
                return Taken::Settled;
            }
            Admission::Failed(error) => {
                self.complete(seat, task.slot, Some(error));
                return Taken::Settled;
            }
        };
        let mut waits = Waits::new();
        predecessors.iter().filter_map(|&task| self.event_of(task)).for_each(|event| waits.push(event));
        let before = waits.iter().filter(|event| usize::from(event.device) == device).copied();
        let queue = issuing.queues.choose(exec.header.priority, before);
        for event in admitted.waits {
            if !waits.contains(&event) {
                waits.push(event);
            }
        }
        side.started_ns.store(self.recorder.as_ref().map_or(0, |recorder| recorder.moment(seat)), Ordering::Relaxed);
        let context = (entry.info.kind, side.call().1, held.scratch_range());
        let mut issue =
            |queue: &mut dyn std::any::Any| issue_guarded(&mut exec.body, queue, &context, &admitted.regions);
        let issued =
            shielded("its driver panicked while it was issued", || entry.device.issue(queue, &waits, &mut issue));
        match issued {
            Err(error) => {
                held.release(&mut self.memory.lock(), device as u16);
                if error.is_lost() {
                    // Nothing of the task has run, so it is for others.
                    self.lose(device);
                    self.bar(issuing, task.slot, error);
                } else {
                    self.complete(seat, task.slot, Some(error));
                }
            }
            Ok(ticket) => {
                let event = Event { device: device as u16, queue, ticket };
                if self.devices.any_memory() {
                    self.memory.lock().issued(held.demand(device), event);
                }
                side.event.store(pack(event), Ordering::Release);
                side.issued_ns.store(self.now_ns(), Ordering::Relaxed);
                entry.issued.fetch_add(1, Ordering::Relaxed);
                issuing.queues.issued(queue, ticket);
                issuing.in_flight.push_back(InFlight { queue, ticket, slot: task.slot, held });
                self.release_issued(seat, slot);
            }
        }
        Taken::Settled
    }

    /// A task that this device can not do after all is for others, or fails if there are none.
    fn bar(&self, issuing: &Issuing<'_>, index: u32, error: super::DeviceError) {
        let slot = self.slab.slot(index);
        slot.device_side().barred.fetch_or(1 << issuing.device, Ordering::Relaxed);
        if !self.somebody_can_take(slot) {
            return self.complete(issuing.seat, index, Some(error));
        }
        // Looked up before the push: from then on another thread may run the task and free its slot.
        let scope = std::ptr::NonNull::from(slot.scope());
        self.push(issuing.seat, index);
        self.devices.notify();
        self.wake_for(issuing.seat, scope);
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
}

/// Lets the implementation put its work into the queue. It is foreign code: a panic in it fails this task.
fn issue_guarded(
    body: &mut Body,
    queue: &mut dyn std::any::Any,
    (kind, cost, scratch): &(super::DeviceKind, Cost, std::ops::Range<usize>),
    regions: &[super::DeviceRegion],
) -> Result<(), super::DeviceError> {
    let mut context = IssueContext { queue, kind: *kind, cost: *cost, scratch: scratch.clone() };
    shielded("its implementation panicked while it was issued", || body.issue(&mut context, regions))
}
