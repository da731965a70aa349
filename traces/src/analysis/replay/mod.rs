//! What if: the recorded graph of tasks is scheduled again, in virtual time.
//!
//! A [`Replay`] takes from a trace what a schedule depends on, and nothing of the schedule itself:
//!
//! - **The graph** and the length of each task. A task nested in another (it ran while that one waited) is a part of it: the outer
//!   one is replayed in its full length, and hazards of the nested are not followed.
//! - **The program.** One thread inserts the tasks in the recorded order. An insertion takes what it took: the time since the
//!   one before it, less what its thread meanwhile did or waited for as a worker. If a worker's thread inserts it runs no task
//!   meanwhile; when the window is full it works until an eighth of it is free, and after the last insertion it is a worker
//!   like any other. Where the program waited (the thread ran tasks between two insertions although the window had room), it
//!   waits in the replay until no more tasks are in flight than were when it went on: none, at the end of a scope.
//! - **The scheduler.** The runtime's own code (`superscalar-schedule`), driven in virtual time: the policy of the run, if the file names it and it is
//!   one of ours, otherwise `priority`. Queues of a device share their tasks and never take those of workers or of another device: a
//!   task stays with lanes of the kind and process that it ran on. So of policies that weigh where a task should run only the order within a side is replayed.
//! - **The costs.** Before each task its worker spends the *dispatch* time: the mean gap between two tasks of a lane of which
//!   the second was ready when the first ended. (The median would do without what interrupts and other programs took between
//!   tasks, but the lengths of tasks have their part of that, too: with 10⁵ tasks of 1 µs its replay came out 6 % short of the
//!   run, with the mean 4 %.) An idle worker sees a new task after the *wake* time: the median from the moment that a task
//!   became ready to its start on a lane that was idle at that moment.
//!
//! Tasks take what they took. On other numbers of workers they would not quite: fewer share caches, memory bandwidth and heat.
//! Transfers are not replayed by themselves: what a task waited for data is in no length, and so is left out.
//!
//! **How well it predicts.** Cholesky on a virtual machine with two cores, pairs of runs on one worker and on two, those during
//! which other programs had less than a twentieth of a core. The run on two workers is reproduced within 0.5 % in all of them. What
//! it predicts for one worker differs from the real run by
//!
//! | n | tiles | pairs | least | most | within 10 % |
//! |---|---|---|---|---|---|
//! | 8192 | 384 | 4 | -0.2 % | +1.7 % | 4 |
//! | 4096 | 384 | 3 | -0.1 % | +8.3 % | 3 |
//! | 4096 | 256 | 11 | -2.5 % | +8.6 % | 11 |
//! | 2048 | 256 | 2 | +1.9 % | +21.2 % | 1 |
//! | 2048 | 128 | 9 | +0.4 % | +39.9 % | 2 |
//!
//! Where it is far off, the same tasks took longer with both workers at work (`gemm` 122 us instead of 84), all over the run: that is
//! in the lengths, not in the schedule, and no replay of one trace can tell it. With other programs on the cores the recorded
//! lengths have those in them, and so has the prediction.

mod engine;
mod ready;
mod recorded;

use super::{
    insertion::Insertions,
    kernels::Kernels,
    occupancy::Occupancy,
    ratio,
    table::{Table, ms, percent},
};
use crate::{Trace, graph::Graph};
use engine::Engine;
use recorded::Items;
use serde::Serialize;
use std::fmt;

/// So many of the kernels with the most time are asked about.
const KERNELS_ASKED_MAX: usize = 3;

