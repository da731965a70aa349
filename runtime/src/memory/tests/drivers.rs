//! A model of drivers: queues of operations that are executed one at a time in a chosen order, and the content of every
//! byte of the heaps and of the host's data.
//!
//! An operation that waits for a failed one fails when everything that it waits for has ended. A lost device ends
//! everything in its queues at once.

use super::{
    choices::Choices,
    program::{Program, UNIT},
};
use crate::{
    device::{DeviceError, DeviceRegion, Event, HostRegion, Transfer},
    memory::directory::Copier,
};

/// The distance between data in host memory.
const DATUM_DISTANCE_BYTES: usize = 4096;

/// The value that a unit of a heap, or a datum in host memory, holds: datum and version; `None` if it is undefined.
pub(super) type Content = Option<(usize, usize)>;

/// A part of a memory, in units. In host memory a unit is one datum.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct Span {
    /// Zero for the host, otherwise the device's index plus one.
    pub(super) node: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Span {
    pub(super) fn host(place: usize) -> Self {
        Self { node: 0, from: place, to: place + 1 }
    }

    pub(super) fn device(device: usize, region: &DeviceRegion) -> Self {
        let from = region.offset / UNIT;
        Self { node: device + 1, from, to: from + region.span_bytes() / UNIT }
    }

    fn meets(&self, other: &Self) -> bool {
        self.node == other.node && self.from < other.to && other.from < self.to
    }
}

/// The location of a task's operand, the version that the task must find there, and the version that it leaves.
#[derive(Clone, Debug, Hash)]
pub(super) struct Operand {
    pub(super) span: Span,
    pub(super) found: Content,
    pub(super) left: Content,
    pub(super) is_written: bool,
}

#[derive(Debug, Hash)]
pub(super) enum Work {
    Copy { from: Span, to: Span },
    Task { task: usize, operands: Vec<Operand>, scratch: Option<Span> },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum OperationState {
    Queued,
    Executed,
    Failed { is_lost: bool },
}

/// A set of operation numbers.
type OperationSet = [u64; OPERATIONS_MAX / 64];

/// The maximum number of operations; more means no progress.
pub(super) const OPERATIONS_MAX: usize = 512;

#[derive(Debug)]
pub(super) struct Operation {
    pub(super) event: Event,
    pub(super) work: Work,
    pub(super) waits: Vec<usize>,
    /// The operations that are ordered before this one.
    after: OperationSet,
    pub(super) state: OperationState,
}

impl Operation {
    fn reads(&self) -> impl Iterator<Item = Span> {
        let (copy, operands) = match &self.work {
            Work::Copy { from, .. } => (Some(*from), &[] as &[_]),
            Work::Task { operands, .. } => (None, operands.as_slice()),
        };
        copy.into_iter().chain(operands.iter().filter(|one| !one.is_written).map(|one| one.span))
    }

    fn writes(&self) -> impl Iterator<Item = Span> {
        let (copy, operands) = match &self.work {
            Work::Copy { to, .. } => (Some(*to), &[] as &[_]),
            Work::Task { operands, scratch, .. } => (*scratch, operands.as_slice()),
        };
        copy.into_iter().chain(operands.iter().filter(|one| one.is_written).map(|one| one.span))
    }

    fn conflicts(&self, other: &Self) -> bool {
        let both = |a: &Self, b: &Self| a.writes().any(|span| b.reads().chain(b.writes()).any(|one| one.meets(&span)));
        both(self, other) || both(other, self)
    }

    fn touches(&self, span: &Span, writes: bool) -> bool {
        self.writes().any(|one| one.meets(span)) || !writes && self.reads().any(|one| one.meets(span))
    }
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) operations: Vec<usize>,
    pub(super) ended: usize,
    pub(super) reported: usize,
}

/// A datum's memory on the host.
#[derive(Debug, Hash)]
pub(super) struct HostDatum {
    pub(super) content: Content,
    is_freed: bool,
    /// The host tasks that use it now, and whether they write.
    users: Vec<(usize, bool)>,
}

