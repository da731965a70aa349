//! An outlook for tests of policies: tasks have given costs, and the test advances the time.

use super::{BlasLevel, Forecast, Outlook, Place, Policy, ReadyTask, Resource, TaskFilter, TaskId, Transfers};
use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, VecDeque},
};

/// The properties of one task.
#[derive(Clone, Debug)]
pub(super) struct MockTask {
    /// By resource; `None` if the task cannot run there.
    pub(super) forecasts: Vec<Option<Forecast>>,
    pub(super) level: Option<BlasLevel>,
    pub(super) home: Option<Resource>,
    pub(super) owner: Option<Resource>,
}

impl MockTask {
    /// A task with these computation times, by resource.
    pub(super) fn with_times_ns(ns: &[f64]) -> Self {
        let forecast = |&computation_ns: &f64| Some(Forecast { computation_ns, ..Forecast::default() });
        Self { forecasts: ns.iter().map(forecast).collect(), level: Some(BlasLevel::Three), home: None, owner: None }
    }

    pub(super) fn homed(self, home: Resource) -> Self {
        Self { home: Some(home), ..self }
    }

    pub(super) fn owned_by(self, owner: Resource) -> Self {
        Self { owner: Some(owner), ..self }
    }

    pub(super) fn level(self, level: BlasLevel) -> Self {
        Self { level: Some(level), ..self }
    }

    pub(super) fn not_on(mut self, on: Resource) -> Self {
        self.forecasts[usize::from(on.0)] = None;
        self
    }

    pub(super) fn with(mut self, on: Resource, change: impl FnMut(&mut Forecast)) -> Self {
        self.forecasts[usize::from(on.0)].iter_mut().for_each(change);
        self
    }
}

/// An outlook whose places are the workers, followed by one issuer per device.
pub(super) struct MockOutlook {
    pub(super) workers: usize,
    pub(super) resources: u16,
    pub(super) tasks: RefCell<BTreeMap<TaskId, MockTask>>,
    pub(super) now_ns: Cell<u64>,
    /// Whether devices have room for the copies.
    pub(super) has_room: Cell<bool>,
}

impl Outlook for MockOutlook {
    fn resources(&self) -> u16 {
        self.resources
    }

    fn workers(&self) -> usize {
        self.workers
    }

    fn resource_at(&self, place: Place) -> Resource {
        Resource((place.0 + 1).saturating_sub(self.workers as u32) as u16)
    }

    fn forecast(&self, task: &ReadyTask, on: Resource) -> Option<Forecast> {
        self.tasks.borrow()[&task.id()].forecasts[usize::from(on.0)]
    }

    fn moves(&self, task: &ReadyTask, on: Resource) -> Transfers {
        let has_room = self.has_room.get();
        self.forecast(task, on).map_or(Transfers::NEVER, |forecast| Transfers { has_room, ..forecast.moves() })
    }

    fn is_lost(&self, on: Resource) -> bool {
        self.tasks.borrow().values().all(|work| work.forecasts[usize::from(on.0)].is_none())
    }

    fn level(&self, task: &ReadyTask) -> Option<BlasLevel> {
        self.tasks.borrow()[&task.id()].level
    }

    fn home(&self, task: &ReadyTask) -> Option<Resource> {
        self.tasks.borrow()[&task.id()].home
    }

    fn owner(&self, task: &ReadyTask) -> Option<Resource> {
        self.tasks.borrow()[&task.id()].owner
    }

    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }
}

impl MockOutlook {
    pub(super) fn new(workers: usize, devices: u16) -> Self {
        Self {
            workers,
            resources: devices + 1,
            tasks: RefCell::default(),
            now_ns: Cell::new(0),
            has_room: Cell::new(true),
        }
    }

    pub(super) fn places(&self) -> usize {
        self.workers + usize::from(self.resources) - 1
    }

    pub(super) fn device(&self, device: u32) -> Place {
        Place(self.workers as u32 + device)
    }

    pub(super) fn push(&self, policy: &dyn Policy, id: u64, priority: i32, work: MockTask) {
        self.tasks.borrow_mut().insert(TaskId(id), work);
        policy.push(Place(0), ReadyTask::simulated(TaskId(id), priority), self);
    }

    /// Returns the number of the task that this place gets.
    pub(super) fn take(&self, policy: &dyn Policy, by: Place) -> Option<u64> {
        let accepts = |task: &ReadyTask| self.forecast(task, self.resource_at(by)).is_some();
        let want = &TaskFilter::of(&accepts).with(Some(self));
        policy.take(by, want).or_else(|| policy.steal(by, want)).map(|task| task.id().0)
    }

    /// Runs all pushed tasks, each as long as `takes_ns` says, with devices taking `depth` tasks ahead. Returns the
    /// tasks in the order in which they ended.
    pub(super) fn run(
        &self,
        policy: &dyn Policy,
        depth: usize,
        takes_ns: impl Fn(u64, Resource) -> u64,
    ) -> Vec<FinishedTask> {
        let mut ahead: Vec<VecDeque<(u64, u64)>> = vec![VecDeque::new(); self.places()];
        let mut ran = Vec::new();
        loop {
            // Devices look first, because a policy must not let the first caller take tasks that belong to others.
            for place in (0..self.places()).rev() {
                let (by, on) = (Place(place as u32), self.resource_at(Place(place as u32)));
                let depth = if on == Resource::HOST { 1 } else { depth };
                while ahead[place].len() < depth {
                    let Some(task) = self.take(policy, by) else { break };
                    let begin_ns = ahead[place].back().map_or(self.now_ns.get(), |&(_, end_ns)| end_ns);
                    ahead[place].push_back((task, begin_ns + takes_ns(task, on)));
                }
            }
            let next = (0..self.places()).filter_map(|place| Some((ahead[place].front()?.1, place))).min();
            let Some((end_ns, place)) = next else { return ran };
            self.now_ns.set(end_ns);
            let Some((task, _)) = ahead[place].pop_front() else { return ran };
            policy.ended(&[TaskId(task)], self);
            ran.push(FinishedTask { task, on: self.resource_at(Place(place as u32)), end_ns });
        }
    }
}

/// A task that has run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FinishedTask {
    pub(super) task: u64,
    pub(super) on: Resource,
    pub(super) end_ns: u64,
}

/// Returns how many of the tasks ran on this resource.
pub(super) fn count_on(ran: &[FinishedTask], on: Resource) -> usize {
    ran.iter().filter(|one| one.on == on).count()
}
