//! Dealing columns to resources in proportion to their shares. Pure arithmetic.
//!
//! With shares λ₁, λ₂, … of sum one, t columns are dealt well if each resource i has λᵢ t of them, up to a fraction.
//! The trailing part of a factorization shrinks at each step, so the *last* t columns must be dealt well for every t.
//! Therefore columns are dealt from the last to the first.
//!
//! The resource with the largest deficit is not always the right one to be next. Among the resources that would
//! otherwise fall a column behind, the next column goes to the one with the earliest deadline (R. Tijdeman, "The
//! chairman assignment problem", Discrete Mathematics 32, 1980). With n resources, no resource is ever off by more than
//! 1 − 1/(2n − 2) columns.

/// Returns the index of the rate that each of `count` columns is dealt to. A resource with rate zero gets no columns,
/// unless all rates are zero: then all shares are equal.
///
/// # Panics
/// If there are no rates.
pub(super) fn columns(rates: &[f64], count: usize) -> Vec<usize> {
    assert!(!rates.is_empty(), "no rates");
    let usable = |rate: f64| if rate.is_finite() && rate > 0.0 { rate } else { 0.0 };
    let sum: f64 = rates.iter().copied().map(usable).sum();
    let share = |rate: f64| if sum > 0.0 { usable(rate) / sum } else { 1.0 / rates.len() as f64 };
    let shares: Vec<f64> = rates.iter().copied().map(share).collect();
    let sharers = shares.iter().filter(|&&share| share > 0.0).count();
    // Largest allowed deficit.
    let slack = if sharers > 1 { 1.0 - 1.0 / (2 * sharers - 2) as f64 } else { 0.0 };
    let (mut dealt, mut homes) = (vec![0_usize; rates.len()], vec![0; count]);
    for (before, home) in homes.iter_mut().rev().enumerate() {
        let now = (before + 1) as f64;
        // Deficit of a resource if this column goes to another.
        let lacks = |at: usize| shares[at] * now - dealt[at] as f64;
        // Number of columns after which the deficit of a resource would be too large.
        let latest = |at: usize| (slack - lacks(at)) / shares[at];
        let candidates = (0..rates.len()).filter(|&at| shares[at] > 0.0);
        let eligible = candidates.clone().filter(|&at| lacks(at) >= 1.0 - slack - ROUNDING);
        let urgent = eligible.min_by(|&a, &b| latest(a).total_cmp(&latest(b)));
        // In exact arithmetic some resource is eligible. If rounding prevents that, take the one with the largest
        // deficit.
        let most = || candidates.max_by(|&a, &b| lacks(a).total_cmp(&lacks(b)));
        *home = urgent.or_else(most).unwrap_or(0);
        dealt[*home] += 1;
    }
    homes
}

/// Differences below this are rounding errors.
const ROUNDING: f64 = 1e-9;

/// A grid of p x q resources, as square as their number allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    p: usize,
    q: usize,
}

impl Grid {
    /// Creates the grid of `count` resources: p is the largest divisor up to the square root.
    pub(crate) fn of(count: usize) -> Self {
        let p = (1..=count.isqrt()).rev().find(|&p| count.is_multiple_of(p)).unwrap_or(1);
        Self { p, q: count.max(1) / p }
    }

    /// Returns p and q.
    pub(crate) fn shape(self) -> (usize, usize) {
        (self.p, self.q)
    }

    /// Returns the index of the resource of tile (i, j).
    pub(super) fn at(self, i: usize, j: usize) -> usize {
        i % self.p + self.p * (j % self.q)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn count(homes: &[usize], who: usize) -> f64 {
        homes.iter().filter(|&&home| home == who).count() as f64
    }

    #[test]
    fn columns_match_rates() {
        let homes = columns(&[10.0, 8.0, 5.0], 230);
        for window in homes.windows(23) {
            assert_eq!([0, 1, 2].map(|who| count(window, who)), [10.0, 8.0, 5.0]);
        }
        // The columns alternate: no resource has three in a row, and the slowest never two.
        assert!(homes.windows(3).all(|three| three[0] != three[1] || three[1] != three[2]), "{homes:?}");
        assert!(homes.windows(2).all(|two| two != [2, 2]), "{homes:?}");
    }

    #[test]
    fn equal_rates_take_turns() {
        for window in columns(&[3.0; 4], 40).windows(4) {
            assert_eq!([0, 1, 2, 3].map(|who| count(window, who)), [1.0; 4]);
        }
    }

    #[test]
    fn invalid_rates_get_no_columns() {
        assert_eq!(columns(&[0.0, 1.0, f64::NAN, f64::INFINITY, -1.0], 3), [1; 3]);
        assert_eq!(count(&columns(&[0.0; 3], 9), 2), 3.0);
        assert!(columns(&[1.0], 0).is_empty());
    }

    #[test]
    fn grids_are_as_square_as_they_can_be() {
        let shapes = [1, 2, 3, 4, 6, 7, 8, 12].map(|count| Grid::of(count).shape());
        assert_eq!(shapes, [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (1, 7), (2, 4), (3, 4)]);
        let grid = Grid::of(6);
        let mut all: Vec<_> = (0..3).flat_map(|j| (0..2).map(move |i| grid.at(i, j))).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4, 5]);
        assert_eq!(grid.at(5, 7), grid.at(1, 1));
    }

    proptest! {
        #[test]
        fn trailing_parts_are_within_one_column(
            rates in prop::collection::vec(0.01_f64..100.0, 1..9), nt in 0_usize..300,
        ) {
            let (homes, sum) = (columns(&rates, nt), rates.iter().sum::<f64>());
            prop_assert_eq!(homes.len(), nt);
            for start in 0..nt {
                for (who, rate) in rates.iter().enumerate() {
                    let exact = rate / sum * (nt - start) as f64;
                    let dealt = count(&homes[start..], who);
                    let what = format!("{who}: {dealt}, expected {exact}, from {start}: {homes:?}");
                    prop_assert!((dealt - exact).abs() < 1.0, "{}", what);
                }
            }
        }

        #[test]
        fn windows_are_within_two_columns(
            rates in prop::collection::vec(0.01_f64..100.0, 1..6), nt in 1_usize..80,
        ) {
            let (homes, sum) = (columns(&rates, nt), rates.iter().sum::<f64>());
            for (start, end) in (0..nt).flat_map(|start| (start..=nt).map(move |end| (start, end))) {
                for (who, rate) in rates.iter().enumerate() {
                    let exact = rate / sum * (end - start) as f64;
                    prop_assert!((count(&homes[start..end], who) - exact).abs() < 2.0, "{start}..{end}: {homes:?}");
                }
            }
        }
    }
}
