//! Tile operations as values: [`Call`], what one must be like, and how the host carries it out.

mod call;
mod check;
mod host;

pub use call::{Call, Mat, Triangle};
pub use check::Used;
pub(crate) use host::Heap;
