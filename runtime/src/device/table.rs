//! The devices of a runtime, and the kinds that they are of.

use super::{Device, DeviceInfo, DeviceKind};
use crate::sync::fence;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// One device, with what the runtime keeps of it.
pub(crate) struct Entry {
    pub(crate) device: Arc<dyn Device>,
    pub(crate) info: DeviceInfo,
    /// Its bit among the kinds.
    pub(crate) kind_bit: u32,
    /// Its issuer is about to sleep, or sleeps, for want of work.
    pub(crate) idle: AtomicBool,
}

/// The devices of a runtime.
pub(crate) struct Devices {
    pub(crate) all: Vec<Entry>,
    pub(crate) kinds: Kinds,
}

/// The kinds of device in a runtime; a kind's place is its bit in [`Takers`].
pub(crate) struct Kinds(Vec<DeviceKind>);

/// Who can take a task: a bit per kind of device, and one for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Takers(pub(crate) u32);

impl Takers {
    pub(crate) const NOBODY: Self = Self(0);
    pub(crate) const HOST: Self = Self(1 << 31);

    pub(crate) fn host(self) -> bool {
        self.0 & Self::HOST.0 != 0
    }

    /// The kinds of device.
    pub(crate) fn devices(self) -> u32 {
        self.0 & !Self::HOST.0
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Kinds {
    /// The bit of a kind; none if the runtime has no such device.
    pub(crate) fn bit(&self, kind: DeviceKind) -> Takers {
        Takers(self.0.iter().position(|&known| known == kind).map_or(0, |at| 1 << at))
    }
}

impl Devices {
    pub(crate) fn new(devices: Vec<Arc<dyn Device>>) -> Self {
        let mut kinds = Kinds(Vec::new());
        let entry = |device: Arc<dyn Device>| {
            let info = device.info();
            if !kinds.0.contains(&info.kind) {
                kinds.0.push(info.kind);
            }
            Entry { kind_bit: kinds.bit(info.kind).0, device, info, idle: AtomicBool::new(false) }
        };
        let all = devices.into_iter().map(entry).collect();
        Self { all, kinds }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// An offered task was pushed, or can now be taken by more: wakes the issuers that sleep.
    ///
    /// The fences are those of `worker/sleep.rs`: an issuer sets `idle`, fences, looks once more, and sleeps.
    pub(crate) fn notify(&self) {
        fence(Ordering::SeqCst);
        for entry in &self.all {
            if entry.idle.swap(false, Ordering::Relaxed) {
                entry.device.wake();
            }
        }
    }

    pub(crate) fn wake_all(&self) {
        self.all.iter().for_each(|entry| entry.device.wake());
    }
}
