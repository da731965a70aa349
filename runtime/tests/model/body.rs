//! The body of every task in a model program: the same arithmetic on every thread and device.

use crate::{
    execute,
    program::{Fate, Mode, Program, TaskIndex},
    random::fold,
    value::{Token, Value},
};
use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};
use superscalar_runtime::Runtime;

/// The observations of one task.
#[derive(Default)]
pub struct Trace {
    pub begin: AtomicU64,
    pub end: AtomicU64,
    pub runs: AtomicU64,
    /// Number of insertions: one, unless the inserting body was cancelled.
    pub inserted: AtomicU64,
}

/// The observation of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observed {
    Nothing,
    Fine,
    Number(u64),
    Failed(String),
}

/// One execution of a program.
pub struct Execution {
    pub program: Arc<Program>,
    pub traces: Vec<Trace>,
    pub probes: Mutex<Vec<Observed>>,
    pub clock: AtomicU64,
    pub rt: Arc<Runtime>,
}

/// The error that failing bodies return.
#[derive(Debug)]
pub struct Planned(pub TaskIndex);

impl fmt::Display for Planned {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "planned failure of {:?}", self.0)
    }
}

impl std::error::Error for Planned {}

/// The data that a body accesses, with their positions in the task's list of accesses.
#[derive(Default)]
pub struct Seen<'t> {
    pub reads: Vec<(usize, &'t Value)>,
    pub changes: Vec<(usize, &'t mut Value)>,
}

impl Execution {
    pub fn new(program: Arc<Program>, rt: Arc<Runtime>) -> Self {
        let traces = program.tasks.iter().map(|_| Trace::default()).collect();
        let probes = Mutex::new(vec![Observed::Nothing; program.probes]);
        Self { program, traces, probes, clock: AtomicU64::new(1), rt }
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }
}

/// Returns the hash that a task contributes, computed from the values it reads.
pub fn contribution(task: TaskIndex, olds: impl Iterator<Item = u64>) -> u64 {
    olds.fold(fold(0xBEEF, task.0 as u64), fold)
}

/// Returns the new value of one access.
pub fn change(mode: Mode, at: usize, hash: u64, old: u64) -> u64 {
    let own = fold(hash, at as u64);
    match mode {
        Mode::Read => old,
        Mode::Write => own,
        Mode::Update => fold(own, old),
        Mode::Commute | Mode::Sum => old.wrapping_add(own),
        Mode::Xor => old ^ own,
    }
}

/// Runs the task's body; returns its contribution.
pub fn perform(run: &Arc<Execution>, index: TaskIndex, token: Token, mut seen: Seen<'_>) -> Result<u64, Planned> {
    let (task, trace) = (&run.program.tasks[index.0], &run.traces[index.0]);
    trace.runs.fetch_add(1, Ordering::SeqCst);
    trace.begin.store(run.tick(), Ordering::SeqCst);
    let mut olds: Vec<(usize, u64)> = seen.reads.iter().map(|(at, value)| (*at, value.get())).collect();
    let updates = seen.changes.iter().filter(|(at, _)| task.accesses[*at].mode == Mode::Update);
    olds.extend(updates.map(|(at, value)| (*at, value.get())));
    olds.sort_unstable();
    let mut hash = contribution(index, olds.into_iter().map(|(_, old)| old));
    let mut failed = task.fate != Fate::Succeed;
    if let Some(level) = task.inner {
        let inner = execute::level(run, level);
        hash = inner.numbers.into_iter().fold(hash, fold);
        failed |= inner.failed && task.propagates;
    }
    for _ in 0..task.work {
        std::hint::spin_loop();
    }
    let half = if failed { seen.changes.len() / 2 } else { seen.changes.len() };
    for (at, value) in seen.changes.iter_mut().take(half) {
        value.set(change(task.accesses[*at].mode, *at, hash, value.get()));
    }
    drop(token);
    trace.end.store(run.tick(), Ordering::SeqCst);
    match task.fate {
        Fate::Panic => std::panic::resume_unwind(Box::new("planned panic")),
        _ if failed && task.output.is_some() => std::panic::resume_unwind(Box::new("planned panic")),
        _ if failed => Err(Planned(index)),
        _ => Ok(hash),
    }
}
