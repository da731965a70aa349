//! Inserts the tasks of a model program, with accesses in several shapes.

use crate::{
    body::{Execution, Seen, perform},
    codelets::{self, CallParameters},
    execute::{Env, Handles, inserted, note, refusal},
    program::{Access, DatumId, Mode, ProbeId, Runner, TaskIndex},
    value::{Sum, Token, Value, Xor},
};
use std::{collections::BTreeMap, sync::Arc};
use superscalar_runtime::{
    BoundOf, Commute, Error, Handle, Item, Lent, Read, ReadOutput, ReadWrite, Reduce, Scope, Scratch, TaskSpec, Write,
};

/// The positions in the list of accesses, by mode.
#[derive(Default, Clone)]
struct AccessPositions {
    reads: Vec<usize>,
    writes: Vec<usize>,
    updates: Vec<usize>,
    commutes: Vec<usize>,
    sums: Vec<usize>,
    xors: Vec<usize>,
}

/// Accesses by mode, of handles that live for `'d` and are borrowed for `'h`.
type Modes<'h, 'd> = (
    Vec<Read<'h, 'd, Value>>,
    Vec<Write<'h, 'd, Value>>,
    Vec<ReadWrite<'h, 'd, Value>>,
    Vec<Commute<'h, 'd, Value>>,
    Vec<Reduce<'h, 'd, Value, Sum>>,
    Vec<Reduce<'h, 'd, Value, Xor>>,
);

macro_rules! collect {
    ($find:expr, $accesses:expr) => {{
        let (mut modes, mut positions): (Modes<'_, '_>, AccessPositions) = Default::default();
        for (at, access) in $accesses.iter().enumerate() {
            let Some(handle) = $find(&access.datum) else { continue };
            match access.mode {
                Mode::Read => (modes.0.push(handle.read()), positions.reads.push(at)),
                Mode::Write => (modes.1.push(handle.write()), positions.writes.push(at)),
                Mode::Update => (modes.2.push(handle.read_write()), positions.updates.push(at)),
                Mode::Commute => (modes.3.push(handle.commute()), positions.commutes.push(at)),
                Mode::Sum => (modes.4.push(handle.reduce(Sum)), positions.sums.push(at)),
                Mode::Xor => (modes.5.push(handle.reduce(Xor)), positions.xors.push(at)),
            };
        }
        (modes, positions)
    }};
}

fn of_lent<'d>(lent: &BTreeMap<DatumId, Lent<'d, Value>>, accesses: &[Access]) -> (Modes<'d, 'd>, AccessPositions) {
    collect!(|datum| lent.get(datum), accesses)
}

fn of_handles<'h>(
    handles: &'h BTreeMap<DatumId, Handle<Value>>,
    accesses: &[Access],
) -> (Modes<'h, 'static>, AccessPositions) {
    collect!(|datum| handles.get(datum), accesses)
}

type SeenModes<'t> = Item<'t, BoundOf<Modes<'static, 'static>>>;

impl AccessPositions {
    fn add_to<'t>(&self, seen: &mut Seen<'t>, modes: SeenModes<'t>) {
        let (reads, writes, updates, commutes, sums, xors) = modes;
        seen.reads.extend(self.reads.iter().copied().zip(reads));
        for (positions, values) in [
            (&self.writes, writes),
            (&self.updates, updates),
            (&self.commutes, commutes),
            (&self.sums, sums),
            (&self.xors, xors),
        ] {
            seen.changes.extend(positions.iter().copied().zip(values));
        }
    }
}

fn outputs<'d>(env: &Env<'d, '_>, accesses: &[Access]) -> (Vec<ReadOutput<'d, 'd, Value>>, Vec<usize>) {
    let known = env.outputs.borrow();
    let found = accesses.iter().enumerate().filter_map(|(at, access)| Some((known.get(&access.datum)?.read(), at)));
    found.unzip()
}

fn spec(run: &Execution, index: TaskIndex) -> TaskSpec {
    let task = &run.program.tasks[index.0];
    let flops = [0.0, 1e6][index.0 % 2];
    TaskSpec::new("task").index(index.0 as u32).priority(task.priority).lock(task.lock).flops(flops)
}

/// Inserts a task into a scope.
pub fn task<'scope, 'd: 'scope>(
    run: &Arc<Execution>,
    s: &'scope Scope<'scope, '_>,
    outer: Option<&'d Scope<'d, '_>>,
    env: &Env<'d, '_>,
    index: TaskIndex,
) {
    let task = &run.program.tasks[index.0];
    inserted(run, index);
    if let Runner::Codelet { host, alpha, beta } = task.runner {
        let handles = env.handles.borrow();
        let (lent, lent_positions) = of_lent(&env.lent, &task.accesses);
        let (owned, owned_positions) = of_handles(&handles, &task.accesses);
        let positions = [lent_positions.reads, lent_positions.writes, lent_positions.updates];
        let owned_positions = [owned_positions.reads, owned_positions.writes, owned_positions.updates];
        let call = CallParameters { run: run.clone(), index, positions, owned_positions, token: Token::new() };
        let accesses = (lent.0, lent.1, lent.2, owned.0, owned.1, owned.2);
        let inserted = codelets::of(host, alpha, beta).try_spawn_as(s, spec(run, index), accesses, call);
        inserted.expect("some resource can run it");
        return;
    }
    if task.output.is_none() && task.scratch == 0 && simple(run, s, env, index) {
        return;
    }
    let handles = env.handles.borrow();
    let (lent, lent_positions) = of_lent(&env.lent, &task.accesses);
    let (owned, owned_positions) = of_handles(&handles, &task.accesses);
    let (results, result_positions) = outputs(env, &task.accesses);
    let scratch: Vec<Scratch<'d, Vec<Value>>> = (0..task.scratch).map(|_| env.pool.access()).collect();
    let (run, token) = (run.clone(), Token::new());
    let spec = spec(&run, index);
    let output = task.output;
    let body = move |(lent, owned, results, scratch): General<'_>| {
        let mut seen = Seen::default();
        lent_positions.add_to(&mut seen, lent);
        owned_positions.add_to(&mut seen, owned);
        seen.reads.extend(result_positions.into_iter().zip(results));
        for work in scratch {
            work.push(Value::new(work.len() as u64));
            work.truncate(4);
        }
        perform(&run, index, token, seen)
    };
    match (output, outer) {
        (Some(output), Some(outer)) => {
            let compute = outer.compute(spec, (lent, owned, results, scratch), move |seen: General<'_>| {
                Value::new(body(seen).unwrap_or_else(|_| unreachable!("a failing `compute` body panics")))
            });
            env.outputs.borrow_mut().insert(output, compute);
        }
        _ => s.spawn(spec, (lent, owned, results, scratch), move |seen: General<'_>| body(seen).map(drop)),
    }
}

