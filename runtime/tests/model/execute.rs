//! Runs a model program on a runtime.

use crate::{
    body::{Execution, Observed},
    insert,
    program::{Block, DatumId, Ownership, ProbeId, Stmt},
    value::Value,
};
use std::{
    cell::RefCell,
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering},
};
use superscalar_runtime::{Error, ErrorKind, Handle, Lent, Output, Scope, ScratchPool};

/// The handles of a level.
pub type Handles = RefCell<BTreeMap<DatumId, Handle<Value>>>;

/// The data that statements of a scope can name.
pub struct Env<'d, 'h> {
    pub lent: BTreeMap<DatumId, Lent<'d, Value>>,
    pub outputs: RefCell<BTreeMap<DatumId, Output<'d, Value>>>,
    pub pool: ScratchPool<'d, Vec<Value>>,
    pub handles: &'h Handles,
}

/// The results of a level for the body that ran it.
#[derive(Default)]
pub struct LevelResult {
    /// The lent values after each scope that succeeded.
    pub numbers: Vec<u64>,
    pub failed: bool,
}

fn observe(run: &Execution, probe: ProbeId, seen: Observed) {
    run.probes.lock().unwrap()[probe.0] = seen;
}

pub fn outcome<T>(result: Result<T, Error>) -> Observed {
    match result {
        Ok(_) => Observed::Fine,
        Err(error) => Observed::Failed(error.to_string()),
    }
}

/// Runs all statements of a level.
pub fn level(run: &Arc<Execution>, index: usize) -> LevelResult {
    let program = &*run.program;
    let (level, mut left) = (&program.levels[index], LevelResult::default());
    let of =
        |which: Ownership| level.data.iter().copied().filter(move |datum| program.data[datum.0].ownership == which);
    let initial = |datum: DatumId| Value::new(program.data[datum.0].initial);
    let mut values: BTreeMap<DatumId, Value> = of(Ownership::Lent).map(|datum| (datum, initial(datum))).collect();
    let register = |datum: DatumId| {
        let handle = run.rt.register(initial(datum));
        (datum, if program.data[datum.0].renaming { handle.renaming(|| Value::new(7)) } else { handle })
    };
    let handles: Handles = RefCell::new(of(Ownership::Handle).map(register).collect());
    for stmt in &level.stmts {
        match stmt {
            Stmt::Scope(block) => {
                let own: Vec<_> = of(Ownership::Own).map(|datum| (datum, initial(datum))).collect();
                let result = scope(run, block, &mut values, own, &handles);
                match &result {
                    Ok(()) => left.numbers.extend(values.values().map(Value::get)),
                    Err(_) => left.failed = true,
                }
                observe(run, block.probe, outcome(result));
            }
            stmt => outside(run, &handles, stmt),
        }
    }
    if index == 0 {
        left.numbers = values.values().map(Value::get).collect();
    }
    left
}

fn scope(
    run: &Arc<Execution>,
    top: &Block,
    values: &mut BTreeMap<DatumId, Value>,
    own: Vec<(DatumId, Value)>,
    handles: &Handles,
) -> Result<(), Error> {
    run.rt.scope(|s| {
        let mut lent = BTreeMap::new();
        for (datum, value) in values.iter_mut() {
            lent.insert(*datum, s.lend(value));
        }
        for (datum, value) in own {
            lent.insert(datum, s.own(value));
        }
        for (_, lent) in lent.iter_mut().filter(|(datum, _)| run.program.data[datum.0].renaming) {
            *lent = lent.renaming(|| Value::new(5));
        }
        let pool = s.scratch(|| vec![Value::new(3)]);
        let env = Env { lent, outputs: RefCell::default(), pool, handles };
        block(run, s, Some(s), &env, top);
    })
}

/// Runs the statements of a scope. `outer` is the level's outermost scope, given only if that is `s`.
fn block<'scope, 'd: 'scope>(
    run: &Arc<Execution>,
    s: &'scope Scope<'scope, '_>,
    outer: Option<&'d Scope<'d, '_>>,
    env: &Env<'d, '_>,
    block: &Block,
) {
    for stmt in &block.stmts {
        match stmt {
            Stmt::Task(index) => insert::task(run, s, outer, env, *index),
            Stmt::Refused { probe, datum, cancels } => insert::refused(run, s, env, *probe, *datum, *cancels),
            Stmt::Wait(probe) => observe(run, *probe, outcome(s.wait())),
            Stmt::WaitFor(probe, accesses) => {
                let result = insert::wait_for(s, env, accesses);
                observe(run, *probe, outcome(result));
            }
            Stmt::Get(probe, datum) => {
                let (Some(outer), Some(output)) = (outer, env.outputs.borrow().get(datum).copied()) else { continue };
                let seen = match outer.get(output) {
                    Ok(value) => Observed::Number(value.get()),
                    Err(error) => Observed::Failed(error.to_string()),
                };
                observe(run, *probe, seen);
            }
            Stmt::Cancel => s.cancel(),
            Stmt::Scope(inner) => {
                let result = run.rt.scope(|s| self::block(run, s, None, env, inner));
                observe(run, inner.probe, outcome(result));
            }
            stmt => outside(run, env.handles, stmt),
        }
    }
}

/// Runs a statement that needs no scope.
fn outside(run: &Arc<Execution>, handles: &Handles, stmt: &Stmt) {
    match stmt {
        Stmt::Take(probe, datum) => {
            let Some(handle) = handles.borrow_mut().remove(datum) else { return };
            let seen = match handle.take() {
                Ok(value) => Observed::Number(value.get()),
                Err(error) => Observed::Failed(error.to_string()),
            };
            observe(run, *probe, seen);
        }
        Stmt::Drop(datum) => drop(handles.borrow_mut().remove(datum)),
        Stmt::Front(index) => insert::front(run, handles, *index),
        Stmt::FrontWait(probe) => observe(run, *probe, outcome(run.rt.wait())),
        stmt => unreachable!("{stmt:?} outside of a scope"),
    }
}

/// Records that a task was inserted.
pub fn inserted(run: &Execution, index: crate::program::TaskIndex) {
    run.traces[index.0].inserted.fetch_add(1, Ordering::Relaxed);
}

/// Returns the observation of an insertion that must be refused.
pub fn refusal<T>(result: Result<T, Error>) -> Observed {
    match result {
        Err(error) if error.kind() == ErrorKind::Refused => Observed::Failed(error.to_string()),
        _ => Observed::Fine,
    }
}

pub fn note(run: &Execution, probe: ProbeId, seen: Observed) {
    observe(run, probe, seen);
}
