//! The expected load of one resource: the tasks that are assigned to it, the tasks that it has taken and not finished,
//! and the time at which it could begin another.

use super::{Forecast, ReadyTask, TaskId, ranked::RankedQueue};

/// Returns how long a task occupies its resource. Copies overlap with the computation of other tasks, so the longer of
/// the two times counts.
pub(super) fn load_ns(forecast: &Forecast) -> f64 {
    forecast.computation_ns.max(forecast.communication_ns)
}

/// An assigned task.
pub(super) struct Assigned {
    pub(super) task: ReadyTask,
    /// Whether no other resource may take it: the others cannot run it, or a rule assigned it.
    pub(super) is_bound: bool,
    /// Whether it is assigned here because its data were dealt to this resource, where they will stay.
    pub(super) is_home: bool,
    /// The forecast for this resource, from the assignment or the last update.
    pub(super) forecast: Forecast,
}

impl Assigned {
    /// Returns whether the task has its home here and needed data from host memory when it was assigned.
    pub(super) fn needed_host_data(&self) -> bool {
        self.is_home && self.forecast.from_host
    }
}

/// A task that was taken and has not ended.
struct Running {
    task: TaskId,
    forecast: Forecast,
    until_ns: f64,
    is_bound: bool,
}

impl Running {
    fn takes_ns(&self) -> f64 {
        load_ns(&self.forecast)
    }
}

/// The expected load of one resource; see the [module](self) documentation. Times are nanoseconds of the outlook's
/// clock.
pub(super) struct Station {
    pub(super) queue: RankedQueue<Assigned>,
    /// The number of queued tasks that are not bound.
    unbound_queued: usize,
    /// The number of queued tasks that have their home here and needed data from host memory when they were assigned.
    with_host_data: usize,
    running: Vec<Running>,
    /// The number of tasks that run at once: one on a device, which runs its tasks in order, and one per worker on the
    /// host.
    pub(super) servers: usize,
    /// The number of tasks that have ended since the queue's loads were updated.
    ended: usize,
}

/// How the duration of an ended task compares with its forecast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deviation {
    /// The task does not belong to this station.
    Unknown,
    /// It took about as long as expected.
    Expected,
    /// It took more than twice or less than half as long as expected, and enough tasks have ended since the last
    /// update.
    Surprising,
}

impl Station {
    pub(super) fn new(servers: usize) -> Self {
        Self {
            queue: RankedQueue::default(),
            unbound_queued: 0,
            with_host_data: 0,
            running: Vec::new(),
            servers,
            ended: 0,
        }
    }

    pub(super) fn assign(&mut self, assigned: Assigned) {
        self.unbound_queued += usize::from(!assigned.is_bound);
        self.with_host_data += usize::from(assigned.needed_host_data());
        let (id, priority) = (assigned.task.id(), assigned.task.priority());
        self.queue.push(priority, load_ns(&assigned.forecast), assigned, |other| other.task.id() < id);
    }

    /// Removes the first queued task that is accepted.
    pub(super) fn remove_first(&mut self, accepts: impl FnMut(&Assigned) -> bool) -> Option<Assigned> {
        let found = self.queue.remove_first(accepts)?;
        self.unbound_queued -= usize::from(!found.is_bound);
        self.with_host_data -= usize::from(found.needed_host_data());
        Some(found)
    }

    /// Returns whether the queue has tasks that other resources may take.
    pub(super) fn has_unbound_queued(&self) -> bool {
        self.unbound_queued > 0
    }

    /// Returns whether a queued task with its home here needed data from host memory when it was assigned.
    pub(super) fn any_needed_host_data(&self) -> bool {
        self.with_host_data > 0
    }

    /// Returns whether the resource has taken tasks that have not ended.
    pub(super) fn is_busy(&self) -> bool {
        !self.running.is_empty()
    }

    /// Returns whether the first running task has taken more than twice as long as expected.
    pub(super) fn is_late(&self, now_ns: f64) -> bool {
        self.running.first().is_some_and(|running| now_ns > running.until_ns + running.takes_ns())
    }

    /// Returns the number of running tasks that are not bound to this resource.
    pub(super) fn unbound_running(&self) -> usize {
        self.running.iter().filter(|running| !running.is_bound).count()
    }

    /// Returns the computation time of the tasks that were taken and have not ended.
    pub(super) fn in_hand_ns(&self) -> f64 {
        self.running.iter().map(|running| running.forecast.computation_ns).sum()
    }

    /// Returns whether any of the taken tasks needed copies.
    pub(super) fn is_fetching(&self) -> bool {
        self.running.iter().any(|running| running.forecast.communication_ns > 0.0)
    }

    /// Returns how many of the taken tasks needed data from host memory.
    pub(super) fn waiting_for_host(&self) -> usize {
        self.running.iter().filter(|running| running.forecast.from_host).count()
    }

    /// Records that the resource takes a task, with its current forecast.
    pub(super) fn take(&mut self, task: TaskId, is_bound: bool, forecast: Forecast, now_ns: f64) {
        let begins_ns = match self.running.last() {
            Some(last) if self.servers == 1 => last.until_ns.max(now_ns),
            _ => now_ns,
        };
        self.running.push(Running { task, forecast, until_ns: begins_ns + load_ns(&forecast), is_bound });
    }

