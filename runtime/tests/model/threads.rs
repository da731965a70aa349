//! Several threads on one runtime, each with its own scopes, and with shared handles.
//!
//! The order among threads is not fixed, so all changes of shared handles commute. Each thread's own data have one
//! correct value. Tasks of several threads may name one shared handle, so two threads may add successors to one task at
//! the same time.

use crate::{
    generate,
    random::Random,
    runtime,
    value::{ALIVE, BROKEN, Sum, Value},
};
use std::sync::{Arc, atomic::Ordering};
use superscalar_runtime::{Error, Handle, Lock, Runtime, TaskSpec};

const THREADS: u64 = 3;
const STEPS: usize = 60;

/// The amount that a thread has added to each shared handle.
type Added = Vec<u64>;

pub fn run(seed: u64) -> Vec<String> {
    let rt = runtime(&generate::setting(seed * generate::SEEDS_PER_SETTING));
    let shared: Arc<Vec<Handle<Value>>> = Arc::new((0..3).map(|_| rt.register(Value::new(0))).collect());
    let mut wrong = Vec::new();
    let added: Vec<Result<Added, String>> = std::thread::scope(|threads| {
        let start = |thread: u64| {
            let (rt, shared) = (&rt, &shared);
            threads.spawn(move || one_thread(rt, shared, seed * THREADS + thread))
        };
        let threads: Vec<_> = (0..THREADS).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err("panicked".to_owned()))).collect()
    });
    let mut sums = vec![0u64; shared.len()];
    for added in added {
        match added {
            Ok(added) => sums.iter_mut().zip(added).for_each(|(sum, added)| *sum = sum.wrapping_add(added)),
            Err(why) => wrong.push(why),
        }
    }
    for (handle, sum) in Arc::into_inner(shared).into_iter().flatten().zip(sums) {
        match handle.take() {
            Ok(value) if value.get() == sum => {}
            Ok(value) => wrong.push(format!("a shared handle is {}; expected {sum}", value.get())),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    if let Err(error) = rt.wait() {
        wrong.push(error.to_string());
    }
    drop(rt);
    let alive = ALIVE.load(Ordering::SeqCst);
    if alive != 0 || BROKEN.load(Ordering::SeqCst) != 0 {
        wrong.push(format!("{alive} values are alive"));
    }
    wrong
}

fn one_thread(rt: &Runtime, shared: &[Handle<Value>], seed: u64) -> Result<Added, String> {
    let (mut random, mut added) = (Random::new(seed), vec![0u64; shared.len()]);
    for _ in 0..1 + random.below(4) {
        let result = match random.below(4) {
            0 => outside(rt, shared, &mut random, &mut added),
            _ => inside(rt, shared, &mut random, &mut added),
        };
        result.map_err(|error| error.to_string())?;
    }
    Ok(added)
}

/// Spawns tasks without a scope, on a handle that is dropped or taken later.
fn outside(rt: &Runtime, shared: &[Handle<Value>], random: &mut Random, added: &mut Added) -> Result<(), Error> {
    let own = rt.register(Value::new(1));
    for step in 0..random.below(STEPS) as u64 {
        let (at, amount) = (random.below(shared.len()), random.next());
        added[at] = added[at].wrapping_add(amount);
        rt.spawn("outside", (own.read_write(), shared[at].commute()), move |(own, shared)| {
            own.set(own.get().wrapping_mul(31).wrapping_add(step));
            shared.set(shared.get().wrapping_add(amount));
        })?;
    }
    match random.below(3) {
        0 => drop(own),
        1 => drop(own.take()?),
        _ => rt.wait()?,
    }
    Ok(())
}

/// Runs a scope with its own chain of tasks, connected to the shared handles.
fn inside(rt: &Runtime, shared: &[Handle<Value>], random: &mut Random, added: &mut Added) -> Result<(), Error> {
    let (mut own, mut wide) = (Value::new(1), Value::new(0));
    let (mut expected, mut readers) = (1u64, 0u64);
    rt.scope(|s| {
        let (own, wide) = (s.lend(&mut own), s.lend(&mut wide));
        for step in 0..random.below(STEPS) as u64 {
            let (at, amount) = (random.below(shared.len()), random.next());
            let spec = TaskSpec::new("inside").priority(random.below(3) as i32);
            let spec = if random.percent(5) { spec.lock(Lock::Worker(random.below(4) as u16)) } else { spec };
            match random.below(6) {
                0 | 1 => {
                    expected = expected.wrapping_mul(31).wrapping_add(step);
                    added[at] = added[at].wrapping_add(amount);
                    s.spawn(spec, (own.read_write(), shared[at].commute()), move |(own, shared)| {
                        own.set(own.get().wrapping_mul(31).wrapping_add(step));
                        shared.set(shared.get().wrapping_add(amount));
                    });
                }
                2 => {
                    added[at] = added[at].wrapping_add(amount);
                    s.spawn(spec, (own.read(), shared[at].reduce(Sum)), move |(_, part)| {
                        part.set(part.get().wrapping_add(amount));
                    });
                }
                // Many successors of the last task, from this thread and, by the shared handle, from others.
                3 => {
                    for _ in 0..random.below(30) {
                        readers += 1;
                        s.spawn("reader", (own.read(), wide.commute()), |(own, wide)| {
                            own.get();
                            wide.set(wide.get() + 1);
                        });
                    }
                }
                4 => s.spawn(spec, shared[at].read(), |shared| _ = shared.get()),
                _ if random.percent(10) => s.wait_for(shared[at].read())?,
                _ => {
                    for _ in 0..random.below(30) {
                        s.spawn("looker", shared[at].read(), |shared| _ = shared.get());
                    }
                }
            }
        }
        Ok(())
    })??;
    assert_eq!((own.get(), wide.get()), (expected, readers), "a thread's own data");
    Ok(())
}
