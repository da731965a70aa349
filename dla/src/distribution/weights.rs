//! What the devices are capable of: the capability weights that columns are dealt by.
//!
//! The one place where this crate learns about rates.

use super::Distribution;
use superscalar_runtime::{Cost, Nesting, Resource};

/// Those who get columns, and their rates with one kernel, in whatever unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Weights(Vec<(Resource, f64)>);

/// The weights by which this distribution deals: equal ones, or the devices' capability weights for such calls of the kernel, from what
/// was measured, or else from what the devices say of themselves.
///
/// The host is not among those who get columns: it has the panels, and takes what its policy gives it of the rest.
pub(super) fn of(nesting: Nesting<'_>, distribution: Distribution, (kernel, cost): (&str, Cost)) -> Weights {
    let rate = |at: usize| {
        let resource = Resource::device(at as u16);
        let is_guided = distribution == Distribution::Guided;
        (resource, if is_guided { nesting.capability_weight(resource, kernel, cost).rate } else { 1.0 })
    };
    Weights((0..nesting.devices().len()).map(rate).collect())
}

impl Weights {
    pub(super) fn rates(&self) -> Vec<f64> {
        self.0.iter().map(|&(_, rate)| rate).collect()
    }

    /// Who is at this place among the rates.
    pub(super) fn resource(&self, at: usize) -> Resource {
        self.0[at].0
    }

    /// Whether a share in all is another than by the old weights: by more than a tenth of it.
    pub(super) fn have_moved_from(&self, old: &Self) -> bool {
        let share = |weights: &Self, at: usize| weights.0[at].1 / weights.rates().iter().sum::<f64>();
        let same_resources = self.0.len() == old.0.len() && self.0.iter().zip(&old.0).all(|(new, old)| new.0 == old.0);
        !same_resources
            || (0..self.0.len()).any(|at| {
                let (new, old) = (share(self, at), share(old, at));
                (new - old).abs() > MOVED * old.max(new)
            })
    }
}

/// By how much of itself a share may move before columns are dealt anew: dealing anew moves columns from device to device, which takes
/// longer than a slightly uneven load.
const MOVED: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(rates: &[f64]) -> Weights {
        Weights(rates.iter().enumerate().map(|(at, &rate)| (Resource::device(at as u16), rate)).collect())
    }

    #[test]
    fn weights_move_when_a_share_does() {
        let old = weights(&[10.0, 8.0, 5.0]);
        assert!(!weights(&[10.0, 8.0, 5.0]).have_moved_from(&old));
        // Twice as fast all of them: the shares are the same.
        assert!(!weights(&[20.0, 16.0, 10.0]).have_moved_from(&old));
        assert!(!weights(&[10.5, 8.0, 5.0]).have_moved_from(&old));
        assert!(weights(&[10.0, 8.0, 4.0]).have_moved_from(&old));
        assert!(weights(&[10.0, 8.0]).have_moved_from(&old));
        // Nothing was known, and nothing is.
        assert!(!weights(&[0.0, 0.0]).have_moved_from(&weights(&[0.0, 0.0])));
    }
}
