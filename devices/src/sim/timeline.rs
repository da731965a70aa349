//! The state of a machine without its threads: what is in the queues, what has ended, and when. All functions here run
//! under the machine's lock.
//!
//! # The states of an entry
//!
//! A task or a copy is *waiting* in its queue after it is pushed. It is *running* once the thread of its engine starts
//! it; the thread takes the first entry of a queue whose events are all reached. It is *ended* when that thread says
//! so. An event is reached when its ticket has ended, with or without an error. An entry that waits for failed work
//! fails, too, when its turn comes, and is not executed.
//!
//! When a device is lost or dropped, its waiting entries end immediately, and its running entries as soon as their
//! threads notice. Entries behind a running one wait for its end, so that the tickets of a queue are reported in order.

use super::{counters::Counters, heap::Heap, queue::Launch, transfer::PendingCopy};
use std::{
    collections::{BTreeSet, VecDeque},
    mem::take,
    sync::Arc,
};
use superscalar_runtime::{DeviceError, Event, Finished};

/// The engines of a device, each of which runs one entry at a time: the arithmetic unit and one per direction of
/// copies.
pub(super) const ENGINES: usize = 4;
pub(super) const ARITHMETIC: usize = 0;

/// An engine: the device's index in the machine, and the number of the engine in the device.
pub(super) type EngineId = (usize, usize);

pub(super) enum QueuedWork {
    Kernels(Vec<Launch>),
    Copy(PendingCopy),
}

struct QueueEntry {
    ticket: u64,
    /// The events that are not reached yet.
    waits: Vec<Event>,
    /// Whether an event that it waits for belongs to failed work.
    awaits_failure: bool,
    /// When it was pushed or its last event was reached, whichever is later.
    ready_ns: u64,
    work: QueuedWork,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<QueueEntry>,
    issued: u64,
    ended: u64,
    /// The tickets of failed work.
    failed: BTreeSet<u64>,
    is_running: bool,
}

/// Whether a device is still available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Available,
    /// The reason.
    Lost(String),
    Dropped,
}

pub(super) struct DeviceTimeline {
    name: String,
    queues: Vec<Queue>,
    /// When each engine has finished everything that it has started so far.
    free_ns: [u64; ENGINES],
    /// Ends that are not reported yet, each with its time if the work ran.
    pub(super) finished: Vec<(Finished, Option<u64>)>,
    pub(super) is_woken: bool,
    pub(super) is_gated: bool,
    /// When the gate was last opened.
    pub(super) opened_ns: u64,
    /// The number of copies that are touching host memory now.
    pub(super) copies_running: u32,
    pub(super) condition: Condition,
    pub(super) heap: Option<Arc<Heap>>,
    pub(super) counters: Counters,
}

pub(super) struct Timeline {
    pub(super) devices: Vec<DeviceTimeline>,
    /// The runtime's index of the machine's first device.
    first: u16,
}

/// An entry that an engine has started.
pub(super) struct StartedEntry {
    pub(super) queue: usize,
    pub(super) ticket: u64,
    pub(super) start_ns: u64,
    pub(super) awaits_failure: bool,
    pub(super) work: QueuedWork,
}

/// The end of an entry.
pub(super) struct EndedEntry {
    pub(super) queue: usize,
    pub(super) ticket: u64,
    pub(super) end_ns: u64,
    pub(super) busy_ns: u64,
    pub(super) result: Result<(), DeviceError>,
}

/// What remains to be done after the lock is released: engines to wake, and work to drop, which runs foreign code.
#[derive(Default)]
pub(super) struct FollowUp {
    pub(super) engines: Vec<EngineId>,
    pub(super) dropped: Vec<QueuedWork>,
}

impl DeviceTimeline {
    pub(super) fn new(name: String, queues: u16) -> Self {
        Self {
            name,
            queues: (0..usize::from(queues) + ENGINES - 1).map(|_| Queue::default()).collect(),
            free_ns: [0; ENGINES],
            finished: Vec::new(),
            is_woken: false,
            is_gated: false,
            opened_ns: 0,
            copies_running: 0,
            condition: Condition::Available,
            heap: None,
            counters: Counters::default(),
        }
    }

    /// Returns an error if the device is lost or dropped.
    pub(super) fn check(&self) -> Result<(), DeviceError> {
        match &self.condition {
            Condition::Available => Ok(()),
            Condition::Lost(why) => Err(DeviceError::lost(format!("`{}` is lost: {why}", self.name))),
            Condition::Dropped => Err(DeviceError::lost(format!("`{}` was dropped", self.name))),
        }
    }

