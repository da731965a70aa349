//! The explored programs: a few devices, a few data, and a short serial program on them.

use super::choices::{Chance, Choices};
use crate::{
    datum::Route,
    device::{DeviceInfo, DeviceKind, HostRegion, LinkInfo, MemoryInfo, Speed},
    hazard::Mode,
    schedule::Resource,
};
use std::ptr::NonNull;

/// The unit of a heap, in bytes.
pub(super) const UNIT: usize = 64;

/// The length of a column: less than a unit, so that a datum takes one unit per column.
pub(super) const ROW_BYTES: usize = 40;

/// Where a task runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunsOn {
    Host,
    Device(usize),
}

#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) runs_on: RunsOn,
    pub(super) uses: Vec<(usize, Mode)>,
    /// Scratch on the device, in units.
    pub(super) scratch: usize,
    /// If set, the number of columns that the data which the task writes on the host have afterwards.
    pub(super) columns: Option<usize>,
}

/// The faults that may happen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Faults {
    /// Number of copies and tasks that fail when they are issued or run.
    pub(super) failures: usize,
    /// Number of devices that are lost, one after the other.
    pub(super) losses: usize,
    /// A device from which all copies fail.
    pub(super) mute: Option<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) devices: Vec<DeviceInfo>,
    /// Whether a device can wait for events of another.
    pub(super) can_wait: Vec<Vec<bool>>,
    /// Columns of each datum at the start.
    pub(super) columns: Vec<usize>,
    /// The route of each datum's copies.
    pub(super) routes: Vec<Route>,
    pub(super) tasks: Vec<Task>,
    pub(super) faults: Faults,
    /// Whether other steps may happen between a task's admission and its issue.
    pub(super) is_split: bool,
}

/// Returns a device with a heap of this many units, or one that works in host memory.
pub(super) fn device(units: Option<usize>, peers: &[u16]) -> DeviceInfo {
    let link = LinkInfo { bytes_per_s: 1e9, latency_ns: 10 };
    let peers = peers.iter().map(|&peer| (peer, link)).collect();
    DeviceInfo {
        name: "model".to_owned(),
        kind: DeviceKind("model"),
        queues: 1,
        urgent_queues: 0,
        depth: 2,
        memory: units.map(|units| MemoryInfo { bytes: units * UNIT, align: UNIT, host: link, peers }),
        speed: Speed::default(),
    }
}

/// Returns a datum's region in host memory. The address is never dereferenced.
pub(super) fn host_region(base: usize, columns: usize) -> HostRegion {
    let base = std::num::NonZero::new(base).map_or(NonNull::dangling(), NonNull::without_provenance);
    HostRegion { base, row_bytes: ROW_BYTES, columns, stride_bytes: UNIT }
}

impl Program {
    /// Creates a program without tasks, for devices that wait for each other.
    pub(super) fn new(devices: Vec<DeviceInfo>, columns: &[usize]) -> Self {
        let can_wait = vec![vec![true; devices.len()]; devices.len()];
        let (columns, routes) = (columns.to_vec(), vec![Route::default(); columns.len()]);
        Self { devices, can_wait, columns, routes, tasks: Vec::new(), faults: Faults::default(), is_split: false }
    }

    pub(super) fn task(mut self, runs_on: RunsOn, uses: &[(usize, Mode)]) -> Self {
        self.tasks.push(Task { runs_on, uses: uses.to_vec(), scratch: 0, columns: None });
        self
    }

    pub(super) fn scratch(mut self, units: usize) -> Self {
        self.tasks.last_mut().expect("a task").scratch = units;
        self
    }

    pub(super) fn resized(mut self, columns: usize) -> Self {
        self.tasks.last_mut().expect("a task").columns = Some(columns);
        self
    }

