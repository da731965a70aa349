//! Which devices runtimes have. Each is one runtime's at a time: the ends of its work are reported once, to the runtime
//! that asks.

use crate::{device::Device, sync::held};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

/// By their addresses.
static CLAIMED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// The device is one runtime's until this is dropped. That must be before the device is: the next may have its address.
pub(super) struct Claim(usize);

impl Claim {
    /// None if a runtime has the device, perhaps this one.
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
