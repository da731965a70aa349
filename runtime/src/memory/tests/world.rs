//! The runtime around the directory, without threads: the rules by which tasks become ready, are admitted, issued, reported and
//! retired (`placement/mod.rs`, `placement/issue.rs`, `placement/reside.rs`), one step at a time, in an order that somebody decides.

use super::{
    choices::Choices,
    drivers::{Asked, Content, Drivers, Operand, Span, State, Work},
    program::{Place, Program, Task, host_region},
};
use crate::{
    device::{DeviceError, DeviceRegion, Event, HostRegion},
    hazard::Mode,
    memory::{Admitted, Demand, Directory, EntryId, Segment, Use},
};

/// Where a task is on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    Inserted,
    /// Its device has taken it.
    Taken,
    Issued(Event),
    /// On the host.
    Running,
    /// Its own work is over; predecessors may not be.
    Ended,
    Retired,
}

#[derive(Debug)]
pub(super) struct Run {
    pub(super) stage: Stage,
    pub(super) event: Option<Event>,
    pub(super) failure: Option<DeviceError>,
    pub(super) uses: Vec<Use>,
    /// It has a right to its operands on the device.
    pub(super) holds: bool,
    pub(super) scratch: Option<Segment>,
    /// Copies that it waits for on the host.
    pub(super) fetching: usize,
}

pub(super) struct Datum {
    pub(super) entry: Option<EntryId>,
    pub(super) host: HostRegion,
    pub(super) is_poisoned: bool,
    pub(super) is_closed: bool,
}

#[derive(Debug, Default)]
pub(super) struct Issuer {
    pub(super) waiting: Option<usize>,
    /// Something has finished since the waiting task was tried.
    pub(super) is_woken: bool,
    pub(super) admitted: Option<(usize, Admitted)>,
    pub(super) in_flight: usize,
    next_queue: u16,
    knows_loss: bool,
    /// Reported, and still to be completed.
    completions: Vec<usize>,
}

/// Something that can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Execute(usize, usize),
    Report(usize, usize),
    Complete(usize),
    Admit(usize),
    Issue(usize),
    Start(usize),
    Finish(usize),
    Close(usize),
    Lose(usize),
}

pub(super) struct World<'a> {
    pub(super) program: &'a Program,
    /// Those of the program, and for each datum one that brings it home.
    tasks: Vec<Task>,
    predecessors: Vec<Vec<usize>>,
    /// The version that each use finds.
    versions: Vec<Vec<Content>>,
    pub(super) runs: Vec<Run>,
    pub(super) data: Vec<Datum>,
    pub(super) issuers: Vec<Issuer>,
    pub(super) drivers: Drivers,
    pub(super) directory: Directory,
    pub(super) losses_left: usize,
    /// Tasks may fail: something went wrong, or was too large.
    is_excused: bool,
}

impl<'a> World<'a> {
    pub(super) fn new(program: &'a Program) -> Self {
        let mut drivers = Drivers::new(program);
        let datum = |(at, &columns): (usize, &usize)| Datum {
            entry: None,
            host: host_region(drivers.allocate(Some((at, 0))), columns),
            is_poisoned: false,
            is_closed: false,
        };
        let data: Vec<Datum> = program.columns.iter().enumerate().map(datum).collect();
        let home = |at| Task { place: Place::Host, uses: vec![(at, Mode::ReadWrite)], scratch: 0, columns: None };
        let tasks: Vec<Task> = program.tasks.iter().cloned().chain((0..data.len()).map(home)).collect();
        let (predecessors, versions) = hazards(&tasks, data.len());
        let run = |_| Run {
            stage: Stage::Inserted,
            event: None,
            failure: None,
            uses: Vec::new(),
            holds: false,
            scratch: None,
            fetching: 0,
        };
        Self {
            program,
            runs: (0..tasks.len()).map(run).collect(),
            tasks,
            predecessors,
            versions,
            data,
            issuers: program.devices.iter().map(|_| Issuer::default()).collect(),
            drivers,
            directory: Directory::new(&program.devices),
            losses_left: program.faults.losses,
            is_excused: false,
        }
    }

