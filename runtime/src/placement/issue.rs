//! The thread that issues to one device. The protocol is in `placement/mod.rs`.

use super::{
    Site,
    finish::Ends,
    noted::Noted,
    offer::KeptFor,
    pace::Look,
    queues::Queues,
    reside::{Admission, Bar, Held},
    side::{pack, unpack},
};
use crate::{
    device::{Cost, DeviceError, DeviceInfo, DeviceKind, DeviceRegion, Event, IssueContext, shielded},
    hazard::TaskRef,
    memory::Waits,
    schedule::{ReadyTask, Resource, Want},
    seat::Seat,
    shared::AfterRelease,
    sync::{fence, lock_spinning, try_lock_spinning},
    task::{Body, Release, Slot},
};
use std::{
    any::Any,
    collections::VecDeque,
    ops::Range,
    ptr::NonNull,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

/// How long an issuer waits for its device where there is nothing to do, and where there is.
const IDLE_WAIT: Duration = Duration::from_millis(500);
const BUSY_WAIT: Duration = Duration::from_millis(5);

/// A task whose work is in a queue.
pub(super) struct InFlight {
    pub(super) queue: u16,
    pub(super) ticket: u64,
    pub(super) slot: u32,
    pub(super) held: Held,
}

/// What is known of a device by whoever issues to it: the one who holds this, which is mostly the device's issuer. With it comes the
/// device's seat.
pub(super) struct Issuing {
    pub(super) device: usize,
    pub(super) queues: Queues,
    pub(super) in_flight: VecDeque<InFlight>,
    /// Room for what the device reports.
    pub(super) ends: Ends,
    /// A task that it has taken and that can not be admitted yet.
    waiting: Option<ReadyTask>,
    /// Idle devices that tasks were kept for which have become ready by what was issued last: nobody has been woken for them yet.
    kept: KeptFor,
    /// What was recorded last of its memory.
    pub(super) noted: Noted,
}

impl Issuing {
    pub(super) fn new(device: usize, info: &DeviceInfo) -> Self {
        Self {
            device,
            queues: Queues::new(info),
            in_flight: VecDeque::new(),
            ends: Ends::default(),
            waiting: None,
            kept: KeptFor::new(),
            noted: Noted::default(),
        }
    }
}

/// What an issuer does next.
enum Round {
    /// It looks for tasks again; for ends, too, unless it has just done so.
    Again { looks_for_ends: bool },
    /// It waits for its device, or for somebody who wakes it.
    Wait { is_idle: bool },
    /// It ends with the runtime.
    Last,
}

impl Site<'_> {
    /// What a device's issuer does until shutdown.
    pub(crate) fn issue_tasks(&self, device: usize) {
        let entry = &self.devices.all[device];
        if !self.other_seat(device).try_take() {
            return;
        }
        let (mut looks_for_ends, mut asked) = (true, Instant::now());
        loop {
            // Nobody holds it while it waits.
            let round = self.issue_and_collect(&mut lock_spinning(&entry.issuing), looks_for_ends);
            match round {
                Round::Again { looks_for_ends: again } => looks_for_ends = again,
                Round::Wait { is_idle } => {
                    // The times only bound what a driver's lost wake would cost.
                    entry.device.wait(if is_idle { IDLE_WAIT } else { BUSY_WAIT });
                    // Not whenever it was woken: idle issuers would wake each other, and themselves, without end.
                    if is_idle && asked.elapsed() >= IDLE_WAIT {
                        asked = Instant::now();
                        self.ask_others();
                    }
                    // If it was woken for something, that is more urgent.
                    if entry.idle.load(Ordering::Relaxed) && !is_idle {
                        self.look_whether_late(device);
                    }
                    looks_for_ends = true;
                }
                Round::Last => return,
            }
        }
    }

    fn issue_and_collect(&self, issuing: &mut Issuing, looks_for_ends: bool) -> Round {
        let entry = &self.devices.all[issuing.device];
        // First what keeps the device busy: an issuer is mostly woken for a task.
        if self.issue_ahead(issuing) && issuing.in_flight.len() < entry.info.depth {
            // Perhaps there is another by now: nothing of these has ended so soon.
            return Round::Again { looks_for_ends: true };
        }
        let has_collected = looks_for_ends && self.collect(issuing);
        self.note_memory(issuing);
        if has_collected {
            return Round::Again { looks_for_ends: false };
        }
        self.report(self.other_seat(issuing.device));
        let is_idle = issuing.in_flight.is_empty() && issuing.waiting.is_none();
        // What stays in the devices' memory may still be copied when all tasks are done.
        let at_rest = || !self.memory.lock().is_copying(issuing.device as u16);
        if self.is_closing() && is_idle && at_rest() {
            return Round::Last;
        }
        if !entry.idle.swap(true, Ordering::Relaxed) {
            // It looks for tasks once more, now that pushers can see it idle.
            fence(Ordering::SeqCst);
            return Round::Again { looks_for_ends: false };
        }
        Round::Wait { is_idle }
    }

    /// Puts tasks into the queues while there are any and the device takes more; says whether there were.
    fn issue_ahead(&self, issuing: &mut Issuing) -> bool {
        let (entry, mut any) = (&self.devices.all[issuing.device], false);
        while issuing.in_flight.len() < entry.info.depth.max(1) {
            // One that has not said that it is idle will look again before it waits.
            let is_hasty = !entry.idle.load(Ordering::Relaxed);
            let task = issuing.waiting.take().or_else(|| self.task_for(issuing.device, is_hasty));
            let Some(task) = task else {
                if self.go_on_elsewhere(issuing) {
                    any = true;
                    continue;
                }
                break;
            };
            self.wake_kept(&mut issuing.kept);
            let not_yet = self.issue_task(issuing, task);
            self.note_memory(issuing);
            if let Some(task) = not_yet {
                issuing.waiting = Some(task);
                // It is tried once more before the issuer sleeps: now that whoever finishes something can see that it waits. Both look under
                // the directory's lock, so one of the two sees the other.
                any |= !entry.waits.swap(true, Ordering::Relaxed);
                break;
            }
            entry.waits.store(false, Ordering::Relaxed);
            // It will look again before it waits, so nobody need wake it meanwhile.
            entry.idle.store(false, Ordering::Relaxed);
            any = true;
        }
        self.wake_kept(&mut issuing.kept);
        any
    }

    /// Issues the one task that the last one has made ready for another, idle device, as its issuer would if it were woken. Says whether it did.
    ///
    /// The thread is here already, and with it in its cache what both of them need: so a chain that goes from device to device does not go
    /// from thread to thread. But it is needed by its own device, so it takes no more than one task at a time, while there is none of its own,
    /// and none that could keep it.
    fn go_on_elsewhere(&self, issuing: &mut Issuing) -> bool {
        // For its own it has just looked, and will again.
        let own = issuing.device;
        issuing.kept.retain(|device| usize::from(*device) != own);
        let [device] = issuing.kept[..] else { return false };
        let entry = &self.devices.all[usize::from(device)];
        // Its issuer may be there for a moment, to take note of what has ended.
        let Some(mut other) = try_lock_spinning(&entry.issuing) else { return false };
        let other = &mut *other;
        if other.waiting.is_some() || other.in_flight.len() >= entry.info.depth {
            return false;
        }
        // If there is none any more, somebody else has seen to it.
        let Some(task) = self.task_for(other.device, false) else {
            issuing.kept.clear();
            return false;
        };
        if !self.has_all_on_devices(&task) {
            // Its data come from the host, perhaps piece by piece.
            other.waiting = Some(task);
            return false;
        }
        issuing.kept.clear();
        let not_yet = self.issue_task(other, task);
        self.note_memory(other);
        self.report(self.other_seat(other.device));
        std::mem::swap(&mut issuing.kept, &mut other.kept);
        if let Some(task) = not_yet {
            other.waiting = Some(task);
            issuing.kept.push(device);
            return false;
        }
        true
    }

    #[inline]
    fn task_for(&self, device: usize, is_hasty: bool) -> Option<ReadyTask> {
        let look = Look::default();
        let accepts = |task: &ReadyTask| self.device_can_take(device, task, &look);
        let place = self.other_seat(device).place;
        let want = Want::of(&accepts).with(self.outlook_now()).hasty(is_hasty);
        self.ask_policy(&want, |policy| policy.take(place, &want).or_else(|| policy.steal(place, &want)))
    }

    /// Whether the device is one for this task: of the right kind, and not barred from it. A lost one is for what nobody else can do, to
    /// fail it.
    #[inline]
    pub(super) fn is_for(&self, device: usize, slot: &Slot) -> bool {
        let (entry, side) = (&self.devices.all[device], slot.device_side());
        let is_able = side.takers().0 & entry.kind_bit != 0 && !side.is_barred_from(device);
        is_able && !(entry.is_lost() && self.somebody_can_take(slot))
    }

    /// Whether the device can take this task now: it is one for it, and can wait for whoever is not done.
    fn device_can_take(&self, device: usize, task: &ReadyTask, look: &Look) -> bool {
        if !self.is_own(task) {
            return false;
        }
        let (entry, slot) = (&self.devices.all[device], self.slab.slot(task.slot()));
        if !self.is_for(device, slot) {
            return false;
        }
        if self.leaves_as(look, Resource::device(device as u16), task) {
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

    /// Puts a task that was taken into a queue, fails it, or gives it back; or returns it, if it can be tried again when
    /// something has finished.
    fn issue_task(&self, issuing: &mut Issuing, task: ReadyTask) -> Option<ReadyTask> {
        let (device, seat) = (issuing.device, self.other_seat(issuing.device));
        let (entry, slot) = (&self.devices.all[device], self.slab.slot(task.slot()));
        let side = slot.device_side();
        // SAFETY: this thread has taken the task, so it owns the slot's `exec` and `predecessors` until it is done.
        let (exec, predecessors) = unsafe { (slot.exec(), &*side.predecessors.get()) };
        if slot.scope().cancelled().is_some() {
            self.complete(seat, task.slot(), None);
            return None;
        }
        let (held, admitted) = match self.admit(device, &exec.body) {
            Admission::Admitted(held, admitted) => (held, admitted),
            Admission::NotYet => return Some(task),
            Admission::Barred(bar, error) => {
                self.bar(issuing, task.slot(), bar, error);
                return None;
            }
            Admission::Failed(error) => {
                self.complete(seat, task.slot(), Some(error));
                return None;
            }
        };
        let mut waits = Waits::new();
        predecessors.iter().filter_map(|&task| self.event_of(task)).for_each(|event| waits.push(event));
        let before = waits.iter().filter(|event| usize::from(event.device) == device).copied();
        let is_arrival =
            |event: &Event| usize::from(event.device) == device && event.queue == entry.info.arrivals_queue();
        let awaits_host = admitted.waits.iter().any(is_arrival);
        let queue = issuing.queues.choose(exec.header.priority, awaits_host, before);
        for event in admitted.waits {
            if !waits.contains(&event) {
                waits.push(event);
            }
        }
        side.started_ns.store(self.recorder.as_ref().map_or(0, |recorder| recorder.moment(seat)), Ordering::Relaxed);
        let context = (entry.info.kind, side.call().1, held.scratch_range());
        let mut issue = |queue: &mut dyn Any| issue_guarded(&mut exec.body, queue, &context, &admitted.regions);
        let issued =
            shielded("its driver panicked while it was issued", || entry.device.issue(queue, &waits, &mut issue));
        match issued {
            Err(error) => {
                held.release(&mut self.memory.lock(), device as u16);
                if error.is_lost() {
                    // Nothing of the task has run, so it is for others.
                    self.lose(device);
                    self.bar(issuing, task.slot(), Bar::Loss, error);
                } else {
                    self.complete(seat, task.slot(), Some(error));
                }
            }
            Ok(ticket) => {
                let event = Event { device: device as u16, queue, ticket };
                if self.devices.any_memory() {
                    self.memory.lock().issued(held.demand(device), event);
                }
                side.event.store(pack(event), Ordering::Release);
                side.issued_ns.store(self.weights.now_ns(), Ordering::Relaxed);
                entry.issued.fetch_add(1, Ordering::Relaxed);
                entry.issued_flops.fetch_add(side.call().1.flops as u64, Ordering::Relaxed);
                issuing.queues.issued(queue, ticket, awaits_host);
                issuing.in_flight.push_back(InFlight { queue, ticket, slot: task.slot(), held });
                self.release_issued(seat, slot, &mut issuing.kept);
            }
        }
        None
    }

    /// A task that this device can not do after all is for others, or fails if there are none.
    fn bar(&self, issuing: &Issuing, index: u32, bar: Bar, error: DeviceError) {
        let slot = self.slab.slot(index);
        slot.device_side().barred.fetch_or(1 << issuing.device, Ordering::Relaxed);
        let seat = self.other_seat(issuing.device);
        if !self.somebody_can_take(slot) {
            return self.complete(seat, index, Some(error));
        }
        if bar != Bar::Loss {
            let (device, kernel) = (&self.devices.all[issuing.device].info.name, slot.device_side().call().0);
            let text = || format!("{device} can not have `{kernel}`, nor others like it, which go elsewhere: {error}");
            self.notices.say(&format!("{bar:?} {}", issuing.device), text);
        }
        // Looked up before the push: from then on another thread may run the task and free its slot.
        let scope = NonNull::from(slot.scope());
        self.push(seat, index);
        self.devices.notify();
        self.wake_for(seat, scope);
    }

    /// Tells the successors that the task is issued.
    fn release_issued(&self, seat: &Seat, slot: &Slot, kept: &mut KeptFor) {
        let mut ready = false;
        slot.successors.issue(|successor| {
            let released = self.slab.slot(successor).pending.release(Release::Issue, false);
            ready |= !matches!(self.after_release_unwoken(seat, successor, released, kept), AfterRelease::Nothing);
        });
        if ready {
            self.wake_for(seat, NonNull::from(slot.scope()));
        }
    }
}

/// Lets the implementation put its work into the queue. It is foreign code: a panic in it fails this task.
fn issue_guarded(
    body: &mut Body,
    queue: &mut dyn Any,
    (kind, cost, scratch): &(DeviceKind, Cost, Range<usize>),
    regions: &[DeviceRegion],
) -> Result<(), DeviceError> {
    let mut context = IssueContext { queue, kind: *kind, cost: *cost, scratch: scratch.clone() };
    shielded("its implementation panicked while it was issued", || body.issue(&mut context, regions))
}