    /// Removes a task that was taken and has ended or been returned.
    pub(super) fn end(&mut self, task: TaskId, now_ns: f64) -> Deviation {
        let Some(at) = self.running.iter().position(|running| running.task == task) else { return Deviation::Unknown };
        let ended = self.running.remove(at);
        let took_ns = now_ns - (ended.until_ns - ended.takes_ns());
        if self.servers == 1 && at == 0 {
            // The next task begins now, and the others follow it.
            let mut begins_ns = now_ns;
            for running in &mut self.running {
                running.until_ns = begins_ns + running.takes_ns();
                begins_ns = running.until_ns;
            }
        }
        self.ended += 1;
        let ratio = took_ns / ended.takes_ns().max(1.0);
        let is_surprising = !(0.5..=2.0).contains(&ratio) && 4 * self.ended >= self.queue.len();
        if is_surprising { Deviation::Surprising } else { Deviation::Expected }
    }

    /// Updates the loads of the queue by current forecasts; a task without a forecast keeps its load.
    pub(super) fn reweigh(&mut self, expected: impl Fn(&ReadyTask) -> Option<Forecast>) {
        self.ended = 0;
        self.queue.reweigh(|it| {
            // `from_host` stays as it was at the assignment, because `needed_host_data` is counted by it.
            it.forecast = Forecast { from_host: it.forecast.from_host, ..expected(&it.task)? };
            Some(load_ns(&it.forecast))
        });
    }

    /// Returns the time until a server is free if `before_ns` of work comes first. This work fills up the gaps until
    /// the running tasks end, evenly over the servers.
    pub(super) fn wait_ns(&self, now_ns: f64, before_ns: f64) -> f64 {
        // An overdue task is expected to take as long again as it is late.
        let left_ns = |running: &Running| (running.until_ns - now_ns).abs();
        if self.servers == 1 {
            let behind_ns: f64 = self.running.iter().skip(1).map(Running::takes_ns).sum();
            return self.running.first().map_or(0.0, left_ns) + behind_ns + before_ns;
        }
        let mut left: smallvec::SmallVec<[f64; 64]> = self.running.iter().map(left_ns).collect();
        left.resize(left.len().max(self.servers), 0.0);
        left.sort_by(f64::total_cmp);
        // There may be more running tasks than servers, because bodies wait for tasks of their own and tasks wait for
        // their data. The surplus tasks that end first are added to the work that comes first.
        let (first, left) = left.split_at(left.len() - self.servers);
        let (mut level_ns, mut before_ns) = (left[0], before_ns + first.iter().sum::<f64>());
        for (at, &next_ns) in left.iter().enumerate().skip(1) {
            let room_ns = (next_ns - level_ns) * at as f64;
            if room_ns >= before_ns {
                return level_ns + before_ns / at as f64;
            }
            (level_ns, before_ns) = (next_ns, before_ns - room_ns);
        }
        level_ns + before_ns / self.servers as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast(computation_ns: f64, communication_ns: f64) -> Forecast {
        Forecast { computation_ns, communication_ns, ..Forecast::default() }
    }

    #[test]
    fn work_is_spread_over_the_workers() {
        let mut host = Station::new(3);
        assert_eq!(host.wait_ns(0.0, 0.0), 0.0);
        assert_eq!(host.wait_ns(0.0, 90.0), 30.0);
        host.take(TaskId(1), false, forecast(100.0, 0.0), 0.0);
        host.take(TaskId(2), true, forecast(5.0, 20.0), 0.0);
        assert_eq!((host.in_hand_ns(), host.is_fetching()), (105.0, true));
        // One worker is free from now on, another from 20 on.
        assert_eq!(host.wait_ns(0.0, 10.0), 10.0);
        assert_eq!(host.wait_ns(0.0, 40.0), 30.0);
        assert_eq!((host.is_busy(), host.unbound_running()), (true, 1));
        assert_eq!(host.end(TaskId(2), 20.0), Deviation::Expected);
        assert_eq!(host.end(TaskId(2), 20.0), Deviation::Unknown);
    }

    #[test]
    fn device_times_follow_task_ends() {
        let mut device = Station::new(1);
        (1..=3).for_each(|task| device.take(TaskId(task), false, forecast(100.0, 0.0), 0.0));
        assert_eq!((device.in_hand_ns(), device.is_fetching()), (300.0, false));
        assert_eq!(device.wait_ns(0.0, 50.0), 350.0);
        assert_eq!(device.wait_ns(90.0, 0.0), 210.0);
        // It is late by 60, so it is expected to take 60 more.
        assert_eq!(device.wait_ns(160.0, 0.0), 260.0);
        assert!(!device.is_late(190.0) && device.is_late(210.0));
        assert_eq!(device.end(TaskId(1), 240.0), Deviation::Surprising);
        assert_eq!(device.wait_ns(240.0, 0.0), 200.0);
        assert_eq!(device.end(TaskId(2), 340.0), Deviation::Expected);
        assert_eq!(device.end(TaskId(3), 440.0), Deviation::Expected);
        assert_eq!((device.is_busy(), device.wait_ns(500.0, 0.0)), (false, 0.0));
    }
}
