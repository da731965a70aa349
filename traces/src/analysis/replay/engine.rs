//! A discrete event simulation of workers, their ready tasks, and the inserting thread.
//!
//! There are three kinds of events, processed in order of time: a worker ends a task, an idle worker looks for a task,
//! an insertion is complete. At each event, the tasks that became ready are pushed first. Then the lane of the event
//! takes a task. Then one idle worker is woken for each ready task that is left, and looks for a task after the wake
//! time. So while a task is ready, either all workers are busy or one of them is about to look.

use super::{Costs, Planned, ready::ReadyTasks, recorded::RecordedRun};
use std::{cmp::Reverse, collections::BinaryHeap};

/// The program of the inserting thread.
#[derive(Clone)]
pub(super) struct InsertionProgram {
    pub(super) steps: Vec<InsertionStep>,
    /// The most tasks in flight.
    pub(super) window: Option<u64>,
    /// The group whose first worker's thread inserts; `None` if a separate thread inserts.
    pub(super) inserter: Option<u16>,
    /// Whether a task goes to the first lane of its group if no lane of the group made it ready.
    pub(super) is_first_lanes: bool,
}

/// One insertion.
#[derive(Clone, Copy)]
pub(super) struct InsertionStep {
    pub(super) task: u32,
    /// The duration of the insertion.
    pub(super) takes_ns: u64,
    /// Before the insertion, the program waits until at most this many tasks are in flight.
    pub(super) until: Option<u64>,
}

impl InsertionProgram {
    /// Returns the program with all tasks inserted at the start, on the first lanes.
    pub(super) fn at_once(&self) -> Self {
        let steps = self.steps.iter().map(|step| InsertionStep { takes_ns: 0, until: None, ..*step });
        Self { steps: steps.collect(), window: None, inserter: None, is_first_lanes: true }
    }
}

/// A worker or a queue: its group, and its index within the group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct LanePosition {
    group: u16,
    index: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ReplayEvent {
    TaskEnds(LanePosition, u32),
    Inserted,
    LooksForTask(LanePosition),
}

/// Equivalent lanes, which take each other's tasks.
struct ReplayGroup {
    ready: ReadyTasks,
    /// Lanes that neither run a task, nor insert, nor are about to look for a task.
    idle: Vec<u32>,
    /// The number of lanes that are about to look for a task.
    looking: usize,
}

/// The state of the inserting thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InserterState {
    /// An insertion is in progress.
    Inserting,
    /// It runs tasks or waits until at most this many tasks are in flight.
    Waiting(u64),
    /// All tasks are inserted.
    Done,
}

/// One replay.
pub(super) struct Engine<'a> {
    recorded: &'a RecordedRun,
    lengths_ns: &'a [u64],
    program: InsertionProgram,
    costs: Costs,
    groups: Vec<ReplayGroup>,
    /// Ordered by time; events at the same time in the order of their creation.
    events: BinaryHeap<Reverse<(u64, u64, ReplayEvent)>>,
    events_created: u64,
    /// For each task the number of predecessors that have not ended, plus one until it is inserted.
    waits: Vec<u32>,
    next_step: usize,
    stage: InserterState,
    in_flight: u64,
    now_ns: u64,
    starts: Vec<Planned>,
}

impl<'a> Engine<'a> {
    /// Creates a replay. `lanes` holds the number of lanes of each group.
    pub(super) fn new(
        recorded: &'a RecordedRun,
        lengths_ns: &'a [u64],
        lanes: &[usize],
        program: InsertionProgram,
        costs: Costs,
    ) -> Self {
        let group = |&lanes: &usize| ReplayGroup {
            ready: ReadyTasks::new(recorded.policy, lanes as u32),
            idle: (0..lanes as u32).rev().collect(),
            looking: 0,
        };
        Self {
            recorded,
            lengths_ns,
            program,
            costs,
            groups: lanes.iter().map(group).collect(),
            events: BinaryHeap::new(),
            events_created: 0,
            waits: recorded.waits.iter().map(|waits| waits + 1).collect(),
            next_step: 0,
            stage: InserterState::Inserting,
            in_flight: 0,
            now_ns: 0,
            starts: Vec::with_capacity(recorded.waits.len()),
        }
    }

    /// Runs the replay. Returns the tasks in the order in which they start.
    pub(super) fn run(mut self) -> Vec<Planned> {
        if let Some(inserter) = self.inserter() {
            self.groups[usize::from(inserter.group)].idle.retain(|&lane| lane != inserter.index);
        }
        self.go_on_inserting();
        self.wake_idle();
        loop {
            let Some(Reverse((at_ns, _, event))) = self.events.pop() else {
                if self.stage == InserterState::Done {
                    break;
                }
                // No event is left while the program waits: tasks in flight wait for one that is not inserted yet.
                self.force_insertion();
                self.wake_idle();
                continue;
            };
            self.now_ns = at_ns;
            match event {
                ReplayEvent::TaskEnds(lane, task) => self.end(lane, task),
                ReplayEvent::Inserted => {
                    self.insert();
                    self.go_on_inserting();
                }
                ReplayEvent::LooksForTask(lane) => {
                    self.groups[usize::from(lane.group)].looking -= 1;
                    self.seek(lane, 0);
                }
            }
            self.wake_idle();
        }
        self.starts
    }

    /// Returns the worker whose thread inserts.
    fn inserter(&self) -> Option<LanePosition> {
        self.program.inserter.map(|group| LanePosition { group, index: 0 })
    }

    fn schedule(&mut self, after_ns: u64, event: ReplayEvent) {
        self.events_created += 1;
        self.events.push(Reverse((self.now_ns.saturating_add(after_ns), self.events_created, event)));
    }

