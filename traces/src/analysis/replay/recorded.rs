//! The inputs of a replay, taken from a recorded run: tasks, hazards, the program, the costs.

use super::{
    Costs, Replay, WhatIfError,
    engine::{InsertionProgram, InsertionStep},
};
use superscalar_schedule::{PolicyName, ReadyTask, TaskId};

use crate::{
    LaneKind, Outcome, Trace,
    analysis::{
        insertion::Insertions,
        intervals::Interval,
        occupancy::{LaneTasks, NONE, Occupancy},
    },
    graph::{Graph, Lists},
};

/// The recorded length of a task.
struct TaskLength {
    /// Its own time, without that of nested tasks.
    own_ns: u64,
    kernel: u32,
    /// The outermost task that it is nested in, or [`NONE`].
    outer: u32,
}

/// The tasks of a run, as input of a schedule. Nested tasks are in the lists but are never run.
pub(super) struct RecordedRun {
    /// The task graph without hazards of nested tasks.
    graph: Graph,
    /// For each task its successors, in the order of insertion.
    pub(super) successors: Lists,
    pub(super) waits: Vec<u32>,
    priorities: Vec<i32>,
    /// For each task its index in the steps of the program; [`u32::MAX`] for nested tasks.
    numbers: Vec<u32>,
    /// The policy of the run if the file names a known one, otherwise `priority`.
    pub(super) policy: PolicyName,
    /// Whether some lanes are queues of devices.
    pub(super) has_queues: bool,
    /// For each task the group of lanes that can run it.
    pub(super) groups: Vec<u16>,
    /// Whether the task's body never ran.
    pub(super) is_cancelled: Vec<bool>,
    /// The lengths of the tasks.
    lengths: Vec<TaskLength>,
    kernels: Vec<String>,
    lanes: Vec<usize>,
    workers_group: Option<usize>,
    pub(super) program: InsertionProgram,
}

impl RecordedRun {
    pub(super) fn new(trace: &Trace, occupancy: &Occupancy, graph: &Graph, insertions: &Insertions) -> Self {
        let (of_lanes, lanes, workers_group) = groups(trace, occupancy);
        let is_nested: Vec<bool> = occupancy.inside.iter().map(|&outer| outer != NONE).collect();
        let is_followed = |&(to, from): &(u32, u32)| !is_nested[from as usize] && !is_nested[to as usize];
        let pairs: Vec<(u32, u32)> = graph.edges().filter(is_followed).collect();
        let graph = Graph::of_pairs(graph.len(), &pairs);
        let length = |(index, task): (usize, &crate::Task)| TaskLength {
            own_ns: occupancy.own_ns[index],
            kernel: task.kernel,
            outer: occupancy.inside[index],
        };
        let inserter = insertions.row.map(|row| &occupancy.rows[row]);
        let steps = steps(trace, inserter, insertions, &is_nested);
        let mut numbers = vec![u32::MAX; graph.len()];
        for (number, step) in (0..).zip(&steps) {
            numbers[step.task as usize] = number;
        }
        let mut successors = graph.successors();
        // The runtime releases successors in this order.
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
            lengths: trace.tasks.iter().enumerate().map(length).collect(),
            kernels: trace.kernels.clone(),
            lanes,
            workers_group,
            program: InsertionProgram {
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

    /// Returns the number of lanes of each group. `workers` replaces the recorded number of workers.
    pub(super) fn lanes_of_groups(&self, workers: Option<usize>) -> Vec<usize> {
        let mut lanes = self.lanes.clone();
        if let (Some(group), Some(workers)) = (self.workers_group, workers) {
            lanes[group] = workers;
        }
        lanes
    }

    /// Returns the task as a policy sees it.
    pub(super) fn ready(&self, task: u32) -> ReadyTask {
        ReadyTask::simulated(TaskId(self.numbers[task as usize].into()), self.priorities[task as usize])
    }

    /// Returns the length of each task with these speedups. A nested task has length zero; its time counts for the
    /// outer task.
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
        let mut lengths_ns = vec![0; self.lengths.len()];
        for (index, &TaskLength { own_ns, kernel, outer }) in self.lengths.iter().enumerate() {
            let factor = factors.get(kernel as usize).copied().unwrap_or(1.0);
            let whole = if outer == NONE { index } else { outer as usize };
            let length_ns = if factor == 1.0 { own_ns } else { (own_ns as f64 / factor).round() as u64 };
            lengths_ns[whole] = u64::saturating_add(lengths_ns[whole], length_ns);
        }
        Ok(lengths_ns)
    }

    /// Returns the length of the critical path with these task lengths.
    pub(super) fn path_ns(&self, lengths_ns: &[u64]) -> u64 {
        self.graph.chains_from(|task| lengths_ns[task as usize]).into_iter().max().unwrap_or(0)
    }
}

/// Returns the policy of the run. A merged file names the policy of each of its files.
fn policy(trace: &Trace) -> PolicyName {
    let mut names = trace.facts.iter().filter(|(key, _)| key == "policy" || key.ends_with(": policy"));
    let first = names.next().map(|(_, name)| name);
    let is_for_all = names.all(|(_, name)| Some(name) == first);
    first.filter(|_| is_for_all).and_then(|name| name.parse().ok()).unwrap_or(PolicyName::Priority)
}

/// Returns the group of each lane, the number of lanes of each group, and the group of the workers (the largest, if
/// there are several).
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

/// Returns the program: the duration of each insertion, and where the program waited for tasks.
fn steps(
    trace: &Trace,
    inserter: Option<&LaneTasks>,
    insertions: &Insertions,
    is_nested: &[bool],
) -> Vec<InsertionStep> {
    let mut ends_ns: Vec<u64> = trace.tasks.iter().map(|task| task.end_ns).collect();
    ends_ns.sort_unstable();
    let (mut ended, mut before_ns) = (0, None);
    // Each step with its duration, if known.
    let mut steps: Vec<(InsertionStep, Option<u64>)> = Vec::with_capacity(insertions.order.len());
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
            // All tasks had ended: since the end of the last one, only the program ran.
            Some(_) if in_flight == 0 => (Some(at_ns - last_end_ns), Some(0)),
            Some(_) => (None, Some(in_flight)),
        };
        steps.push((InsertionStep { task, takes_ns: 0, until }, takes_ns));
    }
    // The duration is not known where the program waited: use the median.
    let median_ns = median(steps.iter().filter_map(|step| step.1).collect());
    // Nested tasks are inserted within their outer tasks.
    steps.retain(|(step, _)| !is_nested[step.task as usize]);
    let step = |(step, takes_ns): (InsertionStep, Option<u64>)| InsertionStep {
        takes_ns: takes_ns.unwrap_or(median_ns),
        ..step
    };
    steps.into_iter().map(step).collect()
}

fn median(mut values: Vec<u64>) -> u64 {
    let middle = values.len() / 2;
    if values.is_empty() { 0 } else { *values.select_nth_unstable(middle).1 }
}

fn mean(values: &[u64]) -> u64 {
    (values.iter().map(|&value| u128::from(value)).sum::<u128>() / values.len().max(1) as u128) as u64
}

/// Returns the costs measured in a run.
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
