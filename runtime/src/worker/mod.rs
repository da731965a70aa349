//! The worker loop: how threads take a task, run it, finish it, and wait for others.

mod finish;
mod run;
mod strays;
mod thread_context;

pub(crate) use run::{Waiting, current_task};
pub(crate) use thread_context::ThreadContext;
