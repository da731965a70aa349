//! The counts of predecessors that a task still waits for.
//!
//! Two counts share one word, because most predecessors release both at once: the predecessors that are not *issued*
//! yet (upper half), and those that are not *done* yet (lower half). A task is **issuable** when the first count
//! reaches zero: a device may then take it, with its predecessors' events as wait conditions. It is **runnable** when
//! the second count reaches zero: any thread may then take it. Every predecessor is issued no later than it is done, so
//! a runnable task is always issuable.
//!
//! While the inserter is still looking for predecessors, a *guard* keeps both counts far above zero. Predecessors that
//! finish meanwhile subtract from it. [`Pending::seal`] then subtracts the guard minus the number of predecessors
//! found, in one operation. Exactly one operation, the seal or a release, takes a count to zero, and its return value
//! says so. So exactly one party makes the task ready.
//!
//! If a task is `single_threaded` (`successors.rs`), one thread performs all of these operations, without locked
//! instructions.

use crate::hazard::TaskRef;
use crate::sync::{AtomicU64, Ordering};

const DONE_ONE: u64 = 1;
const ISSUE_ONE: u64 = 1 << 32;
/// More than the number of predecessors of a task: each is a task in flight, counted once, and has a slot.
const GUARD: u64 = 1 << 30;

const _: () = assert!(TaskRef::SLOT_BITS < 30);

/// The counts of one task; see the [module](self) documentation.
pub(crate) struct Pending(AtomicU64);

/// The effect of one release or of the seal: the counts before and after.
#[must_use]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Released {
    before: u64,
    after: u64,
}

impl Released {
    /// Returns whether this operation issued the last predecessor that was not issued.
    #[inline]
    pub(crate) fn issuable(self) -> bool {
        self.before >> 32 != 0 && self.after >> 32 == 0
    }

    /// Returns whether this operation finished the last predecessor that was not done.
    #[inline]
    pub(crate) fn runnable(self) -> bool {
        self.before as u32 != 0 && self.after as u32 == 0
    }

    /// Returns whether one count is left. For a task with a hold, this means that every predecessor is done.
    pub(crate) fn only_hold_left(self) -> bool {
        self.after as u32 == 1
    }
}

/// One release by a predecessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// The predecessor was issued.
    Issue,
    /// The predecessor is done. This successor had the issue release before, or did not need it.
    Done,
    /// The predecessor is done and was never issued to a queue: both releases at once.
    Both,
}

impl Pending {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Starts the counts of a new task at the guard.
    #[inline]
    pub(crate) fn guard(&self) {
        self.0.store(GUARD * ISSUE_ONE + GUARD * DONE_ONE, Ordering::Relaxed);
    }

    /// Ends the insertion, which found `unissued` and `undone` predecessors in all.
    #[inline]
    pub(crate) fn seal(&self, unissued: u64, undone: u64, single_threaded: bool) -> Released {
        self.subtract((GUARD - unissued) * ISSUE_ONE + (GUARD - undone) * DONE_ONE, single_threaded)
    }

    /// Ends an insertion that found no predecessors. No other thread knows the task yet, so a plain store is enough.
    #[inline]
    pub(crate) fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Applies one release.
    #[inline]
    pub(crate) fn release(&self, release: Release, single_threaded: bool) -> Released {
        let amount = match release {
            Release::Issue => ISSUE_ONE,
            Release::Done => DONE_ONE,
            Release::Both => ISSUE_ONE + DONE_ONE,
        };
        self.subtract(amount, single_threaded)
    }

    /// Returns whether every predecessor of a task with a hold is done (`placement/mod.rs`).
    #[inline]
    pub(crate) fn only_hold_left(&self) -> bool {
        self.0.load(Ordering::Acquire) as u32 == 1
    }

    #[inline]
    fn subtract(&self, amount: u64, single_threaded: bool) -> Released {
        let before = if single_threaded {
            let before = self.0.load(Ordering::Relaxed);
            self.0.store(before - amount, Ordering::Relaxed);
            before
        } else {
            // AcqRel: what every predecessor wrote must be visible to the thread that makes the task ready, through the
            // chain of read-modify-writes of this word.
            self.0.fetch_sub(amount, Ordering::AcqRel)
        };
        Released { before, after: before - amount }
    }
}
