//! Seats, and how their occupants sleep: what a thread needs to run or insert tasks, and at most one thread at a time has.
//!
//! | seats | who |
//! |---|---|
//! | `0` | a thread from outside while it is inside a scope, otherwise the first pool thread, its understudy |
//! | `1 .. workers` | the other pool threads, for good |
//! | guests | further threads from outside, while inside a scope |
//! | front | whoever holds the front lock, to insert tasks without a scope |
//! | issuers | one thread per device, for good |
//!
//! So a thread that opens a scope *is* a worker for as long as the scope is open: it inserts, and where it has to wait it runs
//! tasks like any other. With `n` workers, `n` threads run, not `n + 1`. Further threads only run tasks of their own scopes; where all
//! seats are taken they wait for one ([`SeatQueue`]).

mod known_lock;
mod locked;
#[cfg(all(loom, test))]
mod loom_tests;
mod parker;
mod sleep;
mod strays;

pub(crate) use known_lock::{KnownGuard, KnownLock};
pub(crate) use locked::Locked;
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

/// What one seat's occupant alone uses.
#[derive(Default)]
pub(crate) struct Local {
    pub(crate) slots: SlotCache,
    pub(crate) chunks: ChunkCache,
    pub(crate) done: Done,
    pub(crate) visits: Visits,
}

/// Whether what this seat takes from others is worth the visits.
#[derive(Default)]
pub(crate) struct Visits {
    found: Option<Instant>,
    first_look: u32,
}

/// A visit costs the visitor and the visited some hundred nanoseconds: what was found by it should last longer.
const WORTH: Duration = Duration::from_micros(4);
/// See `look_around`, whose pauses double from look to look.
const FIRST_LOOK_MAX: u32 = 8;

impl Visits {
    /// A search begins: with which look. Who was back soon with nothing left waits longer, so that more collects meanwhile.
    pub(crate) fn begin(&mut self, now: Instant) -> u32 {
        let was_worth = self.found.take().is_none_or(|found| now.saturating_duration_since(found) > WORTH);
        self.first_look =
            if was_worth { self.first_look.saturating_sub(1) } else { FIRST_LOOK_MAX.min(self.first_look + 1) };
        self.first_look
    }

    /// It ends with something found.
    pub(crate) fn end(&mut self) {
        self.found = Some(Instant::now());
    }
}

/// Tasks that this seat has finished and not reported to their scope yet. Reporting dirties a line that every worker
/// shares, so it is done for several at once.
#[derive(Default)]
pub(crate) struct Done {
    pub(crate) scope: Option<NonNull<ScopeState>>,
    pub(crate) count: u64,
}

/// A place to sit.
pub(crate) struct Seat {
    pub(crate) place: Place,
    taken: AtomicBool,
    /// Tasks inserted here less those that were finished here: changed by the occupant alone, and read where there are devices.
    balance: AtomicI64,
    local: UnsafeCell<Local>,
}

// SAFETY: `local` belongs to the seat's occupant; `taken` hands it from one to the next (acquire, release).
unsafe impl Sync for Seat {}
// SAFETY: as above; the pointer in `Done` is to a scope's state, which is never freed while the runtime lives.
unsafe impl Send for Seat {}

impl Seat {
    pub(crate) fn new(place: Place) -> Self {
        Self { place, taken: AtomicBool::new(false), balance: AtomicI64::new(0), local: UnsafeCell::default() }
    }

    /// Takes the seat, if it is free.
    pub(crate) fn try_take(&self) -> bool {
        !self.taken.load(Ordering::Relaxed) && !self.taken.swap(true, Ordering::Acquire)
    }

    pub(crate) fn is_taken(&self) -> bool {
        self.taken.load(Ordering::Relaxed)
    }

    /// Leaves the seat to the next. The caller is its occupant.
    pub(crate) fn leave(&self) {
        self.taken.store(false, Ordering::Release);
    }

