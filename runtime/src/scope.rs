//! Scopes: serial code whose tasks run in parallel, and the counts by which a thread knows that they are done.

mod lent;
#[cfg(all(loom, test))]
mod loom_tests;
mod open;
mod state;
mod view;

pub use lent::{Home, Lent};
pub(crate) use open::{Entry, enter};
pub use open::{Nesting, Scope};
pub(crate) use state::{ScopePool, ScopeState};
pub use view::View;
