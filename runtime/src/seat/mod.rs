//! Seats, and how their occupants sleep. A thread needs a seat to run or insert tasks, and a seat has at most one
//! occupant.
//!
//! | seats | occupant |
//! |---|---|
//! | `0` | a thread from outside while it is inside a scope, otherwise the first pool thread, its understudy |
//! | `1 .. workers` | the other pool threads, permanently |
//! | guests | further threads from outside, while inside a scope |
//! | front | the holder of the front lock, to insert tasks without a scope |
//! | issuers | one thread per device, permanently |
//!
//! So a thread that opens a scope *is* a worker while the scope is open: it inserts tasks, and runs tasks when it has
//! to wait. With `n` workers, `n` threads run, not `n + 1`. Further threads run only tasks of their own scopes. If all
//! seats are taken, a thread waits for one ([`SeatQueue`]).

mod holder_lock;
mod locked_tasks;
#[cfg(all(loom, test))]
mod loom_tests;
mod parker;
mod sleep;
mod strays;

pub(crate) use holder_lock::{HolderGuard, HolderLock};
pub(crate) use locked_tasks::LockedTasks;
pub(crate) use parker::Parker;
pub(crate) use sleep::Sleep;
pub(crate) use strays::Strays;

use crate::{
    recording::TaskId,
    schedule::Place,
    scope_state::ScopeState,
    sync::held,
    task::{ChunkCache, SlotCache},
};
use std::{
    cell::{Cell, UnsafeCell},
    ptr::NonNull,
    sync::{
        Condvar, Mutex,
        atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering, fence},
    },
    time::{Duration, Instant},
};

/// State that only the seat's occupant uses.
#[derive(Default)]
pub(crate) struct Local {
    pub(crate) slots: SlotCache,
    pub(crate) chunks: ChunkCache,
    pub(crate) done: UnreportedTasks,
    pub(crate) backoff: SearchBackoff,
}

/// The backoff of a seat's searches, which depends on whether recently found tasks were large enough to be worth a
/// search.
#[derive(Default)]
pub(crate) struct SearchBackoff {
    last_found: Option<Instant>,
    first_poll: u32,
}

/// Polling and stealing cost both threads about a hundred nanoseconds, so a found task should take longer than this.
const FOUND_TASK_TIME_MIN: Duration = Duration::from_micros(4);
/// See [`SearchBackoff::pause`].
const FIRST_POLL_MAX: u32 = 8;
/// The pause before the first poll of a thread that searches alone, and the longest one. They are times, because an
/// iteration of a spin loop takes 10 to 50 nanoseconds, depending on the processor (measured:
/// docs/measurements/2026-11-28-constants.md).
const PAUSE_MIN: Duration = Duration::from_nanos(10);
const PAUSE_MAX: Duration = Duration::from_micros(6);

impl SearchBackoff {
    /// Begins a search, and returns the index of its first poll. If the tasks found last were finished soon, the search
    /// starts with longer pauses, so that more tasks accumulate.
    pub(crate) fn begin(&mut self, now: Instant) -> u32 {
        let was_worth = self
            .last_found
            .take()
            .is_none_or(|last_found| now.saturating_duration_since(last_found) > FOUND_TASK_TIME_MIN);
        self.first_poll =
            if was_worth { self.first_poll.saturating_sub(1) } else { FIRST_POLL_MAX.min(self.first_poll + 1) };
        self.first_poll
    }

    /// Pauses before a poll. The pauses double from poll to poll, and the more threads search, the longer each waits,
    /// so that the total rate of polls does not grow.
    pub(crate) fn pause(poll: u32, first_poll: u32, searching: u32) {
        let pause = (PAUSE_MIN * searching * (1 << poll.min(first_poll.max(6)))).min(PAUSE_MAX);
        let begun = Instant::now();
        while begun.elapsed() < pause {
            std::hint::spin_loop();
        }
    }

    /// Records that the search has found a task.
    pub(crate) fn end(&mut self) {
        self.last_found = Some(Instant::now());
    }
}

/// Tasks that this seat has finished but not reported to their scope yet. Reporting writes a cache line that all
/// workers share, so several tasks are reported at once.
#[derive(Default)]
pub(crate) struct UnreportedTasks {
    pub(crate) scope: Option<NonNull<ScopeState>>,
    pub(crate) count: u64,
}

/// A seat; see the [module](self) documentation.
pub(crate) struct Seat {
    pub(crate) place: Place,
    taken: AtomicBool,
    /// The tasks inserted on this seat minus those finished on it. Only the occupant writes it, and it is read only if
    /// there are devices.
    balance: AtomicI64,
    local: UnsafeCell<Local>,
}

// SAFETY: only the occupant accesses `local`, and `taken` passes it from one occupant to the next (acquire, release).
unsafe impl Sync for Seat {}
// SAFETY: only the occupant accesses `local`; the pointer in `UnreportedTasks` is to a scope state, which is never
// freed while the runtime lives.
unsafe impl Send for Seat {}

