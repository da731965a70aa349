//! What of a recorded run a replay needs: tasks, hazards, the program, the costs.

use super::{
    Costs, Replay, WhatIfError,
    engine::{Program, Step},
};
use superscalar_schedule::{PolicyName, ReadyTask, TaskId};

use crate::{
    LaneKind, Outcome, Trace,
    analysis::{
        insertion::Insertions,
        intervals::Interval,
        occupancy::{NONE, Occupancy, Row},
    },
    graph::{Graph, Lists},
};

/// The tasks of a run, as a schedule sees them. One that is nested in another is there, but is never run.
pub(super) struct Items {
    /// Without hazards of parts.
    graph: Graph,
    /// For each task those that wait for it, in the order of insertion.
    pub(super) successors: Lists,
    pub(super) waits: Vec<u32>,
    priorities: Vec<i32>,
    /// For each task its place in the steps of the program; [`u32::MAX`] for parts of others.
    numbers: Vec<u32>,
    /// That of the run, if the file names it and it is one of the runtime's own; otherwise `priority`.
    pub(super) policy: PolicyName,
    /// Whether some lanes are queues of devices.
    pub(super) has_queues: bool,
    /// For each task the group of lanes that can run it.
    pub(super) groups: Vec<u16>,
    /// Whether the task's body never ran.
    pub(super) is_cancelled: Vec<bool>,
    /// For each task its own time and its kernel, and which task it is a part of, or [`NONE`].
    parts: Vec<(u64, u32, u32)>,
    kernels: Vec<String>,
    lanes: Vec<usize>,
    workers_group: Option<usize>,
    pub(super) program: Program,
}

impl Items {
    pub(super) fn new(trace: &Trace, occupancy: &Occupancy, graph: &Graph, insertions: &Insertions) -> Self {
        let (of_lanes, lanes, workers_group) = groups(trace, occupancy);
        let is_part: Vec<bool> = occupancy.inside.iter().map(|&outer| outer != NONE).collect();
        let is_followed = |&(to, from): &(u32, u32)| !is_part[from as usize] && !is_part[to as usize];
        let pairs: Vec<(u32, u32)> = graph.edges().filter(is_followed).collect();
        let graph = Graph::of_pairs(graph.len(), &pairs);
        let part =
            |(place, task): (usize, &crate::Task)| (occupancy.own_ns[place], task.kernel, occupancy.inside[place]);
        let inserter = insertions.row.map(|row| &occupancy.rows[row]);
        let steps = steps(trace, inserter, insertions, &is_part);
        let mut numbers = vec![u32::MAX; graph.len()];
        for (number, step) in (0..).zip(&steps) {
            numbers[step.task as usize] = number;
        }
        let mut successors = graph.successors();
        // So the runtime releases them.
        successors.sort_by_key(|task| numbers[task as usize]);
        Self {
            successors,
            numbers,
            policy: policy(trace),
            has_queues: occupancy.rows.iter().any(|row| trace.lanes[row.lane as usize].kind == LaneKind::Queue),
            waits: (0..graph.len() as u32).map(|task| graph.predecessors(task).len() as u32).collect(),
            graph,
            priorities: trace.tasks.iter().map(|task| task.priority).collect(),
            groups: trace.tasks.iter().map(|task| of_lanes.get(task.lane as usize).copied().unwrap_or(0)).collect(),
            is_cancelled: trace.tasks.iter().map(|task| task.outcome == Outcome::Cancelled).collect(),
            parts: trace.tasks.iter().enumerate().map(part).collect(),
            kernels: trace.kernels.clone(),
            lanes,
            workers_group,
            program: Program {
                steps,
                window: trace.window,
                inserter: inserter.map(|row| of_lanes[row.lane as usize]),
                is_first_lanes: false,
            },
        }
    }

    pub(super) fn workers(&self) -> usize {
        self.workers_group.map_or(0, |group| self.lanes[group])
    }

    /// The lanes of each group.
    pub(super) fn places(&self, workers: Option<usize>) -> Vec<usize> {
        let mut lanes = self.lanes.clone();
        if let (Some(group), Some(workers)) = (self.workers_group, workers) {
            lanes[group] = workers;
        }
        lanes
    }

    /// The task as a policy sees it.
    pub(super) fn ready(&self, task: u32) -> ReadyTask {
        ReadyTask::simulated(TaskId(self.numbers[task as usize].into()), self.priorities[task as usize])
    }

    /// How long each task takes, with these kernels faster; zero for a part of another, which counts there.
    pub(super) fn lengths_ns(&self, speedups: &[(String, f64)]) -> Result<Vec<u64>, WhatIfError> {
        let mut factors = vec![1.0; self.kernels.len()];
        for (name, factor) in speedups {
            if !(factor.is_finite() && *factor > 0.0) {
                return Err(WhatIfError::Factor { name: name.clone(), factor: *factor });
            }
            let Some(kernel) = self.kernels.iter().position(|kernel| kernel == name) else {
                return Err(WhatIfError::UnknownKernel { name: name.clone(), known: self.kernels.clone() });
            };
            factors[kernel] *= factor;
        }
        let mut lengths_ns = vec![0; self.parts.len()];
        for (place, &(own_ns, kernel, outer)) in self.parts.iter().enumerate() {
            let factor = factors.get(kernel as usize).copied().unwrap_or(1.0);
            let whole = if outer == NONE { place } else { outer as usize };
            let length_ns = if factor == 1.0 { own_ns } else { (own_ns as f64 / factor).round() as u64 };
            lengths_ns[whole] = u64::saturating_add(lengths_ns[whole], length_ns);
        }
        Ok(lengths_ns)
    }

