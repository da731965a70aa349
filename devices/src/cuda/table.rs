//! [`Table`]: the ranges of host memory that this driver has pinned.
//!
//! The system pins pages, each at most once, while what programs pin begins and ends anywhere, and may share a page with its neighbour. So
//! a range is pinned without what is pinned already, and each pinned range counts who wants it.

use std::{collections::BTreeMap, ops::Range};

#[derive(Debug, Default)]
pub(super) struct Table {
    ranges: BTreeMap<usize, Pinned>,
}

#[derive(Debug)]
struct Pinned {
    end: usize,
    uses: usize,
}

impl Table {
    pub(super) const fn new() -> Self {
        Self { ranges: BTreeMap::new() }
    }

    /// What of a range is not pinned yet, in order.
    pub(super) fn gaps(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut gaps = Vec::new();
        let mut at = range.start;
        for (start, end) in self.touching(&range) {
            if start > at {
                gaps.push(at..start);
            }
            at = at.max(end);
        }
        if at < range.end {
            gaps.push(at..range.end);
        }
        gaps
    }

    /// Takes in a range that was pinned just now, and that nobody uses yet.
    pub(super) fn add(&mut self, range: Range<usize>) {
        self.ranges.insert(range.start, Pinned { end: range.end, uses: 0 });
    }

    /// Counts one more use of every pinned range that has a part of this one; they are named by where they start.
    pub(super) fn claim(&mut self, range: &Range<usize>) -> Vec<usize> {
        let starts: Vec<usize> = self.touching(range).map(|(start, _)| start).collect();
        for start in &starts {
            if let Some(pinned) = self.ranges.get_mut(start) {
                pinned.uses += 1;
            }
        }
        starts
    }

    /// Counts one use less of each, and takes out those that nobody uses any more: they are to be released.
    pub(super) fn release(&mut self, starts: &[usize]) -> Vec<usize> {
        let mut unused = Vec::new();
        for start in starts {
            if let Some(pinned) = self.ranges.get_mut(start) {
                pinned.uses = pinned.uses.saturating_sub(1);
                if pinned.uses == 0 {
                    self.ranges.remove(start);
                    unused.push(*start);
                }
            }
        }
        unused
    }

    /// Whether one pinned range has all of this one. The driver refuses copies that go across two.
    pub(super) fn has(&self, range: &Range<usize>) -> bool {
        let before = self.ranges.range(..=range.start).next_back();
        before.is_some_and(|(_, pinned)| range.end <= pinned.end)
    }

    fn touching(&self, range: &Range<usize>) -> impl Iterator<Item = (usize, usize)> {
        let (from, to) = (range.start, range.end);
        let before = self.ranges.range(..from).next_back().filter(move |(_, pinned)| pinned.end > from);
        before.into_iter().chain(self.ranges.range(from..to)).map(|(&start, pinned)| (start, pinned.end))
    }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "a list of one range is meant")]
mod tests {
    use super::*;

    /// As registering does.
    fn register(table: &mut Table, range: Range<usize>) -> (Vec<Range<usize>>, Vec<usize>) {
        let gaps = table.gaps(range.clone());
        gaps.iter().for_each(|gap| table.add(gap.clone()));
        let claimed = table.claim(&range);
        (gaps, claimed)
    }

    #[test]
    fn only_what_is_not_pinned_is_pinned() {
        let mut table = Table::default();
        let (gaps, first) = register(&mut table, 100..200);
        assert_eq!((gaps, first.clone()), (vec![100..200], vec![100]));
        let (gaps, second) = register(&mut table, 150..300);
        assert_eq!((gaps, second.clone()), (vec![200..300], vec![100, 200]));
        let (gaps, around) = register(&mut table, 50..400);
        assert_eq!((gaps, around.clone()), (vec![50..100, 300..400], vec![50, 100, 200, 300]));
        let (gaps, within) = register(&mut table, 120..130);
        assert_eq!((gaps, within.clone()), (vec![], vec![100]));
        assert_eq!(table.release(&around), [50, 300]);
        assert_eq!(table.release(&first), [] as [usize; 0]);
        assert_eq!(table.release(&second), [200]);
        assert_eq!(table.release(&within), [100]);
        assert!(!table.has(&(100..101)));
    }

    #[test]
    fn a_range_is_pinned_if_one_pinned_range_has_all_of_it() {
        let mut table = Table::default();
        register(&mut table, 100..200);
        register(&mut table, 200..300);
        for (range, is) in [
            (100..200, true),
            (120..130, true),
            (250..300, true),
            (150..250, false),
            (99..101, false),
            (299..301, false),
        ] {
            assert_eq!(table.has(&range), is, "{range:?}");
        }
    }

    #[test]
    fn neighbours_do_not_touch() {
        let mut table = Table::default();
        register(&mut table, 100..200);
        assert_eq!(table.gaps(200..210), [200..210]);
        assert_eq!(table.gaps(90..100), [90..100]);
        assert_eq!(table.claim(&(200..210)), [] as [usize; 0]);
    }
}
