//! What-if predictions: the recorded task graph is scheduled again in virtual time.
//!
//! A [`Replay`] takes from a trace the inputs of a schedule, but not the recorded schedule itself:
//!
//! - **The graph** and the length of each task. A nested task (it ran while an outer one waited) is a part of the outer
//!   task: the outer one is replayed with its full length, and hazards of nested tasks are ignored.
//! - **The program.** One thread inserts the tasks in the recorded order. An insertion takes its recorded time: the
//!   time since the previous insertion, less what its thread meanwhile ran or waited for as a worker. If a worker's
//!   thread inserts, it runs no task meanwhile. When the window is full, it runs tasks until an eighth of the window is
//!   free. After the last insertion it is an ordinary worker. Where the program waited (the thread ran tasks between
//!   two insertions although the window had room), the replay waits until as few tasks are in flight as were when the
//!   program continued: none, at the end of a scope.
//! - **The scheduler.** The runtime's own policies (`superscalar-schedule`) run in virtual time: the policy of the run,
//!   if the file names a known one, otherwise `priority`. Queues of a device share their tasks and never take those of
//!   workers or of another device: a task stays on lanes of the kind and process that it ran on. So for policies that
//!   choose the resource of a task, only the order within a resource is replayed.
//! - **The costs.** Before each task its worker spends the *dispatch* time: the mean gap between two tasks of a lane of
//!   which the second was ready when the first ended. (The mean and not the median, because task lengths include
//!   interruptions too.) An idle worker sees a new task after the *wake* time: the median time from the readiness of a
//!   task to its start on a lane that was idle at that moment.
//!
//! Tasks keep their recorded lengths. With another number of workers they would change a little, because caches, memory
//! bandwidth and heat are shared by more or fewer. Transfers are not replayed: the time that a task waited for data is
//! in no task length, so it is left out.
//!
//! **Accuracy.** The replay reproduces the recorded run closely. Predictions for other numbers of workers are off where
//! the task lengths depend on how many workers are busy; measured: docs/measurements/2026-11-28-constants.md.

mod engine;
mod ready;
mod recorded;

use super::{
    insertion::Insertions,
    kernels::Kernels,
    occupancy::Occupancy,
    ratio,
    table::{TextTable, ms, percent},
};
use crate::{Trace, graph::Graph};
use engine::Engine;
use recorded::RecordedRun;
use serde::Serialize;
use std::fmt;

/// The number of kernels, those with the most time, that the summary asks about.
const KERNELS_ASKED_MAX: usize = 3;

/// A what-if question: other numbers of workers, faster kernels. The default is the run as recorded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WhatIf {
    /// The number of workers; `None` keeps the recorded number. Queues are not changed.
    pub workers: Option<usize>,
    /// Kernels by name, with their speedup: 2 halves the time of each of their tasks.
    pub speedups: Vec<(String, f64)>,
}

/// The error of a question that has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WhatIfError {
    /// No task has this kernel.
    #[error("the trace has no kernel `{name}`; its kernels are {}", .known.join(", "))]
    UnknownKernel {
        /// The requested name.
        name: String,
        /// The kernels of the trace.
        known: Vec<String>,
    },
    /// A factor is not a positive number.
    #[error("the speedup of `{name}` is {factor}; expected a positive finite number")]
    Factor {
        /// The kernel.
        name: String,
        /// The requested speedup.
        factor: f64,
    },
    /// The number of workers is not from 1 to [`Replay::WORKERS_MAX`].
    #[error("{0} workers requested; expected 1 to {max}", max = Replay::WORKERS_MAX)]
    Workers(usize),
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prediction {
    /// The question in words: `as recorded`, `4 workers`, `gemm 2 x`.
    pub question: String,
    /// The number of workers.
    pub workers: usize,
    /// The predicted makespan.
    pub makespan_ns: u64,
    /// The recorded makespan over the predicted one; above 1 the run would be faster.
    pub speedup: f64,
    /// The predicted fraction of the lanes' time that is spent in tasks, 0 to 1.
    pub utilisation: f64,
    /// The length of the critical path with the requested speedups.
    pub path_ns: u64,
    /// The fraction of the predicted makespan that is the critical path, 0 to 1.
    pub path_share: f64,
}

