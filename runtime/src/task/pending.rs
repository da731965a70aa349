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
//!
//! Of a task that one thread is `alone` with (`successors.rs`), all of this is done by that thread, and without a locked
//! instruction.

use crate::hazard::TaskRef;
use crate::sync::{AtomicU64, Ordering};

const DONE_ONE: u64 = 1;
const ISSUE_ONE: u64 = 1 << 32;
/// More than a task can have predecessors: each is a task in flight, found once, and has a slot.
const GUARD: u64 = 1 << 30;

const _: () = assert!(TaskRef::SLOT_BITS < 30);

/// The counts of one task; see the module's head.
pub(crate) struct Pending(AtomicU64);

/// What became of a task through one release or through the seal: the counts before and after.
#[must_use]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Released {
    before: u64,
    after: u64,
}

impl Released {
    /// The last predecessor that was not issued is issued now.
    #[inline]
    pub(crate) fn issuable(self) -> bool {
        self.before >> 32 != 0 && self.after >> 32 == 0
    }

    /// The last predecessor that was not done is done now.
    #[inline]
    pub(crate) fn runnable(self) -> bool {
        self.before as u32 != 0 && self.after as u32 == 0
    }

    /// One count is left: of a task that holds one for itself, every predecessor is done.
    pub(crate) fn only_hold_left(self) -> bool {
        self.after as u32 == 1
    }
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
    pub(crate) fn seal(&self, unissued: u64, undone: u64, alone: bool) -> Released {
        self.subtract((GUARD - unissued) * ISSUE_ONE + (GUARD - undone) * DONE_ONE, alone)
    }

    /// Ends an insertion that found nobody to wait for: no predecessor knows the task, so no operation can interfere.
    #[inline]
    pub(crate) fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Takes one release.
    #[inline]
    pub(crate) fn release(&self, release: Release, alone: bool) -> Released {
        let amount = match release {
            Release::Issue => ISSUE_ONE,
            Release::Done => DONE_ONE,
            Release::Both => ISSUE_ONE + DONE_ONE,
        };
        self.subtract(amount, alone)
    }

    /// Whether every predecessor is done, of a task that holds one count for itself (`placement/mod.rs`).
    #[inline]
    pub(crate) fn only_hold_left(&self) -> bool {
        self.0.load(Ordering::Acquire) as u32 == 1
    }

    #[inline]
    fn subtract(&self, amount: u64, alone: bool) -> Released {
        let before = if alone {
            let before = self.0.load(Ordering::Relaxed);
            self.0.store(before - amount, Ordering::Relaxed);
            before
        } else {
            // AcqRel: what every predecessor wrote must be visible to whoever makes the task ready, through the chain of
            // read-modify-writes on this word.
            self.0.fetch_sub(amount, Ordering::AcqRel)
        };
        Released { before, after: before - amount }
    }
}
