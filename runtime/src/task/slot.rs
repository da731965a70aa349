//! The memory of one task: three cache lines, reused from task to task.
//!
//! | lines | contents | written by |
//! |---|---|---|
//! | 1 | [`Successors`], [`Pending`], the scope | the inserter, predecessors' finishers, the task's own finisher |
//! | 2, 3 | number, [`Header`], [`Body`], [`Label`] | the inserter until the seal, then the thread that took the task |
//!
//! The parts that every run needs come first, with five words of the body, so most tasks run without an access to line
//! 3.
//!
//! *Access rights.* The inserter owns `exec` from `open` to `seal`. From the moment the task is ready until it is done,
//! the worker that took it owns `exec` (a ready task is in exactly one queue, and taking it removes it). Afterwards the
//! slot is free and belongs to the pool that holds it. Line 1 is shared and consists of atomics, except for `scope`,
//! which the inserter writes before the seal and which is then only read until the slot is free. The number is an
//! atomic too, because any thread may ask at any time whether a slot has a given task's number (`worker/strays.rs`).

use super::{Body, Lock, Pending, successors::Successors};
use crate::hazard::TaskRef;
use crate::{recording::TaskId, scope_state::ScopeState};
use std::{
    cell::UnsafeCell,
    panic::Location,
    sync::atomic::{AtomicPtr, AtomicU64, Ordering},
};

/// The fields by which a task is scheduled.
#[derive(Clone, Copy)]
pub(crate) struct Header {
    pub(crate) priority: i32,
    pub(crate) flags: Flags,
}

/// The fields that identify a task in error messages.
#[derive(Clone, Copy)]
pub(crate) struct Label {
    pub(crate) name: &'static str,
    pub(crate) site: &'static Location<'static>,
}

/// The worker that a task is locked to, if any, and whether the task must take mutual exclusions first, in four bytes.
#[derive(Clone, Copy)]
pub(crate) struct Flags {
    /// Whether the task is locked to `worker`.
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

    /// Returns the worker that the task is locked to.
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

/// The memory of one task.
#[repr(C, align(64))]
pub(crate) struct Slot {
    pub(crate) successors: Successors,
    pub(crate) pending: Pending,
    scope: UnsafeCell<*const ScopeState>,
    id: AtomicU64,
    exec: UnsafeCell<Exec>,
    /// The placement's own data for the task; null where there are none.
    pub(crate) placement_data: AtomicPtr<()>,
}

// SAFETY: the rights to the cells move as the module documentation says, and the contents may move between threads: a
// body's captures are `Send`, and the scope is `Sync`.
unsafe impl Send for Slot {}
// SAFETY: the cells are accessed only by the thread that has the right to them, as the module documentation says.
unsafe impl Sync for Slot {}

// The documentation states this size as the memory needed for a task.
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
            placement_data: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Begins a new task in this slot, without successors and guarded against becoming ready. If it is
    /// `single_threaded`, the calling thread performs all operations on it and on its neighbours.
    ///
    /// # Safety
    /// The slot is free and the caller holds it.
    #[inline]
    pub(crate) unsafe fn open(&self, index: u32, scope: *const ScopeState, single_threaded: bool) -> TaskRef {
        self.pending.guard();
        // SAFETY: the slot is free, so no other thread accesses its scope.
        unsafe { *self.scope.get() = scope };
        TaskRef::new(self.successors.open(single_threaded), index)
    }

    /// Returns the serial number of the insertion, counted from one. It orders tasks, and recordings use it as the
    /// task's name. A thread that does not hold the task may read the number of an earlier or later task.
    #[inline]
    pub(crate) fn id(&self) -> TaskId {
        TaskId(self.id.load(Ordering::Relaxed))
    }

    /// Sets the task's number. Only its inserter calls this.
    #[inline]
    pub(crate) fn set_id(&self, id: TaskId) {
        self.id.store(id.0, Ordering::Relaxed);
    }

    /// Returns the scope that the task was inserted in. Scope states are never freed while the runtime lives.
    #[inline]
    pub(crate) fn scope(&self) -> &ScopeState {
        // SAFETY: written before the task was sealed, and not again before the slot is free; the caller holds a task in
        // this slot.
        unsafe { &**self.scope.get() }
    }

    pub(super) fn exec_mut(&mut self) -> &mut Exec {
        self.exec.get_mut()
    }

    /// Returns the owned part for reading.
    ///
    /// # Safety
    /// The task is ready and was not taken, and stays so while the reference lives.
    pub(crate) unsafe fn exec_shared(&self) -> &Exec {
        // SAFETY: the task is ready and not taken while the reference lives, as the caller ensures, so no thread may
        // change it.
        unsafe { &*self.exec.get() }
    }

    /// Returns the owned part.
    ///
    /// # Safety
    /// The caller has the right to it (see the module documentation) and makes no second reference while this one
    /// lives.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "ownership moves by protocol, not by borrow")]
    pub(crate) unsafe fn exec(&self) -> &mut Exec {
        // SAFETY: only the caller has the right to the owned part, and it makes no second reference, by this function's
        // contract.
        unsafe { &mut *self.exec.get() }
    }
}
