//! Serial execution of a program: computes what every value, probe and task must come to.
//!
//! The effect of a failure depends on timing in two cases only: when a member of a group (commuting accesses or
//! reductions) fails, and when tasks are in flight as their scope is cancelled. So every failure has a **certainty**:
//! 0, it does not happen; 1, it may happen; 2, it happens. Everything that depends on a 1 is at least a 1, and its
//! values are unknown.
//!
//! A later member of a group can poison an earlier one, and a later cancellation can cancel an earlier task. Such
//! knowledge is carried from one pass over the program to the next, until a pass adds nothing.

use crate::{
    body::{change, contribution},
    program::{Access, Block, DatumId, Fate, Mode, Ownership, ProbeId, Program, Stmt, TaskIndex},
    random::fold,
};
use std::collections::BTreeMap;

/// The certainty of a failure: 0, 1 or 2.
pub type Certainty = u8;

/// The expected observation of a probe.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expected {
    pub visited: bool,
    pub fails: Certainty,
    pub number: Option<u64>,
}

/// One access in the serial order of its datum.
#[derive(Clone, Copy, Debug)]
pub struct AccessRecord {
    pub task: TaskIndex,
    pub mode: Mode,
    /// The number of the access's group; neighbours of one group have the same number.
    pub group: usize,
    /// The number of the datum's lending; uses in different lendings have different numbers.
    pub lending: usize,
}

/// The expected results of a program.
#[derive(Default)]
pub struct Verdict {
    /// For each task, whether it is cancelled or never inserted.
    pub cancelled: Vec<Certainty>,
    pub probes: Vec<Expected>,
    /// The lent data of level zero with their final values.
    pub lent: Vec<(DatumId, Option<u64>)>,
    pub uses: Vec<Vec<AccessRecord>>,
}

/// The knowledge that one pass hands to the next.
#[derive(Clone, Default, PartialEq)]
struct Knowledge {
    /// Tasks in flight when their scope was cancelled.
    forced: BTreeMap<TaskIndex, Certainty>,
    /// Accesses whose group has another member that fails.
    tainted: BTreeMap<(TaskIndex, usize), Certainty>,
    /// Reductions (by datum and group) whose combination was in flight when its scope was cancelled.
    combined: BTreeMap<(DatumId, usize), Certainty>,
}

pub fn judge(program: &Program) -> Verdict {
    let mut known = Knowledge::default();
    loop {
        let mut pass = Pass::new(program, &known);
        pass.level(0, 0);
        let Pass { learnt, verdict, .. } = pass;
        if learnt == known {
            return verdict;
        }
        known = learnt;
    }
}

#[derive(Default)]
struct DatumState {
    poison: Certainty,
    value: Option<u64>,
    group: Option<Group>,
    last: Option<Mode>,
    groups: usize,
    lendings: usize,
}

impl DatumState {
    fn lent_anew(&self, value: Option<u64>) -> Self {
        Self { value, groups: self.groups + 1, lendings: self.lendings + 1, ..Self::default() }
    }
}

struct Group {
    mode: Mode,
    members: Vec<Member>,
}

/// One access of a group.
struct Member {
    task: TaskIndex,
    /// The position in the task's list of accesses.
    at: usize,
    /// Whether the task poisons the datum.
    spoils: Certainty,
}

#[derive(Default)]
struct Scope {
    /// Whether tasks inserted from now on are cancelled.
    cancelled: Certainty,
    fails: Certainty,
    in_flight: Vec<TaskIndex>,
    /// Reductions combined by tasks of this scope that may be in flight.
    combined: Vec<(DatumId, usize)>,
}

struct Pass<'p> {
    program: &'p Program,
    known: &'p Knowledge,
    learnt: Knowledge,
    data: Vec<DatumState>,
    front: Scope,
    /// Failures of tasks outside of scopes that are caused by bodies, at an unknown time.
    front_haze: Certainty,
    depth: usize,
    /// Whether the current body may not run at all.
    in_doubt: bool,
    verdict: Verdict,
}

fn raise(level: &mut Certainty, to: Certainty) {
    *level = (*level).max(to);
}

impl<'p> Pass<'p> {
    fn new(program: &'p Program, known: &'p Knowledge) -> Self {
        let verdict = Verdict {
            cancelled: vec![2; program.tasks.len()],
            probes: vec![Expected::default(); program.probes],
            lent: Vec::new(),
            uses: vec![Vec::new(); program.data.len()],
        };
        let data = program.data.iter().map(|_| DatumState::default()).collect();
        let (learnt, front) = (known.clone(), Scope::default());
        Self { program, known, learnt, data, front, front_haze: 0, depth: 0, in_doubt: false, verdict }
    }

    fn of(&self, level: usize, which: Ownership) -> Vec<DatumId> {
        let data = self.program.levels[level].data.iter().copied();
        data.filter(|datum| self.program.data[datum.0].ownership == which).collect()
    }

    fn start(&mut self, data: &[DatumId]) {
        for datum in data {
            let value = Some(self.program.data[datum.0].initial);
            self.data[datum.0] = self.data[datum.0].lent_anew(value);
        }
    }

