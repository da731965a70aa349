//! Capability weights of the devices, by which columns are dealt.
//!
//! No other module of this crate uses rates for distribution.

use super::Distribution;
use superscalar_runtime::{Cost, Nesting, Resource};

/// The resources that get columns, and their rates for one kernel, in a common unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Weights(Vec<(Resource, f64)>);

/// Returns the weights for a distribution: equal ones, or the devices' capability weights for this kernel and cost.
/// These are measured, or else taken from the drivers' directives.
///
/// The host gets no columns: it runs the panels and whatever else its policy assigns to it.
pub(super) fn for_distribution(
    nesting: Nesting<'_>,
    distribution: Distribution,
    (kernel, cost): (&str, Cost),
) -> Weights {
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

    /// Returns the resource with this index.
    pub(super) fn resource(&self, at: usize) -> Resource {
        self.0[at].0
    }

    /// Returns whether any share differs from the old one by more than [`SHARE_CHANGE_MIN`].
    pub(super) fn differ_from(&self, old: &Self) -> bool {
        let share = |weights: &Self, at: usize| weights.0[at].1 / weights.rates().iter().sum::<f64>();
        let same_resources = self.0.len() == old.0.len() && self.0.iter().zip(&old.0).all(|(new, old)| new.0 == old.0);
        !same_resources
            || (0..self.0.len()).any(|at| {
                let (new, old) = (share(self, at), share(old, at));
                (new - old).abs() > SHARE_CHANGE_MIN * old.max(new)
            })
    }
}

/// Relative change of a share that triggers redistribution. Redistribution moves columns between devices, which costs
/// more than a slight imbalance.
const SHARE_CHANGE_MIN: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(rates: &[f64]) -> Weights {
        Weights(rates.iter().enumerate().map(|(at, &rate)| (Resource::device(at as u16), rate)).collect())
    }

    #[test]
    fn weights_differ_if_shares_do() {
        let old = weights(&[10.0, 8.0, 5.0]);
        assert!(!weights(&[10.0, 8.0, 5.0]).differ_from(&old));
        // All rates doubled: the shares are unchanged.
        assert!(!weights(&[20.0, 16.0, 10.0]).differ_from(&old));
        assert!(!weights(&[10.5, 8.0, 5.0]).differ_from(&old));
        assert!(weights(&[10.0, 8.0, 4.0]).differ_from(&old));
        assert!(weights(&[10.0, 8.0]).differ_from(&old));
        // Unknown rates before and after.
        assert!(!weights(&[0.0, 0.0]).differ_from(&weights(&[0.0, 0.0])));
    }
}
