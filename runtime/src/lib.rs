//! The runtime: tasks, hazards, scheduling, memory in many places, recording. It knows devices by their traits only, and no matrix.

mod access;
mod builder;
pub mod cache;
mod datum;
mod device;
pub mod environment;
mod error;
mod handle;
mod hazard;
mod insert;
mod inspect;
mod memory;
mod notices;
mod recorder;
pub mod recording;
mod resident;
mod runtime;
mod schedule;
mod scope;
mod sync;
mod task;
mod topology;
mod weights;
mod worker;

pub use access::{
    Accesses, Bound, BoundOf, Commute, Item, ItemOf, Output, Read, ReadOutput, ReadWrite, Reduce, Reduction, Scratch,
    ScratchPool, Write,
};
pub use builder::{Builder, settings_table};
pub use device::{
    Codelet, Cost, Derived, Device, DeviceError, DeviceInfo, DeviceKind, DeviceMemory, DeviceRegion, Event, Finished,
    HostRegion, Issue, IssueContext, LinkInfo, MemoryInfo, Operand, Operands, Portable, Reads, Residence, Speed,
    Transfer, Updates, Writes,
};
pub use error::{Error, ErrorKind};
pub use handle::Handle;
pub use hazard::Mode;
pub use memory::{CopyKind, MemoryInUse, Traffic};
pub use recording::{BlasLevel, TaskId, TileIndex};
pub use resident::{Lend, Resident};
pub use runtime::Runtime;
pub use schedule::{
    CapabilityWeights, DemandDriven, Fifo, Forecast, Moves, Outlook, Place, Policy, PolicyName, Priority, ReadyTask,
    Resource, UnknownPolicy, Want, WorkStealing,
};
pub use scope::{Home, Lent, Nesting, Scope, View};
pub use task::{Lock, Outcome, TaskSpec};
pub use topology::processor_name;
pub use weights::{CapabilityWeight, WeightSource};
