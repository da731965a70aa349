//! Insertion: a task enters the runtime, in the serial order of the program.
//!
//! An [`Inserter`] is one thread's way in: its seat, its scope, and the counters that only it needs. Inserting takes a free
//! slot, enters each access into its version's hazards, which adds the task to the successors of those it must wait for, and
//! seals the task; if nothing is left to wait for, it is ready. Nothing is looked up in a table and, once the slots are there,
//! nothing is allocated (a body too large for its slot is boxed).

use crate::{
    datum::{Level, Origin, Version},
    error::{Cause, Error, Failure},
    hazard::{Mode, TaskRef},
    insert::{Accesses, Named, sealed},
    recording::{Stall, TaskId},
    scope_state::ScopeState,
    seat::Seat,
    shared::Shared,
    task::{Added, Few, Flags, Header, Label, Predecessors, Runnable, TaskSpec},
    worker::Waiting,
};
use smallvec::SmallVec;
use std::{
    cell::Cell,
    panic::Location,
    sync::{Arc, atomic::Ordering},
};

/// Serial numbers are drawn in blocks, so that inserters on several threads do not contend for the counter.
const NUMBERS: u64 = 64;

/// One thread's way into the runtime; see the module's head.
pub struct Inserter<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) seat: &'a Seat,
    pub(crate) scope: &'a ScopeState,
    pub(crate) level: Level,
    /// While waiting, run only tasks inside this scope; `None`: any.
    pub(crate) within: Option<&'a ScopeState>,
    /// This thread holds the front lock, and so neither takes it nor waits.
    pub(crate) at_front: bool,
    inserted: Cell<u64>,
    /// How many insertions may follow before the window must be looked at again.
    room: Cell<u64>,
    next_number: Cell<u64>,
}

