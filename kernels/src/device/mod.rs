//! The device half: tile operations as values ([`Call`]), and the backends that put them into a device's queue.
//!
//! A tiled algorithm's codelet makes a [`Call`] of its operands; which backend carries it out is decided when the task is issued.
//! A backend is a folder beside this one, and a row of the table of backends (`table.rs`).

mod call;
mod check;
mod host;
mod table;

pub use call::{Call, Mat, Triangle};
pub use check::Used;
pub(crate) use host::Heap;
pub use table::{Backend, backends, on_devices, panels_on_devices};