    /// Runs a level; returns its final values, if they are known, and whether it fails.
    fn level(&mut self, index: usize, cancelled: Certainty) -> (Option<Vec<u64>>, Certainty) {
        let [lent, own, handles] =
            [Ownership::Lent, Ownership::Own, Ownership::Handle].map(|which| self.of(index, which));
        self.start(&lent);
        self.start(&handles);
        let (mut numbers, mut fails) = (Some(Vec::new()), 0);
        let program = self.program;
        for stmt in &program.levels[index].stmts {
            let Stmt::Scope(block) = stmt else {
                self.outside(stmt, cancelled);
                continue;
            };
            self.start(&own);
            let kept = [&lent[..], &own[..]].concat();
            let scope = self.block(block, &kept, cancelled);
            raise(&mut fails, scope);
            for datum in &lent {
                let state = &mut self.data[datum.0];
                let known = if state.poison == 0 { state.value } else { None };
                // The next scope lends the value anew.
                *state = state.lent_anew(known);
                match (scope, known, &mut numbers) {
                    (0, Some(value), Some(numbers)) => numbers.push(value),
                    (2, ..) => {}
                    _ => numbers = None,
                }
            }
        }
        if index == 0 {
            self.verdict.lent = lent.iter().map(|datum| (*datum, self.data[datum.0].value)).collect();
        }
        (numbers, fails)
    }

    fn expect(&mut self, probe: ProbeId, fails: Certainty, number: Option<u64>) {
        let fails = if self.in_doubt { 1 } else { fails };
        self.verdict.probes[probe.0] = Expected { visited: true, fails, number };
    }

    /// Runs a scope that keeps these data; returns whether it fails.
    fn block(&mut self, block: &Block, kept: &[DatumId], cancelled: Certainty) -> Certainty {
        let mut scope = Scope { cancelled, ..Scope::default() };
        for stmt in &block.stmts {
            self.stmt(stmt, &mut scope, kept);
        }
        self.combine(kept, &mut scope);
        kept.iter().for_each(|datum| self.close(*datum, &mut scope));
        self.expect(block.probe, scope.fails, None);
        scope.fails
    }

    fn stmt(&mut self, stmt: &Stmt, scope: &mut Scope, kept: &[DatumId]) {
        match stmt {
            Stmt::Task(index) => self.task(*index, scope),
            Stmt::Refused { cancels: true, .. } | Stmt::Cancel => self.cancel(scope),
            Stmt::Refused { probe, .. } => self.expect(*probe, 2, None),
            Stmt::Wait(probe) => {
                self.combine(kept, scope);
                self.expect(*probe, scope.fails, None);
                scope.in_flight.clear();
                scope.combined.clear();
            }
            Stmt::WaitFor(probe, accesses) => {
                let fails = self.wait_for(accesses, scope.cancelled);
                self.expect(*probe, fails, None);
            }
            Stmt::Get(probe, datum) => {
                let fails = self.wait_for(&[Access { datum: *datum, mode: Mode::Read }], scope.cancelled);
                self.expect(*probe, fails, self.data[datum.0].value);
            }
            Stmt::Scope(inner) => {
                self.block(inner, &[], scope.cancelled);
            }
            stmt => self.outside(stmt, scope.cancelled),
        }
    }

    fn outside(&mut self, stmt: &Stmt, cancelled: Certainty) {
        match stmt {
            Stmt::Take(probe, datum) => {
                let fails = self.wait_for(&[Access { datum: *datum, mode: Mode::Update }], cancelled);
                self.expect(*probe, fails, self.data[datum.0].value);
            }
            Stmt::Drop(datum) => {
                let mut at_front = Scope::default();
                self.close(*datum, &mut at_front);
                raise(if self.depth == 0 { &mut self.front.fails } else { &mut self.front_haze }, at_front.fails);
            }
            Stmt::Front(index) => {
                let mut front = std::mem::take(&mut self.front);
                self.task(*index, &mut front);
                self.front = front;
            }
            Stmt::FrontWait(probe) => {
                let fails = std::mem::take(&mut self.front.fails);
                self.expect(*probe, fails.max(self.front_haze.min(1)), None);
            }
            stmt => unreachable!("{stmt:?} outside of a scope"),
        }
    }

    /// Waits for accesses; returns whether the wait fails.
    fn wait_for(&mut self, accesses: &[Access], cancelled: Certainty) -> Certainty {
        let mut inner = Scope { cancelled, fails: cancelled, ..Scope::default() };
        for access in accesses {
            let poison = self.meet(access.datum, access.mode, &mut inner);
            if access.mode.reads() {
                raise(&mut inner.fails, poison);
            }
            let group = self.data[access.datum.0].group.iter().flat_map(|group| &group.members);
            if let Some(taint) = group.map(|member| member.spoils.min(1)).max() {
                raise(&mut inner.fails, taint);
            }
        }
        inner.fails
    }

    fn cancel(&mut self, scope: &mut Scope) {
        (scope.cancelled, scope.fails) = (2, 2);
        for task in scope.in_flight.drain(..) {
            raise(self.learnt.forced.entry(task).or_default(), 1);
        }
        for reduction in scope.combined.drain(..) {
            raise(self.learnt.combined.entry(reduction).or_default(), 1);
        }
    }