/// A task of a predicted schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Planned {
    /// Index into [`Trace::tasks`].
    pub task: u32,
    /// When it starts.
    pub start_ns: u64,
    /// When it ends.
    pub end_ns: u64,
}

/// Predictions for common questions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WhatIfs {
    /// The replay of the run as recorded: the baseline of the other predictions, and a measure of the replay's
    /// accuracy.
    pub recorded: Prediction,
    /// The relative error of that replay's makespan: 0.01 is 1 % too long.
    pub error: f64,
    /// The costs that the replay adds to the task lengths.
    pub costs: Costs,
    /// Other numbers of workers, in ascending order.
    pub workers: Vec<Prediction>,
    /// Each of the kernels with the most time, at twice the speed.
    pub kernels: Vec<Prediction>,
}

/// The costs that a replay adds to the task lengths; see the [module documentation](self).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Costs {
    /// The dispatch time, spent before each task.
    pub dispatch_ns: u64,
    /// The wake time, from the readiness of a task until an idle worker sees it.
    pub wake_ns: u64,
    /// Whether insertions take their recorded time. If not, all tasks are inserted at the start, and there is no
    /// window.
    pub insertion: bool,
}

/// A recorded run that can be replayed.
///
/// ```
/// use superscalar_traces::{Trace, analysis::replay::{Replay, WhatIf}};
/// let nothing = Replay::new(&Trace::default()).predict(&WhatIf::default())?;
/// assert_eq!(nothing.makespan_ns, 0);
/// # Ok::<(), superscalar_traces::analysis::replay::WhatIfError>(())
/// ```
pub struct Replay {
    recorded: RecordedRun,
    costs: Costs,
    wall_ns: u64,
}

impl Replay {
    /// The maximum number of workers in a question.
    pub const WORKERS_MAX: usize = 1 << 12;

    /// Prepares a run for replay, with the costs measured in it.
    pub fn new(trace: &Trace) -> Self {
        let occupancy = Occupancy::new(trace);
        let insertions = Insertions::new(trace, &occupancy);
        Self::of_parts(trace, &occupancy, &Graph::new(trace), &insertions)
    }

    pub(super) fn of_parts(trace: &Trace, occupancy: &Occupancy, graph: &Graph, insertions: &Insertions) -> Self {
        let costs = recorded::costs(trace, occupancy, graph, insertions);
        Self { recorded: RecordedRun::new(trace, occupancy, graph, insertions), costs, wall_ns: trace.wall_ns() }
    }

    /// Returns the same run with other costs.
    #[must_use]
    pub fn with_costs(self, costs: Costs) -> Self {
        Self { costs, ..self }
    }

    /// Returns the costs that the replay adds to the task lengths.
    pub fn costs(&self) -> Costs {
        self.costs
    }

    /// Returns the recorded number of workers.
    pub fn workers(&self) -> usize {
        self.recorded.workers()
    }

    /// Returns the tasks in the order of insertion, each with its insertion time relative to the first if the program
    /// never waits.
    pub(super) fn inserted(&self) -> impl Iterator<Item = (u32, u64)> {
        let mut first = true;
        self.recorded.program.steps.iter().scan(0_u64, move |after_ns, step| {
            *after_ns = if std::mem::take(&mut first) { 0 } else { after_ns.saturating_add(step.takes_ns) };
            Some((step.task, *after_ns))
        })
    }

    /// Answers a question.
    ///
    /// # Errors
    /// If the trace lacks a kernel of the question, a speedup is not a positive finite number, or the number of workers
    /// is not from 1 to [`WORKERS_MAX`](Self::WORKERS_MAX).
    pub fn predict(&self, question: &WhatIf) -> Result<Prediction, WhatIfError> {
        let (lengths_ns, lanes, plan) = self.run(question)?;
        let first_ns = plan.iter().map(|planned| planned.start_ns).min().unwrap_or(0);
        let makespan_ns = plan.iter().map(|planned| planned.end_ns).max().unwrap_or(0) - first_ns;
        let work_ns: f64 = lengths_ns.iter().map(|&length_ns| length_ns as f64).sum();
        let path_ns = self.recorded.path_ns(&lengths_ns);
        Ok(Prediction {
            question: question.to_string(),
            workers: question.workers.unwrap_or(self.workers()),
            makespan_ns,
            speedup: ratio(self.wall_ns as f64, makespan_ns as f64),
            utilisation: ratio(work_ns, makespan_ns as f64 * lanes as f64),
            path_ns,
            path_share: ratio(path_ns as f64, makespan_ns as f64),
        })
    }

