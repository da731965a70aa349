//! The insertion of a task into the runtime, in the serial order of the program.
//!
//! An [`Inserter`] is the state of one inserting thread: its seat, its scope, and its own counters. An insertion takes
//! a free slot, records each access in its version's hazards (which adds the task to the successors of its
//! predecessors), and seals the task. If no predecessor is left, the task is ready. An insertion searches no table and,
//! once the slots exist, allocates nothing, except a box for a body that is too large for its slot.

use crate::{
    datum::{Level, Origin, Version},
    error::{Cause, Error, Failure},
    hazard::{Mode, TaskRef},
    insert::{Accesses, Named, sealed},
    recording::{Stall, TaskId},
    scope_state::ScopeState,
    seat::Seat,
    shared::Shared,
    sync::prefetch,
    task::{Added, Flags, Header, Label, PredecessorArray, Predecessors, Runnable, TaskSpec},
    worker::Waiting,
};
use smallvec::SmallVec;
use std::{
    cell::Cell,
    panic::Location,
    sync::{Arc, atomic::Ordering},
};

/// Serial numbers are taken in blocks of this size, so that inserters on several threads do not contend for the
/// counter.
const NUMBERS_PER_BLOCK: u64 = 64;

/// The number of one access's predecessors that are prefetched: a core fetches about a dozen cache lines at a time.
const PREFETCHED_MAX: usize = 4;

/// The state of one inserting thread; see the [module](self) documentation.
pub struct Inserter<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) seat: &'a Seat,
    pub(crate) scope: &'a ScopeState,
    pub(crate) level: Level,
    /// While waiting, run only tasks inside this scope; `None`: run any task.
    pub(crate) within: Option<&'a ScopeState>,
    /// Whether this thread holds the front lock; it then neither takes the lock nor waits for the window.
    pub(crate) at_front: bool,
    inserted: Cell<u64>,
    /// The number of insertions that may follow before the window must be checked again.
    room: Cell<u64>,
    next_number: Cell<u64>,
}

/// An insertion in progress, through which the accesses are recorded.
pub struct Insertion<'a> {
    inserter: &'a Inserter<'a>,
    task: TaskRef,
    id: TaskId,
    unissued: u64,
    undone: u64,
    /// Whether a write may use a fresh place.
    pub(crate) renames: bool,
    /// The predecessors found so far; devices wait for their events.
    predecessors: Predecessors<'a>,
}

impl<'a> Inserter<'a> {
    pub(crate) fn new(
        shared: &'a Shared,
        seat: &'a Seat,
        scope: &'a ScopeState,
        level: Level,
        within: Option<&'a ScopeState>,
    ) -> Self {
        Self {
            shared,
            seat,
            scope,
            level,
            within,
            at_front: false,
            inserted: Cell::new(0),
            room: Cell::new(0),
            next_number: Cell::new(0),
        }
    }

    /// Creates the inserter of the thread that holds the front lock.
    pub(crate) fn at_front(shared: &'a Shared, seat: &'a Seat, scope: &'a ScopeState) -> Self {
        Self { at_front: true, ..Self::new(shared, seat, scope, Level::TOP, None) }
    }

    /// Returns the origin of data that are made here.
    #[inline]
    pub(crate) fn origin(&self) -> Origin {
        Origin { runtime: std::ptr::from_ref(self.shared).cast(), level: self.level }
    }

    /// Inserts a task, or returns the reason for refusing it; a refusal changes nothing.
    #[inline]
    pub(crate) fn insert<'d, A: Accesses<'d>, B: Runnable>(
        &self,
        spec: &TaskSpec,
        site: &'static Location<'static>,
        accesses: A,
        make: impl FnOnce(A::Bound) -> B,
    ) -> Result<TaskId, Error> {
        let shared_data = self.check(spec, site, &accesses)?;
        if self.room.get() == 0 && !self.at_front {
            self.await_room();
        }
        let _front = (shared_data && !self.at_front).then(|| self.shared.lock_front());
        sealed::Accesses::prepare(&accesses, self);
        let (commutes, single_threaded) =
            (<A::Bound as sealed::Bound>::COMMUTES, self.scope.is_single_threaded() && !shared_data);
        Ok(self.insert_task(spec, site, commutes, single_threaded, |insertion| make(accesses.enter(insertion))))
    }

