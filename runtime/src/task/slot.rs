//! One task's memory: three cache lines, reused from task to task.
//!
//! | lines | what | who writes |
//! |---|---|---|
//! | 1 | [`Successors`], [`Pending`], the scope | inserter, predecessors' finishers, its own finisher |
//! | 2, 3 | the number, [`Header`], [`Body`], [`Label`] | the inserter, before it seals the task; then whoever took the task, until it is done |
//!
//! What every run needs stands first, with five words of the body: most tasks run without a look at the third line.
//!
//! *Access rights.* From `open` to `seal` the inserter owns `exec`. From the moment the task is ready until it is done, the
//! worker that took it owns it (a ready task stands in exactly one queue, and taking it removes it). Afterwards, the
//! slot is free and belongs to the pool that holds it. Line 1 is shared and consists of atomics, except `scope`, which is
//! written by the inserter before the seal and only read until the slot is free. The number is an atomic, too:
//! whether a slot has a task's number may be asked at any time (`worker/strays.rs`).

use super::{Body, Lock, Pending, successors::Successors};
use crate::hazard::TaskRef;
use crate::{recording::TaskId, scope_state::ScopeState};
use std::{
    cell::UnsafeCell,
    panic::Location,
    sync::atomic::{AtomicPtr, AtomicU64, Ordering},
};

/// What schedules a task.
#[derive(Clone, Copy)]
pub(crate) struct Header {
    pub(crate) priority: i32,
    pub(crate) flags: Flags,
}

/// What names a task when it fails.
#[derive(Clone, Copy)]
pub(crate) struct Label {
    pub(crate) name: &'static str,
    pub(crate) site: &'static Location<'static>,
}

/// Which worker a task is locked to, if to any, and whether it has mutual exclusions to take before: in four bytes.
#[derive(Clone, Copy)]
pub(crate) struct Flags {
    /// To the worker of this index.
    is_locked: bool,
    commutes: bool,
    worker: u16,
}

impl Flags {
    pub(crate) fn new(lock: Lock, commutes: bool) -> Self {
        let (is_locked, worker) = if let Lock::Worker(worker) = lock { (true, worker) } else { (false, 0) };
        Self { is_locked, commutes, worker }
    }

    pub(crate) fn commutes(self) -> bool {
        self.commutes
    }

    /// The worker that the task is locked to.
    pub(crate) fn worker(self) -> Option<u16> {
        self.is_locked.then_some(self.worker)
    }
}

/// The part of a slot that has one owner at a time.
#[repr(C)]
pub(crate) struct Exec {
    pub(crate) header: Header,
    pub(crate) body: Body,
    pub(crate) label: Label,
}

/// One task's memory.
#[repr(C, align(64))]
pub(crate) struct Slot {
    pub(crate) successors: Successors,
    pub(crate) pending: Pending,
    scope: UnsafeCell<*const ScopeState>,
    id: AtomicU64,
    exec: UnsafeCell<Exec>,
    /// What the other half of the runtime keeps beside the task; null where there is none.
    pub(crate) beside: AtomicPtr<()>,
}

// SAFETY: the rights to the cells move as the module's head says; what they hold (a body's captures are `Send`, the scope is
// `Sync`) may move between threads.
unsafe impl Send for Slot {}
// SAFETY: as above.
unsafe impl Sync for Slot {}

// The memory of a task is a number that the documentation gives.
const _: () = assert!(cfg!(loom) || size_of::<Slot>() == 192);

impl Slot {
    pub(super) fn new() -> Self {
        Self {
            successors: Successors::new(),
            pending: Pending::new(),
            scope: UnsafeCell::new(std::ptr::null()),
            id: AtomicU64::new(0),
            exec: UnsafeCell::new(Exec {
                header: Header { priority: 0, flags: Flags::new(Lock::None, false) },
                body: Body::empty(),
                label: Label { name: "", site: Location::caller() },
            }),
            beside: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Begins a new task in this slot: it has no successors yet and is guarded against becoming ready. If it is `alone`, the
    /// calling thread does everything to it and to its neighbours.
    ///
    /// # Safety
    /// The slot is free and the caller holds it.
    #[inline]
    pub(crate) unsafe fn open(&self, index: u32, scope: *const ScopeState, alone: bool) -> TaskRef {
        self.pending.guard();
        // SAFETY: nobody else refers to the scope of a free slot.
        unsafe { *self.scope.get() = scope };
        TaskRef::new(self.successors.open(alone), index)
    }

    /// Serial number of the insertion, from one on. It orders tasks and names them in a recording. Who does not hold the task may
    /// find another's number, or an earlier one's.
    #[inline]
    pub(crate) fn id(&self) -> TaskId {
        TaskId(self.id.load(Ordering::Relaxed))
    }

    /// Numbers the task. Only its inserter does.
    #[inline]
    pub(crate) fn set_id(&self, id: TaskId) {
        self.id.store(id.0, Ordering::Relaxed);
    }

    /// The scope that the task was inserted in. Scopes' states are never freed while the runtime lives.
    #[inline]
    pub(crate) fn scope(&self) -> &ScopeState {
        // SAFETY: written before the task was sealed, not written again before the slot is free; the caller holds a task.
        unsafe { &**self.scope.get() }
    }

    pub(super) fn exec_mut(&mut self) -> &mut Exec {
        self.exec.get_mut()
    }

    /// The owned part, to read.
    ///
    /// # Safety
    /// The task is ready and was not taken, and stays so while the reference lives.
    pub(crate) unsafe fn exec_shared(&self) -> &Exec {
        // SAFETY: the caller's promise: nobody has the right to change it meanwhile.
        unsafe { &*self.exec.get() }
    }

    /// The owned part.
    ///
    /// # Safety
    /// The caller has the right to it (see the module's head) and makes no second reference while this one lives.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "ownership moves by protocol, not by borrow")]
    pub(crate) unsafe fn exec(&self) -> &mut Exec {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.exec.get() }
    }
}
