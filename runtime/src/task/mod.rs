//! Tasks as the runtime holds them: slots, references to them, and the list of those that wait.

mod body;
#[cfg(all(loom, test))]
mod loom_tests;
mod pending;
mod predecessors;
mod slab;
mod slot;
mod spec;
mod successors;

pub(crate) use body::{Body, Elsewhere, Fail, Runnable, Verdict};
pub(crate) use pending::{Pending, Release, Released};
pub(crate) use predecessors::{Few, Predecessors};
pub(crate) use slab::{Slab, SlotCache};
pub(crate) use slot::{Exec, Flags, Header, Label, Slot};
pub use spec::{Lock, TaskSpec};
pub(crate) use successors::{Added, ChunkCache};
