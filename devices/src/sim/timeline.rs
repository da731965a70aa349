//! What stands in the queues of a machine, what has ended, and when: state without threads. Everything here happens under the
//! machine's lock.
//!
//! # An entry's way
//!
//! A task or a copy is *waiting* in its queue from when it is pushed; *running* from when the thread of its engine begins it, which
//! it does with the first of a queue, once all its events are reached; and *ended* when that thread says so. An event is reached
//! when its ticket has ended, well or not. Whoever waits for something that failed fails, too, when it is its turn, and does nothing.
//!
//! When a device is lost, or dropped, what was waiting ends at once, and what is running as soon as its thread notices. Behind a running
//! entry the others of its queue wait for its end, so that tickets of one queue come in order.

use super::{counters::Counters, heap::Heap, queue::Launch, transfer::Copying};
use std::{
    collections::{BTreeSet, VecDeque},
    mem::take,
    sync::Arc,
};
use superscalar_runtime::{DeviceError, Event, Finished};

/// What runs entries, one at a time: the arithmetic unit, and one for each direction of copies.
pub(super) const ENGINES: usize = 4;
pub(super) const ARITHMETIC: usize = 0;

/// An engine: device, by its place in the machine, and which of its engines.
pub(super) type EngineAt = (usize, usize);

pub(super) enum Work {
    Kernels(Vec<Launch>),
    Copy(Copying),
}

struct Entry {
    ticket: u64,
    /// Those that are not reached.
    waits: Vec<Event>,
    /// Something that it waited for has failed.
    is_spoiled: bool,
    /// When it was pushed, or its last event was reached.
    ready_ns: u64,
    work: Work,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Entry>,
    issued: u64,
    ended: u64,
    /// What has failed.
    failed: BTreeSet<u64>,
    is_running: bool,
}

/// What has become of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    There,
    /// With the reason.
    Lost(String),
    Dropped,
}

pub(super) struct DeviceState {
    name: String,
    queues: Vec<Queue>,
    /// When each engine comes to the end of what it was given so far.
    free_ns: [u64; ENGINES],
    /// Not reported yet, with when it ended, if it ran.
    pub(super) finished: Vec<(Finished, Option<u64>)>,
    pub(super) is_woken: bool,
    pub(super) is_gated: bool,
    /// When the gate was opened last.
    pub(super) opened_ns: u64,
    /// Copies that are touching host memory now.
    pub(super) copying: u32,
    pub(super) condition: Condition,
    pub(super) heap: Option<Arc<Heap>>,
    pub(super) counters: Counters,
}

pub(super) struct State {
    pub(super) devices: Vec<DeviceState>,
    /// The index of the first of them for the runtime.
    first: u16,
}

/// An entry that has begun.
pub(super) struct Begun {
    pub(super) queue: usize,
    pub(super) ticket: u64,
    pub(super) start_ns: u64,
    pub(super) is_spoiled: bool,
    pub(super) work: Work,
}

/// An entry's end.
pub(super) struct Ended {
    pub(super) queue: usize,
    pub(super) ticket: u64,
    pub(super) end_ns: u64,
    pub(super) busy_ns: u64,
    pub(super) result: Result<(), DeviceError>,
}

/// What is to be done after the lock was given back: threads to be woken, and work to be dropped, which is foreign code.
#[derive(Default)]
pub(super) struct Aftermath {
    pub(super) engines: Vec<EngineAt>,
    pub(super) dropped: Vec<Work>,
}

impl DeviceState {
    pub(super) fn new(name: String, queues: u16) -> Self {
        Self {
            name,
            queues: (0..usize::from(queues) + ENGINES - 1).map(|_| Queue::default()).collect(),
            free_ns: [0; ENGINES],
            finished: Vec::new(),
            is_woken: false,
            is_gated: false,
            opened_ns: 0,
            copying: 0,
            condition: Condition::There,
            heap: None,
            counters: Counters::default(),
        }
    }

