//! Whoever demands more gets more (BLASX, section IV.C).

use super::{Outlook, Place, Policy, ReadyTask, Resource, Want, held, ranked::Ranked};
use std::{
    cmp::Reverse,
    sync::{Mutex, MutexGuard},
};

/// One queue for everybody, and a reservation station for each device.
///
/// *Demand.* A device that is about to run idle asks for a task; then its station is filled up from the queue, by priority and age. So a
/// fast device, which asks more often, gets more, and nothing has to be known of anybody's speed. A worker of the host takes one task at a
/// time, straight from the queue.
///
/// *Ownership.* A task that updates what one device's memory alone has goes to that device's station at once: so the steps of one
/// tile of a product are made where the first one was, as BLASX makes them within one task.
///
/// *Locality.* Of the tasks in its station a device gets the most urgent; among equals, the one with the most operands at hand: two
/// points for each in its own memory, one for each in a peer's, none for the host's (equation 3). This is counted anew each time, since
/// what the device has changes with every task.
///
/// *Stealing.* Who finds nothing in the queue takes from the fullest station the task that would be its turn last; first one that can be
/// had without what its device owns. Such a one is left if it is all that the station has: its data would be moved for little.
///
/// Without devices it is one queue by priority and age.
#[derive(Default)]
pub struct DemandDriven {
    state: Mutex<State>,
}

/// A station has room for so many: twice what BLASX has at work at a time, so that there is a choice.
const STATION: usize = 8;

#[derive(Default)]
struct State {
    /// What devices can run.
    shared: Ranked<ReadyTask>,
    /// What only the host can: kept apart, so that devices need not look through it.
    host: Ranked<ReadyTask>,
    /// By device.
    stations: Vec<Vec<ReadyTask>>,
}

impl State {
    /// The next task for a worker, straight from the queue.
    fn take_for_host(&mut self, want: &Want<'_>) -> Option<ReadyTask> {
        let rank = |queue: &Ranked<ReadyTask>| {
            let found = queue.iter().map(|(_, task)| task).find(|task| want.accepts(task));
            found.map(|task| (task.priority(), Reverse(task.id())))
        };
        let (own, shared) = (rank(&self.host), rank(&self.shared));
        let queue = if own >= shared { &mut self.host } else { &mut self.shared };
        queue.remove_first(|task| want.accepts(task))
    }

    /// The next task for a device, from its station, which is filled up before.
    fn take_for_device(
        &mut self,
        device: usize,
        on: Resource,
        want: &Want<'_>,
        outlook: &dyn Outlook,
    ) -> Option<ReadyTask> {
        let Self { shared, .. } = self;
        let station = station_of(&mut self.stations, device);
        while station.len() < STATION {
            // Also one that it can not take yet: it is among the next.
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
            // Its station is full of what it can not take yet.
            None => shared.remove_first(|task| want.accepts(task)),
        }
    }

    /// A task of a station; the one that would be its turn last, as it stands there.
    fn steal(&mut self, want: &Want<'_>) -> Option<ReadyTask> {
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
    fn state(&self) -> MutexGuard<'_, State> {
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
        // Not whether one would take it now: who leaves it to others may have to take it later.
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

    fn take(&self, by: Place, want: &Want<'_>) -> Option<ReadyTask> {
        let mut state = want.lock(&self.state)?;
        let on = want.outlook().map(|outlook| (outlook.resource_at(by), outlook));
        match on.and_then(|(on, outlook)| Some((on.device_index()?, on, outlook))) {
            Some((device, on, outlook)) => state.take_for_device(usize::from(device), on, want, outlook),
            None => state.take_for_host(want),
        }
    }

    fn steal(&self, _: Place, want: &Want<'_>) -> Option<ReadyTask> {
        want.lock(&self.state)?.steal(want)
    }
}

#[cfg(test)]
mod tests;
