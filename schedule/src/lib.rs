//! Scheduling policies: which ready task runs next, and where.
//!
//! A [`Policy`] holds the tasks that are ready and not taken. It decides their order, but not readiness, hazards or
//! sleeping. It has no threads and no clock: its driver passes the place at which something happens, and an [`Outlook`]
//! answers its questions, including the time. So the same code runs in real time, driven by the runtime, and in virtual
//! time, driven by the replay of a trace.
//!
//! - `task`, `task_filter`, `policy` and `outlook`: a ready task and the place of a thread; the tasks that a thread can
//!   take; the policy trait; the queries of a policy.
//! - `fifo`, `work_stealing` and `priority`: policies for equal workers. `stealing_queues` has their queues.
//! - `capability_weights` and `demand_driven`: policies that choose the resource of a task. `station` and `ranked` have
//!   their queues.
//!
//! To add a policy, add a file here and a variant of [`PolicyName`], or pass a custom policy to the runtime.

#![deny(unsafe_code)]

mod capability_weights;
mod demand_driven;
mod fifo;
mod names;
mod outlook;
#[cfg(test)]
mod outlook_mock;
mod policy;
mod priority;
mod ranked;
mod station;
mod stealing_queues;
mod task;
mod task_filter;
mod work_stealing;

pub use capability_weights::CapabilityWeights;
pub use demand_driven::DemandDriven;
pub use fifo::Fifo;
pub use names::{PolicyName, UnknownPolicy};
pub use outlook::{Forecast, Outlook, Resource, Transfers};
pub use policy::Policy;
pub use priority::Priority;
pub use task::{BlasLevel, Place, ReadyTask, TaskId};
pub use task_filter::TaskFilter;
pub use work_stealing::WorkStealing;

use std::sync::{LockResult, PoisonError};

/// Returns the guarded value, even if a thread panicked while it held the lock: no panic leaves a queue half changed.
fn held<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}
