//! The directory's access to the drivers, for copies.

use super::table::Devices;
use crate::{
    device::{DeviceError, Event, Transfer, shielded},
    memory::Copier,
};

/// The drivers of all devices.
pub(crate) struct Drivers<'a> {
    pub(crate) devices: &'a Devices,
    /// Devices that were lost while issuing a copy. The directory records the loss after its lock is released.
    pub(crate) lost: Vec<u16>,
}

impl Copier for Drivers<'_> {
    fn copy(&mut self, device: u16, transfer: &Transfer, waits: &[Event]) -> Result<Event, DeviceError> {
        let entry = &self.devices.all[usize::from(device)];
        let Some(memory) = entry.device.memory() else {
            return Err(DeviceError::new("the device has no memory of its own"));
        };
        let queue = entry.info.transfer_queue(transfer);
        // SAFETY: the host region belongs to a datum. The datum lives until its tasks are done, among them the task
        // that brings it to the host or drops a resident value, and that task waits for all copies. The events in
        // `waits` (protocol of `memory/mod.rs`) order this copy with all other accesses.
        let result =
            shielded("its driver panicked while a copy was issued", || unsafe { memory.copy(transfer, waits) });
        if result.as_ref().is_err_and(DeviceError::is_lost) {
            self.lost.push(device);
        }
        Ok(Event { device, queue, ticket: result? })
    }

    fn can_wait_for(&self, device: u16, other: u16) -> bool {
        self.devices.all[usize::from(device)].device.can_wait_for(other)
    }
}