pub(super) struct Drivers {
    pub(super) operations: Vec<Operation>,
    queued: Vec<usize>,
    pub(super) queues: Vec<Vec<Queue>>,
    pub(super) heaps: Vec<Vec<Content>>,
    pub(super) host_data: Vec<HostDatum>,
    pub(super) is_lost: Vec<bool>,
    pub(super) failures_left: usize,
    mute: Option<usize>,
    /// Whether a fault was injected.
    pub(super) had_fault: bool,
    /// Tasks that found a wrong version.
    pub(super) misled: Vec<usize>,
}

impl Drivers {
    pub(super) fn new(program: &Program) -> Self {
        let queues = |queues: u16| (0..queues + 3).map(|_| Queue::default()).collect();
        let units = |bytes: usize| vec![None; bytes / UNIT];
        Self {
            operations: Vec::new(),
            queued: Vec::new(),
            queues: program.devices.iter().map(|info| queues(info.queues)).collect(),
            heaps: program.devices.iter().map(|info| units(info.memory.as_ref().map_or(0, |own| own.bytes))).collect(),
            host_data: Vec::new(),
            is_lost: vec![false; program.devices.len()],
            failures_left: program.faults.failures,
            mute: program.faults.mute,
            had_fault: false,
            misled: Vec::new(),
        }
    }

    /// Allocates host memory for a datum; returns its address.
    pub(super) fn allocate(&mut self, content: Content) -> usize {
        self.host_data.push(HostDatum { content, is_freed: false, users: Vec::new() });
        self.host_data.len() * DATUM_DISTANCE_BYTES
    }

    pub(super) fn host_index(region: &HostRegion) -> usize {
        region.base.addr().get() / DATUM_DISTANCE_BYTES - 1
    }

    /// Returns the span of a datum in host memory, which is empty if the datum has no bytes.
    pub(super) fn span_of(region: &HostRegion) -> Span {
        let span = Span::host(Self::host_index(region));
        if region.bytes() == 0 { Span { to: span.from, ..span } } else { span }
    }

    /// Frees host memory that nobody uses any more.
    pub(super) fn free(&mut self, home: usize) {
        self.check_host(home, true, "freed");
        assert!(self.host_data[home].users.is_empty(), "host memory is freed under a host task");
        self.host_data[home].is_freed = true;
    }

    /// Begins a host task's use of a datum.
    pub(super) fn begin(&mut self, task: usize, home: usize, writes: bool) {
        self.check_host(home, writes, "used by a host task");
        self.host_data[home].users.push((task, writes));
    }

    /// Ends a host task's use of a datum.
    pub(super) fn end(&mut self, task: usize, home: usize) {
        self.host_data[home].users.retain(|user| user.0 != task);
    }

    fn check_host(&self, home: usize, writes: bool, what: &str) {
        assert!(!self.host_data[home].is_freed, "freed host memory is {what}");
        for &other in &self.queued {
            let one = &self.operations[other];
            let in_the_way = one.touches(&Span::host(home), !writes) && !self.is_doomed(other);
            assert!(!in_the_way, "host memory is {what} while this operation is queued: {one:?}");
        }
    }

    /// Returns whether the operation will fail in any case.
    fn is_doomed(&self, at: usize) -> bool {
        self.operations[at].waits.iter().any(|&wait| match self.operations[wait].state {
            OperationState::Queued => self.is_doomed(wait),
            OperationState::Executed => false,
            OperationState::Failed { .. } => true,
        })
    }

    pub(super) fn of_event(&self, event: Event) -> usize {
        self.queues[usize::from(event.device)][usize::from(event.queue)].operations[event.ticket as usize - 1]
    }

