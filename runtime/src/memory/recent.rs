//! Who was used how recently: a list in that order, in which every step is a few assignments. Each use of a replica is one.

#![forbid(unsafe_code)]

use super::directory::EntryId;

/// Where an entry stands in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(u32);

/// Neither older nor newer: the end.
const NOBODY: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Link {
    entry: EntryId,
    older: u32,
    newer: u32,
}

/// See the module's head.
#[derive(Debug)]
pub(super) struct Recent {
    links: Vec<Link>,
    free: Vec<u32>,
    oldest: u32,
    newest: u32,
}

impl Default for Recent {
    fn default() -> Self {
        Self { links: Vec::new(), free: Vec::new(), oldest: NOBODY, newest: NOBODY }
    }
}

impl Recent {
    pub(super) fn len(&self) -> usize {
        self.links.len() - self.free.len()
    }

    /// From the one that has not been used for longest on.
    pub(super) fn iter(&self) -> impl Iterator<Item = EntryId> + '_ {
        let link = |at: u32| self.links.get(at as usize);
        std::iter::successors(link(self.oldest), move |it| link(it.newer)).map(|it| it.entry)
    }

    /// Adds the one that was used last.
    pub(super) fn add(&mut self, entry: EntryId) -> Place {
        let at = self.free.pop().unwrap_or(self.links.len() as u32);
        let link = Link { entry, older: NOBODY, newer: NOBODY };
        match self.links.get_mut(at as usize) {
            Some(free) => *free = link,
            None => self.links.push(link),
        }
        self.append(at);
        Place(at)
    }

    /// Makes it the one that was used last.
    pub(super) fn touch(&mut self, place: Place) {
        if place.0 != self.newest {
            self.take_out(place.0);
            self.append(place.0);
        }
    }

    pub(super) fn remove(&mut self, place: Place) {
        self.take_out(place.0);
        self.free.push(place.0);
    }

    fn append(&mut self, at: u32) {
        let before = std::mem::replace(&mut self.newest, at);
        let link = &mut self.links[at as usize];
        (link.older, link.newer) = (before, NOBODY);
        match self.links.get_mut(before as usize) {
            Some(before) => before.newer = at,
            None => self.oldest = at,
        }
    }

    fn take_out(&mut self, at: u32) {
        let Link { older, newer, .. } = self.links[at as usize];
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
    fn the_order_is_that_of_the_last_uses() {
        let mut recent = Recent::default();
        let places: Vec<Place> = (1..=4).map(|id| recent.add(EntryId(id))).collect();
        let order = |recent: &Recent| recent.iter().map(|id| id.0).collect::<Vec<_>>();
        [1, 3, 3, 0].into_iter().for_each(|at| recent.touch(places[at]));
        assert_eq!(order(&recent), [3, 2, 4, 1]);
        recent.remove(places[3]);
        recent.remove(places[0]);
        assert_eq!((order(&recent), recent.len()), (vec![3, 2], 2));
        // Places are given anew.
        let again = recent.add(EntryId(5));
        assert!(again == places[0] || again == places[3]);
        recent.touch(places[2]);
        assert_eq!(order(&recent), [2, 5, 3]);
        [places[1], places[2], again].into_iter().for_each(|place| recent.remove(place));
        assert_eq!((order(&recent), recent.len()), (vec![], 0));
    }
}
