//! Whoever demands more gets more (BLASX, section IV.C).

use super::{Outlook, Place, Policy, ReadyTask, Resource, Want, ranked::Ranked};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// One queue for everybody, and a reservation station for each device.
///
/// *Demand.* A device that is about to run idle asks for a task; then its station is filled up from the queue, by priority and age. So a
/// fast device, which asks more often, gets more, and nothing has to be known of anybody's speed. A worker of the host takes one task at a
/// time, straight from the queue.
///
/// *Locality.* Of the tasks in its station a device gets the most urgent; among equals, the one with the most operands at hand: two
/// points for each in its own memory, one for each in a peer's, none for the host's (equation 3). This is counted anew each time, since
/// what the device has changes with every task.
///
/// *Stealing.* Who finds nothing in the queue takes from the fullest station the task that its owner would come to last.
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
    fn take_for_host(&mut self, want: Want<'_>) -> Option<ReadyTask> {
        let rank = |queue: &Ranked<ReadyTask>| {
            let found = queue.iter().map(|(_, task)| task).find(|task| want.accepts(task));
            found.map(|task| (task.priority, std::cmp::Reverse(task.id)))
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
        want: Want<'_>,
        outlook: &dyn Outlook,
    ) -> Option<ReadyTask> {
        if self.stations.len() <= device {
            self.stations.resize_with(device + 1, Vec::new);
        }
        let station = &mut self.stations[device];
        while station.len() < STATION {
            // Also one that it can not take yet: it is among the next.
            let Some(task) = self.shared.remove_first(|task| outlook.forecast(task, on).is_some()) else { break };
            station.push(task);
        }
        let rank = |task: &ReadyTask| {
            let locality = outlook.forecast(task, on).map_or(0, |forecast| forecast.locality);
            (task.priority, locality, std::cmp::Reverse(task.id))
        };
        let best = (0..station.len()).filter(|&at| want.accepts(&station[at])).max_by_key(|&at| rank(&station[at]));
        match best {
            Some(at) => Some(station.remove(at)),
            // Its station is full of what it can not take yet.
            None => self.shared.remove_first(|task| want.accepts(task)),
        }
    }

    /// A task of a station; the one that its owner would come to last, as it stands there.
    fn steal(&mut self, want: Want<'_>) -> Option<ReadyTask> {
        let last = |station: &Vec<ReadyTask>| {
            let accepted = (0..station.len()).filter(|&at| want.accepts(&station[at]));
            accepted.min_by_key(|&at| (station[at].priority, std::cmp::Reverse(station[at].id)))
        };
        let found =
            self.stations.iter().enumerate().filter_map(|(of, station)| Some((station.len(), of, last(station)?)));
        let (_, of, at) = found.max()?;
        Some(self.stations[of].remove(at))
    }
}

impl DemandDriven {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// None if it is busy and the visitor is hasty.
    fn state_for(&self, want: Want<'_>) -> Option<MutexGuard<'_, State>> {
        if !want.is_hasty() {
            return Some(self.state());
        }
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl Policy for DemandDriven {
    fn name(&self) -> &'static str {
        "demand-driven"
    }

    fn push(&self, _: Place, task: ReadyTask, outlook: &dyn Outlook) {
        let for_devices = (1..outlook.resources()).any(|on| outlook.forecast(&task, Resource(on)).is_some());
        let mut state = self.state();
        let queue = if for_devices { &mut state.shared } else { &mut state.host };
        queue.push(task.priority, 0.0, task);
    }

    fn take(&self, by: Place, want: Want<'_>) -> Option<ReadyTask> {
        let mut state = self.state_for(want)?;
        let on = want.outlook().map(|outlook| (outlook.resource_at(by), outlook));
        match on.and_then(|(on, outlook)| Some((on.device_index()?, on, outlook))) {
            Some((device, on, outlook)) => state.take_for_device(usize::from(device), on, want, outlook),
            None => state.take_for_host(want),
        }
    }

    fn steal(&self, _: Place, want: Want<'_>) -> Option<ReadyTask> {
        self.state_for(want)?.steal(want)
    }
}

#[cfg(test)]
mod tests;
