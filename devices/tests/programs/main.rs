//! Random task programs on simulated devices: random placement, memory limits, links and faults, against serial execution.
//!
//! A program is made from a seed. It runs on the host and up to three simulated devices, and must leave what it leaves when its tasks run
//! one after the other; where faults are injected, a typed error will do, too. Afterwards no device may hold anything.
//!
//! `PROGRAMS=n` runs so many seeds instead of 500 (with FULL=1, 1500), `SEED=n` only this one.

mod program;
mod run;

use std::ops::Range;

/// The seeds of this run.
fn seeds() -> Range<u64> {
    let usual = if std::env::var("FULL").as_deref() == Ok("1") { 1500 } else { 500 };
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("PROGRAMS").unwrap_or(usual),
    }
}

#[test]
fn results_are_those_of_serial_execution() {
    for seed in seeds() {
        run::check(seed, false);
    }
}

#[test]
fn with_faults_there_is_the_right_result_or_an_error() {
    for seed in seeds() {
        run::check(seed, true);
    }
}
