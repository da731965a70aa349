//! What a task still waits for.
//!
//! Two counts share one word, because most predecessors release both at once: how many predecessors are not *issued* yet
//! (upper half), and how many are not *done* yet (lower half). A task is **issuable** when the first reaches zero: a device
//! may take it, with its predecessors' events as wait conditions. It is **runnable** when the second reaches zero: anyone may
//! take it. Every predecessor is issued no later than it is done, so a task is never runnable without being issuable.
//!
//! While the inserter is still looking for predecessors, a *guard* keeps both counts far above zero. Predecessors that finish
//! meanwhile subtract from it; [`Pending::seal`] takes away the guard less the predecessors found, in one operation. The
//! one operation that takes a count to zero, be it the seal or a release, is told so: exactly one party makes the task ready.

use crate::sync::{AtomicU64, Ordering};

const DONE_ONE: u64 = 1;
const ISSUE_ONE: u64 = 1 << 32;
/// More predecessors than a task can have: their lists count to 2²².
const GUARD: u64 = 1 << 24;

/// The counts of one task; see the module's head.
pub(crate) struct Pending(AtomicU64);

/// What became of a task through one release or through the seal.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Released {
    /// The last predecessor that was not issued is issued now.
    pub(crate) issuable: bool,
    /// The last predecessor that was not done is done now.
    pub(crate) runnable: bool,
    /// One count is left: of a task that holds one for itself, every predecessor is done.
    pub(crate) only_hold_left: bool,
}

/// One release, as a predecessor gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// The predecessor was issued.
    Issue,
    /// The predecessor is done, and this successor had or did not need the issue release.
    Done,
    /// The predecessor is done and was never issued to a queue: both at once.
    Both,
}

impl Pending {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Starts the counts of a new task, guarded.
    #[inline]
    pub(crate) fn guard(&self) {
        self.0.store(GUARD * ISSUE_ONE + GUARD * DONE_ONE, Ordering::Relaxed);
    }

    /// Ends the insertion: `unissued` and `undone` predecessors were found in all.
    #[inline]
    pub(crate) fn seal(&self, unissued: u64, undone: u64) -> Released {
        self.subtract((GUARD - unissued) * ISSUE_ONE + (GUARD - undone) * DONE_ONE)
    }

    /// Ends an insertion that found nobody to wait for: no predecessor knows the task, so no operation can interfere.
    #[inline]
    pub(crate) fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Takes one release.
    #[inline]
    pub(crate) fn release(&self, release: Release) -> Released {
        self.subtract(match release {
            Release::Issue => ISSUE_ONE,
            Release::Done => DONE_ONE,
            Release::Both => ISSUE_ONE + DONE_ONE,
        })
    }

    /// Whether every predecessor is done, of a task that holds one count for itself (`device/mod.rs`).
    #[inline]
    pub(crate) fn only_hold_left(&self) -> bool {
        self.0.load(Ordering::Acquire) as u32 == 1
    }

    #[inline]
    fn subtract(&self, amount: u64) -> Released {
        // AcqRel: what every predecessor wrote must be visible to whoever makes the task ready, through the chain of
        // read-modify-writes on this word.
        let before = self.0.fetch_sub(amount, Ordering::AcqRel);
        let after = before - amount;
        let reached = |half: fn(u64) -> u64| half(before) != 0 && half(after) == 0;
        Released {
            issuable: reached(|word| word >> 32),
            runnable: reached(|word| word & (ISSUE_ONE - 1)),
            only_hold_left: after as u32 == 1,
        }
    }
}
