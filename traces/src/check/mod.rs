//! Consistency checks of a trace that could be read: order, nesting, matching numbers.
//!
//! [`check`] checks a run from any source. [`check_reading`] also checks what the reader noticed in the file. For
//! example, the nesting of a thread's slices is a property of the file, because the model has lanes and no threads.

mod cycle;
mod rules;

use crate::Trace;
use crate::read::{OddityKind, Reading};
use std::fmt;

/// The number of findings of each rule that are kept; the others are only counted.
const KEPT_MAX: u64 = 16;

/// The rules that a trace must satisfy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// All indices of the model are valid. If not, no other rule is checked.
    Places,
    /// A slice does not end before it begins.
    Length,
    /// A task has one slice.
    Once,
    /// A task does not begin before it is inserted.
    Insertion,
    /// A hazard goes from an earlier task of the serial program to a later one.
    SerialOrder,
    /// No task waits for itself through other tasks.
    Cycle,
    /// The later task of a hazard begins when the earlier one has ended, or after.
    Hazard,
    /// The sample times of a counter ascend, and its values are not negative.
    Counter,
    /// The number of tasks is the one stated in the file.
    TaskCount,
    /// A transfer contains its memory nodes and its bytes.
    Transfer,
    /// The bytes of the transfers of a link add up to the link's counter.
    LinkBytes,
    /// The slices of one thread nest.
    Nesting,
    /// An arrow has two ends, at slices of tasks that are in the file.
    Arrow,
    /// Nothing was dropped for lack of room or left out for other reasons.
    Completeness,
}

const RULES: usize = Rule::Completeness as usize + 1;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Something to know when reading the trace; the trace is consistent.
    Note,
    /// The trace contradicts itself.
    Fault,
}

/// One result of the checks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// Its severity.
    pub severity: Severity,
    /// A description with the values.
    pub text: String,
    /// The task concerned: its [`Task::id`](crate::Task::id).
    pub task: Option<u64>,
    /// The lane concerned: index into [`Trace::lanes`].
    pub lane: Option<u32>,
}

/// Writes `fault: task 7: it begins …`, or without the task if none is concerned.
impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self.severity {
            Severity::Note => "note: ",
            Severity::Fault => "fault: ",
        })?;
        if let Some(task) = self.task {
            write!(out, "task {task}: ")?;
        }
        out.write_str(&self.text)
    }
}

/// The result of the checks of one trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    findings: Vec<Finding>,
    faults: [u64; RULES],
    notes: [u64; RULES],
}

impl Verdict {
    /// Returns whether there is no fault.
    pub fn is_consistent(&self) -> bool {
        self.fault_count() == 0
    }

    /// Returns the first findings of each rule, faults before notes.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns the number of faults, including those that were not kept.
    pub fn fault_count(&self) -> u64 {
        self.faults.iter().sum()
    }

    /// Returns the number of faults of one rule.
    pub fn faults_of(&self, rule: Rule) -> u64 {
        self.faults[rule as usize]
    }

    fn add(&mut self, finding: Finding) {
        self.add_many(finding.rule, finding.severity, 1, || finding);
    }

    /// Counts `count` findings, and keeps `finding` as one of them.
    fn add_many(&mut self, rule: Rule, severity: Severity, count: u64, finding: impl FnOnce() -> Finding) {
        let counts = match severity {
            Severity::Note => &mut self.notes,
            Severity::Fault => &mut self.faults,
        };
        let before = counts[rule as usize];
        counts[rule as usize] += count;
        if before < KEPT_MAX && count > 0 {
            self.findings.push(finding());
        }
    }

    fn fault(&mut self, rule: Rule, task: Option<u64>, lane: Option<u32>, text: impl FnOnce() -> String) {
        let severity = Severity::Fault;
        self.add_many(rule, severity, 1, || Finding { rule, severity, text: text(), task, lane });
    }

    fn note(&mut self, rule: Rule, text: String) {
        self.add(Finding { rule, severity: Severity::Note, text, task: None, lane: None });
    }

    fn sorted(mut self) -> Self {
        self.findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.rule));
        self
    }
}

/// Checks a run.
///
/// ```
/// use superscalar_traces::check::{Rule, check};
/// use superscalar_traces::Trace;
///
/// let mut trace = Trace::default();
/// assert!(check(&trace).is_consistent());
/// trace.facts.push(("tasks".to_owned(), "3".to_owned()));
/// let verdict = check(&trace);
/// assert_eq!(verdict.findings()[0].rule, Rule::TaskCount);
/// assert_eq!(verdict.findings()[0].to_string(), "fault: the file states 3 tasks but contains 0");
/// ```
pub fn check(trace: &Trace) -> Verdict {
    let mut verdict = Verdict::default();
    rules::apply(trace, &mut verdict);
    verdict.sorted()
}

/// Checks a run and what its reader noticed in the file.
pub fn check_reading(reading: &Reading) -> Verdict {
    let mut verdict = Verdict::default();
    if let Some(error) = &reading.broken {
        verdict.note(Rule::Completeness, format!("only a part of the file could be read: {error}"));
    }
    rules::apply(&reading.trace, &mut verdict);
    let is_complete = reading.broken.is_none() && rules::is_complete(&reading.trace);
    let oddities = &reading.oddities;
    // If the file ends too early or has lost records, missing objects are not a fault.
    let missing = if is_complete { Severity::Fault } else { Severity::Note };
    for (kind, rule, severity) in [
        (OddityKind::Crossing, Rule::Nesting, Severity::Fault),
        (OddityKind::LoneArrow, Rule::Arrow, missing),
        (OddityKind::StrayArrow, Rule::Arrow, missing),
        (OddityKind::UnknownTask, Rule::Arrow, missing),
        (OddityKind::CounterGoesBack, Rule::Counter, Severity::Fault),
        (OddityKind::LoneSpan, Rule::Completeness, Severity::Note),
    ] {
        let finding = |text, task, lane| Finding { rule, severity, text, task, lane };
        let mut rest = oddities.count(kind);
        for oddity in oddities.first().iter().filter(|oddity| oddity.kind == kind) {
            rest -= 1;
            verdict.add(finding(oddity.text.clone(), oddity.task, oddity.lane));
        }
        verdict.add_many(rule, severity, rest, || finding(format!("{rest} more of this kind"), None, None));
    }
    verdict.sorted()
}
