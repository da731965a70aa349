//! Where a task's operands are, and what it takes to bring them elsewhere. To be replaced by the directory's answers.

use crate::{runtime::Shared, schedule::Resource};

/// What a task's operands are to one place.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Whereabouts {
    /// How long it takes to move there what is not there.
    pub(crate) communication_ns: f64,
    /// Two for each operand that is there, one for each that a peer has.
    pub(crate) locality: u32,
}

impl Shared {
    /// What the operands of the task are to a device.
    pub(crate) fn whereabouts(&self, slot: u32, device: u16) -> Whereabouts {
        let _ = (slot, device);
        Whereabouts::default()
    }

    /// What the operands of the task are to the host.
    pub(crate) fn whereabouts_of_host(&self, slot: u32) -> Whereabouts {
        let _ = slot;
        Whereabouts::default()
    }

    /// Where the data that the task writes are to be updated.
    pub(crate) fn home_of(&self, slot: u32) -> Option<Resource> {
        let _ = slot;
        None
    }
}
