//! The task graph: predecessors and successors of each task.

use crate::Trace;

/// Hazards as lists of predecessors and successors; each pair of tasks occurs once.
pub(crate) struct Graph {
    predecessors: Lists,
    /// The tasks in a topological order.
    pub(crate) order: Vec<u32>,
    /// The number of pairs of tasks with a hazard.
    pub(crate) pairs: usize,
    /// The number of impossible hazards that were ignored: from a task to itself, to a missing task, or on a cycle.
    pub(crate) refused: u64,
}

/// For each task a list of other tasks, or of other indices. Stored in compressed form.
pub(crate) struct Lists {
    first: Vec<u32>,
    others: Vec<u32>,
}

impl Lists {
    /// Builds the lists from pairs `(task, other)`. Each list keeps the order of its pairs.
    pub(crate) fn new(tasks: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut first = vec![0; tasks + 1];
        pairs.clone().for_each(|(of, _)| first[of as usize + 1] += 1);
        (0..tasks).for_each(|task| first[task + 1] += first[task]);
        let mut next = first.clone();
        let mut others = vec![0; first[tasks] as usize];
        for (of, other) in pairs {
            others[next[of as usize] as usize] = other;
            next[of as usize] += 1;
        }
        Self { first, others }
    }

    /// Sorts each list by a key, ascending.
    pub(crate) fn sort_by_key(&mut self, key: impl Fn(u32) -> u32) {
        for range in self.first.windows(2) {
            self.others[range[0] as usize..range[1] as usize].sort_by_key(|&other| key(other));
        }
    }

    pub(crate) fn of(&self, task: u32) -> &[u32] {
        &self.others[self.first[task as usize] as usize..self.first[task as usize + 1] as usize]
    }
}

impl Graph {
    pub(crate) fn new(trace: &Trace) -> Self {
        let tasks = trace.tasks.len();
        let is_possible = |&(to, from): &(u32, u32)| to != from && (to.max(from) as usize) < tasks;
        let mut pairs: Vec<(u32, u32)> = trace.hazards.iter().map(|hazard| (hazard.to, hazard.from)).collect();
        let all = pairs.len();
        pairs.retain(is_possible);
        let mut refused = (all - pairs.len()) as u64;
        if !pairs.is_sorted() {
            pairs.sort_unstable();
        }
        pairs.dedup();
        let mut graph = Self::of_pairs(tasks, &pairs);
        if graph.order.len() < tasks {
            // There is a cycle. Hazards that agree with the order of starts form none.
            let before = pairs.len();
            pairs.retain(|(to, from)| from < to);
            refused += (before - pairs.len()) as u64;
            graph = Self::of_pairs(tasks, &pairs);
        }
        Self { refused, ..graph }
    }

    /// Builds a graph from distinct pairs of a task and one of its predecessors. If the hazards form a cycle, `order`
    /// is shorter than `tasks`.
    pub(crate) fn of_pairs(tasks: usize, pairs: &[(u32, u32)]) -> Self {
        let predecessors = Lists::new(tasks, pairs.iter().copied());
        let mut graph = Self { predecessors, order: Vec::new(), pairs: pairs.len(), refused: 0 };
        // Tasks are numbered by start, which is usually a topological order already.
        let is_ordered = pairs.iter().all(|(to, from)| from < to);
        graph.order = if is_ordered { (0..tasks as u32).collect() } else { graph.sorted() };
        graph
    }

    /// Sorts the tasks topologically (Kahn's algorithm). Tasks on a cycle, or behind one, are missing from the result.
    fn sorted(&self) -> Vec<u32> {
        let tasks = self.len();
        let successors = self.successors();
        let mut waits: Vec<u32> = (0..tasks as u32).map(|task| self.predecessors(task).len() as u32).collect();
        let mut order: Vec<u32> = (0..tasks as u32).filter(|&task| waits[task as usize] == 0).collect();
        let mut next = 0;
        while let Some(&task) = order.get(next) {
            next += 1;
            for &successor in successors.of(task) {
                waits[successor as usize] -= 1;
                if waits[successor as usize] == 0 {
                    order.push(successor);
                }
            }
        }
        order
    }

