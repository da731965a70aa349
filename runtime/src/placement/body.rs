//! The device operations of a task's body, which is a codelet's call.

use super::table::{Kinds, Takers};
use crate::{
    device::{DeviceError, DeviceKind, DeviceRegion, IssueContext, Residence},
    task::Body,
};

/// A visitor of the host regions of values.
pub(super) type VisitResidence<'a> = &'a mut dyn FnMut(Residence<'_>);

/// The operations of a type-erased codelet call. The first argument of each points to the call.
pub(super) struct CallVtable {
    /// Returns the kinds of worker that can take the call.
    pub(super) takers: unsafe fn(*const u8, &Kinds) -> Takers,
    /// Visits the host regions of its operands in the order of the accesses; returns whether all are columns.
    pub(super) residences: unsafe fn(*const u8, VisitResidence<'_>) -> bool,
    /// Returns the bytes of scratch that its implementation for this kind of device needs, given the shapes of its
    /// operands' regions.
    pub(super) scratch_bytes: unsafe fn(*const u8, DeviceKind, &mut dyn Iterator<Item = DeviceRegion>) -> usize,
    /// Puts the work into a device queue. The body lives until the work is completed.
    pub(super) issue: unsafe fn(*mut u8, &mut IssueContext<'_>, &[DeviceRegion]) -> Result<(), DeviceError>,
}

impl Body {
    fn vtable(&self) -> Option<(&'static CallVtable, *mut u8)> {
        let (table, call) = self.elsewhere()?;
        // SAFETY: only a codelet's call returns a table here, and that table is a `'static` constant of this type.
        Some((unsafe { &*table.0.cast::<CallVtable>() }, call))
    }

    /// Returns the kinds of worker that can take the task.
    pub(super) fn takers(&self, kinds: &Kinds) -> Takers {
        // SAFETY: the table belongs to the type of this call, which is valid and only read here.
        self.vtable().map_or(Takers::HOST, |(vtable, call)| unsafe { (vtable.takers)(call, kinds) })
    }

    /// Visits the host regions of its operands; returns whether all are columns.
    ///
    /// # Safety
    /// Every predecessor is done, or issued to a device.
    pub(super) unsafe fn residences(&self, visit: VisitResidence<'_>) -> bool {
        // SAFETY: the table belongs to the type of this call. Every predecessor is done or issued, as the caller
        // ensures.
        self.vtable().is_some_and(|(vtable, call)| unsafe { (vtable.residences)(call, visit) })
    }

    /// Returns the bytes of scratch that it needs.
    pub(super) fn scratch_bytes(&self, kind: DeviceKind, shapes: &mut dyn Iterator<Item = DeviceRegion>) -> usize {
        // SAFETY: the table belongs to the type of this call, which is valid and only read here.
        self.vtable().map_or(0, |(vtable, call)| unsafe { (vtable.scratch_bytes)(call, kind, shapes) })
    }

    /// Puts its work into a device queue.
    pub(super) fn issue(
        &mut self,
        context: &mut IssueContext<'_>,
        regions: &[DeviceRegion],
    ) -> Result<(), DeviceError> {
        let none = || DeviceError::new("the task has no implementation for the device");
        let (vtable, call) = self.vtable().ok_or_else(none)?;
        // SAFETY: the table belongs to the type of this call. The call is borrowed exclusively through `self`.
        unsafe { (vtable.issue)(call, context, regions) }
    }
}
