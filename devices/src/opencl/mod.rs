//! OpenCL devices: CPUs or some of their cores, GPUs, and other devices that the system's drivers offer.
//!
//! [`devices`] lists the devices, [`named`] finds one by its name (such as `opencl:0`), and [`OpenclDevice::open`]
//! opens devices for a runtime's builder. Implementations of codelets for [`KIND`] get an [`OpenclQueue`] from their
//! `IssueContext`.
//!
//! # How it works
//!
//! A device has one in-order OpenCL queue for each queue of the runtime, managed by a `lane`. Inserted work gets a
//! ticket, which stands for the driver's event of its last command. An event of another queue is added to the wait list
//! of the first command (`context` has the table), so chains of tasks and copies run without the host. The issuer
//! polls (`signal` explains how). The result and the times of an event are read from the driver (`queued_work`).
//!
//! A call that fails is an error of its task or copy. A command that ends abnormally loses the device (`failure`
//! explains when): from then on it refuses all calls, and its remaining work is reported as the driver ends it.
//!
//! `unsafe` is needed to call OpenCL's C functions. The runtime guarantees the validity of host memory during copies,
//! and the author of a kernel that it accesses only permitted memory.

mod class;
mod concurrency;
mod context;
mod device;
mod discovery;
mod failure;
#[cfg(test)]
mod internal_tests;
mod lane;
mod memory;
mod object;
mod program;
mod queue;
mod queued_work;
mod source;
mod speed;

pub use class::DeviceClass;
pub use device::{OpenclDevice, Settings};
pub use discovery::{DiscoveredDevice, devices, named};
pub use queue::{Arg, OpenclQueue, Value};
pub use source::Source;

use std::path::PathBuf;
use superscalar_runtime::DeviceKind;

/// The kind of OpenCL devices, for [`Codelet::on_device`](superscalar_runtime::Codelet::on_device).
pub const KIND: DeviceKind = DeviceKind("opencl");

/// Returns the default directory for compiled programs: `opencl` in `$SUPERSCALAR_CACHE` or, without that variable, in
/// `superscalar` in the user's cache directory. `None` if the environment names neither that nor a home directory.
#[must_use]
pub fn cache_directory() -> Option<PathBuf> {
    crate::cache::directory(KIND.0)
}

/// Returns the cache of compiled programs in this directory; without one, nothing is kept.
fn cache_in(directory: Option<PathBuf>) -> crate::cache::Cache {
    crate::cache::Cache::new(b"superscalar opencl program 1\n", directory)
}
