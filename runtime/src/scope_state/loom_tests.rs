//! Loom tests: every interleaving of waiting for a scope and counting its tasks. A lost wake-up is a deadlock, which
//! loom reports.

use super::ScopeState;
use crate::{schedule::Place, seat::Parker};
use loom::{sync::Arc, thread};

/// Two workers count, and the scope's thread waits twice: for one task (room in the window) and for all.
///
/// Catches: `total_order` missing in `done` or in `count_done` (the read of the count overtakes the store of the
/// waiter); the waiter stored before its target.
#[test]
fn loom_last_count_wakes_the_waiter() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let (state, parker) = (Arc::new(ScopeState::default()), Arc::new(Parker::new()));
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let (state, parker) = (state.clone(), parker.clone());
                thread::spawn(move || {
                    if let Some(waiter) = state.count_done(1) {
                        assert_eq!(waiter, Place(7));
                        parker.wake();
                    }
                })
            })
            .collect();
        for target in [1, 2] {
            state.wait_here(Place(7), target);
            while state.done() < target {
                parker.park();
            }
            state.stop_waiting();
        }
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}