type General<'t> = (SeenModes<'t>, SeenModes<'t>, Vec<&'t Value>, Vec<&'t mut Vec<Value>>);

/// Inserts a task with a simple shape: one access, an array, a pair. Returns `false` if it has another shape.
fn simple<'scope, 'd: 'scope>(
    run: &Arc<Execution>,
    s: &'scope Scope<'scope, '_>,
    env: &Env<'d, '_>,
    index: TaskIndex,
) -> bool {
    let accesses = &run.program.tasks[index.0].accesses;
    let (spec, run, token) = (spec(run, index), run.clone(), Token::new());
    let lent: Vec<_> = accesses.iter().filter_map(|access| env.lent.get(&access.datum)).collect();
    let modes: Vec<_> = accesses.iter().map(|access| access.mode).collect();
    if lent.len() != accesses.len() {
        return false;
    }
    macro_rules! change {
        ($($value:ident),*) => {{
            let changes = [$($value),*].into_iter().enumerate().collect();
            perform(&run, index, token, Seen { reads: Vec::new(), changes }).map(drop)
        }};
    }
    match (&modes[..], &lent[..]) {
        ([], []) => s.spawn(spec, (), move |()| perform(&run, index, token, Seen::default()).map(drop)),
        ([Mode::Read], [x]) => s.spawn(spec, x.read(), move |x| {
            perform(&run, index, token, Seen { reads: vec![(0, x)], changes: Vec::new() }).map(drop)
        }),
        ([Mode::Write], [x]) => s.spawn(spec, x.write(), move |x| change!(x)),
        ([Mode::Update], [x]) => s.spawn(spec, x.read_write(), move |x| change!(x)),
        ([Mode::Commute], [x]) => s.spawn(spec, x.commute(), move |x| change!(x)),
        ([Mode::Sum], [x]) => s.spawn(spec, x.reduce(Sum), move |x| change!(x)),
        ([Mode::Update, Mode::Update], [x, y]) => {
            s.spawn(spec, [x.read_write(), y.read_write()], move |[x, y]| change!(x, y));
        }
        ([Mode::Commute, Mode::Commute], [x, y]) => {
            s.spawn(spec, [x.commute(), y.commute()], move |[x, y]| change!(x, y));
        }
        ([Mode::Read, Mode::Update], [x, y]) => s.spawn(spec, (x.read(), y.read_write()), move |(x, y)| {
            perform(&run, index, token, Seen { reads: vec![(0, x)], changes: vec![(1, y)] }).map(drop)
        }),
        _ => return false,
    }
    true
}

/// Inserts a task outside of scopes.
pub fn front(run: &Arc<Execution>, handles: &Handles, index: TaskIndex) {
    let handles = handles.borrow();
    let (owned, positions) = of_handles(&handles, &run.program.tasks[index.0].accesses);
    let (body_run, token) = (run.clone(), Token::new());
    inserted(run, index);
    let spawned = run.rt.spawn(spec(run, index), owned, move |owned: SeenModes<'_>| {
        let mut seen = Seen::default();
        positions.add_to(&mut seen, owned);
        perform(&body_run, index, token, seen).map(drop)
    });
    spawned.expect("each handle is named once");
}

/// Waits as a task with these accesses would.
pub fn wait_for<'scope, 'd: 'scope>(
    s: &'scope Scope<'scope, '_>,
    env: &Env<'d, '_>,
    accesses: &[Access],
) -> Result<(), Error> {
    let handles = env.handles.borrow();
    s.wait_for((of_lent(&env.lent, accesses).0, of_handles(&handles, accesses).0, outputs(env, accesses).0))
}

/// Inserts a task that names a handle twice, which is refused.
pub fn refused<'scope, 'd: 'scope>(
    run: &Arc<Execution>,
    s: &'scope Scope<'scope, '_>,
    env: &Env<'d, '_>,
    probe: ProbeId,
    datum: DatumId,
    cancels: bool,
) {
    let token = Token::new();
    let body = move |_: SeenModes<'_>, _: SeenModes<'_>| drop(token);
    let twice = [Access { datum, mode: Mode::Read }, Access { datum, mode: Mode::Commute }];
    let handles = env.handles.borrow();
    let accesses = (of_lent(&env.lent, &twice).0, of_handles(&handles, &twice).0);
    if cancels {
        s.spawn("refused", accesses, move |(lent, owned): (SeenModes<'_>, SeenModes<'_>)| body(lent, owned));
    } else {
        let result =
            s.try_spawn("refused", accesses, move |(lent, owned): (SeenModes<'_>, SeenModes<'_>)| body(lent, owned));
        note(run, probe, refusal(result));
    }
}
