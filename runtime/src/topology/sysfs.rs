//! Cores as Linux's `/sys` tells them.

use std::collections::HashSet;

/// One of `processors` for each physical core, or `None` if the system does not say.
pub(super) fn one_per_core(processors: &[usize]) -> Option<Vec<usize>> {
    let mut seen = HashSet::new();
    let mut first = Vec::new();
    for &processor in processors {
        let file = format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
        // The list is the same text for all threads of one core, and names the core as well as any number would.
        if seen.insert(std::fs::read_to_string(file).ok()?) {
            first.push(processor);
        }
    }
    Some(first)
}