    /// Inserts a task of the runtime itself, even if the window is full: an operation in progress needs it.
    pub(crate) fn insert_internal<B: Runnable>(
        &self,
        spec: TaskSpec,
        make: impl FnOnce(&mut Insertion<'_>) -> B,
    ) -> TaskId {
        self.insert_task(&spec, Location::caller(), false, false, make)
    }

    /// Refuses accesses that are not allowed: a handle of another runtime or level, or a handle named twice unless all
    /// its accesses read. Returns whether other threads may name any of the data.
    #[inline]
    fn check<'d, A: Accesses<'d>>(
        &self,
        spec: &TaskSpec,
        site: &'static Location<'static>,
        accesses: &A,
    ) -> Result<bool, Error> {
        let mut seen = SmallVec::<[NamedDatum; PAIRWISE_MAX]>::new();
        let mut foreign = None;
        let mut twice = false;
        let mut shared = false;
        let here = self.origin();
        accesses.names(&mut |named| {
            let datum = NamedDatum::new(&named);
            shared |= named.shared;
            if named.origin != here {
                foreign = Some(named.origin);
            }
            if seen.len() < PAIRWISE_MAX {
                twice |= seen.iter().any(|other| other.conflicts(datum));
            }
            seen.push(datum);
        });
        twice |= seen.len() > PAIRWISE_MAX && named_twice(&mut seen);
        if twice || foreign.is_some() {
            let why = match foreign {
                Some(origin) if origin.runtime != here.runtime => WRONG_RUNTIME,
                Some(_) if !twice => WRONG_LEVEL,
                _ => NAMED_TWICE,
            };
            return Err(self.refusal(spec, site, why));
        }
        Ok(shared)
    }

    #[cold]
    pub(crate) fn refusal(&self, spec: &TaskSpec, site: &'static Location<'static>, why: &str) -> Error {
        let cause = Cause::Refused(why.to_owned());
        Error::failure(Arc::new(Failure { task: TaskId(0), name: spec.name, site, cause }))
    }

    /// Waits until the window has room, running tasks meanwhile. It waits for an eighth of the window, so that the
    /// shared count is read only once for that many insertions.
    #[cold]
    fn await_room(&self) {
        let window = self.shared.window;
        if self.inserted.get() - self.scope.done() >= window {
            let target = self.inserted.get() - window + window.div_ceil(8);
            let stall = Some(Stall::WindowFull);
            let waiting = Waiting { scope: self.scope, target, within: self.within, stall };
            self.shared.help_until(self.seat, &waiting);
        }
        self.room.set(window - (self.inserted.get() - self.scope.done()));
    }

    /// Prefetches what other cores may have of the tasks that an access will wait for, so that the accesses of one
    /// insertion wait for these cache lines together.
    ///
    /// # Safety
    /// The caller is the inserter of the datum's level.
    #[inline]
    pub(crate) unsafe fn fetch_predecessors<T: ?Sized>(&self, version: &Version<T>, mode: Mode) {
        if self.scope.is_single_threaded() {
            return;
        }
        // SAFETY: the caller is the inserter of the datum's level, and the reference ends with the loop.
        let hazards = unsafe { &version.hazard_state().hazards };
        for task in hazards.predecessors_of(mode).iter().take(PREFETCHED_MAX) {
            prefetch(&self.shared.slab.slot(task.slot()).successors);
        }
    }

    /// Waits until every task inserted here is done, running tasks meanwhile.
    pub(crate) fn wait(&self) {
        let waiting = Waiting { scope: self.scope, target: self.inserted.get(), within: self.within, stall: None };
        self.shared.help_until(self.seat, &waiting);
    }

    /// Returns the number of tasks inserted here.
    pub(crate) fn inserted(&self) -> u64 {
        self.inserted.get()
    }

    #[inline]
    fn draw_number(&self) -> TaskId {
        let mut next = self.next_number.get();
        if next.is_multiple_of(NUMBERS_PER_BLOCK) {
            next = self.shared.numbers().fetch_add(NUMBERS_PER_BLOCK, Ordering::Relaxed);
        }
        self.next_number.set(next + 1);
        // Numbers start at one, because zero means "no task".
        TaskId(next + 1)
    }

    #[inline]
    fn take_slot(&self) -> u32 {
        loop {
            // SAFETY: this thread has the seat; the reference ends with the statement.
            if let Some(index) = self.shared.slab.take(unsafe { &mut self.seat.local().slots }) {
                return index;
            }
            // 2²⁴ tasks of all scopes are in flight. Some of them will finish and free their slots.
            std::thread::yield_now();
        }
    }

    #[inline]
    fn insert_task<B: Runnable>(
        &self,
        spec: &TaskSpec,
        site: &'static Location<'static>,
        commutes: bool,
        single_threaded: bool,
        make: impl FnOnce(&mut Insertion<'_>) -> B,
    ) -> TaskId {
        let shared = self.shared;
        let index = self.take_slot();
        let slot = shared.slab.slot(index);
        // SAFETY: the slot was just taken and is free.
        let task = unsafe { slot.open(index, self.scope, single_threaded) };
        let id = self.draw_number();
        if let Some(recorder) = &shared.recorder {
            recorder.task(self.seat, id, spec, site);
        }
        let mut array = PredecessorArray::uninit();
        let (renames, predecessors) = (B::RENAMES, Predecessors::new(&mut array));
        let mut insertion = Insertion { inserter: self, task, id, unissued: 0, undone: 0, renames, predecessors };
        let body = make(&mut insertion);
        let (unissued, undone) = (insertion.unissued, insertion.undone);
        // SAFETY: the task is not sealed yet, so its `exec` belongs to this thread.
        let exec = unsafe { slot.exec() };
        slot.set_id(id);
        exec.header = Header { priority: spec.priority, flags: Flags::new(spec.lock, commutes) };
        exec.label = Label { name: spec.name, site };
        // SAFETY: the body's borrows outlive the scope, and the scope waits for the task.
        unsafe { exec.body.fill(body) };
        let offered_to = shared.placement.as_deref().filter(|placement| {
            self.seat.count(1);
            placement.offer(shared, slot, spec, insertion.predecessors.all())
        });
        let hold = u64::from(offered_to.is_some());
        self.inserted.set(self.inserted.get() + 1);
        self.room.set(self.room.get().saturating_sub(1));
        let ready = if undone + hold == 0 {
            slot.pending.clear();
            true
        } else {
            let released = slot.pending.seal(unissued, undone + hold, single_threaded);
            if hold > 0 { released.issuable() } else { released.runnable() }
        };
        match offered_to.filter(|_| ready) {
            Some(placement) => placement.push_inserted(shared, self.seat, index, self.scope.into()),
            None if ready => {
                shared.push(self.seat, index);
                shared.wake_for(self.seat, self.scope.into());
            }
            None => {}
        }
        id
    }
}

const NAMED_TWICE: &str = "a handle is named twice, and not only for reading";
const WRONG_RUNTIME: &str = "a handle of another runtime";
const WRONG_LEVEL: &str = "a handle made at another level: a task may name only handles made by the same body";

/// Up to this many accesses are compared pairwise.
const PAIRWISE_MAX: usize = 16;

/// A named datum and whether the task writes it, in one word: the datum's address, with the flag in its lowest bit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct NamedDatum(usize);

impl NamedDatum {
    const WRITES: usize = 1;

    #[inline]
    fn new(named: &Named) -> Self {
        Self(named.datum.addr() | if named.mode.writes() { Self::WRITES } else { 0 })
    }

    /// Returns whether both name the same datum and at least one writes it.
    #[inline]
    fn conflicts(self, other: Self) -> bool {
        (self.0 ^ other.0) & !Self::WRITES == 0 && (self.0 | other.0) & Self::WRITES != 0
    }
}

/// Returns whether a datum is named twice. For long lists, sorts them instead of comparing pairwise.
fn named_twice(named: &mut [NamedDatum]) -> bool {
    // Readers of a datum sort before its writers, so a conflicting access always conflicts with a neighbour.
    named.sort_unstable();
    named.windows(2).any(|pair| pair[0].conflicts(pair[1]))
}

impl Insertion<'_> {
    pub(crate) fn slab(&self) -> &crate::task::Slab {
        &self.inserter.shared.slab
    }

    /// Records an access to a version, and adds the task to the successors of its predecessors.
    #[inline]
    pub(crate) fn access<T: ?Sized>(&mut self, version: &Version<T>, mode: Mode) {
        let Self { inserter, task, id, unissued, undone, predecessors, .. } = self;
        let shared = inserter.shared;
        // SAFETY: the owner of an `Insertion` is the inserter of the data's level: `check` has verified the level, and
        // shared data are accessed under the front lock.
        let hazard_state = unsafe { version.hazard_state() };
        let is_done = |task: TaskRef| shared.slab.is_done(task);
        predecessors.begin_access();
        hazard_state.hazards.access(mode, *task, is_done, |predecessor, _| {
            if predecessors.has(predecessor) {
                return;
            }
            // SAFETY: this thread has the seat; the reference ends with the statement.
            let chunks = unsafe { &mut inserter.seat.local().chunks };
            let slot = shared.slab.slot(predecessor.slot());
            match slot.successors.add(predecessor.generation(), task.slot(), chunks) {
                Added::Done => return,
                Added::Unissued => *unissued += 1,
                Added::Issued => {}
            }
            *undone += 1;
            predecessors.push(predecessor);
        });
        if let Some(recorder) = &shared.recorder {
            recorder.access(inserter.seat, hazard_state, *id, mode);
        }
    }
}
