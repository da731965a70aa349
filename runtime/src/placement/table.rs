//! The table of a runtime's devices and their kinds.

use super::{claim::Claim, device_record::QUEUES_MAX, issue::Issuing};
use crate::{
    device::{Device, DeviceInfo, DeviceKind},
    error::Error,
    schedule::Resource,
    sync::fence,
    task::Lock,
};
use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

/// The maximum number of devices: the nodes of the directory are bits of a word.
pub(super) const DEVICES_MAX: usize = 63;
/// The maximum number of kinds of device: each is a bit of a word, and the host is one more.
const KINDS_MAX: usize = 31;

/// One device with the runtime's data about it.
pub(crate) struct DeviceEntry {
    /// Declared before the device, so that it is dropped first.
    _claim: Claim,
    pub(crate) device: Arc<dyn Device>,
    pub(crate) info: DeviceInfo,
    /// The bit of its kind.
    pub(crate) kind_bit: u32,
    /// Its issuer has no task and waits, is about to wait, or collects ends meanwhile. It must be woken for a task.
    pub(crate) idle: AtomicBool,
    /// Its issuer has a task that cannot be admitted before other work has finished.
    pub(super) waits: AtomicBool,
    /// Number of tasks put into its queues.
    pub(crate) issued: AtomicU64,
    /// The floating-point operations of these tasks, according to their codelets.
    pub(crate) issued_flops: AtomicU64,
    /// Whether its queues can wait for the events of all devices.
    pub(super) waits_for_all: bool,
    lost: AtomicBool,
    /// The thread that holds this lock issues to the device.
    pub(super) issuing: Mutex<Issuing>,
}

impl DeviceEntry {
    /// Returns whether the device is lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Wakes its issuer if that sleeps or is about to. The caller has issued a fence after the writes that the issuer
    /// must see.
    pub(super) fn wake_if_idle(&self) {
        // Read first: a swap would take the cache line away from working issuers, which read the flag, too.
        if self.idle.load(Ordering::Relaxed) && self.idle.swap(false, Ordering::Relaxed) {
            self.device.wake();
        }
    }

    /// Marks the device as lost; returns whether it was not marked before.
    pub(super) fn mark_lost(&self) -> bool {
        !self.lost.swap(true, Ordering::Relaxed)
    }
}

/// The devices of a runtime.
pub(crate) struct Devices {
    pub(crate) all: Vec<DeviceEntry>,
    pub(crate) kinds: Kinds,
    any_memory: bool,
}

/// A set of resources, one bit each: at most 63 devices, and the host.
#[derive(Clone, Copy, Default)]
pub(super) struct ResourceSet(u64);

impl ResourceSet {
    pub(super) fn has(self, resource: Resource) -> bool {
        self.0 >> resource.0 & 1 != 0
    }
}

impl FromIterator<Resource> for ResourceSet {
    fn from_iter<I: IntoIterator<Item = Resource>>(resources: I) -> Self {
        Self(resources.into_iter().fold(0, |set, resource| set | 1 << resource.0))
    }
}

/// The kinds of device in a runtime. A kind's index is its bit in [`Takers`].
#[derive(Default)]
pub(crate) struct Kinds(Vec<DeviceKind>);

/// The kinds of worker that can take a task: one bit per kind of device, and one for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Takers(pub(crate) u32);

impl Takers {
    pub(crate) const NOBODY: Self = Self(0);
    pub(crate) const HOST: Self = Self(1 << 31);

    pub(crate) fn host(self) -> bool {
        self.0 & Self::HOST.0 != 0
    }

    /// Returns the bits of the kinds of device.
    pub(crate) fn devices(self) -> u32 {
        self.0 & !Self::HOST.0
    }

