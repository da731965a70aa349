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
    links: Vec<LruNode>,
    free: Vec<u32>,
    oldest: u32,
    newest: u32,
}

impl Default for LruList {
    fn default() -> Self {
        Self { links: Vec::new(), free: Vec::new(), oldest: NIL, newest: NIL }
    }
}

impl LruList {
    pub(super) fn len(&self) -> usize {
        self.links.len() - self.free.len()
    }

    /// Iterates from the least to the most recently used entry.
    pub(super) fn iter(&self) -> impl Iterator<Item = EntryId> + '_ {
        let link = |at: u32| self.links.get(at as usize);
        std::iter::successors(link(self.oldest), move |it| link(it.newer)).map(|it| it.entry)
    }

    /// Adds an entry as the most recently used.
    pub(super) fn add(&mut self, entry: EntryId) -> LruPosition {
        let at = self.free.pop().unwrap_or(self.links.len() as u32);
        let link = LruNode { entry, older: NIL, newer: NIL };
        match self.links.get_mut(at as usize) {
            Some(free) => *free = link,
            None => self.links.push(link),
        }
        self.append(at);
        LruPosition(at)
    }

    /// Makes the entry the most recently used.
    pub(super) fn touch(&mut self, place: LruPosition) {
        if place.0 != self.newest {
            self.take_out(place.0);
            self.append(place.0);
        }
    }

    pub(super) fn remove(&mut self, place: LruPosition) {
        self.take_out(place.0);
        self.free.push(place.0);
    }

    fn append(&mut self, at: u32) {
        let before = std::mem::replace(&mut self.newest, at);
        let link = &mut self.links[at as usize];
        (link.older, link.newer) = (before, NIL);
        match self.links.get_mut(before as usize) {
            Some(before) => before.newer = at,
            None => self.oldest = at,
        }
    }

    fn take_out(&mut self, at: u32) {
        let LruNode { older, newer, .. } = self.links[at as usize];
        match self.links.get_mut(older as usize) {
            Some(older) => older.newer = newer,
            None => self.oldest = newer,
        }
        match self.links.get_mut(newer as usize) {
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
        let places: Vec<LruPosition> = (1..=4).map(|id| lru.add(EntryId(id))).collect();
        let order = |lru: &LruList| lru.iter().map(|id| id.0).collect::<Vec<_>>();
        [1, 3, 3, 0].into_iter().for_each(|at| lru.touch(places[at]));
        assert_eq!(order(&lru), [3, 2, 4, 1]);
        lru.remove(places[3]);
        lru.remove(places[0]);
        assert_eq!((order(&lru), lru.len()), (vec![3, 2], 2));
        // Positions are reused.
        let again = lru.add(EntryId(5));
        assert!(again == places[0] || again == places[3]);
        lru.touch(places[2]);
        assert_eq!(order(&lru), [2, 5, 3]);
        [places[1], places[2], again].into_iter().for_each(|place| lru.remove(place));
        assert_eq!((order(&lru), lru.len()), (vec![], 0));
    }
}
