//! Finds cycles of hazards.

use crate::{Trace, graph::Graph};

/// Returns the id of a task on a cycle, and the number of tasks that cannot begin because of cycles.
pub(super) fn find(trace: &Trace) -> Option<(u64, usize)> {
    let mut pairs: Vec<(u32, u32)> = trace.hazards.iter().map(|hazard| (hazard.to, hazard.from)).collect();
    pairs.sort_unstable();
    let graph = Graph::of_pairs(trace.tasks.len(), &pairs);
    // Tasks missing from the topological order are on a cycle or behind one.
    let mut is_left = vec![true; graph.len()];
    graph.order.iter().for_each(|&task| is_left[task as usize] = false);
    // Following predecessors within these tasks must reach a task for the second time.
    let mut at = is_left.iter().position(|&is_left| is_left)?;
    let mut is_seen = vec![false; graph.len()];
    while !std::mem::replace(&mut is_seen[at], true) {
        at = *graph.predecessors(at as u32).iter().find(|&&from| is_left[from as usize])? as usize;
    }
    Some((trace.tasks[at].id, graph.len() - graph.order.len()))
}