    /// Puts an operation into a queue. All unfinished operations that it conflicts with must be ordered before it.
    pub(super) fn push(&mut self, (device, number): (usize, u16), work: Work, waits: &[Event]) -> Event {
        assert!(self.operations.len() < OPERATIONS_MAX, "no progress in {OPERATIONS_MAX} operations");
        let waits: Vec<usize> = waits.iter().map(|&event| self.of_event(event)).collect();
        let last = self.queues[device][usize::from(number)].operations.last();
        let (mut after, at): (OperationSet, _) = (OperationSet::default(), self.operations.len());
        for &before in waits.iter().chain(last) {
            after.iter_mut().zip(&self.operations[before].after).for_each(|(to, from)| *to |= from);
            after[before / 64] |= 1 << (before % 64);
        }
        let queue = &mut self.queues[device][usize::from(number)];
        queue.operations.push(at);
        let ticket = queue.operations.len() as u64;
        let event = Event { device: device as u16, queue: number, ticket };
        self.operations.push(Operation { event, work, waits, after, state: OperationState::Queued });
        let new = &self.operations[at];
        for &other in self.queued.iter().filter(|&&other| new.after[other / 64] >> (other % 64) & 1 == 0) {
            let old = &self.operations[other];
            let is_race = old.conflicts(new) && !self.is_doomed(other) && !self.is_doomed(at);
            assert!(!is_race, "nothing orders\n{old:?}\nand\n{new:?}");
        }
        self.queued.push(at);
        event
    }

    /// Returns whether the queue's next operation can be executed.
    pub(super) fn is_ready(&self, device: usize, queue: usize) -> bool {
        let queue = &self.queues[device][queue];
        let next = queue.operations.get(queue.ended).map(|&at| &self.operations[at]);
        next.is_some_and(|one| one.waits.iter().all(|&wait| self.operations[wait].state != OperationState::Queued))
    }

    /// Executes the queue's next operation.
    pub(super) fn execute(&mut self, choices: &mut dyn Choices, device: usize, queue: usize) {
        let at = self.queues[device][queue].operations[self.queues[device][queue].ended];
        self.queues[device][queue].ended += 1;
        self.queued.retain(|&other| other != at);
        let waits = &self.operations[at].waits;
        let is_doomed = waits.iter().any(|&wait| self.operations[wait].state != OperationState::Executed);
        let is_gone = |span: Span| span.node > 0 && self.is_lost[span.node - 1];
        let is_cut_off = self.operations[at].reads().any(is_gone);
        if is_doomed || is_cut_off || self.is_muted(at) || self.fault_happens(choices) {
            self.operations[at].state = OperationState::Failed { is_lost: false };
            // A failed operation may have written anything.
            let written: Vec<Span> = if is_doomed { Vec::new() } else { self.operations[at].writes().collect() };
            written.iter().for_each(|span| self.fill(span, None));
            return;
        }
        self.check_neighbours(at);
        self.operations[at].state = OperationState::Executed;
        let mut work = Work::Task { task: 0, operands: Vec::new(), scratch: None };
        std::mem::swap(&mut work, &mut self.operations[at].work);
        match &work {
            Work::Copy { from, to } => self.move_over(from, to),
            Work::Task { task, operands, scratch } => {
                operands.iter().for_each(|one| self.find(*task, &one.span, one.found));
                scratch.iter().for_each(|span| self.fill(span, None));
                operands.iter().filter(|one| one.is_written).for_each(|one| self.fill(&one.span, one.left));
            }
        }
        self.operations[at].work = work;
    }

    fn check_neighbours(&self, at: usize) {
        let one = &self.operations[at];
        for &other in self.queued.iter().filter(|&&other| other < at && !self.is_doomed(other)) {
            let old = &self.operations[other];
            assert!(!old.conflicts(one), "overtaken:\n{old:?}\nby\n{one:?}");
        }
        for (span, writes) in one.reads().map(|span| (span, false)).chain(one.writes().map(|span| (span, true))) {
            for home in self.host_data.iter().take(span.to).skip(span.from).filter(|_| span.node == 0) {
                assert!(!home.is_freed, "freed host memory is used: {one:?}");
                let is_alone = home.users.iter().all(|user| !writes && !user.1);
                assert!(is_alone, "a host task uses the memory of {one:?}");
            }
        }
    }

