//! Homes of the block columns of a factorization, and their redistribution while it runs.

use super::{
    Distribution, Update, deal,
    weights::{self, Weights},
};
use crate::{
    codelets::{TileMut, task},
    tiled::Tiled,
};
use std::sync::Arc;
use superscalar_kernels::{MatMut, Scalar};
use superscalar_runtime::{BlasLevel, Home, Lent, Lock, Nesting, Scope};

/// Distributes the block columns of a matrix that is being factored if its distribution is [`Distribution::Guided`];
/// otherwise does nothing.
pub(crate) struct ColumnDistributor<'s> {
    dealt: Option<DealtColumns<'s>>,
}

struct DealtColumns<'s> {
    nesting: Nesting<'s>,
    update: Update,
    homes: Arc<[Home<'s>]>,
    /// Weights of the latest distribution. Redistribution tasks update them.
    weights: Lent<'s, Weights>,
}

impl<'s> ColumnDistributor<'s> {
    /// Distributes all columns of A by the devices' rates for `update`, the most frequent update.
    pub(crate) fn new<T: Scalar>(s: &'s Scope<'s, '_>, a: &Tiled<'s, MatMut<'s, T>>, update: Update) -> Self {
        let nesting = s.nesting();
        if a.distribution() != Distribution::Guided || !nesting.has_devices() {
            return Self { dealt: None };
        }
        let homes: Arc<[_]> = (0..a.nt()).map(|j| a.at(0, j).home()).collect();
        let weights = weights::for_distribution(nesting, Distribution::Guided, update);
        deal_from(0, &homes, &weights);
        Self { dealt: Some(DealtColumns { nesting, update, homes, weights: s.own(weights) }) }
    }

    /// Inserts a task that runs when column k is factored: if the weights have changed, it redistributes the columns
    /// after k.
    #[track_caller]
    pub(crate) fn redistribute_after<T: Scalar>(
        &self,
        s: &'s Scope<'s, '_>,
        k: usize,
        panel: Lent<'s, TileMut<'s, T>>,
    ) {
        let Some(DealtColumns { nesting, update, homes, weights }) = &self.dealt else { return };
        let (nesting, update, homes) = (*nesting, *update, homes.clone());
        let spec = task("deal", k, k, k).priority(4).lock(Lock::Host).level(BlasLevel::One);
        s.spawn(spec, (panel.read(), weights.read_write()), move |(_, dealt_by): (_, &mut Weights)| {
            let weights = weights::for_distribution(nesting, Distribution::Guided, update);
            if weights.differ_from(dealt_by) {
                *dealt_by = weights;
                deal_from(k + 1, &homes, dealt_by);
            }
        });
    }
}

/// Distributes the columns from `first` on.
fn deal_from(first: usize, homes: &[Home<'_>], weights: &Weights) {
    let homes = homes.get(first..).unwrap_or_default();
    for (home, at) in homes.iter().zip(deal::columns(&weights.rates(), homes.len())) {
        home.deal_to(Some(weights.resource(at)));
    }
}