    fn is_retired(&self, task: usize) -> bool {
        self.runs[task].stage == Stage::Retired
    }

    /// Whether the device's issuer can take the task.
    fn can_take(&self, device: usize, task: usize) -> bool {
        let can_wait = |event: Event| {
            let other = usize::from(event.device);
            other == device || self.program.can_wait[device][other]
        };
        let is_settled = |&before: &usize| self.is_retired(before) || self.runs[before].event.is_some_and(can_wait);
        self.tasks[task].place == Place::Device(device)
            && self.runs[task].stage == Stage::Inserted
            && self.predecessors[task].iter().all(is_settled)
    }

    fn can_admit(&self, device: usize) -> bool {
        let issuer = &self.issuers[device];
        let is_free = issuer.admitted.is_none()
            && issuer.completions.is_empty()
            && issuer.in_flight < self.program.devices[device].depth;
        is_free
            && match issuer.waiting {
                Some(_) => issuer.is_woken,
                None => (0..self.tasks.len()).any(|task| self.can_take(device, task)),
            }
    }

    /// Everything that can happen next; nothing, if the program is over, or stuck.
    pub(super) fn steps(&self, steps: &mut Vec<Step>) {
        steps.clear();
        for (device, issuer) in self.issuers.iter().enumerate() {
            for (number, queue) in self.drivers.queues[device].iter().enumerate() {
                if self.drivers.is_ready(device, number) {
                    steps.push(Step::Execute(device, number));
                }
                if queue.reported < queue.ended && issuer.admitted.is_none() {
                    steps.push(Step::Report(device, number));
                }
            }
            let next = [
                (!issuer.completions.is_empty(), Step::Complete(device)),
                (issuer.admitted.is_some(), Step::Issue(device)),
                (self.can_admit(device), Step::Admit(device)),
            ];
            steps.extend(next.into_iter().filter(|one| one.0).map(|one| one.1));
        }
        for (at, (task, run)) in self.tasks.iter().zip(&self.runs).enumerate() {
            if run.stage == Stage::Running {
                steps.push(Step::Finish(at));
            } else if task.place == Place::Host && run.stage == Stage::Inserted && run.fetching == 0 {
                let is_runnable = self.predecessors[at].iter().all(|&before| self.is_retired(before));
                steps.extend(is_runnable.then_some(Step::Start(at)));
            }
        }
        for (at, datum) in self.data.iter().enumerate() {
            if !datum.is_closed && self.is_retired(self.program.tasks.len() + at) {
                steps.push(Step::Close(at));
            }
        }
        if self.losses_left > 0 && !steps.is_empty() {
            steps.extend((0..self.issuers.len()).filter(|&at| !self.drivers.is_lost[at]).map(Step::Lose));
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.data.iter().all(|datum| datum.is_closed)
    }

    pub(super) fn take(&mut self, choices: &mut dyn Choices, step: Step) {
        match step {
            Step::Execute(device, queue) => self.drivers.execute(choices, device, queue),
            Step::Report(device, queue) => self.report(device, queue),
            Step::Complete(device) => {
                let task = self.issuers[device].completions.remove(0);
                self.end(task, None);
                self.wake_all();
            }
            Step::Admit(device) => {
                self.admit(choices, device);
                if !self.program.is_split && self.issuers[device].admitted.is_some() {
                    self.issue(choices, device);
                }
            }
            Step::Issue(device) => self.issue(choices, device),
            Step::Start(task) => self.start(choices, task),
            Step::Finish(task) => self.finish(task),
            Step::Close(datum) => self.close(datum),
            Step::Lose(device) => {
                self.losses_left -= 1;
                self.drivers.lose(device);
            }
        }
        self.is_excused |= self.drivers.is_struck;
    }

    fn wake_all(&mut self) {
        self.issuers.iter_mut().for_each(|issuer| issuer.is_woken = true);
    }

    fn learn_of_loss(&mut self, device: usize) {
        if !std::mem::replace(&mut self.issuers[device].knows_loss, true) {
            self.directory.lose(device as u16);
            self.wake_all();
        }
    }

    fn report(&mut self, device: usize, queue: usize) {
        let queue = &mut self.drivers.queues[device][queue];
        let at = queue.operations[queue.reported];
        queue.reported += 1;
        let operation = &self.drivers.operations[at];
        let (event, state) = (operation.event, operation.state.clone());
        let result = match state {
            State::Failed { is_lost: true } => Err(DeviceError::lost("lost")),
            State::Failed { is_lost: false } => Err(DeviceError::new("failed")),
            State::Queued | State::Executed => Ok(()),
        };
        let work = match operation.work {
            Work::Task { task, .. } => Some(task),
            Work::Copy { .. } => None,
        };
        if result.as_ref().is_err_and(DeviceError::is_lost) {
            self.learn_of_loss(device);
        }
        if let Some(task) = work {
            self.directory.done(event);
            self.release(device, task);
            self.issuers[device].in_flight -= 1;
            self.runs[task].failure = result.err();
            self.issuers[device].completions.push(task);
            return;
        }
        let landed = self.directory.landed(event, result.map(|()| None)).expect("the copy was under way");
        for (slot, error) in landed.waiting {
            if error.is_some() {
                self.check_blame(slot as usize, at);
            }
            let run = &mut self.runs[slot as usize];
            run.failure = error.or(run.failure.take());
            run.fetching -= 1;
        }
        self.wake_all();
    }

    /// A host task fails with a copy only if that was to bring what it reads.
    fn check_blame(&self, task: usize, operation: usize) {
        let Work::Copy { to, .. } = self.drivers.operations[operation].work else { return };
        let brings =
            |&(datum, mode): &(usize, Mode)| mode.reads() && Drivers::home_at(&self.data[datum].host) == to.from;
        assert!(
            to.node == 0 && self.tasks[task].uses.iter().any(brings),
            "task {task} fails with what is not its concern"
        );
    }

    fn release(&mut self, device: usize, task: usize) {
        let run = &mut self.runs[task];
        run.holds = false;
        self.directory.release(device as u16, &run.uses, run.scratch.take());
    }

    /// A task is taken, or the waiting one is tried once more.
    fn admit(&mut self, choices: &mut dyn Choices, device: usize) {
        self.issuers[device].is_woken = false;
        let task = self.issuers[device].waiting.take().unwrap_or_else(|| {
            let ready: Vec<usize> = (0..self.tasks.len()).filter(|&task| self.can_take(device, task)).collect();
            ready[choices.pick(ready.len())]
        });
        self.runs[task].stage = Stage::Taken;
        let mut uses = Vec::new();
        for &(datum, mode) in &self.tasks[task].uses {
            let datum = &mut self.data[datum];
            let entry = *datum.entry.get_or_insert_with(|| self.directory.open(datum.host));
            self.directory.relocate(entry, datum.host);
            uses.push(Use { entry, mode });
        }
        let scratch_bytes = self.tasks[task].scratch * super::program::UNIT;
        let scratch_bytes = if self.program.devices[device].memory.is_some() { scratch_bytes } else { 0 };
        let demand = Demand { device: device as u16, uses: &uses, scratch_bytes };
        if let Err(error) = self.directory.check_size(demand) {
            self.is_excused = true;
            return self.end(task, Some(error));
        }
        let mut asked = Asked { program: self.program, drivers: &mut self.drivers, choices };
        let mut admitted = Admitted::default();
        let is_admitted = self.directory.admit(&mut asked, demand, &mut admitted);
        self.is_excused |= self.drivers.is_struck;
        match is_admitted {
            Ok(true) => {
                let run = &mut self.runs[task];
                (run.uses, run.scratch, run.holds) = (uses, admitted.scratch.take(), true);
                self.issuers[device].admitted = Some((task, admitted));
            }
            Ok(false) => self.issuers[device].waiting = Some(task),
            Err(error) => self.end(task, Some(error)),
        }
    }

    fn issue(&mut self, choices: &mut dyn Choices, device: usize) {
        let Some((task, admitted)) = self.issuers[device].admitted.take() else { return };
        let (is_lost, is_refused) = (self.drivers.is_lost[device], self.drivers.strikes(choices));
        if is_lost || is_refused {
            self.is_excused = true;
            self.release(device, task);
            if is_lost {
                self.learn_of_loss(device);
            }
            let error = if is_lost { DeviceError::lost("lost") } else { DeviceError::new("refused") };
            return self.end(task, Some(error));
        }
        let unretired = self.predecessors[task].iter().filter(|&&before| !self.is_retired(before));
        let mut waits: Vec<Event> = unretired.filter_map(|&before| self.runs[before].event).collect();
        let (queues, issuer) = (self.program.devices[device].queues, &mut self.issuers[device]);
        let own = waits.iter().find(|event| usize::from(event.device) == device).map(|event| event.queue);
        let queue = own.unwrap_or_else(|| {
            issuer.next_queue = (issuer.next_queue + 1) % queues;
            issuer.next_queue
        });
        issuer.in_flight += 1;
        waits.extend(&admitted.waits);
        let work = self.work(device, task, &admitted.regions);
        let event = self.drivers.push((device, queue), work, &waits);
        let run = &mut self.runs[task];
        (run.stage, run.event) = (Stage::Issued(event), Some(event));
        self.directory.issued(Demand { device: device as u16, uses: &run.uses, scratch_bytes: 0 }, event);
    }

    fn work(&self, device: usize, task: usize, regions: &[DeviceRegion]) -> Work {
        let mut operands = Vec::new();
        for (at, &(datum, mode)) in self.tasks[task].uses.iter().enumerate() {
            let home = || Drivers::span_of(&self.data[datum].host);
            operands.push(Operand {
                span: regions.get(at).map_or_else(home, |region| Span::device(device, region)),
                found: if mode.reads() { self.versions[task][at] } else { None },
                left: Some((datum, task + 1)),
                is_written: mode.writes(),
            });
        }
        let unit = super::program::UNIT;
        let span = |one: &Segment| Span {
            node: device + 1,
            from: one.offset() / unit,
            to: (one.offset() + one.bytes()) / unit,
        };
        Work::Task { task, operands, scratch: self.runs[task].scratch.as_ref().map(span) }
    }

    /// A host task is tried.
    fn start(&mut self, choices: &mut dyn Choices, task: usize) {
        let entry_of = |&(datum, mode): &(usize, Mode)| Some(Use { entry: self.data[datum].entry?, mode });
        let uses: Vec<Use> = self.tasks[task].uses.iter().filter_map(entry_of).collect();
        let mut asked = Asked { program: self.program, drivers: &mut self.drivers, choices };
        let mut admitted = Err(None);
        if self.runs[task].failure.is_none() {
            admitted = self.directory.admit_to_host(&mut asked, task as u32, &uses).map_err(Some);
        }
        let copies = admitted.unwrap_or_else(|error| {
            self.runs[task].failure = error.or(self.runs[task].failure.take());
            self.directory.give_up_on_host(task as u32, &uses)
        });
        if copies > 0 {
            return self.runs[task].fetching = copies;
        }
        self.runs[task].stage = Stage::Running;
        if self.is_healthy(task) {
            for &(datum, mode) in &self.tasks[task].uses {
                self.drivers.begin(task, Drivers::home_at(&self.data[datum].host), mode.writes());
            }
        }
    }

    fn reads_poison(&self, task: usize) -> bool {
        self.tasks[task].uses.iter().any(|&(datum, mode)| mode.reads() && self.data[datum].is_poisoned)
    }

    /// Whether the task is run at all.
    fn is_healthy(&self, task: usize) -> bool {
        self.runs[task].failure.is_none() && !self.reads_poison(task)
    }

    fn finish(&mut self, task: usize) {
        if self.is_healthy(task) {
            let uses = self.tasks[task].uses.clone();
            for (at, &(datum, mode)) in uses.iter().enumerate() {
                if mode.reads() {
                    self.drivers.find(task, &Drivers::span_of(&self.data[datum].host), self.versions[task][at]);
                }
            }
            for (datum, mode) in uses {
                let home = Drivers::home_at(&self.data[datum].host);
                self.drivers.end(task, home);
                if mode.writes() {
                    self.drivers.homes[home].content = Some((datum, task + 1));
                }
                if let Some(columns) = self.tasks[task].columns.filter(|_| mode.writes()) {
                    self.drivers.free(home);
                    let place = self.drivers.allocate(Some((datum, task + 1)));
                    self.data[datum].host = host_region(place, columns);
                }
            }
        }
        self.end(task, None);
    }

    fn close(&mut self, datum: usize) {
        let datum = &mut self.data[datum];
        datum.is_closed = true;
        if let Some(entry) = datum.entry {
            self.directory.close(entry);
        }
        self.drivers.free(Drivers::home_at(&datum.host));
    }

    /// A task's own work is over; it is retired when its predecessors are, and then perhaps others are.
    fn end(&mut self, task: usize, failure: Option<DeviceError>) {
        let run = &mut self.runs[task];
        run.stage = Stage::Ended;
        run.failure = failure.or(run.failure.take());
        assert!(
            self.is_excused || self.runs[task].failure.is_none(),
            "failed for nothing: {:?}",
            self.runs[task].failure
        );
        for at in task..self.tasks.len() {
            let is_free = self.predecessors[at].iter().all(|&before| self.is_retired(before));
            if self.runs[at].stage == Stage::Ended && is_free {
                self.retire(at);
            }
        }
    }

    fn retire(&mut self, task: usize) {
        let is_good = self.is_healthy(task);
        let is_lost = self.runs[task].failure.as_ref().is_some_and(DeviceError::is_lost);
        let may_lose = self.reads_poison(task) || self.drivers.is_lost.contains(&true);
        assert!(!is_lost || may_lose, "task {task} misses a value that no device took with it");
        self.runs[task].stage = Stage::Retired;
        assert!(!is_good || !self.drivers.misled.contains(&task), "task {task} has found a wrong value");
        for &(datum, mode) in &self.tasks[task].uses {
            if mode.writes() {
                self.data[datum].is_poisoned = !is_good;
            }
        }
    }
}

/// Whom each task waits for, and the version that each of its uses finds, by serial execution.
fn hazards(tasks: &[Task], data: usize) -> (Vec<Vec<usize>>, Vec<Vec<Content>>) {
    let mut last: Vec<(Option<usize>, Vec<usize>)> = vec![(None, Vec::new()); data];
    let (mut predecessors, mut versions) = (Vec::new(), Vec::new());
    for (at, task) in tasks.iter().enumerate() {
        let mut before: Vec<usize> = Vec::new();
        versions
            .push(task.uses.iter().map(|one| Some((one.0, last[one.0].0.map_or(0, |writer| writer + 1)))).collect());
        for &(datum, mode) in &task.uses {
            let (writer, readers) = &mut last[datum];
            if mode.writes() {
                before.extend(if readers.is_empty() { writer.as_slice() } else { readers.as_slice() });
                (*writer, *readers) = (Some(at), Vec::new());
            } else {
                before.extend(*writer);
                readers.extend((readers.last() != Some(&at)).then_some(at));
            }
        }
        before.sort_unstable();
        before.dedup();
        predecessors.push(before);
    }
    (predecessors, versions)
}
