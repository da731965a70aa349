//! Builds runs by hand.

use std::ops::Range;
use superscalar_traces::{
    Activity, ActivityKind, Counter, Hazard, HazardEdge, Lane, LaneKind, Outcome, Plan, Task, TileIndex, Trace,
};

/// Returns the index of a name, which may be new.
fn place(names: &mut Vec<String>, name: &str) -> u32 {
    let known = names.iter().position(|other| other == name);
    known.unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    }) as u32
}

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
        let kernel = place(&mut self.trace.kernels, kernel);
        self.trace.tasks.push(Task {
            id: self.trace.tasks.len() as u64 + 1,
            kernel,
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

    /// Inserts the task that was added last at this line of the program.
    pub fn site(mut self, site: &str) -> Self {
        let site = place(&mut self.trace.sites, site);
        self.with(|task| task.site = Some(site))
    }

    /// Adds a plan for the tasks that are inserted at a line of the program in a time.
    pub fn plan(
        mut self,
        name: &str,
        site: &str,
        inserted: Range<u64>,
        predicted_ns: u64,
        links: &[(&str, u64)],
    ) -> Self {
        let traffic = links.iter().map(|&(link, bytes)| (self.name(link), bytes)).collect();
        let (name, site) = (self.name(name), Some(place(&mut self.trace.sites, site)));
        let (start_ns, inserted_ns, tile) = (inserted.start, Some(inserted.end), Vec::new());
        self.trace.plans.push(Plan { name, site, start_ns, inserted_ns, predicted_ns, tile, traffic });
        self
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
        place(&mut self.trace.names, name)
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