    /// Continues the program until an insertion takes time or the program has to wait.
    fn go_on_inserting(&mut self) {
        while let Some(&step) = self.program.steps.get(self.next_step) {
            let room = self.program.window.filter(|&window| self.in_flight >= window);
            let limit = match (step.until.filter(|&until| self.in_flight > until), room) {
                (Some(until), _) => Some(until),
                // As in the runtime, the program waits until an eighth of the window is free.
                (None, Some(window)) => Some(window - window.div_ceil(8)),
                (None, None) => None,
            };
            if let Some(limit) = limit {
                self.stage = InserterState::Waiting(limit);
                return self.seek_with_inserter();
            }
            self.stage = InserterState::Inserting;
            if step.takes_ns > 0 {
                return self.schedule(step.takes_ns, ReplayEvent::Inserted);
            }
            self.insert();
        }
        self.stage = InserterState::Done;
        self.seek_with_inserter();
    }

    fn seek_with_inserter(&mut self) {
        if let Some(inserter) = self.inserter() {
            self.seek(inserter, self.costs.dispatch_ns);
        }
    }

    fn force_insertion(&mut self) {
        if let Some(inserter) = self.inserter() {
            self.groups[usize::from(inserter.group)].idle.retain(|&lane| lane != inserter.index);
        }
        self.insert();
        self.go_on_inserting();
    }

    /// Completes the insertion of the next task.
    fn insert(&mut self) {
        let task = self.program.steps[self.next_step].task;
        self.next_step += 1;
        self.in_flight += 1;
        if self.is_released(task) {
            self.push(self.inserter(), task);
        }
    }

    /// Counts one completed precondition of a task. Returns whether it was the last.
    fn is_released(&mut self, task: u32) -> bool {
        let waits = &mut self.waits[task as usize];
        *waits -= 1;
        *waits == 0
    }

    /// Gives a ready task to the policy. `by` is the lane that made it ready.
    fn push(&mut self, by: Option<LanePosition>, task: u32) {
        let group = self.recorded.groups[task as usize];
        let lane = by.filter(|by| by.group == group).map(|by| by.index);
        let lane = lane.or(self.program.is_first_lanes.then_some(0));
        self.groups[usize::from(group)].ready.push(lane, self.recorded.ready(task), self.now_ns);
    }

    /// Ends a task. The lane may run one of its released successors directly, without pushing it. The runtime does this
    /// in runs without devices, within a scope, and not for tasks bound to a worker. (A trace contains neither scopes
    /// nor bindings.)
    fn end(&mut self, lane: LanePosition, task: u32) {
        self.in_flight -= 1;
        let (recorded, mut next) = (self.recorded, None);
        for &to in recorded.successors.of(task) {
            if !self.is_released(to) {
                continue;
            }
            let ready = &self.groups[usize::from(lane.group)].ready;
            let may_be_next = next.is_none() && !recorded.has_queues && recorded.groups[to as usize] == lane.group;
            if may_be_next && ready.hands_over(lane.index, &recorded.ready(to)) {
                next = Some(to);
            } else {
                self.push(Some(lane), to);
            }
        }
        if self.may_go_on() && self.inserter() != Some(lane) {
            let is_free = match self.inserter() {
                None => true,
                Some(inserter) => {
                    let idle = &mut self.groups[usize::from(inserter.group)].idle;
                    let at = idle.iter().position(|&lane| lane == inserter.index);
                    at.map(|at| idle.swap_remove(at)).is_some()
                }
            };
            if is_free {
                self.go_on_inserting();
            }
        }
        match next {
            // The inserting thread continues to insert first.
            Some(next) if self.inserter() == Some(lane) && self.may_go_on() => {
                self.push(Some(lane), next);
                self.go_on_inserting();
            }
            Some(next) => self.start(lane, next, self.costs.dispatch_ns),
            None => self.seek(lane, self.costs.dispatch_ns),
        }
    }

    /// Returns whether the program was waiting and its condition now holds.
    fn may_go_on(&self) -> bool {
        matches!(self.stage, InserterState::Waiting(limit) if self.in_flight <= limit)
    }

    /// Lets a free worker take a task, which starts `lead_ns` later; without a ready task it becomes idle. The
    /// inserting worker inserts first if it may.
    fn seek(&mut self, lane: LanePosition, lead_ns: u64) {
        if self.inserter() == Some(lane) && self.may_go_on() {
            return self.go_on_inserting();
        }
        let group = &mut self.groups[usize::from(lane.group)];
        let Some(number) = group.ready.take(lane.index) else {
            return group.idle.push(lane.index);
        };
        self.start(lane, self.program.steps[number as usize].task, lead_ns);
    }

    /// Starts a task `lead_ns` from now.
    fn start(&mut self, lane: LanePosition, task: u32, lead_ns: u64) {
        let lead_ns = if self.recorded.is_cancelled[task as usize] { 0 } else { lead_ns };
        let start_ns = self.now_ns.saturating_add(lead_ns);
        let end_ns = start_ns.saturating_add(self.lengths_ns[task as usize]);
        self.starts.push(Planned { task, start_ns, end_ns });
        self.schedule(end_ns - self.now_ns, ReplayEvent::TaskEnds(lane, task));
    }

    /// Wakes idle workers while there are more ready tasks than workers about to look.
    fn wake_idle(&mut self) {
        for group in 0..self.groups.len() {
            while self.groups[group].looking < self.groups[group].ready.len() {
                let Some(lane) = self.groups[group].idle.pop() else { break };
                self.groups[group].looking += 1;
                self.schedule(
                    self.costs.wake_ns,
                    ReplayEvent::LooksForTask(LanePosition { group: group as u16, index: lane }),
                );
            }
        }
    }
}
