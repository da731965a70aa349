//! The seam between the half of the runtime that decides when a task runs and the half that decides where.
//!
//! A runtime without a [`Placement`] runs every task on the workers of the host, and pays one look at an empty option for each
//! call of the seam. One with a placement offers tasks to it; it may run them elsewhere, and then brings home what the host
//! needs of their data. Devices plug in here (`placement/`). What is called when:
//!
//! | call | when |
//! |---|---|
//! | [`offer`](Placement::offer), [`push_inserted`](Placement::push_inserted) | a task is inserted, and is ready at once |
//! | [`push`](Placement::push), [`outlook`](Placement::outlook) | the policy is given a task, or is asked for one |
//! | [`after_release`](Placement::after_release), [`not_before`](Placement::not_before), [`retire_all`](Placement::retire_all) | a predecessor of a task is issued, or done |
//! | [`host_can_take`](Placement::host_can_take), [`admit`](Placement::admit) | a worker of the host looks at a task, has taken it |
//! | [`failure`](Placement::failure), [`now_ns`](Placement::now_ns), [`ended`](Placement::ended) | it is about to run the task, has run it |
//! | [`brings_home`](Placement::brings_home) | a scope ends |
//! | [`threads`](Placement::threads), [`run_thread`](Placement::run_thread) | the runtime begins |
//! | [`notify`](Placement::notify) | something concerns all of its threads |
//! | [`wake`](Placement::wake), [`end`](Placement::end) | the runtime ends |

use super::Shared;
use crate::{
    error::Cause,
    hazard::TaskRef,
    schedule::{Outlook, Place, ReadyTask, Resource},
    scope_state::ScopeState,
    seat::Seat,
    task::{Body, Released, Slot, TaskSpec, Verdict},
};
use smallvec::SmallVec;
use std::{any::Any, ptr::NonNull};

/// What a release has led to.
pub(crate) enum Next {
    Nothing,
    /// The task was pushed; somebody should come for it.
    Ready,
    /// The task was finished elsewhere before its predecessors were counted; now it can be retired.
    Retire,
}

/// Tasks that were finished elsewhere already, and that waited only for one that has ended now. They are retired one after the
/// other, not one inside of the other: a chain of them may be as long as the window.
pub(crate) type Completed = SmallVec<[u32; 4]>;

/// Where tasks run besides the workers of the host, and how their data get there; see the module's head.
pub(crate) trait Placement: Any + Send + Sync {
    /// The names of its threads, each of which has a seat of its own.
    fn threads(&self) -> Vec<String>;

    /// What one of its threads does until shutdown.
    fn run_thread(&self, shared: &Shared, thread: usize);

    /// Something has changed that may concern each of its threads: wakes those that sleep.
    fn notify(&self);

    /// Wakes all of its threads.
    fn wake(&self);

    /// The runtime has ended.
    fn end(&self);

    /// Notes who can take a task that is being inserted. Whether it is offered, and so has a hold of its own.
    fn offer(&self, shared: &Shared, slot: &Slot, spec: &TaskSpec, predecessors: &[TaskRef]) -> bool;

    /// Pushes an offered task that its inserter has found ready.
    fn push_inserted(&self, shared: &Shared, seat: &Seat, index: u32, scope: NonNull<ScopeState>);

    /// Gives a task to the policy; whom it is kept for, if it is.
    fn push(&self, shared: &Shared, by: Place, task: ReadyTask) -> Option<Resource>;

    /// What policies may ask.
    fn outlook<'a>(&'a self, shared: &'a Shared) -> Option<Box<dyn Outlook + 'a>>;

    /// Does what a release of a task asks for.
    fn after_release(&self, shared: &Shared, seat: &Seat, index: u32, released: Released) -> Next;

    /// A predecessor of this task has ended then, by the recording's clock.
    fn not_before(&self, slot: &Slot, ended_ns: u64);

    /// Settles tasks that were finished elsewhere and whose predecessors are all done; and those that this settles.
    fn retire_all(&self, shared: &Shared, seat: &Seat, completed: Completed);

    /// Whether a worker of the host can take this task now.
    fn host_can_take(&self, shared: &Shared, task: &ReadyTask) -> bool;

    /// A worker of the host has taken the task: whether it may run it now. If not, the task is put aside until its data have
    /// come home, and the worker has no right to it any more.
    fn admit(&self, shared: &Shared, slot: &Slot, index: u32, body: &Body) -> bool;

    /// Why the data of a task that was admitted are not at home, if they are not.
    fn failure(&self, slot: &Slot) -> Option<Cause>;

    /// Nanoseconds since some moment.
    fn now_ns(&self) -> u64;

    /// A task that began then has ended on the host; its slot is not free yet.
    fn ended(&self, shared: &Shared, index: u32, begun_ns: u64, verdict: &Verdict);

    /// Whether what is lent to a scope may be elsewhere when it ends.
    fn brings_home(&self) -> bool;
}
