//! Reruns tests with every instruction set that the processor has, and with small blocks. Each set runs in its own
//! process, because a process selects the set of its kernels once.

use std::{env, process::Command};
use superscalar_kernels::cpu::InstructionSet;

const INSTRUCTIONS: &str = "SUPERSCALAR_INSTRUCTIONS";
const BLOCK_MAX: &str = "SUPERSCALAR_TEST_BLOCK_MAX";

/// The test limit of the blocks' rows, columns and depth: the widest register tile, three vectors of sixteen. Half of
/// the conformance suite's shapes then have several blocks.
const BLOCK: &str = "48";

/// Runs the tests of this program whose names contain one of these names.
pub fn run_with_each(names: &[&str]) {
    let program = env::current_exe().expect("this program");
    for set in InstructionSet::ALL {
        if set > InstructionSet::of_processor() {
            eprintln!("skipped: no {set} in this processor");
            continue;
        }
        let mut tests = Command::new(&program);
        tests.args(names).arg("requested_set_is_in_use");
        tests.env(INSTRUCTIONS, set.to_string()).env(BLOCK_MAX, BLOCK);
        let output = tests.output().expect("this program runs once more");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "with {set}:\n{said}\n{}", String::from_utf8_lossy(&output.stderr));
        for name in names.iter().chain(&["requested_set_is_in_use"]) {
            assert!(said.lines().any(|line| line.contains(name) && line.ends_with("... ok")), "with {set}, no {name}");
        }
    }
}

/// Returns whether [`run_with_each`] has started this process.
#[allow(dead_code)] // Some of the programs that include this module do not need it.
pub fn is_one_of_each() -> bool {
    env::var_os(BLOCK_MAX).is_some()
}

#[test]
fn requested_set_is_in_use() {
    let (best, asked) = (InstructionSet::of_processor(), env::var(INSTRUCTIONS));
    let asked = asked.map_or(best, |name| name.parse().expect("the name of a set"));
    assert_eq!(InstructionSet::in_use(), asked.min(best));
}