    /// Ends the reductions on data that a scope keeps.
    fn combine(&mut self, kept: &[DatumId], scope: &mut Scope) {
        for datum in kept {
            if self.data[datum.0].last.is_some_and(Mode::reduces) {
                self.close(*datum, scope);
                self.data[datum.0].last = None;
            }
        }
    }

    /// Ends the datum's group. The end of a reduction is a task of the scope that ends it.
    fn close(&mut self, datum: DatumId, scope: &mut Scope) {
        let Some(Group { mode, members }) = self.data[datum.0].group.take() else { return };
        let state = &mut self.data[datum.0];
        for (index, Member { task, at, spoils }) in members.iter().enumerate() {
            raise(&mut state.poison, *spoils);
            let others = members.iter().enumerate().filter(|(other, _)| *other != index);
            let taint = others.map(|(_, other)| other.spoils.min(1)).max().unwrap_or(0);
            raise(self.learnt.tainted.entry((*task, *at)).or_default(), taint);
        }
        if mode.reduces() {
            let reduction = (datum, state.groups);
            raise(&mut state.poison, scope.cancelled);
            raise(&mut state.poison, self.known.combined.get(&reduction).copied().unwrap_or(0));
            raise(&mut scope.fails, state.poison);
            scope.combined.push(reduction);
        }
    }

    /// Adds an access to its datum's group or begins a new one; returns the poison that it finds.
    fn meet(&mut self, datum: DatumId, mode: Mode, scope: &mut Scope) -> Certainty {
        let joins = mode.groups() && self.data[datum.0].last == Some(mode);
        if !joins {
            self.close(datum, scope);
        }
        let state = &mut self.data[datum.0];
        state.last = Some(mode);
        state.groups += usize::from(!joins);
        if mode.groups() && mode != Mode::Read {
            state.group.get_or_insert(Group { mode, members: Vec::new() });
        }
        state.poison
    }

    fn task(&mut self, index: TaskIndex, scope: &mut Scope) {
        let task = &self.program.tasks[index.0];
        let mut cancelled = scope.cancelled.max(self.known.forced.get(&index).copied().unwrap_or(0));
        let mut olds = Some(Vec::new());
        for (at, access) in task.accesses.iter().enumerate() {
            let poison = self.meet(access.datum, access.mode, scope);
            let state = &self.data[access.datum.0];
            if access.mode.reads() {
                raise(&mut cancelled, poison);
                raise(&mut cancelled, self.known.tainted.get(&(index, at)).copied().unwrap_or(0));
            }
            if matches!(access.mode, Mode::Read | Mode::Update) {
                match (&mut olds, state.value) {
                    (Some(olds), Some(value)) => olds.push(value),
                    _ => olds = None,
                }
            }
            let (group, lending) = (state.groups, state.lendings);
            self.verdict.uses[access.datum.0].push(AccessRecord { task: index, mode: access.mode, group, lending });
        }
        let mut hash = olds.map(|olds| contribution(index, olds.into_iter()));
        let mut fails = if task.fate == Fate::Succeed { 0 } else { 2 };
        if let (Some(level), 0..2) = (task.inner, cancelled) {
            let outer = (self.depth, self.in_doubt);
            (self.depth, self.in_doubt) = (self.depth + 1, self.in_doubt || cancelled > 0);
            let (numbers, inner_fails) = self.level(level, cancelled);
            (self.depth, self.in_doubt) = outer;
            hash = hash.zip(numbers).map(|(hash, numbers)| numbers.into_iter().fold(hash, fold));
            raise(&mut fails, if task.propagates { inner_fails } else { 0 });
        }
        self.verdict.cancelled[index.0] = cancelled;
        let spoils = cancelled.max(fails);
        let hash = hash.filter(|_| spoils == 0);
        self.settle(index, spoils, hash);
        raise(&mut scope.fails, spoils);
        scope.in_flight.push(index);
    }

    /// Updates the data of a task after it has ended.
    fn settle(&mut self, index: TaskIndex, spoils: Certainty, hash: Option<u64>) {
        let task = &self.program.tasks[index.0];
        for (at, access) in task.accesses.iter().enumerate() {
            let state = &mut self.data[access.datum.0];
            if access.mode == Mode::Read {
                continue;
            }
            let old = if access.mode == Mode::Write { Some(0) } else { state.value };
            state.value = hash.zip(old).map(|(hash, old)| change(access.mode, at, hash, old));
            match &mut state.group {
                Some(group) => group.members.push(Member { task: index, at, spoils }),
                None if access.mode == Mode::Write => state.poison = spoils,
                None => raise(&mut state.poison, spoils),
            }
        }
        if let Some(output) = task.output {
            let state = self.data[output.0].lent_anew(hash);
            let (group, lending) = (state.groups, state.lendings);
            self.data[output.0] = DatumState { poison: spoils, last: Some(Mode::Write), ..state };
            self.verdict.uses[output.0].push(AccessRecord { task: index, mode: Mode::Write, group, lending });
        }
    }
}