    /// Returns the schedule that answers a question: the tasks in the order of their starts. Nested tasks are left out.
    ///
    /// # Errors
    /// The same as those of [`predict`](Self::predict).
    pub fn plan(&self, question: &WhatIf) -> Result<Vec<Planned>, WhatIfError> {
        let (_, _, mut plan) = self.run(question)?;
        // The engine returns tasks in the order in which they are taken. Their lead times differ, so their starts may
        // not be in order.
        plan.sort_by_key(|planned| planned.start_ns);
        Ok(plan)
    }

    /// Runs the replay for a question. Returns the length of each task, the number of lanes, and the schedule.
    fn run(&self, question: &WhatIf) -> Result<(Vec<u64>, usize, Vec<Planned>), WhatIfError> {
        if let Some(workers) = question.workers.filter(|workers| !(1..=Self::WORKERS_MAX).contains(workers)) {
            return Err(WhatIfError::Workers(workers));
        }
        let lengths_ns = self.recorded.lengths_ns(&question.speedups)?;
        let lanes_of_groups = self.recorded.lanes_of_groups(question.workers);
        let lanes: usize = lanes_of_groups.iter().sum();
        let program = &self.recorded.program;
        let program = if self.costs.insertion { program.clone() } else { program.at_once() };
        let plan = Engine::new(&self.recorded, &lengths_ns, &lanes_of_groups, program, self.costs).run();
        Ok((lengths_ns, lanes, plan))
    }
}

/// Writes the question in words, or `as recorded`.
impl fmt::Display for WhatIf {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let workers =
            self.workers.map(|workers| format!("{workers} {}", if workers == 1 { "worker" } else { "workers" }));
        let speedups = self.speedups.iter().map(|(kernel, factor)| format!("{kernel} {factor} x"));
        let parts: Vec<String> = workers.into_iter().chain(speedups).collect();
        out.write_str(if parts.is_empty() { "as recorded" } else { "" })?;
        out.write_str(&parts.join(", "))
    }
}

impl WhatIfs {
    pub(super) fn new(replay: &Replay, kernels: &Kernels) -> Self {
        let ask = |question: WhatIf| replay.predict(&question).ok();
        let recorded = ask(WhatIf::default()).expect("the default question names no kernel and no workers");
        let error = match replay.wall_ns {
            0 => 0.0,
            wall_ns => recorded.makespan_ns as f64 / wall_ns as f64 - 1.0,
        };
        let recorded_workers = replay.workers();
        let mut others = vec![1, recorded_workers / 2, 2 * recorded_workers, 4 * recorded_workers];
        others.retain(|&workers| workers > 0 && workers != recorded_workers);
        others.dedup();
        let workers =
            others.into_iter().filter_map(|workers| ask(WhatIf { workers: Some(workers), speedups: Vec::new() }));
        let twice = |name: &String| WhatIf { workers: None, speedups: vec![(name.clone(), 2.0)] };
        let names = kernels.rows.iter().take(KERNELS_ASKED_MAX).map(|row| &row.name);
        let kernels = names.filter_map(|name| ask(twice(name))).collect();
        Self { recorded, error, costs: replay.costs, workers: workers.collect(), kernels }
    }
}

/// Returns a table of predictions.
pub fn table<'a>(predictions: impl IntoIterator<Item = &'a Prediction>) -> impl fmt::Display {
    let heads = ["what if", "makespan ms", "speedup", "lanes busy %", "path ms", "path %"];
    let mut table = TextTable::titled("Predictions (what if)", &heads);
    for prediction in predictions {
        table.row([
            prediction.question.clone(),
            ms(prediction.makespan_ns),
            format!("{:.3}", prediction.speedup),
            percent(prediction.utilisation),
            ms(prediction.path_ns),
            percent(prediction.path_share),
        ]);
    }
    table
}

impl fmt::Display for WhatIfs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = std::iter::once(&self.recorded).chain(&self.workers).chain(&self.kernels);
        table(all).fmt(out)
    }
}
