//! Where tasks meet the directory: what they use, their admission, and the end of copies. The protocol is in `memory/mod.rs`.

use super::{Site, drivers::Drivers, finish::Times};
use crate::{
    device::{DeviceError, DeviceRegion, Event, HostRegion, Residence, shielded},
    hazard::Mode,
    memory::{Admitted, Demand, Directory, Known, Landed, Segment, Use, Uses},
    recorder::DeviceQueue,
    seat::Seat,
    task::{Body, Slot},
};
use smallvec::SmallVec;
use std::{ops::Range, ptr::NonNull, sync::atomic::Ordering};

/// What an issued task holds of a device's memory until it is finished.
#[derive(Default)]
pub(super) struct Held {
    uses: Uses,
    scratch: Option<Segment>,
}

impl Held {
    pub(super) fn demand(&self, device: usize) -> Demand<'_> {
        Demand { device: device as u16, uses: &self.uses, scratch_bytes: 0 }
    }

    /// Ends it.
    pub(super) fn release(self, directory: &mut Directory, device: u16) {
        if !self.uses.is_empty() || self.scratch.is_some() {
            directory.release(device, &self.uses, self.scratch);
        }
    }

    /// The bytes of the heap that are the task's own.
    pub(super) fn scratch_range(&self) -> Range<usize> {
        self.scratch.as_ref().map_or(0..0, |segment| segment.offset()..segment.offset() + segment.bytes())
    }
}

/// How a task uses its operands, and their entries as far as devices have used them.
type Operands = SmallVec<[(Mode, Option<Known>); 4]>;

/// How a device receives a task.
#[expect(clippy::large_enum_variant, reason = "made for each task that is issued, and taken apart at once")]
pub(super) enum Admission {
    Admitted(Held, Admitted),
    /// Something must finish first.
    NotYet,
    /// This device can not do it, or is gone.
    Barred(Bar, DeviceError),
    /// Nobody can.
    Failed(DeviceError),
}

/// Why a device can not do a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bar {
    /// An operand can not have a copy there.
    Place,
    /// It does not fit.
    Size,
    /// The device is gone.
    Loss,
}

const STAYS: &str = "an operand of it stays in host memory, as it lies there in a way that devices can not copy, such as with a stride \
                     between neighbours in a column";

impl Admission {
    fn barred(bar: Bar, why: &str) -> Self {
        Self::Barred(bar, DeviceError::new(why))
    }
}