/// A question: other workers, faster kernels. The default is the run as it was.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WhatIf {
    /// So many workers; `None`: as many as there were. Queues stay as they were.
    pub workers: Option<usize>,
    /// Kernels by name, and by which factor they are faster: 2 halves the time of each of their tasks.
    pub speedups: Vec<(String, f64)>,
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WhatIfError {
    /// No task has this kernel.
    #[error("no kernel of the trace is called `{name}`; there are {}", .known.join(", "))]
    UnknownKernel {
        /// What was asked for.
        name: String,
        /// The trace's kernels.
        known: Vec<String>,
    },
    /// A factor is not a positive number.
    #[error("`{name}` can not be {factor} times as fast")]
    Factor {
        /// The kernel.
        name: String,
        /// What was asked for.
        factor: f64,
    },
    /// There must be one worker at least, and at most [`Replay::WORKERS_MAX`].
    #[error("{0} workers: from 1 to {max} can be replayed", max = Replay::WORKERS_MAX)]
    Workers(usize),
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prediction {
    /// The question, as people put it: `as recorded`, `4 workers`, `gemm 2 x`.
    pub question: String,
    /// Workers of the question.
    pub workers: usize,
    /// How long the run would take.
    pub makespan_ns: u64,
    /// The recorded makespan over it: above 1 it would be faster.
    pub speedup: f64,
    /// The part of the lanes' time that would be spent in tasks, 0 to 1.
    pub utilisation: f64,
    /// The critical path, with the kernels as fast as asked.
    pub path_ns: u64,
    /// The part of the makespan that is the critical path, 0 to 1.
    pub path_share: f64,
}

/// A task of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Planned {
    /// Into [`Trace::tasks`].
    pub task: u32,
    /// When it starts.
    pub start_ns: u64,
    /// When it ends.
    pub end_ns: u64,
}

/// Predictions for some questions that suggest themselves.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WhatIfs {
    /// The run as it was, replayed: what the others are to be compared with, and how good the replay is.
    pub recorded: Prediction,
    /// How far the replay of the run as it was is from the recorded makespan: 0.01 is 1 % too long.
    pub error: f64,
    /// What the replay charges besides the tasks.
    pub costs: Costs,
    /// Other numbers of workers, in ascending order.
    pub workers: Vec<Prediction>,
    /// Each of the kernels with the most time, twice as fast.
    pub kernels: Vec<Prediction>,
}

/// What a replay charges besides the tasks; see the module's head.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Costs {
    /// Before each task.
    pub dispatch_ns: u64,
    /// From a task's readiness until an idle worker sees it.
    pub wake_ns: u64,
    /// Whether insertions take what they took. If not, all tasks are there at once, and no window keeps them out.
    pub insertion: bool,
}

/// A run, ready to be replayed.
///
/// ```
/// use superscalar_traces::{Trace, analysis::replay::{Replay, WhatIf}};
/// let nothing = Replay::new(&Trace::default()).predict(&WhatIf::default())?;
/// assert_eq!(nothing.makespan_ns, 0);
/// # Ok::<(), superscalar_traces::analysis::replay::WhatIfError>(())
/// ```
pub struct Replay {
    items: Items,
    costs: Costs,
    wall_ns: u64,
}

impl Replay {
    /// The most workers that can be asked for.
    pub const WORKERS_MAX: usize = 1 << 12;

    /// Of a run, with the costs that are measured in it.
    pub fn new(trace: &Trace) -> Self {
        let occupancy = Occupancy::new(trace);
        let insertions = Insertions::new(trace, &occupancy);
        Self::of_parts(trace, &occupancy, &Graph::new(trace), &insertions)
    }

    pub(super) fn of_parts(trace: &Trace, occupancy: &Occupancy, graph: &Graph, insertions: &Insertions) -> Self {
        let costs = recorded::costs(trace, occupancy, graph, insertions);
        Self { items: Items::new(trace, occupancy, graph, insertions), costs, wall_ns: trace.wall_ns() }
    }

    /// With other costs.
    #[must_use]
    pub fn with_costs(self, costs: Costs) -> Self {
        Self { costs, ..self }
    }

    /// What is charged besides the tasks.
    pub fn costs(&self) -> Costs {
        self.costs
    }