    /// The critical path with these lengths.
    pub(super) fn path_ns(&self, lengths_ns: &[u64]) -> u64 {
        self.graph.chains_from(|task| lengths_ns[task as usize]).into_iter().max().unwrap_or(0)
    }
}

/// The policy of the run. A merged file names one for each of its own.
fn policy(trace: &Trace) -> PolicyName {
    let mut names = trace.facts.iter().filter(|(key, _)| key == "policy" || key.ends_with(": policy"));
    let first = names.next().map(|(_, name)| name);
    let is_for_all = names.all(|(_, name)| Some(name) == first);
    first.filter(|_| is_for_all).and_then(|name| name.parse().ok()).unwrap_or(PolicyName::Priority)
}

/// For each lane its group; the lanes of each group that run tasks; and the group of the workers: the largest, if several are.
fn groups(trace: &Trace, occupancy: &Occupancy) -> (Vec<u16>, Vec<usize>, Option<usize>) {
    let groups = occupancy.groups(trace);
    let mut of_lanes = vec![0; trace.lanes.len()];
    for (place, rows) in groups.iter().enumerate() {
        rows.iter().for_each(|row| of_lanes[row.lane as usize] = u16::try_from(place).unwrap_or(u16::MAX));
    }
    let lanes: Vec<usize> = groups.iter().map(|rows| rows.len().min(Replay::WORKERS_MAX)).collect();
    let is_workers = |place: &usize| trace.lanes[groups[*place][0].lane as usize].kind == LaneKind::Worker;
    let workers = (0..groups.len()).filter(is_workers);
    let largest = workers.max_by_key(|&place| (lanes[place], std::cmp::Reverse(place)));
    (of_lanes, lanes, largest)
}

/// The program: what each insertion took, and where the program waited for tasks.
fn steps(trace: &Trace, inserter: Option<&Row>, insertions: &Insertions, is_part: &[bool]) -> Vec<Step> {
    let mut ends_ns: Vec<u64> = trace.tasks.iter().map(|task| task.end_ns).collect();
    ends_ns.sort_unstable();
    let (mut ended, mut before_ns) = (0, None);
    // Each with what it takes, if that is known.
    let mut steps: Vec<(Step, Option<u64>)> = Vec::with_capacity(insertions.order.len());
    let mut busy = inserter.map_or(&[][..], |row| &row.busy).iter().peekable();
    for (place, &task) in insertions.order.iter().enumerate() {
        let at_ns = insertions.of(task);
        let since_ns = before_ns.replace(at_ns).unwrap_or(at_ns);
        while ends_ns.get(ended).is_some_and(|&end_ns| end_ns <= at_ns) {
            ended += 1;
        }
        let in_flight = place.saturating_sub(ended) as u64;
        // The last task that the inserting thread ran since the insertion before.
        let mut helped_until_ns = None;
        while let Some((_, end_ns)) = busy.next_if(|(_, end_ns)| *end_ns <= at_ns) {
            helped_until_ns = Some(*end_ns).filter(|&end_ns| end_ns > since_ns);
        }
        let was_full = insertions.full.within_ns((since_ns, at_ns)) > 0;
        let last_end_ns = ended.checked_sub(1).map_or(0, |last| ends_ns[last]);
        let (takes_ns, until) = match helped_until_ns {
            _ if was_full => (None, None),
            None => (Some(at_ns - since_ns), None),
            // All were done: from the end of the last on, the program ran alone.
            Some(_) if in_flight == 0 => (Some(at_ns - last_end_ns), Some(0)),
            Some(_) => (None, Some(in_flight)),
        };
        steps.push((Step { task, takes_ns: 0, until }, takes_ns));
    }
    // What an insertion took is not known where the program waited: the usual is taken.
    let usual_ns = median(steps.iter().filter_map(|step| step.1).collect());
    // Those that are parts of others take place in those.
    steps.retain(|(step, _)| !is_part[step.task as usize]);
    let step = |(step, takes_ns): (Step, Option<u64>)| Step { takes_ns: takes_ns.unwrap_or(usual_ns), ..step };
    steps.into_iter().map(step).collect()
}

fn median(mut values: Vec<u64>) -> u64 {
    let middle = values.len() / 2;
    if values.is_empty() { 0 } else { *values.select_nth_unstable(middle).1 }
}

fn mean(values: &[u64]) -> u64 {
    (values.iter().map(|&value| u128::from(value)).sum::<u128>() / values.len().max(1) as u128) as u64
}

/// The costs that a run shows.
pub(super) fn costs(trace: &Trace, occupancy: &Occupancy, graph: &Graph, insertions: &Insertions) -> Costs {
    let (mut dispatch, mut wake) = (Vec::new(), Vec::new());
    for (place, row) in occupancy.rows.iter().enumerate() {
        let mut before_ns = None;
        for &task in row.tasks.iter().filter(|&&task| occupancy.inside[task as usize] == NONE) {
            let (start_ns, end_ns) = (trace.tasks[task as usize].start_ns, trace.tasks[task as usize].end_ns);
            let Some(idle_ns) = before_ns.replace(end_ns) else { continue };
            let gap: Interval = (idle_ns, start_ns);
            if gap.0 > gap.1 || (insertions.row == Some(place) && !insertions.within(gap).is_empty()) {
                continue;
            }
            let released = graph.releaser(trace, task);
            let released_ns = released.map_or(0, |from| trace.tasks[from as usize].end_ns);
            let ready_ns = released_ns.max(insertions.of(task));
            match ready_ns <= idle_ns {
                true => dispatch.push(start_ns - idle_ns),
                false => wake.push(start_ns.saturating_sub(ready_ns)),
            }
        }
    }
    Costs { dispatch_ns: mean(&dispatch), wake_ns: median(wake), insertion: true }
}
