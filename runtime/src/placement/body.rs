//! What the body of a codelet's call can do on devices.

use super::table::{Kinds, Takers};
use crate::{
    device::{DeviceError, DeviceKind, DeviceRegion, IssueContext, Residence},
    task::Body,
};

/// Looks at where a value lies in host memory.
pub(super) type VisitResidence<'a> = &'a mut dyn FnMut(Residence<'_>);

/// The operations on an erased call; the pointer is to the call.
pub(super) struct Calls {
    /// Which kinds of worker can take it.
    pub(super) takers: unsafe fn(*const u8, &Kinds) -> Takers,
    /// Visits where the values that it uses lie in host memory, in the order of the accesses; says whether all do so in columns.
    pub(super) residences: unsafe fn(*const u8, VisitResidence<'_>) -> bool,
    /// Bytes of scratch that its implementation for this kind of device asks for, by the shapes of its operands' regions.
    pub(super) scratch_bytes: unsafe fn(*const u8, DeviceKind, &mut dyn Iterator<Item = DeviceRegion>) -> usize,
    /// Hands the work to a device queue. The body stays until it is completed.
    pub(super) issue: unsafe fn(*mut u8, &mut IssueContext<'_>, &[DeviceRegion]) -> Result<(), DeviceError>,
}

impl Body {
    fn calls(&self) -> Option<(&'static Calls, *mut u8)> {
        let (table, call) = self.elsewhere()?;
        // SAFETY: only the call of a codelet has such a table, and it is a constant of this type.
        Some((unsafe { &*table.0.cast::<Calls>() }, call))
    }

    /// Which kinds of worker can take it.
    pub(super) fn takers(&self, kinds: &Kinds) -> Takers {
        // SAFETY: the table is the call's.
        self.calls().map_or(Takers::HOST, |(calls, call)| unsafe { (calls.takers)(call, kinds) })
    }

    /// Where the values that it uses lie in host memory; whether all of them do so in columns.
    ///
    /// # Safety
    /// Every predecessor is done, or issued to a device.
    pub(super) unsafe fn residences(&self, visit: VisitResidence<'_>) -> bool {
        // SAFETY: the table is the call's; the caller's promise.
        self.calls().is_some_and(|(calls, call)| unsafe { (calls.residences)(call, visit) })
    }

    /// Bytes of scratch that it asks for.
    pub(super) fn scratch_bytes(&self, kind: DeviceKind, shapes: &mut dyn Iterator<Item = DeviceRegion>) -> usize {
        // SAFETY: the table is the call's.
        self.calls().map_or(0, |(calls, call)| unsafe { (calls.scratch_bytes)(call, kind, shapes) })
    }

    /// Hands it to a device queue.
    pub(super) fn issue(
        &mut self,
        context: &mut IssueContext<'_>,
        regions: &[DeviceRegion],
    ) -> Result<(), DeviceError> {
        let none = || DeviceError::new("this task has no implementation for the device");
        let (calls, call) = self.calls().ok_or_else(none)?;
        // SAFETY: the table is the call's, which nobody else has meanwhile.
        unsafe { (calls.issue)(call, context, regions) }
    }
}
