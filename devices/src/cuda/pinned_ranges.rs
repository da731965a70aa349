//! [`PinnedRanges`]: the ranges of host memory that this driver has pinned.
//!
//! The system pins pages, each at most once. The ranges that programs pin may start and end within a page, which two
//! ranges may then share. Therefore only the parts of a range that are not pinned yet are pinned, and each pinned range
//! counts its uses.

use std::{collections::BTreeMap, ops::Range};

#[derive(Debug, Default)]
pub(super) struct PinnedRanges {
    ranges: BTreeMap<usize, PinnedRange>,
}

#[derive(Debug)]
struct PinnedRange {
    end: usize,
    uses: usize,
}

impl PinnedRanges {
    pub(super) const fn new() -> Self {
        Self { ranges: BTreeMap::new() }
    }

    /// Returns the parts of a range that are not pinned yet, in order.
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

    /// Adds a range that was just pinned and is not used yet.
    pub(super) fn add(&mut self, range: Range<usize>) {
        self.ranges.insert(range.start, PinnedRange { end: range.end, uses: 0 });
    }

    /// Counts one more use of every pinned range that overlaps this one. Returns their start addresses.
    pub(super) fn claim(&mut self, range: &Range<usize>) -> Vec<usize> {
        let starts: Vec<usize> = self.touching(range).map(|(start, _)| start).collect();
        for start in &starts {
            if let Some(pinned) = self.ranges.get_mut(start) {
                pinned.uses += 1;
            }
        }
        starts
    }

    /// Counts one use less of each of these ranges. Removes and returns those that are unused, which are to be
    /// unpinned.
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

    /// Returns whether one pinned range contains all of this one. The driver refuses copies that span two.
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

    /// Pins a range as `register` does.
    fn register(pinned: &mut PinnedRanges, range: Range<usize>) -> (Vec<Range<usize>>, Vec<usize>) {
        let gaps = pinned.gaps(range.clone());
        gaps.iter().for_each(|gap| pinned.add(gap.clone()));
        let claimed = pinned.claim(&range);
        (gaps, claimed)
    }

    #[test]
    fn only_gaps_are_pinned() {
        let mut pinned = PinnedRanges::default();
        let (gaps, first) = register(&mut pinned, 100..200);
        assert_eq!((gaps, first.clone()), (vec![100..200], vec![100]));
        let (gaps, second) = register(&mut pinned, 150..300);
        assert_eq!((gaps, second.clone()), (vec![200..300], vec![100, 200]));
        let (gaps, around) = register(&mut pinned, 50..400);
        assert_eq!((gaps, around.clone()), (vec![50..100, 300..400], vec![50, 100, 200, 300]));
        let (gaps, within) = register(&mut pinned, 120..130);
        assert_eq!((gaps, within.clone()), (vec![], vec![100]));
        assert_eq!(pinned.release(&around), [50, 300]);
        assert_eq!(pinned.release(&first), [] as [usize; 0]);
        assert_eq!(pinned.release(&second), [200]);
        assert_eq!(pinned.release(&within), [100]);
        assert!(!pinned.has(&(100..101)));
    }

    #[test]
    fn range_must_be_within_one_pinned_range() {
        let mut pinned = PinnedRanges::default();
        register(&mut pinned, 100..200);
        register(&mut pinned, 200..300);
        for (range, is) in [
            (100..200, true),
            (120..130, true),
            (250..300, true),
            (150..250, false),
            (99..101, false),
            (299..301, false),
        ] {
            assert_eq!(pinned.has(&range), is, "{range:?}");
        }
    }

    #[test]
    fn adjacent_ranges_do_not_overlap() {
        let mut pinned = PinnedRanges::default();
        register(&mut pinned, 100..200);
        assert_eq!(pinned.gaps(200..210), [200..210]);
        assert_eq!(pinned.gaps(90..100), [90..100]);
        assert_eq!(pinned.claim(&(200..210)), [] as [usize; 0]);
    }
}
