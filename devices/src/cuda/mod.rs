//! CUDA devices: NVIDIA's GPUs, by the driver's API.
//!
//! [`count`] and [`devices`] say what there is, [`open`] and [`open_all`] make of it what a runtime's builder takes. Implementations of
//! codelets for [`KIND`] ask their `IssueContext` for a [`Queue`].
//!
//! Nothing is linked: CUDA's libraries are looked for when they are first needed (`library`). A machine without them has no such devices, and
//! what needs one that is missing says so in an error.
//!
//! # How it works
//!
//! A device has one stream for each of its queues: some for tasks, and one for copies in each direction. Each is a lane (`lane`). Whoever puts
//! work in gets a ticket; an event is recorded behind the work and stands for it. Devices that were opened together form a group
//! (`group`): the events of each can be found by all, and become conditions of a stream of any. So chains of tasks and copies run
//! without the host, across queues and GPUs. What is over needs no condition, and of several events of one queue only the last does. Parts of
//! a task may go aside, into a second stream of its queue (`tracks`).
//!
//! The events of a queue end in order, so [`Device::poll`](superscalar_runtime::Device::poll) asks for few of them (`marks`). How the issuer sleeps
//! is told in `signal`. It sees ends late, and several at once; when each was, by a clock of the device's, is told in `clock`.
//!
//! # Copies
//!
//! Copies between pinned host memory and the heap are one command each, and so are copies between heaps; a small one between heaps is a kernel
//! of our own instead, which takes less time (`small_copy`). The device can not reach other host memory by itself: such copies go in
//! pieces through pinned buffers, by a thread for each direction (`copier`). A queue's copies keep their order, so what comes behind such a
//! copy goes through the thread, too. A task that waits for one is issued when the copy's last piece is on its way. [`register`] pins memory
//! that is already there, [`PinnedBuffer`] is memory that is pinned from the beginning.
//!
//! # Failures
//!
//! What is wrong with a single call is an error of the task or the copy. What ends abnormally on the GPU loses the device, as CUDA refuses
//! everything from then on (`failure` says which answers mean that): what it still had is reported as failed. Work of others that waits for
//! it fails, too; if a stream of theirs is never released, its device is lost after [a while](GRACE), and the process goes on.
//!
//! `unsafe` is what CUDA's C functions need. Host memory of copies is the runtime's promise, and what a kernel does that of its author.

mod board;
mod buffer;
mod clock;
mod context;
mod copier;
mod crew;
mod device;
mod failure;
mod group;
mod handles;
mod lane;
mod library;
mod line;
mod marks;
mod memory;
mod nvrtc;
mod outcome;
mod pieces;
mod pinned;
mod program;
mod queue;
mod ring;
mod signal;
mod small_copy;
mod speed;
mod stream;
mod table;
mod tracks;
mod transfer;
mod usage;

pub use context::{GpuClass, count, devices};
pub use device::{Cuda, Options, open, open_all};
pub use group::GRACE;
pub use library::{Library, requires};
pub use nvrtc::compile;
pub use outcome::OUTCOME_BYTES_MAX;
pub use pinned::{PinnedBuffer, Registration, is_pinned, register};
pub use program::Program;
pub use queue::Queue;
pub use usage::{Usage, usage};

use std::path::PathBuf;
use superscalar_runtime::DeviceKind;

/// Implementations for CUDA devices.
pub const KIND: DeviceKind = DeviceKind("cuda");

/// The directory in which compiled programs are kept, unless told otherwise: `cuda` in `$SUPERSCALAR_CACHE`, or else in `superscalar` of
/// the user's cache directory. None if the environment names neither that nor a home.
#[must_use]
pub fn cache_directory() -> Option<PathBuf> {
    crate::cache::directory(KIND.0)
}
