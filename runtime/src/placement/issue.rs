//! The thread that issues tasks to one device. `placement/mod.rs` describes the protocol.

use super::{
    PlacementContext,
    device_record::{pack, unpack},
    finish::FinishedWork,
    memory_trace::MemoryTrace,
    offered::DevicesToWake,
    pace::AnswerCache,
    queues::Queues,
    task_memory::{Admission, BarReason, HeldMemory},
};
use crate::{
    device::{Cost, DeviceError, DeviceInfo, DeviceKind, DeviceRegion, Event, IssueContext, shielded},
    hazard::TaskRef,
    memory::WaitEvents,
    schedule::{ReadyTask, Resource, TaskFilter},
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

/// How long an issuer waits for its device if it has no work (`IDLE_WAIT`), and if it has (`BUSY_WAIT`).
const IDLE_WAIT: Duration = Duration::from_millis(500);
const BUSY_WAIT: Duration = Duration::from_millis(5);

/// A task whose work is in a queue.
pub(super) struct InFlight {
    pub(super) queue: u16,
    pub(super) ticket: u64,
    pub(super) slot: u32,
    pub(super) held: HeldMemory,
    /// Whether the driver was asked for its duration.
    pub(super) is_timed: bool,
}

/// The issuing state of a device, and the right to use the device's seat. Usually the device's issuer holds its lock.
pub(super) struct Issuing {
    pub(super) device: usize,
    pub(super) queues: Queues,
    pub(super) in_flight: VecDeque<InFlight>,
    /// Buffers for the device's reports.
    pub(super) ends: FinishedWork,
    /// A task that was taken and cannot be admitted yet.
    waiting: Option<ReadyTask>,
    /// Idle devices for which the policy keeps tasks that the last issue has made ready. Their issuers have not been
    /// woken yet.
    kept: DevicesToWake,
    /// The last recorded state of its memory.
    pub(super) memory_trace: MemoryTrace,
}

impl Issuing {
    pub(super) fn new(device: usize, info: &DeviceInfo) -> Self {
        Self {
            device,
            queues: Queues::new(info),
            in_flight: VecDeque::new(),
            ends: FinishedWork::default(),
            waiting: None,
            kept: DevicesToWake::new(),
            memory_trace: MemoryTrace::default(),
        }
    }
}

/// The next step of an issuer.
enum NextStep {
    /// Look for tasks again, and for finished work, too, unless that was done just now.
    Again { looks_for_ends: bool },
    /// Wait for the device or for a wake-up.
    Wait { is_idle: bool },
    /// End with the runtime.
    Last,
}

impl PlacementContext<'_> {
    /// Runs a device's issuer until shutdown.
    pub(crate) fn issue_tasks(&self, device: usize) {
        let entry = &self.devices.all[device];
        if !self.other_seat(device).try_take() {
            return;
        }
        let (mut looks_for_ends, mut asked) = (true, Instant::now());
        loop {
            // The lock is released while it waits.
            let round = self.issue_and_collect(&mut lock_spinning(&entry.issuing), looks_for_ends);
            match round {
                NextStep::Again { looks_for_ends: again } => looks_for_ends = again,
                NextStep::Wait { is_idle } => {
                    // The time limits bound the cost of a wake-up that a driver lost.
                    entry.device.wait(if is_idle { IDLE_WAIT } else { BUSY_WAIT });
                    // Not after every wake-up, or idle issuers would wake each other without end.
                    if is_idle && asked.elapsed() >= IDLE_WAIT {
                        asked = Instant::now();
                        self.wake_everybody();
                    }
                    // If it was woken for a task, that is more urgent.
                    if entry.idle.load(Ordering::Relaxed) && !is_idle {
                        self.wake_if_late(device);
                    }
                    looks_for_ends = true;
                }
                NextStep::Last => return,
            }
        }
    }

    fn issue_and_collect(&self, issuing: &mut Issuing, looks_for_ends: bool) -> NextStep {
        let entry = &self.devices.all[issuing.device];
        // Tasks first, because they keep the device busy: an issuer is mostly woken for a task.
        if self.issue_ahead(issuing) && issuing.in_flight.len() < entry.info.depth {
            // Look for another task first, because the work just issued has not ended yet.
            return NextStep::Again { looks_for_ends: true };
        }
        let has_collected = looks_for_ends && self.collect(issuing);
        self.note_memory(issuing);
        if has_collected {
            return NextStep::Again { looks_for_ends: false };
        }
        self.report(self.other_seat(issuing.device));
        let is_idle = issuing.in_flight.is_empty() && issuing.waiting.is_none();
        // Resident values may still be copied when all tasks are done.
        let at_rest = || !self.memory.lock().is_copying(issuing.device as u16);
        if self.is_closing() && is_idle && at_rest() {
            return NextStep::Last;
        }
        if !entry.idle.swap(true, Ordering::Relaxed) {
            // Look for tasks once more, now that pushers can see the issuer idle.
            fence(Ordering::SeqCst);
            return NextStep::Again { looks_for_ends: false };
        }
        NextStep::Wait { is_idle }
    }

    /// Puts tasks into the queues while there are any and the device takes more; returns whether there were any.
    fn issue_ahead(&self, issuing: &mut Issuing) -> bool {
        let (entry, mut any) = (&self.devices.all[issuing.device], false);
        while issuing.in_flight.len() < entry.info.depth.max(1) {
            // An issuer that has not announced that it is idle will look again before it waits.
            let is_hasty = !entry.idle.load(Ordering::Relaxed);
            let task = issuing.waiting.take().or_else(|| self.task_for(issuing.device, is_hasty));
            let Some(task) = task else {
                if self.issue_for_other_device(issuing) {
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
                // It is tried once more before the issuer sleeps, after setting the flag for threads that finish work.
                // Both hold the directory's lock, so either the retry sees the finished work or the other thread sees
                // the flag.
                any |= !entry.waits.swap(true, Ordering::Relaxed);
                break;
            }
            entry.waits.store(false, Ordering::Relaxed);
            // The issuer will look again before it waits, so it need not be woken meanwhile.
            entry.idle.store(false, Ordering::Relaxed);
            any = true;
        }
        self.wake_kept(&mut issuing.kept);
        any
    }

    /// Issues a task that the last issue has made ready for one other, idle device, in place of that device's issuer.
    /// Returns whether it did.
    ///
    /// This thread has the needed data in its cache, and continuing here avoids a change of threads. But its own device
    /// needs the thread. So it takes one task at a time, only while its own device has none, and no task that could
    /// delay it.
    fn issue_for_other_device(&self, issuing: &mut Issuing) -> bool {
        // This thread looks for its own device's tasks itself, so the own device is removed from `kept`.
        let own = issuing.device;
        issuing.kept.retain(|device| usize::from(*device) != own);
        let [device] = issuing.kept[..] else { return false };
        let entry = &self.devices.all[usize::from(device)];
        // The other issuer may hold the lock for a moment, to collect ends.
        let Some(mut other) = try_lock_spinning(&entry.issuing) else { return false };
        let other = &mut *other;
        if other.waiting.is_some() || other.in_flight.len() >= entry.info.depth {
            return false;
        }
        // If there is no task any more, another thread has taken it.
        let Some(task) = self.task_for(other.device, false) else {
            issuing.kept.clear();
            return false;
        };
        if !self.has_all_on_devices(&task) {
            // Its data come from the host, possibly in several copies.
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
        let look = AnswerCache::default();
        let accepts = |task: &ReadyTask| self.device_can_take(device, task, &look);
        let place = self.other_seat(device).place;
        let want = TaskFilter::of(&accepts).with(self.outlook_now()).hasty(is_hasty);
        self.ask_policy(&want, |policy| policy.take(place, &want).or_else(|| policy.steal(place, &want)))
    }

    /// Returns whether the device is eligible for this task: it has the right kind and is not barred. A lost device is
    /// eligible only for tasks that nobody else can take, so that they fail.
    #[inline]
    pub(super) fn is_for(&self, device: usize, slot: &Slot) -> bool {
        let (entry, record) = (&self.devices.all[device], slot.device_record());
        let is_able = record.takers().0 & entry.kind_bit != 0 && !record.is_barred_from(device);
        is_able && !(entry.is_lost() && self.somebody_can_take(slot))
    }

    /// Returns whether the device can take this task now: it is eligible, and can wait for the events of unfinished
    /// predecessors.
    fn device_can_take(&self, device: usize, task: &ReadyTask, look: &AnswerCache) -> bool {
        if !self.is_own(task) {
            return false;
        }
        let (entry, slot) = (&self.devices.all[device], self.slab.slot(task.slot()));
        if !self.is_for(device, slot) {
            return false;
        }
        if self.leaves_cached(look, Resource::device(device as u16), task) {
            return false;
        }
        entry.waits_for_all || slot.pending.only_hold_left() || {
            // SAFETY: the inserter wrote it before the push, and nobody writes it while the policy holds the task. The
            // policy's lock orders the write before this read.
            let predecessors = unsafe { &*slot.device_record().predecessors.get() };
            let can_wait =
                |event: Event| usize::from(event.device) == device || entry.device.can_wait_for(event.device);
            predecessors.iter().filter_map(|&task| self.event_of(task)).all(can_wait)
        }
    }

    /// Returns the event to wait for before this task's results can be used; `None` if the task is done.
    fn event_of(&self, task: TaskRef) -> Option<Event> {
        let slot = self.slab.slot(task.slot());
        let word = slot.device_record().event.load(Ordering::Acquire);
        // Checked after the read of the event: if the slot had been reused by then, the task was done.
        (!self.slab.is_done(task)).then(|| unpack(word))
    }

    /// Issues, fails or gives back a task that was taken. Returns the task if it must be tried again after other work
    /// has finished.
    fn issue_task(&self, issuing: &mut Issuing, task: ReadyTask) -> Option<ReadyTask> {
        let (device, seat) = (issuing.device, self.other_seat(issuing.device));
        let (entry, slot) = (&self.devices.all[device], self.slab.slot(task.slot()));
        let record = slot.device_record();
        // SAFETY: this thread has taken the task from the policy, so it alone uses the slot's `exec` and `predecessors`
        // until the task is done.
        let (exec, predecessors) = unsafe { (slot.exec(), &*record.predecessors.get()) };
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
        let mut waits = WaitEvents::new();
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
        record.started_ns.store(self.recorder.as_ref().map_or(0, |recorder| recorder.moment(seat)), Ordering::Relaxed);
        let context = CallContext { kind: entry.info.kind, cost: record.call().1, scratch: held.scratch_range() };
        let mut issue = |queue: &mut dyn Any| issue_guarded(&mut exec.body, queue, &context, &admitted.regions);
        let is_timed = self.wants_duration(device, record.call());
        let issued = shielded("the driver panicked while issuing the task", || match is_timed {
            true => entry.device.issue(queue, &waits, &mut issue),
            false => entry.device.issue_untimed(queue, &waits, &mut issue),
        });
        match issued {
            Err(error) => {
                self.give_up(held, device);
                if error.is_lost() {
                    // Nothing of the task has run, so another resource can take it.
                    self.lose(device);
                    self.bar(issuing, task.slot(), BarReason::Loss, error);
                } else {
                    self.complete(seat, task.slot(), Some(error));
                }
            }
            Ok(ticket) => {
                let event = Event { device: device as u16, queue, ticket };
                if self.devices.any_memory() {
                    self.memory.lock().issued(held.demand(device), event);
                }
                record.event.store(pack(event), Ordering::Release);
                record.issued_ns.store(self.weights.now_ns(), Ordering::Relaxed);
                entry.issued.fetch_add(1, Ordering::Relaxed);
                entry.issued_flops.fetch_add(record.call().1.flops as u64, Ordering::Relaxed);
                issuing.queues.issued(queue, ticket, awaits_host);
                issuing.in_flight.push_back(InFlight { queue, ticket, slot: task.slot(), held, is_timed });
                self.release_issued(seat, slot, &mut issuing.kept);
            }
        }
        None
    }

    /// Releases the memory of an admitted task that was not issued. Another device may wait for it.
    fn give_up(&self, held: HeldMemory, device: usize) {
        held.release(&mut self.memory.lock(), device as u16);
        self.devices.notify_waiting();
    }

    /// Returns whether the duration of a call is wanted: in a recording, or to update the weights.
    fn wants_duration(&self, device: usize, (kernel, cost): (&str, Cost)) -> bool {
        self.recorder.is_some() || self.weights.wants_duration(Resource::device(device as u16), kernel, &cost)
    }

    /// Bars this device from a task. The task is pushed again for others, or fails if nobody else can take it.
    fn bar(&self, issuing: &Issuing, index: u32, bar: BarReason, error: DeviceError) {
        let slot = self.slab.slot(index);
        slot.device_record().barred.fetch_or(1 << issuing.device, Ordering::Relaxed);
        let seat = self.other_seat(issuing.device);
        if !self.somebody_can_take(slot) {
            return self.complete(seat, index, Some(error));
        }
        if bar != BarReason::Loss {
            let (device, kernel) = (&self.devices.all[issuing.device].info.name, slot.device_record().call().0);
            let text = || format!("{device} cannot run `{kernel}`; such tasks run elsewhere: {error}");
            self.notices.say(&format!("{bar:?} {}", issuing.device), text);
        }
        // Read before the push, after which another thread may run the task and free its slot.
        let scope = NonNull::from(slot.scope());
        self.push(seat, index);
        self.devices.notify();
        self.wake_for(seat, scope);
    }

    /// Releases the successors of an issued task.
    fn release_issued(&self, seat: &Seat, slot: &Slot, kept: &mut DevicesToWake) {
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

/// The parts of an [`IssueContext`] that are known before the driver's queue.
struct CallContext {
    kind: DeviceKind,
    cost: Cost,
    scratch: Range<usize>,
}

/// Lets the implementation put its work into the queue. A panic in this foreign code fails the task.
fn issue_guarded(
    body: &mut Body,
    queue: &mut dyn Any,
    call: &CallContext,
    regions: &[DeviceRegion],
) -> Result<(), DeviceError> {
    let mut context = IssueContext { queue, kind: call.kind, cost: call.cost, scratch: call.scratch.clone() };
    shielded("the implementation panicked while issuing the task", || body.issue(&mut context, regions))
}
