//! Demand-driven scheduling: faster resources ask more often and so get more tasks (BLASX, section IV.C).

use super::{Outlook, Place, Policy, ReadyTask, Resource, TaskFilter, held, ranked::RankedQueue};
use std::{
    cmp::Reverse,
    sync::{Mutex, MutexGuard},
};

/// One queue for all resources, and a reservation station for each device.
///
/// *Demand.* A device that is about to become idle asks for a task, and its station is then filled from the queue, by
/// priority and age. So a fast device, which asks more often, gets more tasks, and no speeds need to be known. A host
/// worker takes one task at a time, directly from the queue.
///
/// *Ownership.* A task that updates a value whose only valid replica is in one device's memory goes directly to that
/// device's station. So all updates of one tile of a product run where the first one ran; BLASX does them within one
/// task.
///
/// *Locality.* A device gets the most urgent task of its station. Among equally urgent ones, it gets the one with the
/// most operands at hand: two points for each in its own memory, one for each in a peer's, none for the host's
/// (equation 3). The points are counted anew each time, because every task changes the contents of the device's memory.
///
/// *Stealing.* A resource that finds no task in the queue steals from the fullest station the task that the station's
/// device would run last. It prefers tasks whose data the device does not own. If the only task left is one whose data
/// the device owns, it is not stolen, because moving its data would cost more than it gains.
///
/// Without devices, this is one queue by priority and age.
#[derive(Default)]
pub struct DemandDriven {
    state: Mutex<DemandState>,
}

/// The number of tasks of a full station: twice what BLASX has in flight, so that there is a choice.
const STATION_TASKS_MAX: usize = 8;

#[derive(Default)]
struct DemandState {
    /// Tasks that a device can run.
    shared: RankedQueue<ReadyTask>,
    /// Tasks that only the host can run. They are separate, so that devices need not scan them.
    host: RankedQueue<ReadyTask>,
    /// By device.
    stations: Vec<Vec<ReadyTask>>,
}

impl DemandState {
    /// Takes the next task for a worker, directly from the queue.
    fn take_for_host(&mut self, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        let rank = |queue: &RankedQueue<ReadyTask>| {
            let found = queue.iter().map(|(_, task)| task).find(|task| want.accepts(task));
            found.map(|task| (task.priority(), Reverse(task.id())))
        };
        let (own, shared) = (rank(&self.host), rank(&self.shared));
        let queue = if own >= shared { &mut self.host } else { &mut self.shared };
        queue.remove_first(|task| want.accepts(task))
    }

    /// Fills the device's station, and takes the device's next task from it.
    fn take_for_device(
        &mut self,
        device: usize,
        on: Resource,
        want: &TaskFilter<'_>,
        outlook: &dyn Outlook,
    ) -> Option<ReadyTask> {
        let Self { shared, .. } = self;
        let station = station_of(&mut self.stations, device);
        while station.len() < STATION_TASKS_MAX {
            // Includes tasks that the device cannot take yet; they count as reserved.
            let Some(task) = shared.remove_first(|task| outlook.forecast(task, on).is_some()) else { break };
            station.push(task);
        }
        let rank = |task: &ReadyTask| {
            let locality = outlook.forecast(task, on).map_or(0, |forecast| forecast.locality);
            (task.priority(), locality, Reverse(task.id()))
        };
        let best = (0..station.len()).filter(|&at| want.accepts(&station[at])).max_by_key(|&at| rank(&station[at]));
        match best {
            Some(at) => Some(station.remove(at)),
            // The station is full of tasks that the device cannot take yet.
            None => shared.remove_first(|task| want.accepts(task)),
        }
    }

    /// Steals a task from a station: the one that its device would run last.
    fn steal(&mut self, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        let owner = |task: &ReadyTask, of: usize| {
            let outlook = want.outlook()?;
            let on = Resource::device(of as u16);
            (outlook.owner(task) == Some(on) && outlook.forecast(task, on).is_some()).then_some(on)
        };
        let last = |(of, station): (usize, &Vec<ReadyTask>)| {
            let accepted = (0..station.len()).filter(|&at| want.accepts(&station[at]));
            let rank = |at: usize| (owner(&station[at], of), station[at].priority(), Reverse(station[at].id()));
            let at = accepted.min_by_key(|&at| rank(at))?;
            (station.len() > 1 || rank(at).0.is_none()).then_some((station.len(), of, at))
        };
        let (_, of, at) = self.stations.iter().enumerate().filter_map(last).max()?;
        Some(self.stations[of].remove(at))
    }
}

fn station_of(stations: &mut Vec<Vec<ReadyTask>>, device: usize) -> &mut Vec<ReadyTask> {
    if stations.len() <= device {
        stations.resize_with(device + 1, Vec::new);
    }
    &mut stations[device]
}

impl DemandDriven {
    fn state(&self) -> MutexGuard<'_, DemandState> {
        held(self.state.lock())
    }
}

impl Policy for DemandDriven {
    fn name(&self) -> &'static str {
        "demand-driven"
    }

    fn weighs(&self) -> bool {
        false
    }

    fn push(&self, _: Place, task: ReadyTask, outlook: &dyn Outlook) -> Option<Resource> {
        // Whether a device can ever run it, not whether one would take it now: a device that leaves it to others may
        // have to take it later.
        let for_devices = outlook.is_for_devices(&task);
        let owner = outlook.owner(&task).filter(|&on| outlook.forecast(&task, on).is_some());
        let mut state = self.state();
        if let Some(device) = owner.and_then(Resource::device_index) {
            station_of(&mut state.stations, usize::from(device)).push(task);
            return None;
        }
        let queue = if for_devices { &mut state.shared } else { &mut state.host };
        let (id, priority) = (task.id(), task.priority());
        queue.push(priority, 0.0, task, |other| other.id() < id);
        None
    }

    fn take(&self, by: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        let mut state = want.lock(&self.state)?;
        let on = want.outlook().map(|outlook| (outlook.resource_at(by), outlook));
        match on.and_then(|(on, outlook)| Some((on.device_index()?, on, outlook))) {
            Some((device, on, outlook)) => state.take_for_device(usize::from(device), on, want, outlook),
            None => state.take_for_host(want),
        }
    }

    fn steal(&self, _: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        want.lock(&self.state)?.steal(want)
    }
}

#[cfg(test)]
mod tests;
