//! Whether hazards go round in a circle.

use crate::Trace;

/// A task that waits for itself by way of others, and how many tasks cannot begin because of such circles.
///
/// Kahn, "Topological sorting of large networks", CACM 5 (1962): tasks that wait for nothing are taken away, again and
/// again; what is left stands on a circle or behind one.
pub(super) fn find(trace: &Trace) -> Option<(u64, usize)> {
    let mut waits_for = vec![0_u32; trace.tasks.len()];
    let mut by_from: Vec<(u32, u32)> = trace.hazards.iter().map(|hazard| (hazard.from, hazard.to)).collect();
    by_from.sort_unstable();
    for &(_, to) in &by_from {
        waits_for[to as usize] += 1;
    }
    let mut free: Vec<u32> = (0..waits_for.len() as u32).filter(|&task| waits_for[task as usize] == 0).collect();
    let mut left = waits_for.len();
    while let Some(task) = free.pop() {
        left -= 1;
        let first = by_from.partition_point(|&(from, _)| from < task);
        for &(_, to) in by_from[first..].iter().take_while(|&&(from, _)| from == task) {
            waits_for[to as usize] -= 1;
            if waits_for[to as usize] == 0 {
                free.push(to);
            }
        }
    }
    // Backwards from a task that is left one stays among those left, and comes to one for the second time.
    let mut at = waits_for.iter().position(|&count| count > 0)?;
    let mut by_to: Vec<(u32, u32)> = by_from.into_iter().map(|(from, to)| (to, from)).collect();
    by_to.sort_unstable();
    let mut is_seen = vec![false; waits_for.len()];
    while !std::mem::replace(&mut is_seen[at], true) {
        let first = by_to.partition_point(|&(to, _)| (to as usize) < at);
        let mut before = by_to[first..].iter().take_while(|&&(to, _)| to as usize == at);
        at = before.find(|&&(_, from)| waits_for[from as usize] > 0).map(|&(_, from)| from as usize)?;
    }
    Some((trace.tasks[at].id, left))
}