    pub(super) fn without_waits(mut self) -> Self {
        let is_same =
            |(at, row): (usize, &mut Vec<bool>)| row.iter_mut().enumerate().for_each(|(b, can)| *can = at == b);
        self.can_wait.iter_mut().enumerate().for_each(is_same);
        self
    }

    pub(super) fn faults(mut self, failures: usize, losses: usize) -> Self {
        self.faults = Faults { failures, losses, mute: None };
        self
    }

    pub(super) fn mute(mut self, device: usize) -> Self {
        self.faults.mute = Some(device);
        self
    }

    /// Plans the copies of a datum, by the numbers of nodes.
    pub(super) fn route(mut self, datum: usize, nodes: &[u16]) -> Self {
        self.routes[datum] = Route::through(&nodes.iter().map(|&node| Resource(node)).collect::<Vec<_>>());
        self
    }

    pub(super) fn split(mut self) -> Self {
        self.is_split = true;
        self
    }

    /// Creates a random program.
    pub(super) fn random(chance: &mut Chance, is_faulty: bool) -> Self {
        let count = 1 + chance.pick(3);
        let has_peers = chance.pick(3);
        let devices: Vec<DeviceInfo> = (0..count).map(|at| random_device(chance, (at, count), has_peers)).collect();
        let data = 1 + chance.pick(4);
        let columns: Vec<usize> = (0..data).map(|_| if chance.happens(12) { 0 } else { 1 + chance.pick(3) }).collect();
        let mut program = Self::new(devices, &columns);
        let waits = chance.pick(3);
        for (a, row) in program.can_wait.iter_mut().enumerate() {
            row.iter_mut().enumerate().for_each(|(b, can)| *can = a == b || waits + chance.pick(2) >= 2);
        }
        for datum in (0..data).filter(|_| chance.happens(2)).collect::<Vec<_>>() {
            let nodes: Vec<u16> = (0..=count).map(|_| chance.pick(count + 1) as u16).collect();
            program = program.route(datum, &nodes);
        }
        for _ in 0..2 + chance.pick(9) {
            let task = random_task(chance, count, data);
            program.tasks.push(task);
        }
        program.is_split = chance.happens(2);
        if is_faulty {
            let mute = chance.happens(6).then(|| chance.pick(count));
            program.faults = Faults { failures: chance.pick(4), losses: chance.pick(3), mute };
        }
        program
    }
}

fn random_device(chance: &mut Chance, (at, count): (usize, usize), has_peers: usize) -> DeviceInfo {
    let units = if chance.happens(8) { None } else { Some(2 + chance.pick(6)) };
    let others = (0..count).filter(|&other| other != at);
    let peers: Vec<u16> = others.filter(|_| has_peers + chance.pick(2) >= 2).map(|other| other as u16).collect();
    let mut info = device(units, &peers);
    info.queues = 1 + chance.pick(2) as u16;
    info.depth = 1 + chance.pick(3);
    info
}

fn random_task(chance: &mut Chance, devices: usize, data: usize) -> Task {
    let runs_on = if chance.happens(3) { RunsOn::Host } else { RunsOn::Device(chance.pick(devices)) };
    let mut uses: Vec<(usize, Mode)> = Vec::new();
    for _ in 0..1 + chance.pick(3) {
        let datum = chance.pick(data);
        // A datum may be used twice if it is only read.
        let known = uses.iter().find(|one| one.0 == datum).map(|one| one.1);
        match (known, chance.pick(4)) {
            (None, 0 | 1) | (Some(Mode::Read), _) => uses.push((datum, Mode::Read)),
            (None, 2) => uses.push((datum, Mode::Write)),
            (None, _) => uses.push((datum, Mode::ReadWrite)),
            (Some(_), _) => {}
        }
    }
    let scratch = if chance.happens(4) { 1 + chance.pick(2) } else { 0 };
    let columns = (runs_on == RunsOn::Host && chance.happens(2)).then(|| chance.pick(4));
    Task { runs_on, uses, scratch, columns }
}
