//! The use of the directory by tasks: their operands, their admission, and the end of copies. `memory/mod.rs` describes
//! the protocol.

use super::{PlacementContext, drivers::Drivers, finish::Times};
use crate::{
    datum::Route,
    device::{DeviceError, DeviceRegion, Event, HostRegion, Residence, shielded},
    hazard::Mode,
    memory::{Admitted, Demand, Directory, EndedCopy, EntryRef, EntryUse, EntryUses, Segment},
    recorder::DeviceQueue,
    seat::Seat,
    task::{Body, Slot},
};
use smallvec::SmallVec;
use std::{ops::Range, ptr::NonNull, sync::atomic::Ordering};

/// The memory that an issued task holds on a device until it is finished.
#[derive(Default)]
pub(super) struct HeldMemory {
    uses: EntryUses,
    scratch: Option<Segment>,
}

impl HeldMemory {
    pub(super) fn demand(&self, device: usize) -> Demand<'_> {
        Demand { device: device as u16, uses: &self.uses, scratch_bytes: 0 }
    }

    /// Releases the memory.
    pub(super) fn release(self, directory: &mut Directory, device: u16) {
        if !self.uses.is_empty() || self.scratch.is_some() {
            directory.release(device, &self.uses, self.scratch);
        }
    }

    /// Returns the task's working memory, as a range of bytes of the heap.
    pub(super) fn scratch_range(&self) -> Range<usize> {
        self.scratch.as_ref().map_or(0..0, |segment| segment.offset()..segment.offset() + segment.bytes())
    }
}

/// The modes of a task's operands, their entries if devices have used them, and the routes of their copies.
type OperandModes = SmallVec<[(Mode, Option<EntryRef>, Route); 4]>;

/// The result of admitting a task to a device.
#[expect(clippy::large_enum_variant, reason = "made for each task that is issued, and taken apart at once")]
pub(super) enum Admission {
    Admitted(HeldMemory, Admitted),
    /// Other work must finish first.
    NotYet,
    /// This device cannot run the task, or is lost.
    Barred(BarReason, DeviceError),
    /// No device can run the task.
    Failed(DeviceError),
}

/// Why a device cannot run a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BarReason {
    /// An operand cannot be copied to the device.
    Place,
    /// The task needs more memory than the device has.
    Size,
    /// The device is lost.
    Loss,
}

const NOT_COPYABLE: &str = "an operand stays in host memory, because devices cannot copy its layout there, such as a \
                            stride between neighbours in a column";

impl Admission {
    fn barred(bar: BarReason, why: &str) -> Self {
        Self::Barred(bar, DeviceError::new(why))
    }
}