    /// The occupant has inserted a task (1) or finished one (-1), in a runtime with devices.
    #[inline]
    pub(crate) fn count(&self, change: i64) {
        self.balance.store(self.balance.load(Ordering::Relaxed).wrapping_add(change), Ordering::Relaxed);
    }

    /// See the field.
    pub(crate) fn balance(&self) -> i64 {
        self.balance.load(Ordering::Relaxed)
    }

    /// The occupant's own things.
    ///
    /// # Safety
    /// The caller is the seat's occupant, and keeps no second reference: none is kept while a body runs.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "ownership moves with the seat, not by borrow")]
    pub(crate) unsafe fn local(&self) -> &mut Local {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.local.get() }
    }
}

/// Threads from outside that found all seats taken.
#[derive(Default)]
pub(crate) struct SeatQueue {
    waiting: AtomicU32,
    lock: Mutex<()>,
    free: Condvar,
}

impl SeatQueue {
    /// Waits until `sit` finds a seat.
    #[cold]
    pub(crate) fn wait<'a>(&self, sit: impl Fn() -> Option<&'a Seat>) -> &'a Seat {
        let mut guard = held(self.lock.lock());
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let seat = loop {
            // Either this thread finds the seat that another one leaves, or that one finds this thread waiting.
            fence(Ordering::SeqCst);
            match sit() {
                Some(seat) => break seat,
                None => guard = held(self.free.wait(guard)),
            }
        };
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        seat
    }

    /// Wakes one of them. The caller has left a seat.
    pub(crate) fn wake_one(&self) {
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::Relaxed) > 0 {
            // With the lock it has looked for a seat in vain and sleeps, or has not looked yet.
            let _guard = held(self.lock.lock());
            self.free.notify_one();
        }
    }
}

/// What a thread is doing for a runtime: on which seat, inside which body and which scope. Frames nest where a body of one
/// runtime opens a scope of another.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    /// Compared, and never followed.
    pub(crate) runtime: *const (),
    pub(crate) seat: NonNull<Seat>,
    /// The body that runs; zero outside of bodies.
    pub(crate) task: TaskId,
    /// The scope whose task runs, or the innermost that was opened since.
    pub(crate) scope: Option<NonNull<ScopeState>>,
    /// The outermost scope that was opened since the body began.
    pub(crate) root: Option<NonNull<ScopeState>>,
    pub(crate) outer: Option<NonNull<Frame>>,
}

/// A thread's innermost frame, whatever its runtime.
type Innermost = Cell<Option<NonNull<Frame>>>;

thread_local! {
    static FRAME: Innermost = const { Cell::new(None) };
}

impl Frame {
    /// Makes `frame` the thread's innermost while `inside` runs, with the one before as its `outer`.
    #[inline]
    pub(crate) fn enter<R>(frame: Frame, inside: impl FnOnce() -> R) -> R {
        struct Leave<'a>(&'a Innermost, Option<NonNull<Frame>>);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.set(self.1);
            }
        }
        // Looked up once: the second time is as dear as the first.
        // SAFETY: it has no destructor, so it is there until the thread ends, and `Leave` stays here.
        let innermost = unsafe { FRAME.with(|innermost| NonNull::from(innermost)).as_ref() };
        let frame = Frame { outer: innermost.get(), ..frame };
        let _leave = Leave(innermost, frame.outer);
        innermost.set(Some(NonNull::from(&frame)));
        inside()
    }
}

/// The thread's innermost frame for the runtime at this address, with the rest of its chain in `outer`.
pub(crate) fn current_frame(runtime: *const ()) -> Option<Frame> {
    let mut next = FRAME.get();
    while let Some(frame) = next {
        // SAFETY: frames lie on this thread's stack, below the caller, and `enter` takes them off before they end.
        let frame = unsafe { *frame.as_ref() };
        if frame.runtime == runtime {
            return Some(frame);
        }
        next = frame.outer;
    }
    None
}
