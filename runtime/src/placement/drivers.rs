//! The drivers, as the directory asks them for copies.

use super::table::Devices;
use crate::{
    device::{DeviceError, Event, Transfer, shielded},
    memory::Copier,
};

/// See above.
pub(crate) struct Drivers<'a> {
    pub(crate) devices: &'a Devices,
    /// Those that refused because they are gone: the directory is to be told when its lock is let go.
    pub(crate) lost: Vec<u16>,
}

impl Copier for Drivers<'_> {
    fn copy(&mut self, device: u16, transfer: &Transfer, waits: &[Event]) -> Result<Event, DeviceError> {
        let entry = &self.devices.all[usize::from(device)];
        let Some(memory) = entry.device.memory() else {
            return Err(DeviceError::new("the device has no memory of its own"));
        };
        let queue = entry.info.transfer_queue(transfer);
        // SAFETY: the host region is that of a datum, which lives until its tasks are done, among them the one that brings it home,
        // or that drops what stays, and with it the end of every copy; the protocol of `memory/mod.rs` keeps readers and writers of it apart.
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
