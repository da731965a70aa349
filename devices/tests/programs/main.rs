//! Random task programs on simulated devices with random placement, memory limits, links and faults, compared with
//! serial execution.
//!
//! A program is made from a seed. It runs on the host and up to three simulated devices, and must leave the results of
//! serial execution; with injected faults, a typed error is accepted, too. Afterwards the devices must hold no data.
//!
//! `PROGRAMS=n` runs n seeds instead of 500 (with `FULL=1`, 1500), `SEED=n` only this one.

mod program;
mod run;

use program::seeds;

/// Returns how many seeds run by default.
fn usual() -> u64 {
    if std::env::var("FULL").as_deref() == Ok("1") { 1500 } else { 500 }
}

#[test]
fn results_match_serial_execution() {
    for seed in seeds(usual()) {
        run::check(seed, false);
    }
}

#[test]
fn faults_give_right_results_or_errors() {
    for seed in seeds(usual()) {
        run::check(seed, true);
    }
}