    pub(super) fn reserved_heap(&self) -> Result<&Arc<Heap>, DeviceError> {
        self.heap.as_ref().ok_or_else(|| DeviceError::new(format!("the heap of `{}` was not reserved", self.name)))
    }

    pub(super) fn task_queues(&self) -> usize {
        self.queues.len() + 1 - ENGINES
    }

    fn engine_of(&self, queue: usize) -> usize {
        (queue + 1).saturating_sub(self.task_queues())
    }

    /// Returns the queues that an engine serves.
    fn queues_of(&self, engine: usize) -> std::ops::Range<usize> {
        let tasks = self.task_queues();
        if engine == ARITHMETIC { 0..tasks } else { tasks + engine - 1..tasks + engine }
    }

    /// Records the end of an entry. `ran_ns` is how long it ran and when it ended, if it ran.
    fn report(&mut self, queue: usize, ticket: u64, ran_ns: Option<(u64, u64)>, result: Result<(), DeviceError>) {
        self.queues[queue].ended = ticket;
        self.counters.ended += 1;
        if let Err(error) = &result {
            self.counters.failed += 1;
            if !error.is_outcome() {
                self.queues[queue].failed.insert(ticket);
            }
        }
        let (busy_ns, end_ns) = ran_ns.unzip();
        self.finished.push((Finished { queue: queue as u16, ticket, busy_ns, ended_ago_ns: None, result }, end_ns));
    }
}

impl Timeline {
    pub(super) fn new(first: u16, devices: Vec<DeviceTimeline>) -> Self {
        Self { devices, first }
    }

    /// Returns the index in the machine of the device with this index in the runtime.
    pub(super) fn index_of(&self, device: u16) -> Option<usize> {
        device.checked_sub(self.first).map(usize::from).filter(|&at| at < self.devices.len())
    }

    /// Checks that work of this machine can wait for these events: each belongs to a device of it and to issued work.
    pub(super) fn check_waits(&self, waits: &[Event]) -> Result<(), DeviceError> {
        let exists = |event: &Event| {
            let queues = self.index_of(event.device).map(|device| &self.devices[device].queues);
            let queue = queues.and_then(|queues| queues.get(usize::from(event.queue)));
            queue.is_some_and(|queue| (1..=queue.issued).contains(&event.ticket))
        };
        match waits.iter().find(|event| !exists(event)) {
            Some(event) => Err(DeviceError::new(format!("{event:?} is not an event of issued work of this machine"))),
            None => Ok(()),
        }
    }

    /// Puts work into a queue. The caller has checked the queue and the events.
    pub(super) fn push(
        &mut self,
        device: usize,
        queue: usize,
        waits: &[Event],
        now_ns: u64,
        work: QueuedWork,
    ) -> Result<u64, DeviceError> {
        let is_reached = |event: &Event| {
            let device = self.index_of(event.device).map(|device| &self.devices[device]);
            device.is_none_or(|device| device.queues[usize::from(event.queue)].ended >= event.ticket)
        };
        let left = waits.iter().copied().filter(|event| !is_reached(event)).collect();
        let awaits_failure = waits.iter().any(|event| self.has_failed(*event));
        let at = &mut self.devices[device];
        let ticket = at.queues[queue].issued.checked_add(1);
        let ticket =
            ticket.ok_or_else(|| DeviceError::new(format!("a queue of `{}` has run out of tickets", at.name)))?;
        match work {
            QueuedWork::Kernels(_) => at.counters.issued += 1,
            QueuedWork::Copy(_) => at.counters.copies_issued += 1,
        }
        at.counters.events += waits.len() as u64;
        at.counters.in_flight_peak = at.counters.in_flight_peak.max(at.counters.in_flight());
        at.queues[queue].issued = ticket;
        at.queues[queue].waiting.push_back(QueueEntry { ticket, waits: left, awaits_failure, ready_ns: now_ns, work });
        Ok(ticket)
    }

    fn has_failed(&self, event: Event) -> bool {
        let device = self.index_of(event.device).map(|device| &self.devices[device]);
        device.is_some_and(|device| device.queues[usize::from(event.queue)].failed.contains(&event.ticket))
    }

