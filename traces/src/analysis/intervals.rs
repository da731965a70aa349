//! Sets of times as lists of disjoint intervals in ascending order.

/// A half-open interval `(start, end)` in nanoseconds.
pub(super) type Interval = (u64, u64);

/// Adds an interval to a list sorted by start, and merges it with the last one if they overlap or touch. Empty
/// intervals are ignored.
pub(super) fn unite(list: &mut Vec<Interval>, (start_ns, end_ns): Interval) {
    match list.last_mut() {
        _ if end_ns <= start_ns => {}
        Some(last) if start_ns <= last.1 => last.1 = last.1.max(end_ns),
        _ => list.push((start_ns, end_ns)),
    }
}

/// Returns the union of intervals given in any order.
pub(super) fn union(mut intervals: Vec<Interval>) -> Vec<Interval> {
    intervals.sort_unstable();
    let mut list = Vec::new();
    intervals.into_iter().for_each(|interval| unite(&mut list, interval));
    list
}

/// Returns the saturating sum: values from a file may be arbitrarily large.
pub(super) fn sum(values: impl Iterator<Item = u64>) -> u64 {
    values.fold(0, u64::saturating_add)
}

/// Returns the total length of disjoint intervals.
pub(super) fn length_ns(list: &[Interval]) -> u64 {
    list.iter().map(|(start_ns, end_ns)| end_ns - start_ns).sum()
}

/// Returns the length of the intersection of two unions.
pub(super) fn shared_ns(a: &[Interval], b: &[Interval]) -> u64 {
    let (mut at_a, mut at_b, mut shared) = (0, 0, 0);
    while let (Some(one), Some(other)) = (a.get(at_a), b.get(at_b)) {
        shared += one.1.min(other.1).saturating_sub(one.0.max(other.0));
        if one.1 < other.1 { at_a += 1 } else { at_b += 1 }
    }
    shared
}

/// A union with prefix sums, which answers how much of it falls into an interval in logarithmic time.
pub(super) struct IntervalIndex {
    list: Vec<Interval>,
    /// For each interval, the total length of those before it.
    before_ns: Vec<u64>,
}

impl IntervalIndex {
    pub(super) fn new(list: Vec<Interval>) -> Self {
        let mut before_ns = Vec::with_capacity(list.len());
        let mut sum_ns = 0;
        for (start_ns, end_ns) in &list {
            before_ns.push(sum_ns);
            sum_ns += end_ns - start_ns;
        }
        Self { list, before_ns }
    }

    fn before_ns(&self, at_ns: u64) -> u64 {
        let place = self.list.partition_point(|&(start_ns, _)| start_ns < at_ns);
        let Some(last) = place.checked_sub(1) else { return 0 };
        let (start_ns, end_ns) = self.list[last];
        self.before_ns[last] + end_ns.min(at_ns) - start_ns
    }

    /// Returns the length of the union's intersection with an interval.
    pub(super) fn within_ns(&self, (start_ns, end_ns): Interval) -> u64 {
        self.before_ns(end_ns.max(start_ns)) - self.before_ns(start_ns)
    }

    /// Returns the end of the interval that contains a time, if there is one.
    pub(super) fn end_around(&self, at_ns: u64) -> Option<u64> {
        let last = self.list.partition_point(|&(start_ns, _)| start_ns <= at_ns).checked_sub(1)?;
        let (_, end_ns) = self.list[last];
        (at_ns < end_ns).then_some(end_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_are_sorted_and_disjoint() {
        assert_eq!(union(vec![(5, 9), (0, 2), (2, 3), (6, 7), (4, 4)]), [(0, 3), (5, 9)]);
        assert_eq!(length_ns(&[(0, 3), (5, 9)]), 7);
    }

    #[test]
    fn shared_lengths() {
        assert_eq!(shared_ns(&[(0, 3), (5, 9)], &[(2, 6), (8, 20)]), 1 + 1 + 1);
        assert_eq!(shared_ns(&[], &[(2, 6)]), 0);
    }

    #[test]
    fn lengths_within_intervals() {
        let measured = IntervalIndex::new(vec![(0, 3), (5, 9)]);
        assert_eq!(measured.within_ns((2, 6)), 2);
        assert_eq!(measured.within_ns((0, 100)), 7);
        assert_eq!(measured.within_ns((3, 5)), 0);
        assert_eq!(measured.within_ns((7, 7)), 0);
        assert_eq!((measured.end_around(2), measured.end_around(3), measured.end_around(5)), (Some(3), None, Some(9)));
    }
}
