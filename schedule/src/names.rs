//! The policies of this crate, by name.

use super::{CapabilityWeights, DemandDriven, Fifo, Policy, Priority, WorkStealing};
use std::{fmt, str::FromStr};

/// The policies of this crate, by name.
///
/// ```
/// use superscalar::PolicyName;
/// assert_eq!("work-stealing".parse::<PolicyName>(), Ok(PolicyName::WorkStealing));
/// assert!("random".parse::<PolicyName>().unwrap_err().to_string().contains("fifo"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PolicyName {
    /// In the order in which tasks became ready. See [`Fifo`].
    Fifo,
    /// Each worker its own tasks, newest first; idle workers steal the oldest. See [`WorkStealing`].
    WorkStealing,
    /// Work stealing in bands of priority. See [`Priority`].
    Priority,
    /// Each task where it will be finished first, by capability weights. See [`CapabilityWeights`].
    CapabilityWeights,
    /// One queue, reservation stations, whoever demands more gets more. See [`DemandDriven`].
    DemandDriven,
}

impl PolicyName {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Fifo, Self::WorkStealing, Self::Priority, Self::CapabilityWeights, Self::DemandDriven];

    /// A policy of this name for so many places.
    #[must_use]
    pub fn build(self, places: usize) -> Box<dyn Policy> {
        match self {
            Self::Fifo => Box::new(Fifo::default()),
            Self::WorkStealing => Box::new(WorkStealing::new(places)),
            Self::Priority => Box::new(Priority::new(places)),
            Self::CapabilityWeights => Box::new(CapabilityWeights::new(places)),
            Self::DemandDriven => Box::new(DemandDriven::default()),
        }
    }

    /// The name as settings spell it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::WorkStealing => "work-stealing",
            Self::Priority => "priority",
            Self::CapabilityWeights => "capability-weights",
            Self::DemandDriven => "demand-driven",
        }
    }
}

impl fmt::Display for PolicyName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// Not the name of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPolicy(String);

impl fmt::Display for UnknownPolicy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let there = PolicyName::ALL.map(PolicyName::as_str).join(", ");
        write!(out, "no policy is called `{}`; there are {there}", self.0)
    }
}

impl std::error::Error for UnknownPolicy {}

impl FromStr for PolicyName {
    type Err = UnknownPolicy;

    fn from_str(name: &str) -> Result<Self, UnknownPolicy> {
        let found = Self::ALL.into_iter().find(|policy| policy.as_str() == name);
        found.ok_or_else(|| UnknownPolicy(name.to_owned()))
    }
}
