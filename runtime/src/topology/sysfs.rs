//! Physical cores as Linux's `/sys` reports them.

use std::collections::HashSet;

/// Returns one of `processors` for each physical core, or `None` if the system has no information.
pub(super) fn one_per_core(processors: &[usize]) -> Option<Vec<usize>> {
    let mut seen = HashSet::new();
    let mut first = Vec::new();
    for &processor in processors {
        let file = format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
        // All threads of one core have the same list, so its text identifies the core.
        if seen.insert(std::fs::read_to_string(file).ok()?) {
            first.push(processor);
        }
    }
    Some(first)
}
