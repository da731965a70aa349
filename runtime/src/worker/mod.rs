//! What threads do with tasks: how they get one, run it, finish it, and wait for others.

mod finish;
mod run;
mod strays;
mod visit;

pub(crate) use run::{Waiting, current_task};
pub(crate) use visit::Entry;
