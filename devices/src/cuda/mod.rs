//! CUDA devices: NVIDIA GPUs, through the driver API.
//!
//! [`count`] and [`devices`] list the GPUs. [`open`] and [`open_all`] open them for a runtime's builder.
//! Implementations of codelets for [`KIND`] get a [`Queue`] from their `IssueContext`.
//!
//! Nothing is linked: CUDA's libraries are loaded when they are first needed (`library`). A machine without them has no
//! CUDA devices, and a call that needs a missing library returns an error.
//!
//! # How it works
//!
//! A device has one stream for each of its queues: several for tasks and one for copies in each direction. A `lane`
//! puts work into such a queue. Inserted work gets a ticket, and a CUDA event is recorded behind it. Devices that were
//! opened together form a group (`group`): each can look up the events of all others and make its streams wait for
//! them. Chains of tasks and copies therefore run without the host, across queues and GPUs. No wait is issued for work
//! that is already over, and only the last of several events of one queue is waited for. A task can put a part of its
//! work into a second stream of its queue (`task_streams`).
//!
//! The events of a queue end in order, so [`Device::poll`](superscalar_runtime::Device::poll) queries few of them
//! (`marks`). `crate::signal` explains how the issuer sleeps. The issuer notices ends late and several at once; `clock`
//! determines when each of them was, by the device's clock.
//!
//! # Copies
//!
//! A copy between pinned host memory and a heap is one command, and so is a copy between heaps. A small copy between
//! heaps is a kernel instead, which takes less time (`small_copy`). The device cannot access other host memory
//! directly. Such copies go in pieces through pinned buffers, handled by one thread per direction (`copier`). The
//! copies of a queue keep their order, so copies behind such a copy go through the thread, too. A task that waits for
//! one is issued once the copy's last piece is in the stream. [`register`] pins existing memory, and [`PinnedBuffer`]
//! allocates pinned memory.
//!
//! # Failures
//!
//! A call that fails is an error of its task or copy. Work that ends abnormally on the GPU loses the device, because
//! CUDA then refuses every later call (`failure` lists the error codes that mean this). The work that the lost device
//! still had is reported as failed, and work of other devices that waits for it fails, too. If CUDA never releases one
//! of their streams, that device is lost after [`LOST_DEVICE_TIMEOUT`], and the process continues.
//!
//! `unsafe` is needed to call CUDA's C functions. The runtime guarantees the validity of host memory during copies, and
//! the author of a kernel that it accesses only permitted memory.

mod buffer;
mod clock;
mod context;
mod copier;
mod device;
mod device_state;
mod failure;
mod group;
mod handles;
mod host_copy;
mod lane;
mod library;
mod marks;
mod memory;
mod nvrtc;
mod outcome;
mod pieces;
mod pinned;
mod pinned_ranges;
mod program;
mod queue;
mod queue_state;
mod ring;
mod small_copy;
mod speed;
mod stream;
mod task_streams;
mod transfer;
mod usage;

pub use context::{GpuClass, count, devices};
pub use device::{Cuda, Options, open, open_all};
pub use group::LOST_DEVICE_TIMEOUT;
pub use library::{Library, requires};
pub use nvrtc::compile;
pub use outcome::OUTCOME_BYTES_MAX;
pub use pinned::{PinnedBuffer, Registration, is_pinned, register};
pub use program::Program;
pub use queue::Queue;
pub use usage::{Usage, usage};

use std::path::PathBuf;
use superscalar_runtime::DeviceKind;

/// The kind of CUDA devices, for [`Codelet::on_device`](superscalar_runtime::Codelet::on_device).
pub const KIND: DeviceKind = DeviceKind("cuda");

/// Returns the default directory for compiled programs: `cuda` in `$SUPERSCALAR_CACHE` or, without that variable, in
/// `superscalar` in the user's cache directory. `None` if the environment names neither that nor a home directory.
#[must_use]
pub fn cache_directory() -> Option<PathBuf> {
    crate::cache::directory(KIND.0)
}
