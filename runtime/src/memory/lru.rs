//! A doubly linked list of entries in order of their last use. Every operation is a few assignments.

#![forbid(unsafe_code)]

use super::directory::EntryId;

/// The position of an entry in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LruPosition(u32);

/// The index that ends the list.
const NIL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct LruNode {
    entry: EntryId,
    older: u32,
    newer: u32,
}

/// The list, from the least to the most recently used entry.
#[derive(Debug)]
pub(super) struct LruList {
    nodes: Vec<LruNode>,
    free: Vec<u32>,
    oldest: u32,
    newest: u32,
}

impl Default for LruList {
    fn default() -> Self {
        Self { nodes: Vec::new(), free: Vec::new(), oldest: NIL, newest: NIL }
    }
}

impl LruList {
    pub(super) fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    /// Iterates from the least to the most recently used entry.
    pub(super) fn iter(&self) -> impl Iterator<Item = EntryId> + '_ {
        let node = |at: u32| self.nodes.get(at as usize);
        std::iter::successors(node(self.oldest), move |it| node(it.newer)).map(|it| it.entry)
    }

    /// Adds an entry as the most recently used.
    pub(super) fn add(&mut self, entry: EntryId) -> LruPosition {
        let at = self.free.pop().unwrap_or(self.nodes.len() as u32);
        let node = LruNode { entry, older: NIL, newer: NIL };
        match self.nodes.get_mut(at as usize) {
            Some(free) => *free = node,
            None => self.nodes.push(node),
        }
        self.append(at);
        LruPosition(at)
    }

    /// Makes the entry the most recently used.
    pub(super) fn touch(&mut self, position: LruPosition) {
        if position.0 != self.newest {
            self.take_out(position.0);
            self.append(position.0);
        }
    }

    pub(super) fn remove(&mut self, position: LruPosition) {
        self.take_out(position.0);
        self.free.push(position.0);
    }

    fn append(&mut self, at: u32) {
        let before = std::mem::replace(&mut self.newest, at);
        let node = &mut self.nodes[at as usize];
        (node.older, node.newer) = (before, NIL);
        match self.nodes.get_mut(before as usize) {
            Some(before) => before.newer = at,
            None => self.oldest = at,
        }
    }

    fn take_out(&mut self, at: u32) {
        let LruNode { older, newer, .. } = self.nodes[at as usize];
        match self.nodes.get_mut(older as usize) {
            Some(older) => older.newer = newer,
            None => self.oldest = newer,
        }
        match self.nodes.get_mut(newer as usize) {
            Some(newer) => newer.older = older,
            None => self.newest = older,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_follows_last_use() {
        let mut lru = LruList::default();
        let positions: Vec<LruPosition> = (1..=4).map(|id| lru.add(EntryId(id))).collect();
        let order = |lru: &LruList| lru.iter().map(|id| id.0).collect::<Vec<_>>();
        [1, 3, 3, 0].into_iter().for_each(|at| lru.touch(positions[at]));
        assert_eq!(order(&lru), [3, 2, 4, 1]);
        lru.remove(positions[3]);
        lru.remove(positions[0]);
        assert_eq!((order(&lru), lru.len()), (vec![3, 2], 2));
        // Positions are reused.
        let again = lru.add(EntryId(5));
        assert!(again == positions[0] || again == positions[3]);
        lru.touch(positions[2]);
        assert_eq!(order(&lru), [2, 5, 3]);
        [positions[1], positions[2], again].into_iter().for_each(|position| lru.remove(position));
        assert_eq!((order(&lru), lru.len()), (vec![], 0));
    }
}