    /// An error if it is lost.
    pub(super) fn check(&self) -> Result<(), DeviceError> {
        match &self.condition {
            Condition::There => Ok(()),
            Condition::Lost(why) => Err(DeviceError::lost(format!("`{}` is lost: {why}", self.name))),
            Condition::Dropped => Err(DeviceError::lost(format!("`{}` was dropped", self.name))),
        }
    }

    pub(super) fn reserved(&self) -> Result<&Arc<Heap>, DeviceError> {
        self.heap.as_ref().ok_or_else(|| DeviceError::new(format!("the heap of `{}` was not reserved", self.name)))
    }

    pub(super) fn task_queues(&self) -> usize {
        self.queues.len() + 1 - ENGINES
    }

    fn engine_of(&self, queue: usize) -> usize {
        (queue + 1).saturating_sub(self.task_queues())
    }

    /// The queues that an engine serves.
    fn queues_of(&self, engine: usize) -> std::ops::Range<usize> {
        let tasks = self.task_queues();
        if engine == ARITHMETIC { 0..tasks } else { tasks + engine - 1..tasks + engine }
    }

    /// It has ended. If it ran, `ran_ns` is for how long, and when that ended.
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

impl State {
    pub(super) fn new(first: u16, devices: Vec<DeviceState>) -> Self {
        Self { devices, first }
    }

    /// The place in the machine of the device that the runtime knows by this index.
    pub(super) fn place(&self, device: u16) -> Option<usize> {
        device.checked_sub(self.first).map(usize::from).filter(|&at| at < self.devices.len())
    }

    /// Whether work of this device can wait for these events: they are of this machine, and of something that was issued.
    pub(super) fn check_waits(&self, waits: &[Event]) -> Result<(), DeviceError> {
        let exists = |event: &Event| {
            let queues = self.place(event.device).map(|device| &self.devices[device].queues);
            let queue = queues.and_then(|queues| queues.get(usize::from(event.queue)));
            queue.is_some_and(|queue| (1..=queue.issued).contains(&event.ticket))
        };
        match waits.iter().find(|event| !exists(event)) {
            Some(event) => Err(DeviceError::new(format!("no work of these devices has the event {event:?}"))),
            None => Ok(()),
        }
    }

    /// Puts work into a queue. Who calls has checked the queue and the events.
    pub(super) fn push(
        &mut self,
        device: usize,
        queue: usize,
        waits: &[Event],
        now_ns: u64,
        work: Work,
    ) -> Result<u64, DeviceError> {
        let is_reached = |event: &Event| {
            let device = self.place(event.device).map(|device| &self.devices[device]);
            device.is_none_or(|device| device.queues[usize::from(event.queue)].ended >= event.ticket)
        };
        let left = waits.iter().copied().filter(|event| !is_reached(event)).collect();
        let is_spoiled = waits.iter().any(|event| self.has_failed(*event));
        let at = &mut self.devices[device];
        let ticket = at.queues[queue].issued.checked_add(1);
        let ticket = ticket.ok_or_else(|| DeviceError::new(format!("a queue of `{}` has no more tickets", at.name)))?;
        match work {
            Work::Kernels(_) => at.counters.issued += 1,
            Work::Copy(_) => at.counters.copies_issued += 1,
        }
        at.counters.events += waits.len() as u64;
        at.counters.in_flight_peak = at.counters.in_flight_peak.max(at.counters.in_flight());
        at.queues[queue].issued = ticket;
        at.queues[queue].waiting.push_back(Entry { ticket, waits: left, is_spoiled, ready_ns: now_ns, work });
        Ok(ticket)
    }

    fn has_failed(&self, event: Event) -> bool {
        let device = self.place(event.device).map(|device| &self.devices[device]);
        device.is_some_and(|device| device.queues[usize::from(event.queue)].failed.contains(&event.ticket))
    }

    /// The engine of a queue.
    pub(super) fn engine_at(&self, device: usize, queue: usize) -> EngineAt {
        (device, self.devices[device].engine_of(queue))
    }

