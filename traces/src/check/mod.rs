//! What a trace must satisfy beyond being read: order, nesting, numbers that agree.
//!
//! [`check`] looks at a run, wherever it came from. [`check_reading`] looks at what the reader noticed in the file,
//! too: that the slices of a thread nest is a property of the file, since the model has lanes and no threads.

mod cycle;
mod rules;

use crate::Trace;
use crate::read::{OddityKind, Reading};
use std::fmt;

/// How many findings of one rule are kept; the others are counted.
const KEPT_MAX: u64 = 16;

/// What a trace has to satisfy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// Every place that the model names exists. If not, no other rule is looked at.
    Places,
    /// A slice does not end before it begins.
    Length,
    /// A task occurs once.
    Once,
    /// A task does not begin before it is inserted.
    Insertion,
    /// A hazard goes from an earlier task of the serial program to a later one.
    SerialOrder,
    /// No task waits for itself by way of others.
    Cycle,
    /// The later task of a hazard begins when the earlier one has ended, or after that.
    Hazard,
    /// The moments of a counter ascend, and its values are not negative.
    Counter,
    /// As many tasks as the file says.
    TaskCount,
    /// A transfer names its memory nodes and its bytes.
    Transfer,
    /// As many bytes in the transfers of a link as its counter counted.
    LinkBytes,
    /// The slices of one thread nest.
    Nesting,
    /// An arrow has two ends, which stand in slices of tasks that are in the file.
    Arrow,
    /// What the recorder had no room for, and other limits that the file admits.
    Completeness,
}

const RULES: usize = Rule::Completeness as usize + 1;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Something to know when reading the trace; the trace is consistent.
    Note,
    /// The trace contradicts itself.
    Fault,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule in question.
    pub rule: Rule,
    /// How much it matters.
    pub severity: Severity,
    /// A sentence with the numbers.
    pub text: String,
    /// The task in question: its [`Task::id`](crate::Task::id).
    pub task: Option<u64>,
    /// The lane in question: into [`Trace::lanes`].
    pub lane: Option<u32>,
}

/// `task 7: it begins …`, as far as there is a task.
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

/// Whether a trace is consistent, and what was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    findings: Vec<Finding>,
    faults: [u64; RULES],
    notes: [u64; RULES],
}

impl Verdict {
    /// Whether there is no fault.
    pub fn is_consistent(&self) -> bool {
        self.fault_count() == 0
    }

    /// The first findings under each rule, faults before notes.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// How many faults there are, kept or not.
    pub fn fault_count(&self) -> u64 {
        self.faults.iter().sum()
    }

    /// How many faults there are under one rule.
    pub fn faults_of(&self, rule: Rule) -> u64 {
        self.faults[rule as usize]
    }

    fn add(&mut self, finding: Finding) {
        self.add_many(finding.rule, finding.severity, 1, || finding);
    }

    /// Counts `count` findings, of which this is one.
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

/// Looks at a run.
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
/// assert_eq!(verdict.findings()[0].to_string(), "fault: the file says that there are 3 tasks, and has 0");
/// ```
pub fn check(trace: &Trace) -> Verdict {
    let mut verdict = Verdict::default();
    rules::apply(trace, &mut verdict);
    verdict.sorted()
}

/// Looks at a run and at what its reader noticed.
pub fn check_reading(reading: &Reading) -> Verdict {
    let mut verdict = Verdict::default();
    if let Some(error) = &reading.broken {
        verdict.note(Rule::Completeness, format!("read up to a break: {error}"));
    }
    rules::apply(&reading.trace, &mut verdict);
    let is_complete = reading.broken.is_none() && rules::is_complete(&reading.trace);
    let oddities = &reading.oddities;
    // Whoever was there when a file ends too early, or has lost records, is not to blame for what is missing.
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
