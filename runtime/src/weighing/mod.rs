//! The policies that weigh where a task should run.

#![forbid(unsafe_code)]

mod capability_weights;
mod demand_driven;
#[cfg(test)]
mod outlook_mock;
mod ranked;
mod station;

pub use capability_weights::CapabilityWeights;
pub use demand_driven::DemandDriven;

use crate::schedule::{Forecast, Moves, Outlook, Place, Policy, Priority, ReadyTask, Resource, Want};