/// One insertion under way: the accesses are entered through it.
pub struct Insertion<'a> {
    inserter: &'a Inserter<'a>,
    task: TaskRef,
    id: TaskId,
    unissued: u64,
    undone: u64,
    /// Whether a write may take a fresh place.
    pub(crate) renames: bool,
    /// Devices wait for their events.
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
        let (inserted, room, next_number) = (Cell::new(0), Cell::new(0), Cell::new(0));
        Self { shared, seat, scope, level, within, at_front: false, inserted, room, next_number }
    }

    /// The way in of the thread that holds the front lock.
    pub(crate) fn at_front(shared: &'a Shared, seat: &'a Seat, scope: &'a ScopeState) -> Self {
        Self { at_front: true, ..Self::new(shared, seat, scope, Level::TOP, None) }
    }

    /// Where data are made that are inserted here.
    #[inline]
    pub(crate) fn origin(&self) -> Origin {
        Origin { runtime: std::ptr::from_ref(self.shared).cast(), level: self.level }
    }

    /// Inserts a task, or says why not; a refusal changes nothing.
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
        let (commutes, alone) = (<A::Bound as sealed::Bound>::COMMUTES, self.scope.is_lone() && !shared_data);
        Ok(self.enter(spec, site, commutes, alone, |insertion| make(accesses.enter(insertion))))
    }

    /// Inserts a task of the runtime's own, past the window: it is needed for something that has begun.
    pub(crate) fn insert_internal<B: Runnable>(
        &self,
        spec: TaskSpec,
        make: impl FnOnce(&mut Insertion<'_>) -> B,
    ) -> TaskId {
        self.enter(&spec, Location::caller(), false, false, make)
    }

    /// Refuses what can not be right: a handle of another runtime or level, or one named twice unless all its accesses read.
    /// Says whether any of the data may be named by other threads, too.
    #[inline]
    fn check<'d, A: Accesses<'d>>(
        &self,
        spec: &TaskSpec,
        site: &'static Location<'static>,
        accesses: &A,
    ) -> Result<bool, Error> {
        let mut seen = SmallVec::<[Mark; PAIRWISE_MAX]>::new();
        let (mut foreign, mut twice, mut shared) = (None, false, false);
        let here = self.origin();
        accesses.names(&mut |named| {
            let mark = Mark::new(&named);
            shared |= named.shared;
            if named.origin != here {
                foreign = Some(named.origin);
            }
            if seen.len() < PAIRWISE_MAX {
                twice |= seen.iter().any(|other| other.conflicts(mark));
            }
            seen.push(mark);
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

    /// Waits, working, until the window has room: some of it, so that the look at the shared count is shared by many.
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

    /// Waits, working, until every task inserted here is done.
    pub(crate) fn wait(&self) {
        let waiting = Waiting { scope: self.scope, target: self.inserted.get(), within: self.within, stall: None };
        self.shared.help_until(self.seat, &waiting);
    }

    /// How many tasks were inserted here.
    pub(crate) fn inserted(&self) -> u64 {
        self.inserted.get()
    }

    #[inline]
    fn draw_number(&self) -> TaskId {
        let mut next = self.next_number.get();
        if next.is_multiple_of(NUMBERS) {
            next = self.shared.numbers().fetch_add(NUMBERS, Ordering::Relaxed);
        }
        self.next_number.set(next + 1);
        // Numbers start with one: zero stands for "no task".
        TaskId(next + 1)
    }

    #[inline]
    fn take_slot(&self) -> u32 {
        loop {
            // SAFETY: this thread has the seat; the reference ends with the statement.
            if let Some(index) = self.shared.slab.take(unsafe { &mut self.seat.local().slots }) {
                return index;
            }
            // 2²⁴ tasks are in flight, in several scopes together. They will free some.
            std::thread::yield_now();
        }
    }

    #[inline]
    fn enter<B: Runnable>(
        &self,
        spec: &TaskSpec,
        site: &'static Location<'static>,
        commutes: bool,
        alone: bool,
        make: impl FnOnce(&mut Insertion<'_>) -> B,
    ) -> TaskId {
        let shared = self.shared;
        let index = self.take_slot();
        let slot = shared.slab.slot(index);
        // SAFETY: the slot was just taken from the free ones.
        let task = unsafe { slot.open(index, self.scope, alone) };
        let id = self.draw_number();
        if let Some(recorder) = &shared.recorder {
            recorder.task(self.seat, id, spec, site);
        }
        let mut few = Few::uninit();
        let (renames, predecessors) = (B::RENAMES, Predecessors::new(&mut few));
        let mut insertion = Insertion { inserter: self, task, id, unissued: 0, undone: 0, renames, predecessors };
        let body = make(&mut insertion);
        let (unissued, undone) = (insertion.unissued, insertion.undone);
        // SAFETY: the task is not sealed yet, so its `exec` is this thread's.
        let exec = unsafe { slot.exec() };
        slot.set_id(id);
        exec.header = Header { priority: spec.priority, flags: Flags::new(spec.lock, commutes) };
        exec.label = Label { name: spec.name, site };
        // SAFETY: what the body borrows outlives the scope, and the scope waits for the task.
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
            let released = slot.pending.seal(unissued, undone + hold, alone);
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

const NAMED_TWICE: &str = "it names a handle twice, and not only to read it";
const WRONG_RUNTIME: &str = "a handle of another runtime";
const WRONG_LEVEL: &str = "a handle made at another level: a task may name only handles made by the same body";

/// So many accesses are compared pair by pair.
const PAIRWISE_MAX: usize = 16;

/// Which datum is named, and whether to write it, in one word: the address, whose last bit is free.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Mark(usize);

impl Mark {
    const WRITES: usize = 1;

    #[inline]
    fn new(named: &Named) -> Self {
        Self(named.datum.addr() | if named.mode.writes() { Self::WRITES } else { 0 })
    }

    /// Whether both name one datum and one of them writes it.
    #[inline]
    fn conflicts(self, other: Self) -> bool {
        (self.0 ^ other.0) & !Self::WRITES == 0 && (self.0 | other.0) & Self::WRITES != 0
    }
}

/// Whether a datum is named twice, for long lists: sorted instead of compared pair by pair.
fn named_twice(named: &mut [Mark]) -> bool {
    // Readers of a datum come before its writers, so that one who conflicts with any conflicts with a neighbour.
    named.sort_unstable();
    named.windows(2).any(|pair| pair[0].conflicts(pair[1]))
}

impl Insertion<'_> {
    pub(crate) fn slab(&self) -> &crate::task::Slab {
        &self.inserter.shared.slab
    }

    /// Enters an access to a version: the task waits for whoever stands in its way.
    #[inline]
    pub(crate) fn access<T: ?Sized>(&mut self, version: &Version<T>, mode: Mode) {
        let Self { inserter, task, id, unissued, undone, predecessors, .. } = self;
        let shared = inserter.shared;
        // SAFETY: whoever has an `Insertion` is the inserter of the data's level: `check` saw to the level, and shared data
        // are entered under the front lock.
        let submission = unsafe { version.submission() };
        let is_done = |task: TaskRef| shared.slab.is_done(task);
        predecessors.begin_access();
        submission.hazards.access(mode, *task, is_done, |predecessor, _| {
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
            recorder.access(inserter.seat, submission, *id, mode);
        }
    }
}
