//! Virtual time: workers, their ready tasks, and the thread that inserts.
//!
//! Three kinds of event, in the order of time: a worker ends a task, an idle worker looks for one, an insertion is through. At
//! each the tasks that became ready are pushed first; then who has the event takes a task; then as many idle workers are told
//! to look as there are ready tasks left, each after the wake time. So no task lies ready while a worker neither works nor is
//! about to look.

use super::{Costs, Planned, ready::Ready, recorded::Items};
use std::{cmp::Reverse, collections::BinaryHeap};

/// What the inserting thread does.
#[derive(Clone)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    /// The most tasks in flight.
    pub(super) window: Option<u64>,
    /// The group whose first worker's thread inserts; `None`: a thread apart.
    pub(super) inserter: Option<u16>,
    /// Whether what nobody of a group has made ready is its first lane's.
    pub(super) is_first_lanes: bool,
}

/// One insertion.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) task: u32,
    /// How long it takes.
    pub(super) takes_ns: u64,
    /// Before it, the program waits until no more tasks than this are in flight.
    pub(super) until: Option<u64>,
}

impl Program {
    /// Everything is there at the start, with the first lanes.
    pub(super) fn at_once(&self) -> Self {
        let steps = self.steps.iter().map(|step| Step { takes_ns: 0, until: None, ..*step });
        Self { steps: steps.collect(), window: None, inserter: None, is_first_lanes: true }
    }
}

/// A worker or a queue: its group, and its place in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    group: u16,
    place: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Ends(Place, u32),
    Inserted,
    Looks(Place),
}

/// Lanes that take one another's tasks.
struct Group {
    ready: Ready,
    /// Who neither works, nor inserts, nor is about to look.
    idle: Vec<u32>,
    /// How many are about to look.
    looking: usize,
}

/// What the inserting thread is at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// An insertion is under way.
    Inserting,
    /// It works, or waits, until no more tasks than this are in flight.
    Waiting(u64),
    /// It has inserted everything.
    Done,
}

/// One replay.
pub(super) struct Engine<'a> {
    items: &'a Items,
    lengths_ns: &'a [u64],
    program: Program,
    costs: Costs,
    groups: Vec<Group>,
    /// By time; at one moment, in the order in which they were made.
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    made: u64,
    /// For each task, how many predecessors have not ended, and one more until it is inserted.
    waits: Vec<u32>,
    next_step: usize,
    stage: Stage,
    in_flight: u64,
    now_ns: u64,
    starts: Vec<Planned>,
}

impl<'a> Engine<'a> {
    /// `places`: the lanes of each group.
    pub(super) fn new(
        items: &'a Items,
        lengths_ns: &'a [u64],
        places: &[usize],
        program: Program,
        costs: Costs,
    ) -> Self {
        let group = |&places: &usize| Group {
            ready: Ready::new(items.policy, places as u32),
            idle: (0..places as u32).rev().collect(),
            looking: 0,
        };
        Self {
            items,
            lengths_ns,
            program,
            costs,
            groups: places.iter().map(group).collect(),
            events: BinaryHeap::new(),
            made: 0,
            waits: items.waits.iter().map(|waits| waits + 1).collect(),
            next_step: 0,
            stage: Stage::Inserting,
            in_flight: 0,
            now_ns: 0,
            starts: Vec::with_capacity(items.waits.len()),
        }
    }

    /// The tasks as they start, in that order.
    pub(super) fn run(mut self) -> Vec<Planned> {
        if let Some(inserter) = self.inserter() {
            self.groups[usize::from(inserter.group)].idle.retain(|&place| place != inserter.place);
        }
        self.go_on_inserting();
        self.tell_idle();
        loop {
            let Some(Reverse((at_ns, _, event))) = self.events.pop() else {
                if self.stage == Stage::Done {
                    break;
                }
                // Nothing moves while the program waits: tasks in flight wait for one that is not inserted yet.
                self.force_insertion();
                self.tell_idle();
                continue;
            };
            self.now_ns = at_ns;
            match event {
                Event::Ends(place, task) => self.end(place, task),
                Event::Inserted => {
                    self.insert();
                    self.go_on_inserting();
                }
                Event::Looks(place) => {
                    self.groups[usize::from(place.group)].looking -= 1;
                    self.seek(place, 0);
                }
            }
            self.tell_idle();
        }
        self.starts
    }

    /// The worker whose thread inserts.
    fn inserter(&self) -> Option<Place> {
        self.program.inserter.map(|group| Place { group, place: 0 })
    }

    fn at(&mut self, after_ns: u64, event: Event) {
        self.made += 1;
        self.events.push(Reverse((self.now_ns.saturating_add(after_ns), self.made, event)));
    }

