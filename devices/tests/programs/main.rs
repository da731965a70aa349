//! Random task programs on simulated devices: random placement, memory limits, links and faults, against serial execution.
//!
//! A program is made from a seed. It runs on the host and up to three simulated devices, and must leave what it leaves when its tasks run
//! one after the other; where faults are injected, a typed error will do, too. Afterwards no device may hold anything.
//!
//! `PROGRAMS=n` runs so many seeds instead of the usual number, `SEED=n` only this one.

mod program;
mod run;

use program::seeds;

#[test]
fn results_are_those_of_serial_execution() {
    for seed in seeds(1500) {
        run::check(seed, false);
    }
}

#[test]
fn with_faults_there_is_the_right_result_or_an_error() {
    for seed in seeds(1500) {
        run::check(seed, true);
    }
}