    fn units(&mut self, span: &Span) -> impl Iterator<Item = &mut Content> {
        let (heap, host_data) = match span.node {
            0 => (&mut [] as &mut [Content], &mut self.host_data[span.from..span.to]),
            node => (&mut self.heaps[node - 1][span.from..span.to], &mut [] as &mut [HostDatum]),
        };
        heap.iter_mut().chain(host_data.iter_mut().map(|home| &mut home.content))
    }

    fn fill(&mut self, span: &Span, content: Content) {
        self.units(span).for_each(|unit| *unit = content);
    }

    /// Returns the version that the whole span holds.
    fn held(&mut self, span: &Span) -> Content {
        let mut units = self.units(span).map(|unit| *unit);
        let first = units.next().flatten();
        if units.all(|unit| unit == first) { first } else { None }
    }

    fn move_over(&mut self, from: &Span, to: &Span) {
        let content = self.held(from);
        self.fill(to, content);
    }

    /// Checks the version that a task finds in an operand.
    pub(super) fn find(&mut self, task: usize, span: &Span, expected: Content) {
        if expected.is_some() && span.from < span.to && self.held(span) != expected {
            self.misled.push(task);
        }
    }

    /// Returns whether this is a copy to the host from a device whose copies always fail.
    fn is_muted(&mut self, at: usize) -> bool {
        let is_muted = match &self.operations[at].work {
            Work::Copy { from, to } => to.node == 0 && self.mute.is_some_and(|device| from.node == device + 1),
            Work::Task { .. } => false,
        };
        self.had_fault |= is_muted;
        is_muted
    }

    /// Decides whether a fault happens now.
    pub(super) fn fault_happens(&mut self, choices: &mut dyn Choices) -> bool {
        let fault_happens = self.failures_left > 0 && choices.happens(12);
        self.failures_left -= usize::from(fault_happens);
        self.had_fault |= fault_happens;
        fault_happens
    }

    /// Loses a device, which ends everything in its queues.
    pub(super) fn lose(&mut self, device: usize) {
        (self.is_lost[device], self.had_fault) = (true, true);
        for queue in &mut self.queues[device] {
            for &at in &queue.operations[queue.ended..] {
                self.operations[at].state = OperationState::Failed { is_lost: true };
                self.queued.retain(|&other| other != at);
            }
            queue.ended = queue.operations.len();
        }
        self.heaps[device].fill(None);
    }
}

/// The drivers with a source of decisions about faults.
pub(super) struct ModelCopier<'a> {
    pub(super) program: &'a Program,
    pub(super) drivers: &'a mut Drivers,
    pub(super) choices: &'a mut dyn Choices,
}

impl Copier for ModelCopier<'_> {
    fn copy(&mut self, device: u16, transfer: &Transfer, waits: &[Event]) -> Result<Event, DeviceError> {
        let at = usize::from(device);
        if self.drivers.is_lost[at] {
            return Err(DeviceError::lost("lost"));
        }
        for wait in waits {
            assert!(self.can_wait_for(device, wait.device), "device {device} cannot wait for {wait:?}");
        }
        if self.drivers.fault_happens(self.choices) {
            return Err(DeviceError::new("refused"));
        }
        let host = |region: &HostRegion| Span::host(Drivers::host_index(region));
        let (from, to) = match transfer {
            Transfer::In { from, to } => (host(from), Span::device(at, to)),
            Transfer::Out { from, to } => (Span::device(at, from), host(to)),
            Transfer::Peer { device: peer, from, to } => {
                let own = self.program.devices[at].memory.as_ref().expect("a device with memory");
                assert!(own.peers.iter().any(|known| known.0 == *peer), "device {device} cannot copy from {peer}");
                (Span::device(usize::from(*peer), from), Span::device(at, to))
            }
        };
        let queue = self.program.devices[at].transfer_queue(transfer);
        Ok(self.drivers.push((at, queue), Work::Copy { from, to }, waits))
    }

    fn can_wait_for(&self, device: u16, other: u16) -> bool {
        device == other || self.program.can_wait[usize::from(device)][usize::from(other)]
    }
}