    pub(crate) fn len(&self) -> usize {
        self.predecessors.first.len() - 1
    }

    pub(crate) fn predecessors(&self, task: u32) -> &[u32] {
        self.predecessors.of(task)
    }

    /// Returns all pairs of a task and one of its predecessors.
    pub(crate) fn edges(&self) -> impl Iterator<Item = (u32, u32)> + Clone {
        (0..self.len() as u32).flat_map(|to| self.predecessors(to).iter().map(move |&from| (to, from)))
    }

    /// Returns the successors of each task, in ascending order.
    pub(crate) fn successors(&self) -> Lists {
        Lists::new(self.len(), self.edges().map(|(to, from)| (from, to)))
    }

    /// Returns the predecessor that ended last.
    pub(crate) fn releaser(&self, trace: &Trace, task: u32) -> Option<u32> {
        self.predecessors(task).iter().copied().max_by_key(|&from| trace.tasks[from as usize].end_ns)
    }

    /// Returns for each task the length of the longest chain that ends with it, and the predecessor on that chain.
    /// `length` is the length of one task.
    pub(crate) fn chains_to(&self, length: impl Fn(u32) -> u64) -> Vec<(u64, Option<u32>)> {
        let mut chains = vec![(0_u64, None); self.len()];
        for &task in &self.order {
            let longest = self.predecessors(task).iter().copied().max_by_key(|&from| chains[from as usize].0);
            let before: u64 = longest.map_or(0, |from| chains[from as usize].0);
            chains[task as usize] = (before.saturating_add(length(task)), longest);
        }
        chains
    }

    /// Returns for each task the length of the longest chain that begins with it.
    pub(crate) fn chains_from(&self, length: impl Fn(u32) -> u64) -> Vec<u64> {
        let mut chains = vec![0_u64; self.len()];
        for &task in self.order.iter().rev() {
            let chain = chains[task as usize].saturating_add(length(task));
            chains[task as usize] = chain;
            for &from in self.predecessors(task) {
                chains[from as usize] = chains[from as usize].max(chain);
            }
        }
        chains
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hazard, HazardEdge, Outcome, Task, TileIndex};

    fn graph(tasks: u64, hazards: &[(u32, u32)]) -> Graph {
        let task = |id| Task {
            id,
            kernel: 0,
            site: None,
            lane: 0,
            start_ns: id,
            end_ns: id + 1,
            inserted_ns: None,
            priority: 0,
            index: TileIndex::default(),
            outcome: Outcome::Completed,
            level: 0,
            flops: 0.0,
            bytes: 0.0,
        };
        let hazard = |&(from, to): &(u32, u32)| HazardEdge { from, to, kind: Hazard::RaW, datum: 0 };
        let tasks = (0..tasks).map(task).collect();
        Graph::new(&Trace { tasks, hazards: hazards.iter().map(hazard).collect(), ..Trace::default() })
    }

    #[test]
    fn duplicate_and_impossible_hazards_are_dropped() {
        let graph = graph(3, &[(0, 1), (0, 1), (1, 1), (1, 7), (1, 2)]);
        assert_eq!((graph.pairs, graph.refused), (2, 2));
        assert_eq!(graph.order, [0, 1, 2]);
        assert_eq!(graph.successors().of(0), [1]);
    }

    #[test]
    fn order_may_differ_from_starts() {
        let graph = graph(3, &[(2, 0), (0, 1)]);
        assert_eq!((graph.order.as_slice(), graph.refused), ([2, 0, 1].as_slice(), 0));
        assert_eq!(graph.chains_to(|_| 5).iter().map(|chain| chain.0).collect::<Vec<_>>(), [10, 15, 5]);
        assert_eq!(graph.chains_from(|_| 5), [10, 5, 15]);
    }

    #[test]
    fn cycles_are_cut() {
        let graph = graph(3, &[(0, 1), (1, 2), (2, 0)]);
        assert_eq!((graph.order.len(), graph.pairs, graph.refused), (3, 2, 1));
    }
}
