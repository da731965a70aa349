//! What one resource is expected to be busy with: the tasks that are assigned to it, those that it has taken and not finished, and
//! when it would come to another.

use super::{Forecast, ReadyTask, TaskId, ranked::Ranked};

/// How long a task stands in its resource's way. What it moves is moved while others are at work, so the longer of the two counts.
pub(super) fn load_ns(forecast: &Forecast) -> f64 {
    forecast.computation_ns.max(forecast.communication_ns)
}

/// A task that is assigned.
pub(super) struct Assigned {
    pub(super) task: ReadyTask,
    /// Nobody else is to take it: others can not, or it is here by rule.
    pub(super) is_bound: bool,
    /// It is here because its data were dealt to this resource, where they will stay.
    pub(super) is_home: bool,
    /// What it will take here, as was expected when it was assigned or weighed last.
    pub(super) forecast: Forecast,
}

impl Assigned {
    /// Whether it had to wait for data from host memory when it was assigned, which are to stay here.
    pub(super) fn was_afar(&self) -> bool {
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

/// See the module's head. Moments are in the outlook's nanoseconds.
pub(super) struct Station {
    pub(super) queue: Ranked<Assigned>,
    /// How many in the queue are not bound.
    open: usize,
    /// How many at home in the queue had to wait for data from host memory when they were assigned.
    afar: usize,
    running: Vec<Running>,
    /// So many tasks run at once: one on a device, whose tasks take turns, and one on each worker of the host.
    pub(super) servers: usize,
    /// How many tasks have ended since the queue was weighed.
    ended: usize,
}

/// How an ended task compares with what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It is not one of this station's.
    Unknown,
    /// It took about as long as was expected.
    Expected,
    /// It took more than twice or less than half as long, and this is not the first among the few in the queue.
    Surprising,
}

impl Station {
    pub(super) fn new(servers: usize) -> Self {
        Self { queue: Ranked::default(), open: 0, afar: 0, running: Vec::new(), servers, ended: 0 }
    }

    pub(super) fn assign(&mut self, assigned: Assigned) {
        self.open += usize::from(!assigned.is_bound);
        self.afar += usize::from(assigned.was_afar());
        let (id, priority) = (assigned.task.id(), assigned.task.priority());
        self.queue.push(priority, load_ns(&assigned.forecast), assigned, |other| other.task.id() < id);
    }

    /// Takes the first that will do out of the queue.
    pub(super) fn remove_first(&mut self, will_do: impl FnMut(&Assigned) -> bool) -> Option<Assigned> {
        let found = self.queue.remove_first(will_do)?;
        self.open -= usize::from(!found.is_bound);
        self.afar -= usize::from(found.was_afar());
        Some(found)
    }

    /// Whether there is something in the queue that others may take.
    pub(super) fn is_open(&self) -> bool {
        self.open > 0
    }

    /// Whether something at home in the queue had to wait for data from host memory when it was assigned.
    pub(super) fn is_any_afar(&self) -> bool {
        self.afar > 0
    }

    /// Whether it has taken anything that has not ended.
    pub(super) fn is_busy(&self) -> bool {
        !self.running.is_empty()
    }

    /// Whether what runs first has taken more than twice as long as was expected.
    pub(super) fn is_late(&self, now_ns: f64) -> bool {
        self.running.first().is_some_and(|running| now_ns > running.until_ns + running.takes_ns())
    }

    /// How many of its servers others' tasks occupy: tasks that need not be here.
    pub(super) fn unbound(&self) -> usize {
        self.running.iter().filter(|running| !running.is_bound).count()
    }

    /// Work of so long that has been taken and has not ended.
    pub(super) fn in_hand_ns(&self) -> f64 {
        self.running.iter().map(|running| running.forecast.computation_ns).sum()
    }

    /// Whether something had to be moved for one of the tasks that it has taken.
    pub(super) fn is_fetching(&self) -> bool {
        self.running.iter().any(|running| running.forecast.communication_ns > 0.0)
    }

    /// How many of the tasks that it has taken had to wait for data from host memory.
    pub(super) fn waiting_for_host(&self) -> usize {
        self.running.iter().filter(|running| running.forecast.from_host).count()
    }

    /// Takes a task, of which that is expected now.
    pub(super) fn take(&mut self, task: TaskId, is_bound: bool, forecast: Forecast, now_ns: f64) {
        let begins_ns = match self.running.last() {
            Some(last) if self.servers == 1 => last.until_ns.max(now_ns),
            _ => now_ns,
        };
        self.running.push(Running { task, forecast, until_ns: begins_ns + load_ns(&forecast), is_bound });
    }

