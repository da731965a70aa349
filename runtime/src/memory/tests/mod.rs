//! Exploration of the protocol: every order of events of small programs, and random orders of many larger ones, checked
//! against serial execution.
//!
//! The directory is the real one. Models of the rest of the runtime (`world.rs`) and of the drivers (`drivers.rs`)
//! surround it, and the contents of every memory are known. The checks are:
//! - A task that succeeds has found the versions that serial execution gives.
//! - Conflicting accesses to a range of memory are ordered.
//! - Pins, heaps and states agree with the unfinished work (`invariants.rs`).
//! - As long as something is unfinished, some event can happen.
//! - At the end nothing is left.
//! - With faults, tasks fail only for a reason.
//!
//! A failure of the random explorer prints its seed; `MEMORY_SEED=1234 cargo test -p superscalar-runtime --lib
//! memory::tests::random` repeats it alone.

mod choices;
mod distances;
mod drivers;
mod explored;
mod fingerprint;
mod invariants;
mod program;
mod regressions;
mod world;

use choices::{Chance, Choices, Enumeration};
use program::Program;
use std::{
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};
use world::{ModelStep, World};

/// The maximum number of steps in a run; more means no progress.
const STEPS_MAX: usize = 4000;

/// The maximum number of states in an exhaustive exploration.
const STATES_MAX: usize = 1 << 20;

/// Runs a program once. It ends early when `is_known` reports that the state has been explored.
fn run(
    program: &Program,
    choices: &mut dyn Choices,
    taken: &mut Vec<ModelStep>,
    is_known: &mut dyn FnMut(&World<'_>, &dyn Choices) -> bool,
) {
    let mut world = World::new(program);
    let mut steps = Vec::new();
    loop {
        world.steps(&mut steps);
        if steps.is_empty() {
            break;
        }
        assert!(taken.len() < STEPS_MAX, "no progress in {STEPS_MAX} steps");
        let mut step = steps[choices.pick(steps.len())];
        if matches!(step, ModelStep::Lose(_)) && choices.hesitates() {
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

/// Runs a program, and prints the steps if that fails.
fn run_shown(
    program: &Program,
    choices: &mut dyn Choices,
    name: &str,
    is_known: &mut dyn FnMut(&World<'_>, &dyn Choices) -> bool,
) {
    let mut steps = Vec::new();
    let catch_panic = catch_unwind(AssertUnwindSafe(|| run(program, choices, &mut steps, is_known)));
    if let Err(panic) = catch_panic {
        eprintln!("{name}\n{program:?}\n{steps:?}");
        resume_unwind(panic);
    }
}

/// Explores every order of events of a program; returns the number of states.
fn explore(program: &Program, name: &str) -> usize {
    let (mut every, mut known) = (Enumeration::default(), HashSet::new());
    loop {
        let mut is_known =
            |world: &World<'_>, choices: &dyn Choices| choices.is_new() && !known.insert(world.fingerprint());
        run_shown(program, &mut every, name, &mut is_known);
        assert!(known.len() < STATES_MAX, "{name} has more than {STATES_MAX} states");
        if !every.advance() {
            return known.len();
        }
    }
}

/// Seeds from this one on are for programs with faults.
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
