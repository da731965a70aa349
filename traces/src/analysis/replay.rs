//! What if: the recorded graph of tasks is scheduled again, in virtual time.

use serde::Serialize;

/// A question: other workers, faster kernels. The default is the run as it was.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WhatIf {
    /// So many workers; `None`: as many as there were. Queues stay as they were.
    pub workers: Option<usize>,
    /// Kernels by name, and by which factor they are faster: 2 halves the time of each of their tasks.
    pub speedups: Vec<(String, f64)>,
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

/// Predictions for some questions that suggest themselves.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WhatIfs {
    /// The run as it was, replayed: what the others are to be compared with, and how good the replay is.
    pub recorded: Prediction,
    /// How far the replay of the run as it was is from the recorded makespan: 0.01 is 1 % too long.
    pub error: f64,
    /// Other numbers of workers, in ascending order.
    pub workers: Vec<Prediction>,
    /// Each of the kernels with the most time, twice as fast.
    pub kernels: Vec<Prediction>,
}
