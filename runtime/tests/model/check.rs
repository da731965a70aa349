//! Compares one execution with the oracle's results.

use crate::{
    body::{Execution, Observed},
    oracle::{AccessRecord, Verdict},
    program::{Fate, Mode, Program, Runner, TaskIndex},
    random::Random,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::Ordering,
};
use superscalar_runtime::{
    TaskId,
    recording::{Outcome, Recording, Span},
};

/// The differences found; empty if there are none.
pub type Complaints = Vec<String>;

/// The number of pairs of accesses for which a path of hazards is searched in a recording.
const PAIRS_MAX: usize = 40;

pub fn check(run: &Execution, verdict: &Verdict, numbers: &[u64], recording: Option<Recording>) -> Complaints {
    let mut wrong = Complaints::new();
    probes(run, verdict, &mut wrong);
    tasks(run, verdict, &mut wrong);
    for ((datum, expected), number) in verdict.lent.iter().zip(numbers) {
        if expected.is_some_and(|expected| expected != *number) {
            wrong.push(format!("{datum:?} is {number:x}; expected {:x}", expected.unwrap_or(0)));
        }
    }
    order(run, verdict, &mut wrong);
    if let Some(recording) = recording {
        recorded(run, verdict, &recording, &mut wrong);
    }
    wrong
}

fn probes(run: &Execution, verdict: &Verdict, wrong: &mut Complaints) {
    for (index, (seen, expected)) in run.probes.lock().unwrap().iter().zip(&verdict.probes).enumerate() {
        let fits = match (expected.visited, expected.fails, seen) {
            (false, _, seen) => *seen == Observed::Nothing,
            (true, 1, _) => true,
            (true, 0, Observed::Fine) => expected.number.is_none(),
            (true, 0, Observed::Number(number)) => expected.number.is_none_or(|expected| expected == *number),
            (true, 2, Observed::Failed(_)) => true,
            // A refusal that cancels its scope returns nothing.
            _ => false,
        };
        if !fits {
            wrong.push(format!("probe {index} saw {seen:x?}; expected {expected:x?}"));
        }
    }
}

fn goes_to_devices(program: &Program, index: TaskIndex) -> bool {
    matches!(program.tasks[index.0].runner, Runner::Codelet { alpha, beta, .. } if alpha || beta)
}

fn tasks(run: &Execution, verdict: &Verdict, wrong: &mut Complaints) {
    for (index, (trace, cancelled)) in run.traces.iter().zip(&verdict.cancelled).enumerate() {
        let (runs, begun) = (trace.runs.load(Ordering::SeqCst), TaskIndex(index));
        let device = goes_to_devices(&run.program, begun);
        let fails = run.program.tasks[index].fate != Fate::Succeed;
        let fits = match cancelled {
            // Work that fails when it is issued does not run.
            0 => runs == 1 || runs == 0 && device && fails,
            1 => runs <= 1,
            // Work that was issued before its input failed runs, but its result is not used.
            _ => runs == 0 || runs == 1 && device,
        };
        if !fits {
            wrong.push(format!("task {index} ran {runs} times; cancelled: {cancelled}"));
        }
    }
}

/// The required relation between two uses of one datum.
#[derive(PartialEq)]
enum Conflict {
    None,
    Order,
    Exclusion,
}

fn conflict(uses: &[AccessRecord], renaming: bool, i: usize, j: usize) -> Conflict {
    let (first, second) = (uses[i], uses[j]);
    if first.task == second.task || first.mode == Mode::Read && second.mode == Mode::Read {
        return Conflict::None;
    }
    if first.group == second.group {
        return if first.mode == Mode::Commute { Conflict::Exclusion } else { Conflict::None };
    }
    // After a renaming write no task waits for users of the old value.
    if renaming && uses[i + 1..=j].iter().any(|between| between.mode == Mode::Write) {
        return Conflict::None;
    }
    Conflict::Order
}