    /// A task that was taken has ended, or has come back.
    pub(super) fn end(&mut self, task: TaskId, now_ns: f64) -> Ended {
        let Some(at) = self.running.iter().position(|running| running.task == task) else { return Ended::Unknown };
        let ended = self.running.remove(at);
        let took_ns = now_ns - (ended.until_ns - ended.takes_ns());
        if self.servers == 1 && at == 0 {
            // The next begins now, and what follows with it.
            let mut begins_ns = now_ns;
            for running in &mut self.running {
                running.until_ns = begins_ns + running.takes_ns();
                begins_ns = running.until_ns;
            }
        }
        self.ended += 1;
        let ratio = took_ns / ended.takes_ns().max(1.0);
        let is_surprising = !(0.5..=2.0).contains(&ratio) && 4 * self.ended >= self.queue.len();
        if is_surprising { Ended::Surprising } else { Ended::Expected }
    }

    /// Weighs the queue anew, by what is expected now; what nobody knows better of stays.
    pub(super) fn reweigh(&mut self, expected: impl Fn(&ReadyTask) -> Option<Forecast>) {
        self.ended = 0;
        self.queue.reweigh(|it| {
            // Who was far from its data when it was assigned counts as such.
            it.forecast = Forecast { from_host: it.forecast.from_host, ..expected(&it.task)? };
            Some(load_ns(&it.forecast))
        });
    }

    /// How long it will be until a server is free, with so much work to be done before: what remains of the running tasks is filled up
    /// with it, evenly.
    pub(super) fn wait_ns(&self, now_ns: f64, before_ns: f64) -> f64 {
        // Of one that is overdue nothing is known but that: as long again as it is late.
        let left_ns = |running: &Running| (running.until_ns - now_ns).abs();
        if self.servers == 1 {
            let behind_ns: f64 = self.running.iter().skip(1).map(Running::takes_ns).sum();
            return self.running.first().map_or(0.0, left_ns) + behind_ns + before_ns;
        }
        let mut left: smallvec::SmallVec<[f64; 64]> = self.running.iter().map(left_ns).collect();
        left.resize(left.len().max(self.servers), 0.0);
        left.sort_by(f64::total_cmp);
        // More are taken than there are servers where bodies wait for tasks of their own, or tasks for their data: these come first.
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
    fn work_is_poured_over_the_workers() {
        let mut host = Station::new(3);
        assert_eq!(host.wait_ns(0.0, 0.0), 0.0);
        assert_eq!(host.wait_ns(0.0, 90.0), 30.0);
        host.take(TaskId(1), false, forecast(100.0, 0.0), 0.0);
        host.take(TaskId(2), true, forecast(5.0, 20.0), 0.0);
        assert_eq!((host.in_hand_ns(), host.is_fetching()), (105.0, true));
        // One is free from now on, another from 20 on.
        assert_eq!(host.wait_ns(0.0, 10.0), 10.0);
        assert_eq!(host.wait_ns(0.0, 40.0), 30.0);
        assert_eq!((host.is_busy(), host.unbound()), (true, 1));
        assert_eq!(host.end(TaskId(2), 20.0), Ended::Expected);
        assert_eq!(host.end(TaskId(2), 20.0), Ended::Unknown);
    }

    #[test]
    fn a_device_does_one_after_the_other_and_is_corrected_when_one_ends() {
        let mut device = Station::new(1);
        (1..=3).for_each(|task| device.take(TaskId(task), false, forecast(100.0, 0.0), 0.0));
        assert_eq!((device.in_hand_ns(), device.is_fetching()), (300.0, false));
        assert_eq!(device.wait_ns(0.0, 50.0), 350.0);
        assert_eq!(device.wait_ns(90.0, 0.0), 210.0);
        // Late by 60: as much again is expected.
        assert_eq!(device.wait_ns(160.0, 0.0), 260.0);
        assert!(!device.is_late(190.0) && device.is_late(210.0));
        assert_eq!(device.end(TaskId(1), 240.0), Ended::Surprising);
        assert_eq!(device.wait_ns(240.0, 0.0), 200.0);
        assert_eq!(device.end(TaskId(2), 340.0), Ended::Expected);
        assert_eq!(device.end(TaskId(3), 440.0), Ended::Expected);
        assert_eq!((device.is_busy(), device.wait_ns(500.0, 0.0)), (false, 0.0));
    }
}
