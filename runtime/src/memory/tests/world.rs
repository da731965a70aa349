//! A single-threaded model of the runtime around the directory. It has the rules by which tasks become ready, are
//! admitted, issued, reported and retired (`placement/mod.rs`, `placement/issue.rs`, `placement/task_memory.rs`), and
//! takes one step at a time in a chosen order.

use super::{
    choices::Choices,
    drivers::{Content, Drivers, ModelCopier, Operand, OperationState, Span, Work},
    program::{Program, RunsOn, Task, host_region},
};
use crate::{
    device::{DeviceError, DeviceRegion, Event, HostRegion},
    hazard::Mode,
    memory::{Admitted, Demand, Directory, EntryId, EntryRef, EntryUse, Segment},
};

/// The stage of a task.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum TaskStage {
    Inserted,
    /// Taken by its device.
    Taken,
    Issued(Event),
    /// Running on the host.
    Running,
    /// Its own work has ended; predecessors may be unfinished.
    Ended,
    Retired,
}

#[derive(Debug)]
pub(super) struct TaskRun {
    pub(super) stage: TaskStage,
    pub(super) event: Option<Event>,
    pub(super) failure: Option<DeviceError>,
    pub(super) uses: Vec<EntryUse>,
    /// Whether its operands are pinned on the device.
    pub(super) holds: bool,
    pub(super) scratch: Option<Segment>,
    /// Number of copies that it waits for on the host.
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
    /// Whether work has finished since the waiting task was tried.
    pub(super) is_woken: bool,
    pub(super) admitted: Option<(usize, Admitted)>,
    pub(super) in_flight: usize,
    next_queue: u16,
    knows_loss: bool,
    /// Tasks that were reported and are still to be completed.
    completions: Vec<usize>,
}

