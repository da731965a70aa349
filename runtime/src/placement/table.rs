//! The devices of a runtime, and the kinds that they are of.

use super::{claim::Claim, issue::Issuing, side::QUEUES_MAX};
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

/// A runtime has at most so many devices: nodes of the directory are bits of a word.
pub(super) const DEVICES_MAX: usize = 63;
/// They are of so many kinds: each is a bit of a word, beside the host's.
const KINDS_MAX: usize = 31;

/// One device, with what the runtime keeps of it.
pub(crate) struct Entry {
    /// Before the device, which is dropped after it.
    _claim: Claim,
    pub(crate) device: Arc<dyn Device>,
    pub(crate) info: DeviceInfo,
    /// Its bit among the kinds.
    pub(crate) kind_bit: u32,
    /// Its issuer is about to wait, or waits, for want of tasks, or takes note of ends meanwhile: it is to be woken for a task.
    pub(crate) idle: AtomicBool,
    /// Its issuer has a task that can not be admitted before something has finished.
    pub(super) waits: AtomicBool,
    /// How many tasks were put into its queues.
    pub(crate) issued: AtomicU64,
    /// Their floating-point operations, by what their codelets say.
    pub(crate) issued_flops: AtomicU64,
    /// Whether its queues can wait for the events of all devices.
    pub(super) waits_for_all: bool,
    lost: AtomicBool,
    /// Who has it issues to the device.
    pub(super) issuing: Mutex<Issuing>,
}

impl Entry {
    /// Whether the device is gone.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Wakes its issuer if that sleeps, or is about to. The caller has put a fence behind what it is to see.
    pub(super) fn wake_if_idle(&self) {
        // A look first: issuers that are at work read the flag, too.
        if self.idle.load(Ordering::Relaxed) && self.idle.swap(false, Ordering::Relaxed) {
            self.device.wake();
        }
    }

    /// Says that the device is gone; whether that is news.
    pub(super) fn mark_lost(&self) -> bool {
        !self.lost.swap(true, Ordering::Relaxed)
    }
}

/// The devices of a runtime.
pub(crate) struct Devices {
    pub(crate) all: Vec<Entry>,
    pub(crate) kinds: Kinds,
    any_memory: bool,
}

/// Some resources, a bit each: there are 63 devices at most, and the host.
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

/// The kinds of device in a runtime; a kind's place is its bit in [`Takers`].
#[derive(Default)]
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

    /// Whether somebody can run a task of these takers where it is locked to.
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
    /// The bit of a kind; none if the runtime has no such device.
    pub(crate) fn bit(&self, kind: DeviceKind) -> Takers {
        Takers(self.0.iter().position(|&known| known == kind).map_or(0, |at| 1 << at))
    }
}

impl Devices {
    pub(crate) fn new(devices: Vec<Arc<dyn Device>>) -> Result<Self, Error> {
        if devices.len() > DEVICES_MAX {
            return Err(Error::setting(format!("{} devices: there can be {DEVICES_MAX}", devices.len())));
        }
        let distinct: HashSet<DeviceKind> = devices.iter().map(|device| device.info().kind).collect();
        if distinct.len() > KINDS_MAX {
            return Err(Error::setting(format!("{} kinds of device: there can be {KINDS_MAX}", distinct.len())));
        }
        for info in devices.iter().map(|device| device.info()) {
            // Three more are for copies.
            if info.queues == 0 || usize::from(info.queues) + 3 > QUEUES_MAX {
                let why = format!("{}: {} queues; there can be 1 to {}", info.name, info.queues, QUEUES_MAX - 3);
                return Err(Error::setting(why));
            }
        }
        let mut claims = Vec::with_capacity(devices.len());
        for device in &devices {
            let taken = || Error::setting(format!("{}: a runtime has the device already", device.info().name));
            claims.push(Claim::new(device).ok_or_else(taken)?);
            if let Some(memory) = device.memory() {
                let failed = |error| Error::system(device.info().name, std::io::Error::other(error));
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
            Entry {
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
        let all: Vec<Entry> = claims.into_iter().zip(devices).enumerate().map(entry).collect();
        let any_memory = all.iter().any(|entry| entry.info.memory.is_some());
        Ok(Self { all, kinds, any_memory })
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.all.iter().map(|entry| entry.info.name.clone()).collect()
    }

    pub(crate) fn infos(&self) -> Vec<DeviceInfo> {
        self.all.iter().map(|entry| entry.info.clone()).collect()
    }

    /// Whether any has memory of its own.
    pub(crate) fn any_memory(&self) -> bool {
        self.any_memory
    }

    /// Something has finished: wakes the issuers that sleep and wait for it to admit a task.
    pub(super) fn notify_waiting(&self) {
        self.wake_idle(|_, entry| entry.waits.load(Ordering::Relaxed));
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether a device is gone.
    pub(crate) fn any_lost(&self) -> bool {
        self.all.iter().any(Entry::is_lost)
    }

    /// Whether every device can wait for the events of all others.
    pub(super) fn all_wait_for_all(&self) -> bool {
        self.all.iter().all(|entry| entry.waits_for_all)
    }

    /// Something has changed that may concern every issuer: wakes those that sleep.
    pub(crate) fn notify(&self) {
        self.notify_takers(Takers(u32::MAX));
    }

    /// A task that these can take was pushed, or can now be taken by more of them: wakes their issuers that sleep.
    pub(crate) fn notify_takers(&self, takers: Takers) {
        self.notify_takers_but(takers, ResourceSet::default());
    }

    /// The same, but for some.
    pub(super) fn notify_takers_but(&self, takers: Takers, but: ResourceSet) {
        self.wake_idle(|at, entry| entry.kind_bit & takers.devices() != 0 && !but.has(Resource::device(at as u16)));
    }

    /// The fences are those of `seat/sleep.rs`: an issuer sets `idle`, fences, looks once more, and sleeps.
    fn wake_idle(&self, is_meant: impl Fn(usize, &Entry) -> bool) {
        fence(Ordering::SeqCst);
        let meant = self.all.iter().enumerate().filter(|&(at, entry)| is_meant(at, entry));
        meant.for_each(|(_, entry)| entry.wake_if_idle());
    }

    pub(crate) fn wake_all(&self) {
        self.all.iter().for_each(|entry| entry.device.wake());
    }
}
