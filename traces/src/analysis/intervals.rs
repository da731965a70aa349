//! Sets of moments as lists of intervals, ascending and apart.

/// From a moment until before another, in nanoseconds.
pub(super) type Interval = (u64, u64);

/// Adds an interval to a list in the order of starts, uniting what overlaps or touches. Empty ones are left out.
pub(super) fn unite(list: &mut Vec<Interval>, (start_ns, end_ns): Interval) {
    match list.last_mut() {
        _ if end_ns <= start_ns => {}
        Some(last) if start_ns <= last.1 => last.1 = last.1.max(end_ns),
        _ => list.push((start_ns, end_ns)),
    }
}

/// The union of intervals in any order.
pub(super) fn union(mut intervals: Vec<Interval>) -> Vec<Interval> {
    intervals.sort_unstable();
    let mut list = Vec::new();
    intervals.into_iter().for_each(|interval| unite(&mut list, interval));
    list
}

/// The sum, or the greatest number if that is less: a file may say anything.
pub(super) fn sum(values: impl Iterator<Item = u64>) -> u64 {
    values.fold(0, u64::saturating_add)
}

/// The length of a union.
pub(super) fn length_ns(list: &[Interval]) -> u64 {
    list.iter().map(|(start_ns, end_ns)| end_ns - start_ns).sum()
}

/// The length of what two unions share.
pub(super) fn shared_ns(a: &[Interval], b: &[Interval]) -> u64 {
    let (mut at_a, mut at_b, mut shared) = (0, 0, 0);
    while let (Some(one), Some(other)) = (a.get(at_a), b.get(at_b)) {
        shared += one.1.min(other.1).saturating_sub(one.0.max(other.0));
        if one.1 < other.1 { at_a += 1 } else { at_b += 1 }
    }
    shared
}

/// The union, from which one can read off how much of it lies before a moment.
pub(super) struct Measured {
    list: Vec<Interval>,
    /// The length of those before each.
    before_ns: Vec<u64>,
}

impl Measured {
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

    /// How much of the union lies in an interval.
    pub(super) fn within_ns(&self, (start_ns, end_ns): Interval) -> u64 {
        self.before_ns(end_ns.max(start_ns)) - self.before_ns(start_ns)
    }

    /// The end of the interval in which the moment lies.
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
    fn a_union_is_ascending_and_apart() {
        assert_eq!(union(vec![(5, 9), (0, 2), (2, 3), (6, 7), (4, 4)]), [(0, 3), (5, 9)]);
        assert_eq!(length_ns(&[(0, 3), (5, 9)]), 7);
    }

    #[test]
    fn what_unions_share() {
        assert_eq!(shared_ns(&[(0, 3), (5, 9)], &[(2, 6), (8, 20)]), 1 + 1 + 1);
        assert_eq!(shared_ns(&[], &[(2, 6)]), 0);
    }

    #[test]
    fn what_lies_within() {
        let measured = Measured::new(vec![(0, 3), (5, 9)]);
        assert_eq!(measured.within_ns((2, 6)), 2);
        assert_eq!(measured.within_ns((0, 100)), 7);
        assert_eq!(measured.within_ns((3, 5)), 0);
        assert_eq!(measured.within_ns((7, 7)), 0);
        assert_eq!((measured.end_around(2), measured.end_around(3), measured.end_around(5)), (Some(3), None, Some(9)));
    }
}