/// A possible next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ModelStep {
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
    /// The tasks of the program, and for each datum one that brings it to the host.
    tasks: Vec<Task>,
    predecessors: Vec<Vec<usize>>,
    /// The version that each use must find.
    versions: Vec<Vec<Content>>,
    pub(super) runs: Vec<TaskRun>,
    pub(super) data: Vec<Datum>,
    pub(super) issuers: Vec<Issuer>,
    pub(super) drivers: Drivers,
    pub(super) directory: Directory,
    pub(super) losses_left: usize,
    /// Whether tasks may fail, because something went wrong or was too large.
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
        let home = |at| Task { runs_on: RunsOn::Host, uses: vec![(at, Mode::ReadWrite)], scratch: 0, columns: None };
        let tasks: Vec<Task> = program.tasks.iter().cloned().chain((0..data.len()).map(home)).collect();
        let (predecessors, versions) = hazards(&tasks, data.len());
        let run = |_| TaskRun {
            stage: TaskStage::Inserted,
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
        self.runs[task].stage == TaskStage::Retired
    }

    /// Returns whether the device's issuer can take the task.
    fn can_take(&self, device: usize, task: usize) -> bool {
        let can_wait = |event: Event| {
            let other = usize::from(event.device);
            other == device || self.program.can_wait[device][other]
        };
        let is_settled = |&before: &usize| self.is_retired(before) || self.runs[before].event.is_some_and(can_wait);
        self.tasks[task].runs_on == RunsOn::Device(device)
            && self.runs[task].stage == TaskStage::Inserted
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

    /// Lists all possible next steps. There are none if the program is over or stuck.
    pub(super) fn steps(&self, steps: &mut Vec<ModelStep>) {
        steps.clear();
        for (device, issuer) in self.issuers.iter().enumerate() {
            for (number, queue) in self.drivers.queues[device].iter().enumerate() {
                if self.drivers.is_ready(device, number) {
                    steps.push(ModelStep::Execute(device, number));
                }
                if queue.reported < queue.ended && issuer.admitted.is_none() {
                    steps.push(ModelStep::Report(device, number));
                }
            }
            let next = [
                (!issuer.completions.is_empty(), ModelStep::Complete(device)),
                (issuer.admitted.is_some(), ModelStep::Issue(device)),
                (self.can_admit(device), ModelStep::Admit(device)),
            ];
            steps.extend(next.into_iter().filter(|one| one.0).map(|one| one.1));
        }
        for (at, (task, run)) in self.tasks.iter().zip(&self.runs).enumerate() {
            if run.stage == TaskStage::Running {
                steps.push(ModelStep::Finish(at));
            } else if task.runs_on == RunsOn::Host && run.stage == TaskStage::Inserted && run.fetching == 0 {
                let is_runnable = self.predecessors[at].iter().all(|&before| self.is_retired(before));
                steps.extend(is_runnable.then_some(ModelStep::Start(at)));
            }
        }
        for (at, datum) in self.data.iter().enumerate() {
            if !datum.is_closed && self.is_retired(self.program.tasks.len() + at) {
                steps.push(ModelStep::Close(at));
            }
        }
        if self.losses_left > 0 && !steps.is_empty() {
            steps.extend((0..self.issuers.len()).filter(|&at| !self.drivers.is_lost[at]).map(ModelStep::Lose));
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.data.iter().all(|datum| datum.is_closed)
    }

    pub(super) fn take(&mut self, choices: &mut dyn Choices, step: ModelStep) {
        match step {
            ModelStep::Execute(device, queue) => self.drivers.execute(choices, device, queue),
            ModelStep::Report(device, queue) => self.report(device, queue),
            ModelStep::Complete(device) => {
                let task = self.issuers[device].completions.remove(0);
                self.end(task, None);
                self.wake_all();
            }
            ModelStep::Admit(device) => {
                self.admit(choices, device);
                if !self.program.is_split && self.issuers[device].admitted.is_some() {
                    self.issue(choices, device);
                }
            }
            ModelStep::Issue(device) => self.issue(choices, device),
            ModelStep::Start(task) => self.start(choices, task),
            ModelStep::Finish(task) => self.finish(task),
            ModelStep::Close(datum) => self.close(datum),
            ModelStep::Lose(device) => {
                self.losses_left -= 1;
                self.drivers.lose(device);
            }
        }
        self.is_excused |= self.drivers.had_fault;
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
            OperationState::Failed { is_lost: true } => Err(DeviceError::lost("lost")),
            OperationState::Failed { is_lost: false } => Err(DeviceError::new("failed")),
            OperationState::Queued | OperationState::Executed => Ok(()),
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
        let ended_copy = self.directory.copy_ended(event, result.map(|()| None)).expect("a copy in progress");
        for (slot, error) in ended_copy.waiting {
            if error.is_some() {
                self.check_blame(slot as usize, at);
            }
            let run = &mut self.runs[slot as usize];
            run.failure = error.or(run.failure.take());
            run.fetching -= 1;
        }
        self.wake_all();
    }

    /// Checks that a host task fails with a copy only if the copy was to bring what the task reads.
    fn check_blame(&self, task: usize, operation: usize) {
        let Work::Copy { to, .. } = self.drivers.operations[operation].work else { return };
        let brings =
            |&(datum, mode): &(usize, Mode)| mode.reads() && Drivers::host_index(&self.data[datum].host) == to.from;
        assert!(to.node == 0 && self.tasks[task].uses.iter().any(brings), "task {task} fails with an unrelated copy");
    }

    fn release(&mut self, device: usize, task: usize) {
        let run = &mut self.runs[task];
        run.holds = false;
        self.directory.release(device as u16, &run.uses, run.scratch.take());
    }

    /// Takes a task, or tries the waiting one again.
    fn admit(&mut self, choices: &mut dyn Choices, device: usize) {
        self.issuers[device].is_woken = false;
        let task = self.issuers[device].waiting.take().unwrap_or_else(|| {
            let ready: Vec<usize> = (0..self.tasks.len()).filter(|&task| self.can_take(device, task)).collect();
            ready[choices.pick(ready.len())]
        });
        self.runs[task].stage = TaskStage::Taken;
        let mut uses = Vec::new();
        for &(datum, mode) in &self.tasks[task].uses {
            let (number, datum) = (datum, &mut self.data[datum]);
            let entry = *datum.entry.get_or_insert_with(|| self.directory.open(datum.host));
            let (known, route) = (EntryRef { entry, is_resident: false }, self.program.routes[number]);
            self.directory.entry_at(known, datum.host, route);
            uses.push(EntryUse { entry, mode });
        }
        let scratch_bytes = self.tasks[task].scratch * super::program::UNIT;
        let scratch_bytes = if self.program.devices[device].memory.is_some() { scratch_bytes } else { 0 };
        let demand = Demand { device: device as u16, uses: &uses, scratch_bytes };
        if let Err(error) = self.directory.check_size(demand) {
            self.is_excused = true;
            return self.end(task, Some(error));
        }
        let mut asked = ModelCopier { program: self.program, drivers: &mut self.drivers, choices };
        let mut admitted = Admitted::default();
        let is_admitted = self.directory.admit(&mut asked, demand, &mut admitted);
        self.is_excused |= self.drivers.had_fault;
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
        let (is_lost, is_refused) = (self.drivers.is_lost[device], self.drivers.fault_happens(choices));
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
        (run.stage, run.event) = (TaskStage::Issued(event), Some(event));
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

    /// Tries to start a host task.
    fn start(&mut self, choices: &mut dyn Choices, task: usize) {
        let entry_of = |&(datum, mode): &(usize, Mode)| Some(EntryUse { entry: self.data[datum].entry?, mode });
        let uses: Vec<EntryUse> = self.tasks[task].uses.iter().filter_map(entry_of).collect();
        let mut asked = ModelCopier { program: self.program, drivers: &mut self.drivers, choices };
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
        self.runs[task].stage = TaskStage::Running;
        if self.is_healthy(task) {
            for &(datum, mode) in &self.tasks[task].uses {
                self.drivers.begin(task, Drivers::host_index(&self.data[datum].host), mode.writes());
            }
        }
    }

    fn reads_poison(&self, task: usize) -> bool {
        self.tasks[task].uses.iter().any(|&(datum, mode)| mode.reads() && self.data[datum].is_poisoned)
    }

    /// Returns whether the task's body is run.
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
                let home = Drivers::host_index(&self.data[datum].host);
                self.drivers.end(task, home);
                if mode.writes() {
                    self.drivers.host_data[home].content = Some((datum, task + 1));
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
        self.drivers.free(Drivers::host_index(&datum.host));
    }

    /// Ends a task's own work, and retires the tasks whose predecessors are all retired.
    fn end(&mut self, task: usize, failure: Option<DeviceError>) {
        let run = &mut self.runs[task];
        run.stage = TaskStage::Ended;
        run.failure = failure.or(run.failure.take());
        assert!(
            self.is_excused || self.runs[task].failure.is_none(),
            "failed without a fault: {:?}",
            self.runs[task].failure
        );
        for at in task..self.tasks.len() {
            let is_free = self.predecessors[at].iter().all(|&before| self.is_retired(before));
            if self.runs[at].stage == TaskStage::Ended && is_free {
                self.retire(at);
            }
        }
    }

    fn retire(&mut self, task: usize) {
        let is_good = self.is_healthy(task);
        let is_lost = self.runs[task].failure.as_ref().is_some_and(DeviceError::is_lost);
        let may_lose = self.reads_poison(task) || self.drivers.is_lost.contains(&true);
        assert!(!is_lost || may_lose, "task {task} reports a lost value, but no device was lost");
        self.runs[task].stage = TaskStage::Retired;
        assert!(!is_good || !self.drivers.misled.contains(&task), "task {task} has found a wrong value");
        for &(datum, mode) in &self.tasks[task].uses {
            if mode.writes() {
                self.data[datum].is_poisoned = !is_good;
            }
        }
    }
}

/// Returns each task's predecessors, and the version that each of its uses finds in serial execution.
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
