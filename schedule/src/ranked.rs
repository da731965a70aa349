//! A queue ordered by priority, and by insertion into the program among tasks of equal priority, regardless of when
//! they became ready. Each item has a load in nanoseconds, and the total load at or above a priority is known without
//! visiting all items.

use std::collections::VecDeque;

type Items<T> = VecDeque<(f64, T)>;

struct Band<T> {
    priority: i32,
    load_ns: f64,
    items: Items<T>,
}

/// A queue of priority bands; see the [module](self) documentation. Every band has items. The bands are in order of
/// increasing priority, because most items come and go at the urgent end.
pub(super) struct RankedQueue<T> {
    bands: Vec<Band<T>>,
    /// The item lists of removed bands, kept to reuse their memory.
    spare: Vec<Items<T>>,
}

impl<T> Default for RankedQueue<T> {
    fn default() -> Self {
        Self { bands: Vec::new(), spare: Vec::new() }
    }
}

impl<T> RankedQueue<T> {
    pub(super) fn len(&self) -> usize {
        self.bands.iter().map(|band| band.items.len()).sum()
    }

    /// Inserts an item. Among items of the same priority, `is_before` says which come before it.
    pub(super) fn push(&mut self, priority: i32, load_ns: f64, item: T, is_before: impl Fn(&T) -> bool) {
        let at = self.bands.partition_point(|band| band.priority < priority);
        if self.bands.get(at).is_none_or(|band| band.priority != priority) {
            let items = self.spare.pop().unwrap_or_default();
            self.bands.insert(at, Band { priority, load_ns: 0.0, items });
        }
        let band = &mut self.bands[at];
        band.load_ns += load_ns;
        // It is usually the last of its band, which needs only one comparison.
        let is_last = band.items.back().is_none_or(|(_, other)| is_before(other));
        let at = if is_last { band.items.len() } else { band.items.partition_point(|(_, other)| is_before(other)) };
        band.items.insert(at, (load_ns, item));
    }

    /// Returns the load of all items that precede a new item of this priority.
    pub(super) fn load_before_ns(&self, priority: i32) -> f64 {
        self.bands.iter().rev().take_while(|band| band.priority >= priority).map(|band| band.load_ns).sum()
    }

    /// Returns the load of all items.
    pub(super) fn load_ns(&self) -> f64 {
        self.bands.iter().map(|band| band.load_ns).sum()
    }

    /// Iterates from the most urgent item, with the load of each.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &(f64, T)> + Clone {
        self.bands.iter().rev().flat_map(|band| &band.items)
    }

    /// Removes and returns the first item that is accepted.
    pub(super) fn remove_first(&mut self, mut accepts: impl FnMut(&T) -> bool) -> Option<T> {
        let position = |(rank, band): (usize, &Band<T>)| {
            band.items.iter().position(|(_, item)| accepts(item)).map(|at| (rank, at))
        };
        let (rank, at) = self.bands.iter().enumerate().rev().find_map(position)?;
        let band = &mut self.bands[rank];
        let (load_ns, item) = band.items.remove(at)?;
        band.load_ns -= load_ns;
        if band.items.is_empty() {
            self.spare.push(self.bands.remove(rank).items);
        }
        Some(item)
    }

    /// Recomputes the load of every item.
    pub(super) fn reweigh(&mut self, mut weigh: impl FnMut(&mut T) -> Option<f64>) {
        for band in &mut self.bands {
            for (load_ns, item) in &mut band.items {
                *load_ns = weigh(item).unwrap_or(*load_ns);
            }
            band.load_ns = band.items.iter().map(|(load_ns, _)| load_ns).sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_priority_then_insertion() {
        let mut ranked = RankedQueue::default();
        for (priority, item) in [(0, 'e'), (5, 'b'), (-3, 'c'), (5, 'd'), (0, 'a')] {
            ranked.push(priority, 1.0, item, |&other| other < item);
        }
        assert_eq!((ranked.load_before_ns(5), ranked.load_before_ns(0), ranked.load_before_ns(9)), (2.0, 4.0, 0.0));
        assert_eq!(ranked.iter().map(|&(_, item)| item).collect::<String>(), "bdaec");
        assert_eq!(ranked.remove_first(|&item| item != 'b'), Some('d'));
        assert_eq!((ranked.len(), ranked.load_ns()), (4, 4.0));
        ranked.reweigh(|&mut item| (item == 'b').then_some(7.0));
        assert_eq!(ranked.load_ns(), 10.0);
        let rest: String = std::iter::from_fn(|| ranked.remove_first(|_| true)).collect();
        assert_eq!((rest.as_str(), ranked.len()), ("baec", 0));
    }
}
