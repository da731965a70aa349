//! Which ready task runs next, and where: scheduling policies.
//!
//! A [`Policy`] holds the tasks that are ready and not taken. It decides the order; it does not decide readiness, sleep, or
//! who waits for whom. It knows no threads and no clock: whoever drives it says at which place something happens, and an [`Outlook`] answers
//! what it asks, the time included. So the same code runs under two clocks: the runtime drives it in real time, and the replay of a trace in
//! virtual time.
//!
//! | module | what is in it |
//! |---|---|
//! | `task`, `want`, `policy`, `outlook` | a ready task, and the place of a thread; what a thread can take; what a policy does; what it may ask |
//! | `fifo`, `work_stealing`, `priority` | policies of workers that are alike; `lanes` has their queues |
//! | `capability_weights`, `demand_driven` | policies that weigh where a task should run; `station` and `ranked` have their queues |
//!
//! A policy is added by a file here and a variant of [`PolicyName`]; or outside, since the runtime takes custom policies.

#![deny(unsafe_code)]

mod capability_weights;
mod demand_driven;
mod fifo;
mod lanes;
mod names;
mod outlook;
#[cfg(test)]
mod outlook_mock;
mod policy;
mod priority;
mod ranked;
mod station;
mod task;
mod want;
mod work_stealing;

pub use capability_weights::CapabilityWeights;
pub use demand_driven::DemandDriven;
pub use fifo::Fifo;
pub use names::{PolicyName, UnknownPolicy};
pub use outlook::{Forecast, Moves, Outlook, Resource};
pub use policy::Policy;
pub use priority::Priority;
pub use task::{BlasLevel, Place, ReadyTask, TaskId};
pub use want::Want;
pub use work_stealing::WorkStealing;

use std::sync::{LockResult, PoisonError};

/// What a lock guards, even if a thread panicked while it held the lock: no panic leaves a queue half changed.
fn held<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}
