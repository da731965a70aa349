//! The threads that run tasks: where they sit, how they sleep, what they do with a task.

#[cfg(all(loom, test))]
mod loom_tests;
mod parker;
mod run;
mod seat;
mod sleep;

pub(crate) use parker::Parker;
pub(crate) use run::{Locked, Next, Waiting, current_task};
pub(crate) use seat::{Frame, Seat, current_frame, innermost};
pub(crate) use sleep::Sleep;
