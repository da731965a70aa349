//! Simulated devices: the difficulties of an accelerator without the hardware.
//!
//! A [`Machine`] is a set of devices that know each other. Each has its own heap, in-order queues, one arithmetic unit,
//! and a link to the host and perhaps to peers. Work is really executed, so results can be checked, but takes the time
//! that the device's [`Spec`] says. Faults and the loss of a device can be injected.
//!
//! # Memory
//!
//! The runtime sees only offsets. The pages of the heap are inaccessible except for those that a running kernel or copy
//! has requested ([`SimHeap::address`]). Host code that uses a leaked address is killed by SIGSEGV, and so is a kernel
//! that touches other pages than it requested.
//!
//! # Time
//!
//! A kernel takes `latency + max(flops / flops_per_s, bytes / bytes_per_s)`. The kernels of one device run one after
//! another, whatever their queues. A copy takes `latency + bytes / bytes_per_s`. Each direction runs one copy at a
//! time, concurrently with kernels. A rate of zero means that the step takes no modelled time. Work that really takes
//! longer than the model says takes its real time. `engine.rs` explains how time is kept.
//!
//! # Threads
//!
//! Each device has one thread for kernels and one for copies in each direction: three, or four if it has peers. They
//! sleep while there is nothing to do.
//!
//! # Example
//!
//! ```
//! # mod superscalar { pub use superscalar_devices as devices; pub use superscalar_runtime::*; }
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
//! # Limits
//!
//! Links are not shared between devices, so their copies do not slow each other down. A device can wait for the events
//! of its own machine only.

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