impl Site<'_> {
    /// Admits a task to a device, by what its body uses.
    pub(super) fn admit(&self, device: usize, body: &Body) -> Admission {
        let info = &self.devices.all[device].info;
        if !self.devices.any_memory() {
            return Admission::Admitted(Held::default(), Admitted::default());
        }
        let (mut operands, mut regions) = (Operands::new(), SmallVec::<[HostRegion; 4]>::new());
        body.uses(&mut |execution, mode| operands.push((mode, execution.elsewhere.known())));
        let (mut is_writable, mut has_derived) = (true, false);
        let mut look = |residence: Residence<'_>| {
            let mode = operands.get(regions.len()).map_or(Mode::Read, |operand| operand.0);
            is_writable &= residence.is_writable || !mode.writes();
            has_derived |= residence.derived.is_some() && mode.writes();
            regions.push(residence.region);
        };
        // SAFETY: a task that an issuer has taken has no predecessor that is neither done nor issued to a device.
        let all_resident = unsafe { body.residences(&mut look) };
        if !all_resident || !is_writable {
            return match info.memory {
                // It works in host memory, and no device has a copy of what can not have copies.
                None if is_writable => Admission::Admitted(Held::default(), Admitted::default()),
                _ => Admission::barred(Bar::Place, STAYS),
            };
        }
        let scratch_bytes = info.memory.as_ref().map_or(Ok(0), |memory| {
            let mut shapes = regions.iter().map(|host| DeviceRegion::like(host, 0, memory.align));
            shielded("it panicked when it was asked for its scratch", || Ok(body.scratch_bytes(info.kind, &mut shapes)))
        });
        let scratch_bytes = match scratch_bytes {
            Ok(bytes) => bytes,
            Err(error) => return Admission::Failed(error),
        };
        let mut directory = self.memory.lock();
        let Some(uses) = self.uses_of(body, &operands, &regions, &mut directory) else {
            return Admission::barred(
                Bar::Place,
                "an operand of it is a resident value in a place that is not its own",
            );
        };
        let demand = Demand { device: device as u16, uses: &uses, scratch_bytes };
        if let Err(error) = directory.check_size(demand) {
            return Admission::Barred(Bar::Size, error);
        }
        let mut drivers = Drivers { devices: self.devices, lost: Vec::new() };
        let mut admitted = Admitted::default();
        let is_admitted = directory.admit(&mut drivers, demand, &mut admitted);
        drop(directory);
        drivers.lost.iter().for_each(|&lost| self.lose(usize::from(lost)));
        match is_admitted {
            Ok(true) => {}
            Ok(false) => return Admission::NotYet,
            Err(error) if self.devices.all[device].is_lost() => return Admission::Barred(Bar::Loss, error),
            // Another was asked for what it had. Perhaps there is one more that has it.
            Err(_) if !drivers.lost.is_empty() => return Admission::NotYet,
            Err(error) => return Admission::Failed(error),
        }
        if has_derived {
            let mut each = operands.iter();
            let mut forget = |residence: Residence<'_>| {
                if let (Some((mode, _)), Some(derived)) = (each.next(), residence.derived)
                    && mode.writes()
                {
                    derived.forget();
                }
            };
            // SAFETY: as above. Whoever has read the value on the host precedes this task, and whoever will read it there comes after.
            unsafe { body.residences(&mut forget) };
        }
        let scratch = admitted.scratch.take();
        Admission::Admitted(Held { uses, scratch }, admitted)
    }

    /// What a task uses, whose operands are in these places; none if one of them must not be used there.
    fn uses_of(
        &self,
        body: &Body,
        operands: &Operands,
        regions: &[HostRegion],
        directory: &mut Directory,
    ) -> Option<Uses> {
        let mut uses = Uses::new();
        let mut add = |mode: Mode, known: Known, host: HostRegion, directory: &mut Directory| {
            directory.at_place(known, host).map(|entry| uses.push(Use { entry, mode })).is_some()
        };
        let mut all_in_place = true;
        if operands.iter().all(|(_, known)| known.is_some()) {
            for ((mode, known), &host) in operands.iter().zip(regions) {
                all_in_place &= known.is_some_and(|known| add(*mode, known, host, directory));
            }
        } else {
            // Devices have not used all of them yet.
            let mut regions = regions.iter();
            body.uses(&mut |execution, mode| {
                if let Some(&host) = regions.next() {
                    let known = execution.elsewhere.made_known(self.memory, directory, host);
                    all_in_place &= add(mode, known, host, directory);
                }
            });
        }
        all_in_place.then_some(uses)
    }

    /// Lets a host task use its data. If they have to be brought home first, the task is put aside, pushed again when they have come,
    /// and this thread has no right to it any more: `false`.
    pub(crate) fn bring_home(&self, slot: &Slot, index: u32, body: &Body) -> bool {
        if !self.devices.any_memory() {
            return true;
        }
        let mut uses = Uses::new();
        body.uses(&mut |execution, mode| {
            uses.extend(execution.elsewhere.entry().map(|entry| Use { entry, mode }));
        });
        let side = slot.device_side();
        if uses.is_empty() {
            return true;
        }
        let mut directory = self.memory.lock();
        let mut drivers = Drivers { devices: self.devices, lost: Vec::new() };
        let mut admitted = Err(None);
        if !side.has_failed() {
            admitted = directory.admit_to_host(&mut drivers, index, &uses).map_err(Some);
        }
        if admitted.is_err() && !drivers.lost.is_empty() {
            // It was asked for what it had. Perhaps there is another that has it.
            drop(directory);
            drivers.lost.iter().for_each(|&lost| self.lose(usize::from(lost)));
            return self.bring_home(slot, index, body);
        }
        let copies = admitted.unwrap_or_else(|error| {
            error.into_iter().for_each(|error| side.fail(error));
            directory.give_up_on_host(index, &uses)
        });
        // Before the lock is let go: the issuers that take note of the copies' ends take it, too.
        side.fetching.store(copies as u32, Ordering::Relaxed);
        drop(directory);
        if copies > 0 {
            self.devices.notify();
        }
        copies == 0
    }

    /// A copy has ended: host tasks that waited for nothing else are ready again.
    pub(super) fn landed(&self, seat: &Seat, event: Event, times: Times, landed: Landed) {
        if let (Some(recorder), true) = (&self.recorder, landed.is_well) {
            let queue = DeviceQueue { device: event.device, queue: event.queue };
            let now_ns = recorder.moment(seat);
            let slice = recorder.slice(queue, 0, times.busy_ns.or(Some(0)), times.ended_ns.unwrap_or(now_ns));
            recorder.transfer(seat, (landed.from.0, landed.to.0), landed.bytes, slice);
        }
        for (index, error) in landed.waiting {
            let slot = self.slab.slot(index);
            let side = slot.device_side();
            if let Some(error) = error {
                side.fail(error);
            }
            if side.fetching.fetch_sub(1, Ordering::AcqRel) == 1 {
                // Looked up before the push: from then on another thread may run the task and free its slot.
                let scope = NonNull::from(slot.scope());
                self.push(seat, index);
                self.wake_for(seat, scope);
            }
        }
    }

    /// Takes note that a device is gone.
    pub(super) fn lose(&self, device: usize) {
        if self.devices.all[device].mark_lost() {
            self.memory.lock().lose(device as u16);
            self.tell_of_loss();
            let text = || {
                format!(
                    "{} is lost: what it was to do is for others, where they can do it",
                    self.devices.all[device].info.name
                )
            };
            self.notices.say(&format!("loss of {device}"), text);
        }
    }

    /// A device is gone: tasks that were left to it, and what the policy kept for it, may be anybody's now.
    pub(super) fn tell_of_loss(&self) {
        self.devices.notify();
        self.sleep.wake_all();
    }
}
