//! The representation of tasks: slots, references to slots, and the lists of successors and predecessors.

mod body;
#[cfg(all(loom, test))]
mod loom_tests;
mod pending;
mod predecessors;
mod slab;
mod slot;
mod spec;
mod successors;

pub(crate) use body::{Body, DeviceTable, Fail, Runnable, TaskResult};
pub(crate) use pending::{Pending, Release, Released};
pub(crate) use predecessors::{PredecessorArray, Predecessors};
pub(crate) use slab::{Slab, SlotCache};
pub(crate) use slot::{Exec, Flags, Header, Label, Slot};
pub use spec::{Lock, TaskSpec};
pub(crate) use successors::{Added, ChunkCache};
