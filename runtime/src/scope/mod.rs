//! Scopes: serial code whose tasks run in parallel, and handles to the data lent to them.

mod lent;
mod open;
mod output;
mod plan;
mod view;

pub use lent::{Home, Lent};
pub(crate) use open::enter;
pub use open::{Nesting, Scope};
pub use output::{Output, ReadOutput};
pub use view::View;