    /// Returns the engine of a queue.
    pub(super) fn engine_at(&self, device: usize, queue: usize) -> EngineId {
        (device, self.devices[device].engine_of(queue))
    }

    /// Starts the engine's next entry: among the first entries of its queues whose events are all reached, the one that
    /// has been ready longest.
    pub(super) fn begin(&mut self, (device, engine): EngineId) -> Option<StartedEntry> {
        let at = &mut self.devices[device];
        if at.is_gated || at.condition != Condition::Available {
            return None;
        }
        let ready = |queue: usize| {
            let first = at.queues[queue].waiting.front().filter(|entry| entry.waits.is_empty())?;
            Some((first.ready_ns, queue))
        };
        let (_, queue) = at.queues_of(engine).filter_map(ready).min()?;
        let QueueEntry { ticket, ready_ns, awaits_failure, work, .. } = at.queues[queue].waiting.pop_front()?;
        at.queues[queue].is_running = true;
        let start_ns = ready_ns.max(at.free_ns[engine]).max(at.opened_ns);
        Some(StartedEntry { queue, ticket, start_ns, awaits_failure, work })
    }

    /// Ends an entry that an engine has started.
    pub(super) fn end(&mut self, device: usize, ended: EndedEntry) -> FollowUp {
        let EndedEntry { queue, ticket, end_ns, busy_ns, result } = ended;
        let at = &mut self.devices[device];
        let engine = at.engine_of(queue);
        at.free_ns[engine] = end_ns;
        at.queues[queue].is_running = false;
        // The result does not count if the device was lost in the meantime.
        let result = at.check().and(result);
        at.report(queue, ticket, Some((busy_ns, end_ns)), result);
        let mut follow_up = FollowUp::default();
        self.release_waiters(device, queue, end_ns, &mut follow_up);
        if self.devices[device].condition != Condition::Available {
            self.end_waiting(device, queue, end_ns, &mut follow_up);
        }
        follow_up
    }

    /// Marks the device as gone and ends all waiting entries. The first reason is kept.
    pub(super) fn lose(&mut self, device: usize, condition: Condition, now_ns: u64) -> FollowUp {
        let mut follow_up = FollowUp::default();
        let at = &mut self.devices[device];
        if at.condition == Condition::Available || condition == Condition::Dropped {
            at.condition = condition;
        }
        follow_up.engines.extend((0..ENGINES).map(|engine| (device, engine)));
        for queue in 0..self.devices[device].queues.len() {
            if !self.devices[device].queues[queue].is_running {
                self.end_waiting(device, queue, now_ns, &mut follow_up);
            }
        }
        follow_up
    }

    /// Ends all waiting entries in a queue of a device that is gone.
    fn end_waiting(&mut self, device: usize, queue: usize, now_ns: u64, follow_up: &mut FollowUp) {
        let at = &mut self.devices[device];
        let waiting = take(&mut at.queues[queue].waiting);
        if waiting.is_empty() {
            return;
        }
        for entry in waiting {
            let result = at.check();
            at.report(queue, entry.ticket, None, result);
            follow_up.dropped.push(entry.work);
        }
        self.release_waiters(device, queue, now_ns, follow_up);
    }

    /// Removes the reached events of a queue from all entries that wait for them.
    fn release_waiters(&mut self, device: usize, queue: usize, at_ns: u64, follow_up: &mut FollowUp) {
        let (index, ended) = (self.first + device as u16, self.devices[device].queues[queue].ended);
        let failed = self.devices[device].queues[queue].failed.clone();
        let is_reached =
            |event: &Event| event.device == index && usize::from(event.queue) == queue && event.ticket <= ended;
        for (index, other) in self.devices.iter_mut().enumerate() {
            let tasks = other.task_queues();
            for (number, queue) in other.queues.iter_mut().enumerate() {
                for (depth, entry) in queue.waiting.iter_mut().enumerate() {
                    let before = entry.waits.len();
                    entry.awaits_failure |=
                        entry.waits.iter().any(|event| is_reached(event) && failed.contains(&event.ticket));
                    entry.waits.retain(|event| !is_reached(event));
                    if entry.waits.len() == before {
                        continue;
                    }
                    entry.ready_ns = entry.ready_ns.max(at_ns);
                    if depth == 0 && entry.waits.is_empty() {
                        follow_up.engines.push((index, (number + 1).saturating_sub(tasks)));
                    }
                }
            }
        }
    }
}
