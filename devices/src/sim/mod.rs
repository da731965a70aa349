//! Simulated devices: everything that is hard about an accelerator, without one.
//!
//! A [`Machine`] is a set of devices that know each other. Each has a heap of its own, in-order queues, one arithmetic unit, and a
//! link to the host and perhaps to peers. What it is given it really does, so that results can be checked, but it takes the
//! time that its [`Spec`] says. It can be told to fail, and to be lost.
//!
//! # Memory
//!
//! The runtime sees offsets only. The heap's pages can not be touched, but for those that a kernel or a copy of the device
//! has asked for ([`SimHeap::address`]) and only while it runs. Host code that follows an address which it got hold of dies
//! by SIGSEGV, as does a kernel that leaves what it asked for by a page.
//!
//! # Time
//!
//! A kernel takes `latency + max(flops / flops_per_s, bytes / bytes_per_s)`, and kernels of one device run one after another,
//! whatever their queues. A copy takes `latency + bytes / bytes_per_s`; each direction does one at a time, beside the kernels. A
//! speed of zero means that this takes no modelled time. What takes longer to do than the model says takes so long. How time
//! is kept is told in `engine.rs`.
//!
//! # Threads
//!
//! One for a device's kernels, and one for its copies in each direction: three, or four if it has peers. They sleep while there is
//! nothing to do.
//!
//! # Example
//!
//! ```
//! use superscalar::devices::sim::{self, Machine, SimQueue};
//! use superscalar::{Cost, Device, DeviceError, DeviceMemory};
//! # fn main() -> Result<(), DeviceError> {
//! let devices = Machine::start(&sim::parse("sim:0..3")?)?; // three unequal devices, for `Builder::device`
//! devices[0].reserve()?;
//! let ticket = devices[0].issue(0, &[], &mut |queue| {
//!     let queue = queue.downcast_mut::<SimQueue>().ok_or(DeviceError::new("another driver's queue"))?;
//!     queue.launch(Cost::default(), |heap| {
//!         let ones = heap.address(0, 64)?;
//!         // SAFETY: the kernel is alone with the first 64 bytes of the heap.
//!         unsafe { ones.write_bytes(1, 64) };
//!         Ok(())
//!     })
//! })?;
//! assert_eq!(ticket, 1);
//! # Ok(())
//! # }
//! ```
//!
//! # What it does not do
//!
//! Links are the devices' own: they do not slow each other down. A device of the machine can wait for every event of the
//! machine, and for no other.

mod counters;
mod device;
mod engine;
mod faults;
mod heap;
mod parse;
mod queue;
mod spec;
mod timeline;
mod transfer;

pub use counters::{Counters, Traffic};
pub use device::{Machine, SimDevice};
pub use faults::{Direction, Effect, Fault, Faults, Point, Times};
pub use heap::SimHeap;
pub use parse::parse;
pub use queue::SimQueue;
pub use spec::Spec;

use superscalar_runtime::DeviceKind;

/// The kind of simulated devices, for [`Codelet::on_device`](superscalar_runtime::Codelet::on_device).
pub const KIND: DeviceKind = DeviceKind("sim");
