//! OpenCL devices: CPUs, whole or a few cores of them, GPUs, and whatever else a driver of the system offers.
//!
//! [`devices`] says what there is, [`named`] finds a device by its name (such as `opencl:0`; see there), [`OpenclDevice::open`] makes
//! of some of them what a runtime's builder takes. Implementations of codelets for [`KIND`] ask their `IssueContext` for an
//! [`OpenclQueue`].
//!
//! # How it works
//!
//! A device has one in-order queue for each of the runtime's, each a lane (`lane`): whoever puts work in gets a ticket, and the
//! driver's event of the last command stands for it. An event of another queue becomes a condition of the first command (`context`
//! has the table), so chains of tasks and copies run without the host. The driver calls back when an event comes, which wakes the
//! issuer (`signal`); what an event has come to, and when, is asked of the driver (`work`).
//!
//! What is wrong with a single call is an error of the task or the copy. A command that ends abnormally loses the device (`failure`
//! says when): from then on it takes nothing, and what it still had is reported as the driver ends it.
//!
//! `unsafe` is what OpenCL's C functions need; host memory of copies is the runtime's promise, and what a kernel does that of its author.

mod class;
mod context;
mod device;
mod failure;
mod found;
#[cfg(test)]
mod inside_tests;
mod lane;
mod memory;
mod object;
mod program;
mod queue;
mod signal;
mod source;
mod work;

pub use class::DeviceClass;
pub use device::{OpenclDevice, Settings};
pub use found::{Found, devices, named};
pub use queue::{Arg, OpenclQueue, Value};
pub use source::Source;

use std::path::PathBuf;
use superscalar_runtime::DeviceKind;

/// Implementations for OpenCL devices.
pub const KIND: DeviceKind = DeviceKind("opencl");

/// The directory in which compiled programs are kept, unless told otherwise: `opencl` in `$SUPERSCALAR_CACHE`, or else in `superscalar` of
/// the user's cache directory. None if the environment names neither that nor a home.
#[must_use]
pub fn cache_directory() -> Option<PathBuf> {
    crate::cache::directory(KIND.0)
}

/// Compiled programs, kept there or nowhere.
fn cache_in(directory: Option<PathBuf>) -> crate::cache::Cache {
    crate::cache::Cache::new(b"superscalar opencl program 1\n", directory)
}
