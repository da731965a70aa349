//! The protocol, explored: every order of events of small programs, and random ones of many more, against serial execution.
//!
//! The directory is the real one. Around it stands a model of the rest of the runtime (`world.rs`) and of the drivers
//! (`drivers.rs`), in which the contents of every memory are known. Checked are: a task that succeeds has found the versions that serial
//! execution gives; whatever conflicts on a range of memory is ordered; pins, heaps and states agree with the work under way
//! (`invariants.rs`); as long as something is unfinished, something can happen; in the end nothing is left. With faults
//! besides: tasks fail for a reason only.
//!
//! A failure of the random explorer names its seed; `MEMORY_SEED=1234 cargo test -p superscalar-runtime --lib memory::tests::random`
//! repeats it alone.

mod choices;
mod distances;
mod drivers;
mod explored;
mod fingerprint;
mod invariants;
mod program;
mod regressions;
mod world;

use choices::{Chance, Choices, Every};
use program::Program;
use std::{
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};
use world::{Step, World};

/// More than that is no progress.
const STEPS_MAX: usize = 4000;

/// Programs that are explored wholly are smaller.
const STATES_MAX: usize = 1 << 20;

/// One run of a program. It ends early where `is_known` says that what follows has been seen.
fn run(
    program: &Program,
    choices: &mut dyn Choices,
    taken: &mut Vec<Step>,
    is_known: &mut dyn FnMut(&World<'_>, &dyn Choices) -> bool,
) {
    let mut world = World::new(program);
    let mut steps = Vec::new();
    loop {
        world.steps(&mut steps);
        if steps.is_empty() {
            break;
        }
        assert!(taken.len() < STEPS_MAX, "so many steps are no progress");
        let mut step = steps[choices.pick(steps.len())];
        if matches!(step, Step::Lose(_)) && choices.hesitates() {
            step = steps[choices.pick(steps.len())];
        }
        taken.push(step);
        world.take(choices, step);
        world.check();
        if is_known(&world, choices) {
            return;
        }
    }
    world.check_end();
}

/// Runs it; if that fails, shows what has happened.
fn run_shown(
    program: &Program,
    choices: &mut dyn Choices,
    name: &str,
    is_known: &mut dyn FnMut(&World<'_>, &dyn Choices) -> bool,
) {
    let mut steps = Vec::new();
    let caught = catch_unwind(AssertUnwindSafe(|| run(program, choices, &mut steps, is_known)));
    if let Err(panic) = caught {
        eprintln!("{name}\n{program:?}\n{steps:?}");
        resume_unwind(panic);
    }
}

/// Every order of events of a program; returns how many states it has.
fn explore(program: &Program, name: &str) -> usize {
    let (mut every, mut known) = (Every::default(), HashSet::new());
    loop {
        let mut is_known =
            |world: &World<'_>, choices: &dyn Choices| choices.is_new() && !known.insert(world.fingerprint());
        run_shown(program, &mut every, name, &mut is_known);
        assert!(known.len() < STATES_MAX, "{name} has more states than are explored");
        if !every.advance() {
            return known.len();
        }
    }
}

/// Seeds from here on are for programs with faults.
const FAULTY_FROM: u64 = 1_000_000;

fn random(seeds: std::ops::Range<u64>) {
    let is_faulty = seeds.start >= FAULTY_FROM;
    let alone: Option<u64> = std::env::var("MEMORY_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = match alone {
        Some(seed) if is_faulty == (seed >= FAULTY_FROM) => seed..seed + 1,
        Some(_) => return,
        None => seeds,
    };
    for seed in seeds {
        let mut chance = Chance::new(seed);
        let program = Program::random(&mut chance, is_faulty);
        run_shown(&program, &mut chance, &format!("seed {seed}"), &mut |_, _| false);
    }
}

#[test]
fn random_programs_without_faults() {
    random(0..100_000);
}

#[test]
fn random_programs_with_faults() {
    random(FAULTY_FROM..FAULTY_FROM + 100_000);
}
