//! A queue by rank: the most urgent first, among equals in the order in which they were inserted into the program, whenever they became
//! ready. Each item weighs some nanoseconds, and the sum of what is as urgent as something or more is known without a walk through all.

use std::collections::VecDeque;

type Items<T> = VecDeque<(f64, T)>;

struct Band<T> {
    priority: i32,
    load_ns: f64,
    items: Items<T>,
}

/// See the module's head. There is no band without items. Most tasks come and go at the urgent end, so that is where the bands' list ends.
pub(super) struct Ranked<T> {
    bands: Vec<Band<T>>,
    /// Of bands that are gone, for the room.
    spare: Vec<Items<T>>,
}

impl<T> Default for Ranked<T> {
    fn default() -> Self {
        Self { bands: Vec::new(), spare: Vec::new() }
    }
}

impl<T> Ranked<T> {
    pub(super) fn len(&self) -> usize {
        self.bands.iter().map(|band| band.items.len()).sum()
    }

    /// Puts an item in; of those that are as urgent, `is_before` says which come before it.
    pub(super) fn push(&mut self, priority: i32, load_ns: f64, item: T, is_before: impl Fn(&T) -> bool) {
        let at = self.bands.partition_point(|band| band.priority < priority);
        if self.bands.get(at).is_none_or(|band| band.priority != priority) {
            let items = self.spare.pop().unwrap_or_default();
            self.bands.insert(at, Band { priority, load_ns: 0.0, items });
        }
        let band = &mut self.bands[at];
        band.load_ns += load_ns;
        // Mostly it comes last: then the others are not looked at.
        let is_last = band.items.back().is_none_or(|(_, other)| is_before(other));
        let at = if is_last { band.items.len() } else { band.items.partition_point(|(_, other)| is_before(other)) };
        band.items.insert(at, (load_ns, item));
    }

    /// What stands before something that comes with this priority.
    pub(super) fn load_before_ns(&self, priority: i32) -> f64 {
        self.bands.iter().rev().take_while(|band| band.priority >= priority).map(|band| band.load_ns).sum()
    }

    /// What all items weigh.
    pub(super) fn load_ns(&self) -> f64 {
        self.bands.iter().map(|band| band.load_ns).sum()
    }

    /// From the most urgent on, each with what it weighs.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &(f64, T)> + Clone {
        self.bands.iter().rev().flat_map(|band| &band.items)
    }

    /// Takes out the first that will do.
    pub(super) fn remove_first(&mut self, mut will_do: impl FnMut(&T) -> bool) -> Option<T> {
        let position = |(rank, band): (usize, &Band<T>)| {
            band.items.iter().position(|(_, item)| will_do(item)).map(|at| (rank, at))
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

    /// Weighs every item anew.
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
    fn the_most_urgent_comes_first_and_equals_in_their_order() {
        let mut ranked = Ranked::default();
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