    /// Begins what the engine has to do next: of the first entries of its queues that wait for nothing, the one that has been
    /// ready for longest.
    pub(super) fn begin(&mut self, (device, engine): EngineAt) -> Option<Begun> {
        let at = &mut self.devices[device];
        if at.is_gated || at.condition != Condition::There {
            return None;
        }
        let ready = |queue: usize| {
            let first = at.queues[queue].waiting.front().filter(|entry| entry.waits.is_empty())?;
            Some((first.ready_ns, queue))
        };
        let (_, queue) = at.queues_of(engine).filter_map(ready).min()?;
        let Entry { ticket, ready_ns, is_spoiled, work, .. } = at.queues[queue].waiting.pop_front()?;
        at.queues[queue].is_running = true;
        let start_ns = ready_ns.max(at.free_ns[engine]).max(at.opened_ns);
        Some(Begun { queue, ticket, start_ns, is_spoiled, work })
    }

    /// Ends what an engine has begun.
    pub(super) fn end(&mut self, device: usize, ended: Ended) -> Aftermath {
        let Ended { queue, ticket, end_ns, busy_ns, result } = ended;
        let at = &mut self.devices[device];
        let engine = at.engine_of(queue);
        at.free_ns[engine] = end_ns;
        at.queues[queue].is_running = false;
        // Whatever it came to, it is of no use if the device was lost meanwhile.
        let result = at.check().and(result);
        at.report(queue, ticket, Some((busy_ns, end_ns)), result);
        let mut aftermath = Aftermath::default();
        self.reach(device, queue, end_ns, &mut aftermath);
        if self.devices[device].condition != Condition::There {
            self.flush(device, queue, end_ns, &mut aftermath);
        }
        aftermath
    }

    /// The device is gone: ends all that was waiting. The first reason stays.
    pub(super) fn lose(&mut self, device: usize, condition: Condition, now_ns: u64) -> Aftermath {
        let mut aftermath = Aftermath::default();
        let at = &mut self.devices[device];
        if at.condition == Condition::There || condition == Condition::Dropped {
            at.condition = condition;
        }
        aftermath.engines.extend((0..ENGINES).map(|engine| (device, engine)));
        for queue in 0..self.devices[device].queues.len() {
            if !self.devices[device].queues[queue].is_running {
                self.flush(device, queue, now_ns, &mut aftermath);
            }
        }
        aftermath
    }

    /// Ends all that is waiting in a queue of a device that is gone.
    fn flush(&mut self, device: usize, queue: usize, now_ns: u64, aftermath: &mut Aftermath) {
        let at = &mut self.devices[device];
        let waiting = take(&mut at.queues[queue].waiting);
        if waiting.is_empty() {
            return;
        }
        for entry in waiting {
            let result = at.check();
            at.report(queue, entry.ticket, None, result);
            aftermath.dropped.push(entry.work);
        }
        self.reach(device, queue, now_ns, aftermath);
    }

    /// A queue has come further: takes its events off all that wait for them.
    fn reach(&mut self, device: usize, queue: usize, at_ns: u64, aftermath: &mut Aftermath) {
        let (index, ended) = (self.first + device as u16, self.devices[device].queues[queue].ended);
        let failed = self.devices[device].queues[queue].failed.clone();
        let is_reached =
            |event: &Event| event.device == index && usize::from(event.queue) == queue && event.ticket <= ended;
        for (place, other) in self.devices.iter_mut().enumerate() {
            let tasks = other.task_queues();
            for (number, queue) in other.queues.iter_mut().enumerate() {
                for (depth, entry) in queue.waiting.iter_mut().enumerate() {
                    let before = entry.waits.len();
                    entry.is_spoiled |=
                        entry.waits.iter().any(|event| is_reached(event) && failed.contains(&event.ticket));
                    entry.waits.retain(|event| !is_reached(event));
                    if entry.waits.len() == before {
                        continue;
                    }
                    entry.ready_ns = entry.ready_ns.max(at_ns);
                    if depth == 0 && entry.waits.is_empty() {
                        aftermath.engines.push((place, (number + 1).saturating_sub(tasks)));
                    }
                }
            }
        }
    }
}
