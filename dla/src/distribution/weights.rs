//! What the devices are capable of: the capability weights that columns are dealt by.
//!
//! The one place where this crate learns about rates.

use super::Distribution;
use superscalar_runtime::{Nesting, Resource};

/// Those who get columns, and their rates with one kernel, in whatever unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Weights(Vec<(Resource, f64)>);

/// The weights by which this distribution deals, for updates by this kernel.
pub(super) fn of(nesting: Nesting<'_>, distribution: Distribution, kernel: &str) -> Weights {
    let mut weights = for_kernel(nesting, kernel);
    if distribution != Distribution::Guided {
        weights.0.iter_mut().for_each(|(_, rate)| *rate = 1.0);
    }
    weights
}

/// The rates of the devices with this kernel: by their own account, until they are measured.
fn for_kernel(nesting: Nesting<'_>, _kernel: &str) -> Weights {
    let rate = |(at, device): (usize, superscalar_runtime::DeviceInfo)| {
        (Resource::device(at as u16), device.speed.flops_per_s)
    };
    Weights(nesting.devices().into_iter().enumerate().map(rate).collect())
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
