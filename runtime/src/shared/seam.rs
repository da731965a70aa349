//! The seam between the two halves of the runtime: the one that decides when a task runs, and the one that decides
//! where.
//!
//! A runtime without a [`Placement`] runs every task on the host's workers; each call of the seam then takes one check
//! of an empty option. A runtime with a placement offers tasks to it. The placement may run them on devices, and copies
//! data back that host tasks need. Devices are connected here (`placement/`). The methods are called at these times:
//!
//! - A task is inserted and ready at once: [`offer`](Placement::offer), [`push_inserted`](Placement::push_inserted).
//! - A task is pushed to the policy, or the policy is asked for one: [`push`](Placement::push),
//!   [`outlook`](Placement::outlook).
//! - A predecessor of a task is issued or done: [`after_release`](Placement::after_release),
//!   [`not_before`](Placement::not_before), [`retire_all`](Placement::retire_all).
//! - A host worker considers a task, and has taken it: [`host_can_take`](Placement::host_can_take),
//!   [`admit`](Placement::admit).
//! - A host worker is about to run a task, and has run it: [`failure`](Placement::failure),
//!   [`now_ns`](Placement::now_ns), [`ended`](Placement::ended).
//! - A scope ends: [`brings_home`](Placement::brings_home).
//! - The runtime starts: [`threads`](Placement::threads), [`run_thread`](Placement::run_thread).
//! - A change may concern all of the placement's threads: [`notify`](Placement::notify).
//! - The runtime ends: [`wake`](Placement::wake), [`end`](Placement::end).

use super::Shared;
use crate::{
    error::Cause,
    hazard::TaskRef,
    schedule::{Outlook, Place, ReadyTask, Resource},
    scope_state::ScopeState,
    seat::Seat,
    task::{Body, Released, Slot, TaskResult, TaskSpec},
};
use smallvec::SmallVec;
use std::{any::Any, ptr::NonNull};

/// The result of a release.
pub(crate) enum AfterRelease {
    Nothing,
    /// The task was pushed; the caller should wake a thread for it.
    Ready,
    /// The task was finished on a device before its predecessors were counted; it can be retired now.
    Retire,
}

/// Tasks that were finished on a device and waited only for a task that has ended now. They are retired in a loop, not
/// recursively, because a chain of them may be as long as the window.
pub(crate) type Completed = SmallVec<[u32; 4]>;

/// Runs tasks elsewhere than on the host's workers, and moves their data; see the [module](self) documentation.
pub(crate) trait Placement: Any + Send + Sync {
    /// Returns the names of the placement's threads, each of which has a seat of its own.
    fn threads(&self) -> Vec<String>;

    /// Runs one of these threads until shutdown.
    fn run_thread(&self, shared: &Shared, thread: usize);

    /// Wakes sleeping threads of the placement after a change that may concern each of them.
    fn notify(&self);

    /// Wakes all of its threads.
    fn wake(&self);

    /// Ends the placement, after the runtime has ended.
    fn end(&self);

    /// Determines which resources can run a task that is being inserted. Returns whether the task is offered, and so
    /// has a hold of its own.
    fn offer(&self, shared: &Shared, slot: &Slot, spec: &TaskSpec, predecessors: &[TaskRef]) -> bool;

    /// Pushes an offered task that its inserter has found ready.
    fn push_inserted(&self, shared: &Shared, seat: &Seat, index: u32, scope: NonNull<ScopeState>);

    /// Pushes a task to the policy, and returns the resource that the policy keeps it for, if any.
    fn push(&self, shared: &Shared, by: Place, task: ReadyTask) -> Option<Resource>;

    /// Returns the outlook for policies.
    fn outlook<'a>(&'a self, shared: &'a Shared) -> Option<Box<dyn Outlook + 'a>>;

    /// Handles a release of a task.
    fn after_release(&self, shared: &Shared, seat: &Seat, index: u32, released: Released) -> AfterRelease;

    /// Records that a predecessor of this task ended at this time of the recording's clock.
    fn not_before(&self, slot: &Slot, ended_ns: u64);

    /// Settles tasks that were finished on a device and whose predecessors are all done, and further tasks that become
    /// settled by this.
    fn retire_all(&self, shared: &Shared, seat: &Seat, completed: Completed);

    /// Returns whether a host worker can take this task now.
    fn host_can_take(&self, shared: &Shared, task: &ReadyTask) -> bool;

    /// Returns whether a host worker that has taken the task may run it now. If not, the task is set aside until its
    /// data are on the host, and the worker no longer owns it.
    fn admit(&self, shared: &Shared, slot: &Slot, index: u32, body: &Body) -> bool;

    /// Returns the reason why the data of an admitted task are not on the host, if they are not.
    fn failure(&self, slot: &Slot) -> Option<Cause>;

    /// Returns nanoseconds since an arbitrary fixed moment.
    fn now_ns(&self) -> u64;

    /// Records that a task that began at `begun_ns` has ended on the host; its slot is not free yet.
    fn ended(&self, shared: &Shared, index: u32, begun_ns: u64, result: &TaskResult);

    /// Returns whether data lent to a scope may be on devices when it ends.
    fn brings_home(&self) -> bool;
}