    /// The workers that there were.
    pub fn workers(&self) -> usize {
        self.items.workers()
    }

    /// Each task in the order of insertion, and how long after the first it is in if the program waits for nothing.
    pub(super) fn inserted(&self) -> impl Iterator<Item = (u32, u64)> {
        let mut first = true;
        self.items.program.steps.iter().scan(0_u64, move |after_ns, step| {
            *after_ns = if std::mem::take(&mut first) { 0 } else { after_ns.saturating_add(step.takes_ns) };
            Some((step.task, *after_ns))
        })
    }

    /// The answer to a question.
    ///
    /// # Errors
    /// A kernel that the trace does not have, a factor that is not a positive number, no workers or too many.
    pub fn predict(&self, question: &WhatIf) -> Result<Prediction, WhatIfError> {
        let (lengths_ns, lanes, plan) = self.run(question)?;
        let first_ns = plan.iter().map(|planned| planned.start_ns).min().unwrap_or(0);
        let makespan_ns = plan.iter().map(|planned| planned.end_ns).max().unwrap_or(0) - first_ns;
        let work_ns: f64 = lengths_ns.iter().map(|&length_ns| length_ns as f64).sum();
        let path_ns = self.items.path_ns(&lengths_ns);
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

    /// The schedule that answers a question: the tasks in the order in which they would start. Tasks nested in others are left out.
    ///
    /// # Errors
    /// As for [`predict`](Self::predict).
    pub fn plan(&self, question: &WhatIf) -> Result<Vec<Planned>, WhatIfError> {
        let (_, _, mut plan) = self.run(question)?;
        // In the order in which they are taken; what comes before a task's start can take longer than what comes before another's.
        plan.sort_by_key(|planned| planned.start_ns);
        Ok(plan)
    }

    /// What a question asks for: the length of each task, the number of lanes, the schedule.
    fn run(&self, question: &WhatIf) -> Result<(Vec<u64>, usize, Vec<Planned>), WhatIfError> {
        if let Some(workers) = question.workers.filter(|workers| !(1..=Self::WORKERS_MAX).contains(workers)) {
            return Err(WhatIfError::Workers(workers));
        }
        let lengths_ns = self.items.lengths_ns(&question.speedups)?;
        let places = self.items.places(question.workers);
        let lanes: usize = places.iter().sum();
        let program = &self.items.program;
        let program = if self.costs.insertion { program.clone() } else { program.at_once() };
        let plan = Engine::new(&self.items, &lengths_ns, &places, program, self.costs).run();
        Ok((lengths_ns, lanes, plan))
    }
}

/// `as recorded`, or what is asked.
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
        let recorded = ask(WhatIf::default()).expect("nothing is asked for that may be lacking");
        let error = match replay.wall_ns {
            0 => 0.0,
            wall_ns => recorded.makespan_ns as f64 / wall_ns as f64 - 1.0,
        };
        let there = replay.workers();
        let mut others = vec![1, there / 2, 2 * there, 4 * there];
        others.retain(|&workers| workers > 0 && workers != there);
        others.dedup();
        let workers =
            others.into_iter().filter_map(|workers| ask(WhatIf { workers: Some(workers), speedups: Vec::new() }));
        let twice = |name: &String| WhatIf { workers: None, speedups: vec![(name.clone(), 2.0)] };
        let names = kernels.rows.iter().take(KERNELS_ASKED_MAX).map(|row| &row.name);
        let kernels = names.filter_map(|name| ask(twice(name))).collect();
        Self { recorded, error, costs: replay.costs, workers: workers.collect(), kernels }
    }
}

/// Predictions as a table.
pub fn table<'a>(predictions: impl IntoIterator<Item = &'a Prediction>) -> impl fmt::Display {
    let mut table = Table::new(&["what if", "makespan ms", "speedup", "lanes busy %", "path ms", "path %"]);
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
