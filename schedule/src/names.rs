//! The names of the policies of this crate.

use super::{CapabilityWeights, DemandDriven, Fifo, Policy, Priority, WorkStealing};
use std::{fmt, str::FromStr};

/// The policies of this crate, by name.
///
/// ```
/// # extern crate superscalar_schedule as superscalar;
/// use superscalar::PolicyName;
/// assert_eq!("work-stealing".parse::<PolicyName>(), Ok(PolicyName::WorkStealing));
/// assert!("random".parse::<PolicyName>().unwrap_err().to_string().contains("fifo"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PolicyName {
    /// Tasks run in the order in which they became ready. See [`Fifo`].
    Fifo,
    /// Each worker runs its own tasks, newest first; idle workers steal the oldest. See [`WorkStealing`].
    WorkStealing,
    /// Work stealing in priority bands. See [`Priority`].
    Priority,
    /// Each task runs where it is expected to finish first, by capability weights. See [`CapabilityWeights`].
    CapabilityWeights,
    /// One queue and reservation stations; resources take tasks at their own speed. See [`DemandDriven`].
    DemandDriven,
}

impl PolicyName {
    /// All policies.
    pub const ALL: [Self; 5] =
        [Self::Fifo, Self::WorkStealing, Self::Priority, Self::CapabilityWeights, Self::DemandDriven];

    /// Creates the policy of this name for a number of places.
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

    /// Returns the name as settings spell it.
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

/// The error for a text that is not the name of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPolicy(String);

impl fmt::Display for UnknownPolicy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let there = PolicyName::ALL.map(PolicyName::as_str).join(", ");
        write!(out, "unknown policy `{}`: expected one of {there}", self.0)
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