/// Checks every pair of conflicting accesses.
fn order(run: &Execution, verdict: &Verdict, wrong: &mut Complaints) {
    for (datum, uses) in verdict.uses.iter().enumerate() {
        let renaming = run.program.data[datum].renaming;
        for j in 0..uses.len() {
            for i in 0..j {
                let conflict = conflict(uses, renaming, i, j);
                let [first, second] = [uses[i], uses[j]].map(|use_| &run.traces[use_.task.0]);
                let ran = |trace: &crate::body::Trace| trace.runs.load(Ordering::SeqCst) > 0;
                if conflict == Conflict::None || !ran(first) || !ran(second) {
                    continue;
                }
                let before = |a: &crate::body::Trace, b: &crate::body::Trace| {
                    a.end.load(Ordering::SeqCst) < b.begin.load(Ordering::SeqCst)
                };
                if !(before(first, second) || conflict == Conflict::Exclusion && before(second, first)) {
                    wrong.push(format!("datum {datum}: {:?} and {:?} are not in order", uses[i], uses[j]));
                }
            }
        }
    }
}

/// Checks that there is one record per insertion, and a path of hazards between each ordered pair.
fn recorded(run: &Execution, verdict: &Verdict, recording: &Recording, wrong: &mut Complaints) {
    let mut ids = BTreeMap::<usize, TaskId>::new();
    for task in recording.tasks.iter().filter(|task| ["task", "call"].contains(&task.name)) {
        let Some(&index) = task.index.as_slice().first() else { continue };
        if ids.insert(index as usize, task.id).is_some() {
            wrong.push(format!("task {index} is recorded twice"));
        }
    }
    for (index, trace) in run.traces.iter().enumerate() {
        let inserted = trace.inserted.load(Ordering::SeqCst);
        if (inserted == 1) != ids.contains_key(&index) || inserted > 1 {
            wrong.push(format!("task {index} was inserted {inserted} times, recorded: {:?}", ids.get(&index)));
        }
    }
    let spans: BTreeSet<_> = recording.spans.iter().map(|span| span.task).collect();
    if spans.len() != recording.spans.len() || spans.len() != recording.tasks.len() {
        wrong.push(format!("{} tasks have {} spans", recording.tasks.len(), recording.spans.len()));
    }
    in_order(recording, wrong);
    let mut after = BTreeMap::<TaskId, Vec<TaskId>>::new();
    recording.hazards.iter().for_each(|hazard| after.entry(hazard.from).or_default().push(hazard.to));
    let mut random = Random::new(recording.tasks.len() as u64);
    for _ in 0..PAIRS_MAX {
        let datum = random.below(verdict.uses.len());
        let uses = &verdict.uses[datum];
        if uses.len() < 2 {
            continue;
        }
        let j = 1 + random.below(uses.len() - 1);
        let i = random.below(j);
        let (Some(from), Some(to)) = (ids.get(&uses[i].task.0), ids.get(&uses[j].task.0)) else { continue };
        let renaming = run.program.data[datum].renaming;
        // Data that are lent to each scope anew have hazards only within one scope. Scopes run in order anyway.
        let comparable = is_one_datum(&run.program, datum, uses, i, j);
        if comparable && conflict(uses, renaming, i, j) == Conflict::Order && !reaches(&after, *from, *to) {
            wrong.push(format!("datum {datum}: no path of hazards from {:?} to {:?}", uses[i], uses[j]));
        }
    }
}

/// Checks that the recorded spans agree with the hazards.
fn in_order(recording: &Recording, wrong: &mut Complaints) {
    let ran = recording.spans.iter().filter(|span| span.outcome != Outcome::Cancelled);
    let spans: BTreeMap<TaskId, &Span> = ran.map(|span| (span.task, span)).collect();
    for hazard in &recording.hazards {
        if let (Some(from), Some(to)) = (spans.get(&hazard.from), spans.get(&hazard.to))
            && from.end_ns > to.start_ns
        {
            wrong.push(format!("{hazard:?}: {from:?} ends after the start of {to:?}"));
        }
    }
}

fn is_one_datum(program: &Program, datum: usize, uses: &[AccessRecord], i: usize, j: usize) -> bool {
    use crate::program::Ownership;
    matches!(program.data[datum].ownership, Ownership::Handle | Ownership::Output) || uses[i].lending == uses[j].lending
}

fn reaches(after: &BTreeMap<TaskId, Vec<TaskId>>, from: TaskId, to: TaskId) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(task) = open.pop() {
        if task == to {
            return true;
        }
        if seen.insert(task) {
            open.extend(after.get(&task).into_iter().flatten());
        }
    }
    false
}