impl PlacementContext<'_> {
    /// Admits a task to a device, according to the operands of its body.
    pub(super) fn admit(&self, device: usize, body: &Body) -> Admission {
        let info = &self.devices.all[device].info;
        if !self.devices.any_memory() {
            return Admission::Admitted(HeldMemory::default(), Admitted::default());
        }
        let (mut operands, mut regions) = (OperandModes::new(), SmallVec::<[HostRegion; 4]>::new());
        body.uses(&mut |execution, mode| operands.push((mode, execution.elsewhere.entry_ref(), execution.route.get())));
        let (mut is_writable, mut has_derived) = (true, false);
        let mut look = |residence: Residence<'_>| {
            let mode = operands.get(regions.len()).map_or(Mode::Read, |operand| operand.0);
            is_writable &= residence.is_writable || !mode.writes();
            has_derived |= residence.derived.is_some() && mode.writes();
            regions.push(residence.region);
        };
        // SAFETY: the issuer has taken the task, and every predecessor is done or issued to a device. So no host task
        // has an operand by `&mut`.
        let all_resident = unsafe { body.residences(&mut look) };
        if !all_resident || !is_writable {
            return match info.memory {
                // The device works in host memory, and operands that stay on the host exist only there.
                None if is_writable => Admission::Admitted(HeldMemory::default(), Admitted::default()),
                _ => Admission::barred(BarReason::Place, NOT_COPYABLE),
            };
        }
        let scratch_bytes = info.memory.as_ref().map_or(Ok(0), |memory| {
            let mut shapes = regions.iter().map(|host| DeviceRegion::like(host, 0, memory.align));
            shielded("computing its scratch size panicked", || Ok(body.scratch_bytes(info.kind, &mut shapes)))
        });
        let scratch_bytes = match scratch_bytes {
            Ok(bytes) => bytes,
            Err(error) => return Admission::Failed(error),
        };
        let mut directory = self.memory.lock();
        let Some(uses) = self.uses_of(body, &operands, &regions, &mut directory) else {
            return Admission::barred(BarReason::Place, "a resident operand is not at its own address");
        };
        let demand = Demand { device: device as u16, uses: &uses, scratch_bytes };
        if let Err(error) = directory.check_size(demand) {
            return Admission::Barred(BarReason::Size, error);
        }
        let mut drivers = Drivers { devices: self.devices, lost: Vec::new() };
        let mut admitted = Admitted::default();
        let is_admitted = directory.admit(&mut drivers, demand, &mut admitted);
        drop(directory);
        drivers.lost.iter().for_each(|&lost| self.lose(usize::from(lost)));
        match is_admitted {
            Ok(true) => {}
            Ok(false) => return Admission::NotYet,
            Err(error) if self.devices.all[device].is_lost() => return Admission::Barred(BarReason::Loss, error),
            // Another device, which had a value, was found lost. Perhaps one more device has the value.
            Err(_) if !drivers.lost.is_empty() => return Admission::NotYet,
            Err(error) => return Admission::Failed(error),
        }
        if has_derived {
            let mut each = operands.iter();
            let mut forget = |residence: Residence<'_>| {
                if let (Some((mode, ..)), Some(derived)) = (each.next(), residence.derived)
                    && mode.writes()
                {
                    derived.forget();
                }
            };
            // SAFETY: the issuer has taken the task, and every predecessor is done or issued to a device, so no host
            // task has an operand by `&mut`. Host readers of the derived data precede this task or wait for it.
            unsafe { body.residences(&mut forget) };
        }
        let scratch = admitted.scratch.take();
        Admission::Admitted(HeldMemory { uses, scratch }, admitted)
    }

    /// Returns the task's uses, given its operands' host regions. Returns `None` if a resident operand is not at its
    /// own address.
    fn uses_of(
        &self,
        body: &Body,
        operands: &OperandModes,
        regions: &[HostRegion],
        directory: &mut Directory,
    ) -> Option<EntryUses> {
        let mut uses = EntryUses::new();
        let mut add = |mode: Mode, (known, route): (EntryRef, Route), host: HostRegion, directory: &mut Directory| {
            directory.entry_at(known, host, route).map(|entry| uses.push(EntryUse { entry, mode })).is_some()
        };
        let mut all_in_place = true;
        if operands.iter().all(|(_, known, _)| known.is_some()) {
            for ((mode, known, route), &host) in operands.iter().zip(regions) {
                all_in_place &= known.is_some_and(|known| add(*mode, (known, *route), host, directory));
            }
        } else {
            // Devices have not used all operands yet.
            let mut regions = regions.iter();
            body.uses(&mut |execution, mode| {
                if let Some(&host) = regions.next() {
                    let known = execution.elsewhere.entry_or_open(self.memory, directory, host);
                    all_in_place &= add(mode, (known, execution.route.get()), host, directory);
                }
            });
        }
        all_in_place.then_some(uses)
    }

    /// Lets a host task use its data. If they must be copied to the host first, the task is put aside and pushed again
    /// after the copies. Then `false` is returned, and this thread no longer owns the task.
    pub(crate) fn bring_home(&self, slot: &Slot, index: u32, body: &Body) -> bool {
        if !self.devices.any_memory() {
            return true;
        }
        let mut uses = EntryUses::new();
        body.uses(&mut |execution, mode| {
            uses.extend(execution.elsewhere.entry().map(|entry| EntryUse { entry, mode }));
        });
        let record = slot.device_record();
        if uses.is_empty() {
            return true;
        }
        let mut directory = self.memory.lock();
        let mut drivers = Drivers { devices: self.devices, lost: Vec::new() };
        let mut admitted = Err(None);
        if !record.has_failed() {
            admitted = directory.admit_to_host(&mut drivers, index, &uses).map_err(Some);
        }
        if admitted.is_err() && !drivers.lost.is_empty() {
            // A device that had a value was found lost. Perhaps another device has the value.
            drop(directory);
            drivers.lost.iter().for_each(|&lost| self.lose(usize::from(lost)));
            return self.bring_home(slot, index, body);
        }
        let copies = admitted.unwrap_or_else(|error| {
            error.into_iter().for_each(|error| record.fail(error));
            directory.give_up_on_host(index, &uses)
        });
        // Stored before the lock is released: the issuers that record the copies' ends take the lock, too.
        record.fetching.store(copies as u32, Ordering::Relaxed);
        drop(directory);
        if copies > 0 {
            self.devices.notify();
        }
        copies == 0
    }

    /// Handles the end of a copy: host tasks that waited for nothing else become ready again.
    pub(super) fn copy_ended(&self, seat: &Seat, event: Event, times: Times, ended_copy: EndedCopy) {
        if let (Some(recorder), true) = (&self.recorder, ended_copy.has_succeeded) {
            let queue = DeviceQueue { device: event.device, queue: event.queue };
            let now_ns = recorder.moment(seat);
            let slice = recorder.lane_span(queue, 0, times.busy_ns.or(Some(0)), times.ended_ns.unwrap_or(now_ns));
            recorder.transfer(seat, (ended_copy.from.0, ended_copy.to.0), ended_copy.bytes, slice);
        }
        for (index, error) in ended_copy.waiting {
            let slot = self.slab.slot(index);
            let record = slot.device_record();
            if let Some(error) = error {
                record.fail(error);
            }
            if record.fetching.fetch_sub(1, Ordering::AcqRel) == 1 {
                // Looked up before the push: from then on another thread may run the task and free its slot.
                let scope = NonNull::from(slot.scope());
                self.push(seat, index);
                self.wake_for(seat, scope);
            }
        }
    }

    /// Marks a device as lost.
    pub(super) fn lose(&self, device: usize) {
        if self.devices.all[device].mark_lost() {
            self.memory.lock().lose(device as u16);
            self.wake_after_loss();
            let text = || {
                format!(
                    "device {} is lost; its tasks go to other devices or the host where possible",
                    self.devices.all[device].info.name
                )
            };
            self.notices.say(&format!("loss of {device}"), text);
        }
    }

    /// Wakes all threads after the loss of a device: tasks reserved for it may now be taken by others.
    pub(super) fn wake_after_loss(&self) {
        self.devices.notify();
        self.sleep.wake_all();
    }
}
