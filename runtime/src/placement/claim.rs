//! The set of devices in use. A device belongs to at most one runtime at a time, because it reports the end of work
//! only once.

use crate::{device::Device, sync::held};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

/// The addresses of the devices in use.
static CLAIMED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// Marks a device as used until dropped. It must be dropped before the device, whose address may be reused afterwards.
pub(super) struct Claim(usize);

impl Claim {
    /// Returns `None` if a runtime, possibly this one, already uses the device.
    pub(super) fn new(device: &Arc<dyn Device>) -> Option<Self> {
        let at = Arc::as_ptr(device).addr();
        held(CLAIMED.lock()).insert(at).then(|| Self(at))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        held(CLAIMED.lock()).remove(&self.0);
    }
}
