//! Builds runs by hand.

use superscalar_traces::{
    Activity, ActivityKind, Counter, Hazard, HazardEdge, Lane, LaneKind, Outcome, Task, TileIndex, Trace,
};

/// A run under construction. Tasks are numbered in the order in which they are added, and sorted at the end.
#[derive(Default)]
pub struct Run {
    trace: Trace,
    hazards: Vec<(u32, u32)>,
}

impl Run {
    /// Creates a run with lanes `worker 0`, `worker 1`, ….
    pub fn workers(workers: usize) -> Self {
        (0..workers)
            .fold(Self::default(), |run, worker| run.lane(&format!("worker {worker}"), "workers", LaneKind::Worker))
    }

    pub fn lane(mut self, name: &str, process: &str, kind: LaneKind) -> Self {
        self.trace.lanes.push(Lane { name: name.to_owned(), process: process.to_owned(), kind });
        self
    }

    /// Adds a task with the next number, from 1 on.
    pub fn task(mut self, kernel: &str, lane: u32, start_ns: u64, end_ns: u64) -> Self {
        let known = self.trace.kernels.iter().position(|name| name == kernel);
        let kernel = known.unwrap_or_else(|| {
            self.trace.kernels.push(kernel.to_owned());
            self.trace.kernels.len() - 1
        });
        self.trace.tasks.push(Task {
            id: self.trace.tasks.len() as u64 + 1,
            kernel: kernel as u32,
            site: None,
            lane,
            start_ns,
            end_ns,
            inserted_ns: None,
            priority: 0,
            index: TileIndex::default(),
            outcome: Outcome::Completed,
            level: 0,
            flops: 0.0,
            bytes: 0.0,
        });
        self
    }

    /// Changes the task that was added last.
    pub fn with(mut self, change: impl FnOnce(&mut Task)) -> Self {
        change(self.trace.tasks.last_mut().expect("there is a task"));
        self
    }

    /// Sets the insertion time of the task that was added last.
    pub fn inserted(self, at_ns: u64) -> Self {
        self.with(|task| task.inserted_ns = Some(at_ns))
    }

    /// Adds hazards from these tasks, given by number, to the task that was added last.
    pub fn after(mut self, tasks: &[u32]) -> Self {
        let to = self.trace.tasks.len() as u32;
        self.hazards.extend(tasks.iter().map(|&from| (from, to)));
        self
    }

    pub fn activity(mut self, kind: ActivityKind, name: &str, lane: u32, start_ns: u64, end_ns: u64) -> Self {
        let name = self.name(name);
        let (bytes, link, task) = (0, None, None);
        self.trace.activities.push(Activity { kind, name, lane, start_ns, end_ns, bytes, link, task });
        self
    }

    /// Changes the activity that was added last.
    pub fn with_activity(mut self, change: impl FnOnce(&mut Activity)) -> Self {
        change(self.trace.activities.last_mut().expect("there is an activity"));
        self
    }

    /// Sets the memory nodes and bytes of the activity that was added last.
    pub fn between(mut self, from: &str, to: &str, bytes: u64) -> Self {
        let link = Some((self.name(from), self.name(to)));
        self.with_activity(|activity| (activity.link, activity.bytes) = (link, bytes))
    }

    pub fn counter(mut self, name: &str, samples: &[(u64, f64)]) -> Self {
        self.trace.counters.push(Counter { name: name.to_owned(), samples: samples.to_vec() });
        self
    }

    pub fn window(mut self, window: u64) -> Self {
        self.trace.window = Some(window);
        self
    }

    fn name(&mut self, name: &str) -> u32 {
        let known = self.trace.names.iter().position(|other| other == name);
        let place = known.unwrap_or_else(|| {
            self.trace.names.push(name.to_owned());
            self.trace.names.len() - 1
        });
        place as u32
    }

    pub fn trace(mut self) -> Trace {
        self.trace.tasks.sort_by_key(|task| (task.start_ns, task.id));
        self.trace.activities.sort_by_key(|activity| activity.start_ns);
        let tasks = &self.trace.tasks;
        let place = |id: u32| tasks.iter().position(|task| task.id == u64::from(id)).expect("a task") as u32;
        let hazard = |&(from, to): &(u32, u32)| {
            let (from, to) = (place(from), place(to));
            HazardEdge { from, to, kind: Hazard::RaW, datum: 1 }
        };
        self.trace.hazards = self.hazards.iter().map(hazard).collect();
        self.trace.hazards.sort_by_key(|hazard| (hazard.to, hazard.from));
        self.trace
    }
}
