//! The homes of the block columns of a factorization, and dealing them anew while it runs.

use super::{
    Distribution, Update, deal,
    weights::{self, Weights},
};
use crate::{
    codelets::{Changed, task},
    tiled::Tiled,
};
use superscalar_kernels::{MatMut, Scalar};
use superscalar_runtime::{BlasLevel, Home, Lent, Lock, Nesting, Scope};

/// Deals the block columns of a matrix that is factored, as it says itself; without a distribution by columns it does nothing.
pub(crate) struct Dealer<'s> {
    /// The weights that were dealt by last. A task that deals anew changes them.
    state: Option<Lent<'s, State<'s>>>,
}

struct State<'s> {
    nesting: Nesting<'s>,
    update: Update,
    homes: Vec<Home<'s>>,
    dealt_by: Weights,
}

impl<'s> Dealer<'s> {
    /// Deals all columns of A, most of whose updates are such.
    pub(crate) fn new<T: Scalar>(s: &'s Scope<'s, '_>, a: &Tiled<'s, MatMut<'s, T>>, update: Update) -> Self {
        let nesting = s.nesting();
        if a.distribution() != Distribution::Guided || !nesting.has_devices() {
            return Self { state: None };
        }
        let homes: Vec<_> = (0..a.nt()).map(|j| a.at(0, j).home()).collect();
        let dealt_by = weights::of(nesting, Distribution::Guided, update);
        let state = State { nesting, update, homes, dealt_by };
        state.deal_from(0);
        Self { state: Some(s.own(state)) }
    }

    /// Inserts a task that deals the columns behind block column k anew if the weights have moved, when column k is factored.
    #[track_caller]
    pub(crate) fn deal_behind<T: Scalar>(&self, s: &'s Scope<'s, '_>, k: usize, panel: Lent<'s, Changed<'s, T>>) {
        let Some(state) = self.state else { return };
        let spec = task("deal", k, k, k).priority(4).lock(Lock::Host).level(BlasLevel::One);
        s.spawn(spec, (panel.read(), state.read_write()), move |(_, state): (_, &mut State<'s>)| {
            let weights = weights::of(state.nesting, Distribution::Guided, state.update);
            if weights.have_moved_from(&state.dealt_by) {
                state.dealt_by = weights;
                state.deal_from(k + 1);
            }
        });
    }
}

impl State<'_> {
    /// Deals the columns from this one on.
    fn deal_from(&self, first: usize) {
        let homes = self.homes.get(first..).unwrap_or_default();
        for (home, at) in homes.iter().zip(deal::columns(&self.dealt_by.rates(), homes.len())) {
            home.deal_to(Some(self.dealt_by.resource(at)));
        }
    }
}
