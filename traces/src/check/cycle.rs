//! Whether hazards go round in a circle.

use crate::{Trace, graph::Graph};

/// A task that waits for itself by way of others, and how many tasks cannot begin because of such circles.
pub(super) fn find(trace: &Trace) -> Option<(u64, usize)> {
    let mut pairs: Vec<(u32, u32)> = trace.hazards.iter().map(|hazard| (hazard.to, hazard.from)).collect();
    pairs.sort_unstable();
    let graph = Graph::of_pairs(trace.tasks.len(), &pairs);
    // What is not in the order stands on a circle or behind one.
    let mut is_left = vec![true; graph.len()];
    graph.order.iter().for_each(|&task| is_left[task as usize] = false);
    // Backwards from a task that is left one stays among those left, and comes to one for the second time.
    let mut at = is_left.iter().position(|&is_left| is_left)?;
    let mut is_seen = vec![false; graph.len()];
    while !std::mem::replace(&mut is_seen[at], true) {
        at = *graph.predecessors(at as u32).iter().find(|&&from| is_left[from as usize])? as usize;
    }
    Some((trace.tasks[at].id, graph.len() - graph.order.len()))
}