    /// The inserting thread goes on with its program as far as it takes no time.
    fn go_on_inserting(&mut self) {
        while let Some(&step) = self.program.steps.get(self.next_step) {
            let room = self.program.window.filter(|&window| self.in_flight >= window);
            let limit = match (step.until.filter(|&until| self.in_flight > until), room) {
                (Some(until), _) => Some(until),
                // As in the runtime, some room is awaited, not one task's.
                (None, Some(window)) => Some(window - window.div_ceil(8)),
                (None, None) => None,
            };
            if let Some(limit) = limit {
                self.stage = Stage::Waiting(limit);
                return self.seek_with_inserter();
            }
            self.stage = Stage::Inserting;
            if step.takes_ns > 0 {
                return self.at(step.takes_ns, Event::Inserted);
            }
            self.insert();
        }
        self.stage = Stage::Done;
        self.seek_with_inserter();
    }

    fn seek_with_inserter(&mut self) {
        if let Some(inserter) = self.inserter() {
            self.seek(inserter, self.costs.dispatch_ns);
        }
    }

    fn force_insertion(&mut self) {
        if let Some(inserter) = self.inserter() {
            self.groups[usize::from(inserter.group)].idle.retain(|&place| place != inserter.place);
        }
        self.insert();
        self.go_on_inserting();
    }

    /// The next task is in.
    fn insert(&mut self) {
        let task = self.program.steps[self.next_step].task;
        self.next_step += 1;
        self.in_flight += 1;
        if self.is_released(task) {
            self.push(self.inserter(), task);
        }
    }

    /// One thing less that a task waits for; says whether it was the last.
    fn is_released(&mut self, task: u32) -> bool {
        let waits = &mut self.waits[task as usize];
        *waits -= 1;
        *waits == 0
    }

    /// A task has become ready.
    fn push(&mut self, by: Option<Place>, task: u32) {
        let group = self.items.groups[task as usize];
        let lane = by.filter(|by| by.group == group).map(|by| by.place);
        let lane = lane.or(self.program.is_first_lanes.then_some(0));
        self.groups[usize::from(group)].ready.push(lane, self.items.ready(task), self.now_ns);
    }

    /// A task has ended. One of those that it has made ready may be next without being pushed: as in the runtime, which does so in runs without
    /// devices, within a scope, and not with tasks that are bound to a worker. (Of scopes and bound tasks a trace says nothing.)
    fn end(&mut self, place: Place, task: u32) {
        self.in_flight -= 1;
        let (items, mut next) = (self.items, None);
        for &to in items.successors.of(task) {
            if !self.is_released(to) {
                continue;
            }
            let ready = &self.groups[usize::from(place.group)].ready;
            let may_be_next = next.is_none() && !items.has_queues && items.groups[to as usize] == place.group;
            if may_be_next && ready.hands_over(place.place, &items.ready(to)) {
                next = Some(to);
            } else {
                self.push(Some(place), to);
            }
        }
        if self.may_go_on() && self.inserter() != Some(place) {
            let is_free = match self.inserter() {
                None => true,
                Some(inserter) => {
                    let idle = &mut self.groups[usize::from(inserter.group)].idle;
                    let at = idle.iter().position(|&place| place == inserter.place);
                    at.map(|at| idle.swap_remove(at)).is_some()
                }
            };
            if is_free {
                self.go_on_inserting();
            }
        }
        match next {
            // Who inserts goes on with that first.
            Some(next) if self.inserter() == Some(place) && self.may_go_on() => {
                self.push(Some(place), next);
                self.go_on_inserting();
            }
            Some(next) => self.start(place, next, self.costs.dispatch_ns),
            None => self.seek(place, self.costs.dispatch_ns),
        }
    }

    /// Whether the program waits, and need not any longer.
    fn may_go_on(&self) -> bool {
        matches!(self.stage, Stage::Waiting(limit) if self.in_flight <= limit)
    }

    /// A free worker takes a task, which begins a while later, or becomes idle. The inserting one first looks whether it may
    /// insert.
    fn seek(&mut self, place: Place, lead_ns: u64) {
        if self.inserter() == Some(place) && self.may_go_on() {
            return self.go_on_inserting();
        }
        let group = &mut self.groups[usize::from(place.group)];
        let Some(number) = group.ready.take(place.place, self.now_ns) else {
            return group.idle.push(place.place);
        };
        self.start(place, self.program.steps[number as usize].task, lead_ns);
    }

    /// A task begins a while later.
    fn start(&mut self, place: Place, task: u32, lead_ns: u64) {
        let lead_ns = if self.items.is_cancelled[task as usize] { 0 } else { lead_ns };
        let start_ns = self.now_ns.saturating_add(lead_ns);
        let end_ns = start_ns.saturating_add(self.lengths_ns[task as usize]);
        self.starts.push(Planned { task, start_ns, end_ns });
        self.at(end_ns - self.now_ns, Event::Ends(place, task));
    }

    /// Tells idle workers to look, as long as there are ready tasks that nobody is about to see.
    fn tell_idle(&mut self) {
        for at in 0..self.groups.len() {
            while self.groups[at].looking < self.groups[at].ready.len() {
                let Some(place) = self.groups[at].idle.pop() else { break };
                self.groups[at].looking += 1;
                self.at(self.costs.wake_ns, Event::Looks(Place { group: at as u16, place }));
            }
        }
    }
}