impl Seat {
    pub(crate) fn new(place: Place) -> Self {
        Self { place, taken: AtomicBool::new(false), balance: AtomicI64::new(0), local: UnsafeCell::default() }
    }

    /// Takes the seat if it is free.
    pub(crate) fn try_take(&self) -> bool {
        !self.taken.load(Ordering::Relaxed) && !self.taken.swap(true, Ordering::Acquire)
    }

    pub(crate) fn is_taken(&self) -> bool {
        self.taken.load(Ordering::Relaxed)
    }

    /// Frees the seat. The caller is its occupant.
    pub(crate) fn leave(&self) {
        self.taken.store(false, Ordering::Release);
    }

    /// Counts a task that the occupant has inserted (1) or finished (-1), in a runtime with devices.
    #[inline]
    pub(crate) fn count(&self, change: i64) {
        self.balance.store(self.balance.load(Ordering::Relaxed).wrapping_add(change), Ordering::Relaxed);
    }

    /// Returns the tasks inserted on this seat minus those finished on it.
    pub(crate) fn balance(&self) -> i64 {
        self.balance.load(Ordering::Relaxed)
    }

    /// Returns the occupant's own state.
    ///
    /// # Safety
    /// The caller is the seat's occupant and keeps no second reference; in particular, none is kept while a body runs.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "ownership moves with the seat, not by borrow")]
    pub(crate) unsafe fn local(&self) -> &mut Local {
        // SAFETY: only the occupant calls this, and it keeps no second reference, by this function's contract.
        unsafe { &mut *self.local.get() }
    }
}

/// The queue of threads from outside for which all seats were taken.
#[derive(Default)]
pub(crate) struct SeatQueue {
    waiting: AtomicU32,
    lock: Mutex<()>,
    free: Condvar,
}

impl SeatQueue {
    /// Waits until `take_seat` finds a seat.
    #[cold]
    pub(crate) fn wait<'a>(&self, take_seat: impl Fn() -> Option<&'a Seat>) -> &'a Seat {
        let mut guard = held(self.lock.lock());
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let seat = loop {
            // Either this thread finds the seat that another one leaves, or that thread sees this one waiting.
            fence(Ordering::SeqCst);
            match take_seat() {
                Some(seat) => break seat,
                None => guard = held(self.free.wait(guard)),
            }
        };
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        seat
    }

    /// Wakes one waiting thread. The caller has left a seat.
    pub(crate) fn wake_one(&self) {
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::Relaxed) > 0 {
            // With the lock held, the waiting thread either sleeps or has not looked for a seat yet.
            let _guard = held(self.lock.lock());
            self.free.notify_one();
        }
    }
}

/// What a thread is doing for a runtime: its seat, the body and the scope. Frames nest when a body of one runtime opens
/// a scope of another.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    /// Only compared, never dereferenced.
    pub(crate) runtime: *const (),
    pub(crate) seat: NonNull<Seat>,
    /// The task whose body runs; zero outside of bodies.
    pub(crate) task: TaskId,
    /// The scope whose task runs, or the innermost scope opened since.
    pub(crate) scope: Option<NonNull<ScopeState>>,
    /// The outermost scope opened since the body began.
    pub(crate) root: Option<NonNull<ScopeState>>,
    pub(crate) outer: Option<NonNull<Frame>>,
}

/// A thread's innermost frame of any runtime.
type Innermost = Cell<Option<NonNull<Frame>>>;

thread_local! {
    static FRAME: Innermost = const { Cell::new(None) };
}

impl Frame {
    /// Makes `frame` the thread's innermost one while `inside` runs; the previous one becomes its `outer`.
    #[inline]
    pub(crate) fn enter<R>(frame: Frame, inside: impl FnOnce() -> R) -> R {
        struct RestoreFrame<'a>(&'a Innermost, Option<NonNull<Frame>>);
        impl Drop for RestoreFrame<'_> {
            fn drop(&mut self) {
                self.0.set(self.1);
            }
        }
        // The thread-local variable is looked up only once, because each lookup takes time.
        // SAFETY: the variable has no destructor, so it exists until the thread ends, and `RestoreFrame` does not leave
        // this thread.
        let innermost = unsafe { FRAME.with(|innermost| NonNull::from(innermost)).as_ref() };
        let frame = Frame { outer: innermost.get(), ..frame };
        let _leave = RestoreFrame(innermost, frame.outer);
        innermost.set(Some(NonNull::from(&frame)));
        inside()
    }
}

/// Returns the thread's innermost frame for the runtime at this address, with the rest of the chain in `outer`.
pub(crate) fn current_frame(runtime: *const ()) -> Option<Frame> {
    let mut next = FRAME.get();
    while let Some(frame) = next {
        // SAFETY: frames are on this thread's stack, below the caller, and `enter` unlinks them before they end.
        let frame = unsafe { *frame.as_ref() };
        if frame.runtime == runtime {
            return Some(frame);
        }
        next = frame.outer;
    }
    None
}
