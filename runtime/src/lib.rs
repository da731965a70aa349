//! The runtime: tasks, hazards, scheduling and recording.
//!
//! With the feature `placement` it also decides where tasks run and moves their data there: devices, memory on several
//! nodes, capability weights. It knows devices only through traits, and it does not know matrices.
//!
//! Modules import each other in one direction, which a test of the workspace enforces. The second group of modules
//! below is the placement half. The first group works without it and calls it through `shared/seam.rs`. Only `runtime`,
//! at the top, knows both.

#![cfg_attr(not(feature = "placement"), allow(dead_code, unused_imports, reason = "used only by the placement half"))]

pub mod cache;
mod datum;
pub mod environment;
mod error;
mod handle;
mod hazard;
mod insert;
mod notices;
mod panics;
mod recorder;
pub mod recording;
mod runtime;
mod scope;
mod scope_state;
mod seat;
mod shared;
mod sync;
mod task;
mod topology;
mod worker;

#[cfg(feature = "placement")]
mod device;
#[cfg(feature = "placement")]
mod memory;
#[cfg(feature = "placement")]
mod placement;
#[cfg(feature = "placement")]
mod resident;
#[cfg(feature = "placement")]
mod running_mean;
#[cfg(feature = "placement")]
mod weights;

#[cfg(feature = "placement")]
pub use device::{
    Cost, Derived, Device, DeviceError, DeviceInfo, DeviceKind, DeviceMemory, DeviceRegion, Event, Finished,
    HostRegion, Issue, IssueContext, LinkInfo, MemoryInfo, Portable, Residence, Speed, Transfer,
};
pub use error::{Error, ErrorKind};
pub use handle::Handle;
pub use hazard::Mode;
pub use insert::{
    Accesses, Bound, BoundOf, Commute, Item, ItemOf, Outcome, Read, ReadWrite, Reduce, Reduction, Scratch, ScratchPool,
    Write, reductions,
};
#[cfg(feature = "placement")]
pub use memory::{CopyKind, MemoryInUse, Traffic};
#[cfg(feature = "placement")]
pub use placement::{Codelet, Operand, Operands, Reads, Updates, Writes};
pub use recording::{BlasLevel, TaskId, TileIndex};
#[cfg(feature = "placement")]
pub use resident::{Lendable, Resident};
pub use runtime::{Builder, Runtime, process, settings_table};
pub use schedule::{
    CapabilityWeights, DemandDriven, Fifo, Forecast, Outlook, Place, Policy, PolicyName, Priority, ReadyTask, Resource,
    TaskFilter, Transfers, UnknownPolicy, WorkStealing,
};
pub use scope::{Home, Lent, Nesting, Output, ReadOutput, Scope, View};
use superscalar_schedule as schedule;
pub use task::{Lock, TaskSpec};
pub use topology::processor_name;
#[cfg(feature = "placement")]
pub use weights::{CapabilityWeight, WeightSource};
