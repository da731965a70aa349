//! One task's memory: three cache lines, reused from task to task.
//!
//! | lines | what | who writes |
//! |---|---|---|
//! | 1 | [`Successors`], [`Pending`], the scope | inserter, predecessors' finishers, its own finisher |
//! | 2, 3 | [`Header`] and [`Body`] | the inserter, before it seals the task; then whoever took the task, until it is done |
//!
//! *Access rights.* From `open` to `seal` the inserter owns `exec`. From the moment the task is ready until it is done, the
//! worker that took it owns it (a ready task stands in exactly one queue, and taking it removes it). Afterwards, the
//! slot is free and belongs to the pool that holds it. Line 1 is shared and consists of atomics, except `scope`, which is
//! written by the inserter before the seal and only read until the slot is free.

use super::{Body, Lock, Pending, TaskRef, successors::Successors};
use crate::{device::DeviceSide, recording::TaskId, scope::ScopeState};
use std::{cell::UnsafeCell, panic::Location, sync::OnceLock};

/// What is known of a task besides its body.
#[derive(Clone, Copy)]
pub(crate) struct Header {
    pub(crate) name: &'static str,
    pub(crate) site: &'static Location<'static>,
    /// Serial number of the insertion, from one on. It orders tasks and names them in a recording.
    pub(crate) id: TaskId,
    pub(crate) priority: i32,
    pub(crate) lock: Lock,
    /// Whether the body has mutual exclusions to take before it runs.
    pub(crate) commutes: bool,
}

/// The part of a slot that has one owner at a time.
pub(crate) struct Exec {
    pub(crate) header: Header,
    pub(crate) body: Body,
    /// The next free slot, while this one is free.
    pub(crate) next_free: u32,
}

/// One task's memory.
#[repr(align(64))]
pub(crate) struct Slot {
    pub(crate) successors: Successors,
    pub(crate) pending: Pending,
    scope: UnsafeCell<*const ScopeState>,
    exec: UnsafeCell<Exec>,
    /// Made when first needed, never taken away: others read a task's event through it.
    device: OnceLock<Box<DeviceSide>>,
}

// SAFETY: the rights to the cells move as the module's head says; what they hold (a body's captures are `Send`, the scope is
// `Sync`) may move between threads.
unsafe impl Send for Slot {}
// SAFETY: as above.
unsafe impl Sync for Slot {}

impl Slot {
    pub(super) fn new() -> Self {
        Self {
            successors: Successors::new(),
            pending: Pending::new(),
            scope: UnsafeCell::new(std::ptr::null()),
            exec: UnsafeCell::new(Exec {
                header: Header {
                    name: "",
                    site: Location::caller(),
                    id: TaskId(0),
                    priority: 0,
                    lock: Lock::None,
                    commutes: false,
                },
                body: Body::empty(),
                next_free: 0,
            }),
            device: OnceLock::new(),
        }
    }

    /// Begins a new task in this slot: it has no successors yet and is guarded against becoming ready.
    ///
    /// # Safety
    /// The slot is free and the caller holds it.
    #[inline]
    pub(crate) unsafe fn open(&self, index: u32, scope: *const ScopeState) -> TaskRef {
        self.pending.guard();
        // SAFETY: nobody else refers to the scope of a free slot.
        unsafe { *self.scope.get() = scope };
        TaskRef::new(self.successors.open(), index)
    }

    /// The scope that the task was inserted in. Scopes' states are never freed while the runtime lives.
    #[inline]
    pub(crate) fn scope(&self) -> &ScopeState {
        // SAFETY: written before the task was sealed, not written again before the slot is free; the caller holds a task.
        unsafe { &**self.scope.get() }
    }

    /// What devices need of the task; only where the runtime has devices.
    pub(crate) fn device_side(&self) -> &DeviceSide {
        self.device.get_or_init(Box::default)
    }

    pub(super) fn exec_mut(&mut self) -> &mut Exec {
        self.exec.get_mut()
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