    /// Returns whether some of them can run a task with this lock.
    pub(crate) fn can_run(self, lock: Lock) -> bool {
        match lock {
            Lock::None => self != Self::NOBODY,
            Lock::Host | Lock::Worker(_) => self.host(),
            Lock::Device => self.devices() != 0,
        }
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Kinds {
    /// Returns the bit of a kind, or no bit if the runtime has no such device.
    pub(crate) fn bit(&self, kind: DeviceKind) -> Takers {
        Takers(self.0.iter().position(|&known| known == kind).map_or(0, |at| 1 << at))
    }
}

impl Devices {
    pub(crate) fn new(devices: Vec<Arc<dyn Device>>) -> Result<Self, Error> {
        if devices.len() > DEVICES_MAX {
            return Err(Error::setting(format!("{} devices; at most {DEVICES_MAX} are possible", devices.len())));
        }
        let distinct: HashSet<DeviceKind> = devices.iter().map(|device| device.info().kind).collect();
        if distinct.len() > KINDS_MAX {
            return Err(Error::setting(format!(
                "{} kinds of device; at most {KINDS_MAX} are possible",
                distinct.len()
            )));
        }
        for info in devices.iter().map(|device| device.info()) {
            // Three more queues are for copies.
            if info.queues == 0 || usize::from(info.queues) + 3 > QUEUES_MAX {
                let why = format!("{}: {} queues; expected 1 to {}", info.name, info.queues, QUEUES_MAX - 3);
                return Err(Error::setting(why));
            }
        }
        let mut claims = Vec::with_capacity(devices.len());
        for device in &devices {
            let taken = || Error::setting(format!("{}: the device is already used by a runtime", device.info().name));
            claims.push(Claim::new(device).ok_or_else(taken)?);
            if let Some(memory) = device.memory() {
                let failed = |error| Error::system("the memory of a device", std::io::Error::other(error));
                memory.reserve().map_err(failed)?;
            }
        }
        let mut kinds = Kinds(Vec::new());
        let count = devices.len() as u16;
        let entry = |(at, (claim, device)): (usize, (Claim, Arc<dyn Device>))| {
            let info = device.info();
            if !kinds.0.contains(&info.kind) {
                kinds.0.push(info.kind);
            }
            DeviceEntry {
                _claim: claim,
                kind_bit: kinds.bit(info.kind).0,
                waits_for_all: (0..count).all(|other| usize::from(other) == at || device.can_wait_for(other)),
                issuing: Mutex::new(Issuing::new(at, &info)),
                device,
                info,
                idle: AtomicBool::default(),
                waits: AtomicBool::default(),
                issued: AtomicU64::default(),
                issued_flops: AtomicU64::default(),
                lost: AtomicBool::default(),
            }
        };
        let all: Vec<DeviceEntry> = claims.into_iter().zip(devices).enumerate().map(entry).collect();
        let any_memory = all.iter().any(|entry| entry.info.memory.is_some());
        Ok(Self { all, kinds, any_memory })
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.all.iter().map(|entry| entry.info.name.clone()).collect()
    }

    pub(crate) fn infos(&self) -> Vec<DeviceInfo> {
        self.all.iter().map(|entry| entry.info.clone()).collect()
    }

    /// Returns whether any device has memory of its own.
    pub(crate) fn any_memory(&self) -> bool {
        self.any_memory
    }

    /// Wakes the sleeping issuers whose task waits for admission, because some work has finished.
    pub(super) fn notify_waiting(&self) {
        self.wake_idle(|_, entry| entry.waits.load(Ordering::Relaxed));
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns whether any device is lost.
    pub(crate) fn any_lost(&self) -> bool {
        self.all.iter().any(DeviceEntry::is_lost)
    }

    /// Returns whether every device can wait for the events of all others.
    pub(super) fn all_wait_for_all(&self) -> bool {
        self.all.iter().all(|entry| entry.waits_for_all)
    }

    /// Wakes all sleeping issuers, after a change that may concern any of them.
    pub(crate) fn notify(&self) {
        self.notify_takers(Takers(u32::MAX));
    }

    /// Wakes the sleeping issuers of these kinds, for a task that was pushed or can now be taken by more of them.
    pub(crate) fn notify_takers(&self, takers: Takers) {
        self.notify_takers_but(takers, ResourceSet::default());
    }

    /// Like [`notify_takers`](Self::notify_takers), but without the resources in `but`.
    pub(super) fn notify_takers_but(&self, takers: Takers, but: ResourceSet) {
        self.wake_idle(|at, entry| entry.kind_bit & takers.devices() != 0 && !but.has(Resource::device(at as u16)));
    }

    /// Wakes the selected issuers that are idle. The fence pairs with that of an issuer, which sets `idle`, fences,
    /// looks once more, and sleeps (as in `seat/sleep.rs`).
    fn wake_idle(&self, is_meant: impl Fn(usize, &DeviceEntry) -> bool) {
        fence(Ordering::SeqCst);
        let meant = self.all.iter().enumerate().filter(|&(at, entry)| is_meant(at, entry));
        meant.for_each(|(_, entry)| entry.wake_if_idle());
    }

    pub(crate) fn wake_all(&self) {
        self.all.iter().for_each(|entry| entry.device.wake());
    }
}
