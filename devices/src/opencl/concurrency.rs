//! [`ConcurrencyClaim`]: the right to launch work-groups that wait for each other, on a device of the process.
//!
//! Such groups need a compute unit each. If two launches together have more groups than there are units, each may keep
//! units that the other waits for, and neither ends. The queues of one opened device share its units. Queues of another
//! one know nothing of these, so only one of those that are open has the right. The others have no concurrent groups,
//! and their kernels do not wait.
//!
//! Kernels that do not wait end by themselves, in whichever queue they are. Work of other processes, and that of CUDA
//! in this process, is in contexts of its own. NVIDIA's driver gives the whole GPU to one context after another, so
//! groups of different contexts do not keep units from each other.

use super::{context::lock, discovery::DriverId};
use std::sync::Mutex;

/// The devices with a claim.
static CLAIMED: Mutex<Vec<DriverId>> = Mutex::new(Vec::new());

/// The claim on a device. It must be kept until the last launch on the device has ended.
#[derive(Debug)]
pub(super) struct ConcurrencyClaim(DriverId);

impl ConcurrencyClaim {
    /// Claims a whole device; `None` if there is a claim on it.
    pub(super) fn new(device: DriverId) -> Option<Self> {
        let mut claimed = lock(&CLAIMED);
        if claimed.contains(&device) {
            return None;
        }
        claimed.push(device);
        Some(Self(device))
    }
}

impl Drop for ConcurrencyClaim {
    fn drop(&mut self) {
        lock(&CLAIMED).retain(|device| *device != self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_has_one_claim_at_a_time() {
        let mut places = [0u8; 2];
        // Addresses of this function, which are no driver's handles.
        let [one, other] = places.each_mut().map(|place| DriverId(std::ptr::from_mut(place).cast()));
        let first = ConcurrencyClaim::new(one);
        assert!(first.is_some() && ConcurrencyClaim::new(one).is_none());
        let second = ConcurrencyClaim::new(other);
        assert!(second.is_some());
        drop(first);
        let again = ConcurrencyClaim::new(one);
        assert!(again.is_some() && ConcurrencyClaim::new(other).is_none());
    }
}
