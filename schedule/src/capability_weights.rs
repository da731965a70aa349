//! Scheduling by capability weights: each task runs where it is expected to finish first (task-superscalar, section
//! 5.2).

mod inbox;
mod order;

use self::inbox::{Arrival, Inbox};
use super::{
    BlasLevel, Forecast, Outlook, Place, Policy, Priority, ReadyTask, Resource, TaskFilter, TaskId, held,
    station::{Assigned, Deviation, Station, load_ns},
};
use smallvec::SmallVec;
use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicUsize, Ordering},
};

/// Greedy scheduling by capability weights.
///
/// *Assignment.* A task that has become ready is assigned to the resource that is expected to finish it first. The
/// expected time includes the tasks that the resource has taken and not finished, the assigned tasks that are no less
/// urgent, the copies of the task's data, and the computation at the rate of the resource's capability weight. So
/// resources get shares of the work in proportion to their speeds. There are two exceptions:
///
/// - A task of BLAS level 1 or 2, such as a panel, goes to the host, unless a device is faster by itself, including the
///   copies.
/// - Any other task, and a panel that does not go to the host, goes to its home if its data were dealt to a resource
///   that can run it. It does not if the host's workers together are faster than all devices, because the host would
///   then be idle.
///
/// *Order.* Each resource takes its assigned tasks by priority, and in the order of their insertion among equal
/// priorities, regardless of when they became ready. So work on some data is continued before work on other data
/// begins. Of the first few of these tasks, a device takes the one with the shortest copies relative to its
/// computation, because data that it has now may be evicted later. It takes a task that needs no copies before one
/// whose data would arrive later than the device runs out of other work. Data that were dealt to it are fetched ahead
/// if there is room for them, so that the link is never idle; meanwhile the device takes tasks whose data it has
/// (`order.rs`). A busy device takes ahead only tasks that no other resource would now finish sooner, because tasks
/// that are not taken can still go elsewhere.
///
/// *Stealing.* A resource without tasks of its own steals a task that it will finish sooner than the resource to which
/// it is assigned. A faster thief takes the most urgent task, and a slower one the last in the queue. Tasks assigned by
/// one of the two exceptions are not stolen. So a slow resource never begins a task that a fast one would have finished
/// sooner, and the last tasks of a run are left to the fast resources.
///
/// *Accelerators first.* If the workers could add almost nothing, they leave all tasks that devices can run to the
/// devices. Otherwise a worker takes a task from a faster device only if it finishes it sooner by a margin. For the
/// last free worker the margin includes the time of a panel, because a waiting panel delays all devices.
///
/// Without devices, this is [`Priority`].
pub struct CapabilityWeights {
    state: Mutex<SchedulerState>,
    /// Bound tasks on their way into `state`.
    inbox: Inbox,
    /// The number of tasks in `state` and `inbox`.
    held: AtomicUsize,
    /// The policy used if there are no devices.
    host_only: Priority,
}

/// The minimal advantage of a slower thief, as a share of its time for the task. Forecasts are not more accurate than
/// this.
const ADVANTAGE_SHARE_MIN: f64 = 0.125;
/// If all devices together are this many times as fast as all workers, the workers leave all work to them. Their
/// contribution would be small, and a task that takes a worker hundreds of times as long delays all tasks that wait for
/// it.
const DEVICE_SPEEDUP_MAX: f64 = 20.0;
/// How many tasks of each victim a thief considers.
const STEAL_CANDIDATES_MAX: usize = 4;
/// The weight of the latest panel in the running mean of panel times.
const LATEST_PANEL_WEIGHT: f64 = 0.25;

/// The forecasts of one task, by resource.
type Forecasts = SmallVec<[Option<Forecast>; 8]>;
/// The resource that a task is assigned to, and the forecast for it.
type Assignment = (Resource, Forecast);

/// A task that a thief would finish sooner than its victim by `gain_ns`.
struct StealCandidate {
    gain_ns: f64,
    victim: Resource,
    task: TaskId,
}

#[derive(Default)]
struct SchedulerState {
    /// By resource; empty until the first task arrives.
    stations: Vec<Station>,
    /// A list whose memory is reused for arrivals; empty between calls.
    arriving: Vec<Arrival>,
    /// The mean time of a panel on the host.
    panel_ns: f64,
    /// Incremented by every change.
    epoch: u64,
    /// By resource: the epoch of the last steal that found nothing.
    failed_steal_epoch: Vec<u64>,
}

/// The paper's cost: communication plus computation.
fn cost_ns(forecast: &Forecast) -> f64 {
    forecast.computation_ns + forecast.communication_ns
}

fn resources(outlook: &dyn Outlook) -> impl Iterator<Item = Resource> {
    (0..outlook.resources()).map(Resource)
}

fn at(forecasts: &Forecasts, on: Resource) -> Option<&Forecast> {
    forecasts.get(usize::from(on.0)).and_then(Option::as_ref)
}

/// Iterates over the devices that can run the task.
fn devices(forecasts: &Forecasts) -> impl Iterator<Item = (Resource, &Forecast)> {
    (1..forecasts.len() as u16).map(Resource).filter_map(|on| Some((on, at(forecasts, on)?)))
}

fn fastest_device(forecasts: &Forecasts) -> Option<&Forecast> {
    devices(forecasts).map(|it| it.1).min_by(|a, b| cost_ns(a).total_cmp(&cost_ns(b)))
}

/// Returns the resource that a rule assigns the task to, regardless of loads. A panel goes home only if the host would
/// take longer.
fn bound_assignment(forecasts: &Forecasts, is_panel: bool, home: Option<Resource>) -> Option<Assignment> {
    let here = |on| Some((on, *at(forecasts, on)?));
    let (host, mut each) = (here(Resource::HOST), devices(forecasts));
    // A task that only one resource can run is bound to it.
    match (host, each.next(), each.next()) {
        (_, None, _) => return Some(host.unwrap_or_default()),
        (None, Some((only, _)), None) => return here(only),
        _ => {}
    }
    let at_home = home.and_then(here);
    let other = at_home.as_ref().map(|it| &it.1).or_else(|| fastest_device(forecasts));
    let is_hosts = |it: &Assignment| is_panel && other.is_some_and(|other| cost_ns(&it.1) <= cost_ns(other));
    host.filter(is_hosts).or(at_home)
}

/// Returns whether the host's workers together are faster than all devices would be if they were like this one.
fn host_outdoes(host: &Forecast, device: &Forecast, outlook: &dyn Outlook) -> bool {
    let devices = f64::from(outlook.resources() - 1);
    host.computation_ns * devices < device.computation_ns * outlook.workers() as f64
}

impl SchedulerState {
    fn prepare(&mut self, outlook: &dyn Outlook) {
        if self.stations.is_empty() {
            let servers = |on| if on == Resource::HOST { outlook.workers().max(1) } else { 1 };
            self.stations = resources(outlook).map(|on| Station::new(servers(on))).collect();
            self.failed_steal_epoch = vec![u64::MAX; self.stations.len()];
        }
    }

    fn station(&mut self, on: Resource) -> &mut Station {
        &mut self.stations[usize::from(on.0)]
    }

    /// Returns the time until the resource would finish the task if it were assigned to it now.
    fn done_ns(&self, on: Resource, priority: i32, forecast: &Forecast, now_ns: f64) -> f64 {
        let station = &self.stations[usize::from(on.0)];
        station.wait_ns(now_ns, station.queue.load_before_ns(priority)) + cost_ns(forecast)
    }

    /// Returns by how much a resource must finish a task sooner to take it from a faster one, whose forecast is
    /// `other`.
    fn required_lead_ns(&self, on: Resource, forecast: &Forecast, other: &Forecast) -> f64 {
        if cost_ns(forecast) <= cost_ns(other) {
            return 0.0;
        }
        let (workers, devices) = (self.workers() as f64, self.stations.len() as f64 - 1.0);
        if on == Resource::HOST
            && forecast.computation_ns * devices > DEVICE_SPEEDUP_MAX * workers * other.computation_ns
        {
            return f64::INFINITY;
        }
        let margin_ns = ADVANTAGE_SHARE_MIN * cost_ns(forecast);
        let host = &self.stations[0];
        // One worker must stay free for the next panel, or become free in time.
        let is_last = on == Resource::HOST && host.unbound_running() + 1 >= self.workers();
        margin_ns + if is_last { self.panel_ns } else { 0.0 }
    }

    fn workers(&self) -> usize {
        self.stations[0].servers
    }

    /// Returns the resource that would finish the task first, for a task that no rule assigns.
    fn soonest_assignment(&self, priority: i32, forecasts: &Forecasts, now_ns: f64) -> Assignment {
        let done_ns = |on, forecast| self.done_ns(on, priority, forecast, now_ns);
        let done = devices(forecasts).map(|(on, forecast)| (done_ns(on, forecast), (on, *forecast)));
        let soonest = done.min_by(|a, b| a.0.total_cmp(&b.0));
        let host = at(forecasts, Resource::HOST).zip(fastest_device(forecasts)).map(|(host, fastest_device)| {
            let required_lead_ns = self.required_lead_ns(Resource::HOST, host, fastest_device);
            (done_ns(Resource::HOST, host) + required_lead_ns, (Resource::HOST, *host))
        });
        let other_ns = soonest.map_or(f64::INFINITY, |it| it.0);
        host.filter(|host| host.0 < other_ns).or(soonest).map(|it| it.1).unwrap_or_default()
    }

    fn is_better_elsewhere(&self, on: Resource, task: &ReadyTask, outlook: &dyn Outlook, now_ns: f64) -> bool {
        let Some(own) = outlook.forecast(task, on) else { return false };
        let own_done_ns = self.stations[usize::from(on.0)].wait_ns(now_ns, 0.0) + cost_ns(&own);
        resources(outlook).filter(|&other| other != on).any(|other| {
            outlook.forecast(task, other).is_some_and(|forecast| {
                let required_lead_ns =
                    self.required_lead_ns(other, &forecast, &own).max(ADVANTAGE_SHARE_MIN * cost_ns(&forecast));
                self.done_ns(other, task.priority(), &forecast, now_ns) + required_lead_ns < own_done_ns
            })
        })
    }

    /// Steals a task that this resource would finish sooner than its owner.
    fn steal(&mut self, on: Resource, want: &TaskFilter<'_>, outlook: &dyn Outlook) -> Option<ReadyTask> {
        let now_ns = outlook.now_ns() as f64;
        let mut best: Option<StealCandidate> = None;
        for victim in resources(outlook).filter(|&other| other != on) {
            let Some(station) = self.stations.get(usize::from(victim.0)) else { continue };
            let found = if outlook.is_lost(victim) {
                // A lost device runs nothing, so any task that the thief accepts is a gain.
                let first = station.queue.iter().find(|(_, it)| want.accepts(&it.task));
                first.map(|(_, it)| StealCandidate { gain_ns: f64::INFINITY, victim, task: it.task.id() })
            } else if station.has_unbound_queued() {
                self.best_steal(on, victim, want, outlook, now_ns)
            } else {
                None
            };
            if let Some(found) = found
                && best.as_ref().is_none_or(|best| found.gain_ns > best.gain_ns)
            {
                best = Some(found);
            }
        }
        let StealCandidate { victim, task, .. } = best?;
        let found = self.station(victim).remove_first(|it| it.task.id() == task)?;
        let forecast = outlook.forecast(&found.task, on).unwrap_or_default();
        Some(self.record_taken(on, Assigned { forecast, ..found }, now_ns))
    }

    /// Returns the task to steal from a victim, and how much sooner it would finish.
    fn best_steal(
        &self,
        on: Resource,
        victim: Resource,
        want: &TaskFilter<'_>,
        outlook: &dyn Outlook,
        now_ns: f64,
    ) -> Option<StealCandidate> {
        let (station, own) = (&self.stations[usize::from(victim.0)], &self.stations[usize::from(on.0)]);
        let wait_ns = own.wait_ns(now_ns, 0.0);
        let gain_ns = |it: &Assigned, before_ns: f64| {
            let (here, there) = (outlook.forecast(&it.task, on)?, outlook.forecast(&it.task, victim)?);
            let there_ns = station.wait_ns(now_ns, before_ns) + cost_ns(&there);
            let here_ns = wait_ns + cost_ns(&here) + self.required_lead_ns(on, &here, &there);
            let is_faster = cost_ns(&here) <= cost_ns(&there);
            Some((is_faster, there_ns - here_ns))
        };
        let is_open = |it: &Assigned| !it.is_bound && want.accepts(&it.task);
        let mut before_ns = 0.0;
        for (load_ns, it) in station.queue.iter() {
            if is_open(it) {
                let (is_faster, gain_ns) = gain_ns(it, before_ns)?;
                if is_faster && gain_ns > 0.0 {
                    return Some(StealCandidate { gain_ns, victim, task: it.task.id() });
                }
                break;
            }
            before_ns += load_ns;
        }
        let (mut before_ns, mut candidates) = (station.queue.load_ns(), 0);
        for (load_ns, it) in station.queue.iter().rev() {
            before_ns -= load_ns;
            if is_open(it) {
                let (_, gain_ns) = gain_ns(it, before_ns)?;
                candidates += 1;
                if gain_ns > 0.0 {
                    return Some(StealCandidate { gain_ns, victim, task: it.task.id() });
                }
                if candidates == STEAL_CANDIDATES_MAX {
                    break;
                }
            }
        }
        None
    }

    /// A pushed task may have been taken before and returned; the station then no longer runs it.
    fn forget_running(&mut self, task: TaskId, now_ns: f64) {
        for station in &mut self.stations {
            let _ = station.end(task, now_ns);
        }
    }

    fn assign(&mut self, Arrival { on, is_panel, assigned }: Arrival) {
        if on == Resource::HOST && is_panel {
            self.panel_ns += LATEST_PANEL_WEIGHT * (load_ns(&assigned.forecast) - self.panel_ns);
        }
        self.station(on).assign(assigned);
        self.epoch += 1;
    }

    fn record_taken(&mut self, on: Resource, found: Assigned, now_ns: f64) -> ReadyTask {
        self.station(on).take(found.task.id(), found.is_bound, found.forecast, now_ns);
        self.epoch += 1;
        found.task
    }
}

impl CapabilityWeights {
    /// Creates a policy for this number of places.
    #[must_use]
    pub fn new(places: usize) -> Self {
        Self {
            state: Mutex::default(),
            inbox: Inbox::default(),
            held: AtomicUsize::new(0),
            host_only: Priority::new(places),
        }
    }

    fn state(&self) -> MutexGuard<'_, SchedulerState> {
        held(self.state.lock())
    }

    /// Returns the state after moving the inbox's tasks into it.
    #[inline]
    fn current<'m>(
        &self,
        mut state: MutexGuard<'m, SchedulerState>,
        outlook: &dyn Outlook,
    ) -> MutexGuard<'m, SchedulerState> {
        state.prepare(outlook);
        if self.inbox.has_any() {
            self.empty_inbox(&mut state, outlook);
        }
        state
    }

    #[inline(never)]
    fn empty_inbox(&self, state: &mut SchedulerState, outlook: &dyn Outlook) {
        let (mut arriving, now_ns) = (std::mem::take(&mut state.arriving), outlook.now_ns() as f64);
        self.inbox.swap(&mut arriving);
        for arrival in arriving.drain(..) {
            state.forget_running(arrival.assigned.task.id(), now_ns);
            state.assign(arrival);
        }
        state.arriving = arriving;
    }

    fn count_taken(&self, task: Option<ReadyTask>) -> Option<ReadyTask> {
        if task.is_some() {
            self.held.fetch_sub(1, Ordering::Relaxed);
        }
        task
    }

    /// Takes any task for a thread that clears up at the end, regardless of its assignment.
    fn take_any(&self, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        if self.held.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut state = self.state();
        let accepted = |it: &Assigned| want.accepts(&it.task);
        let found = state.stations.iter_mut().find_map(|station| station.remove_first(accepted));
        let found = found.or_else(|| self.inbox.remove_first(accepted));
        state.epoch += 1;
        self.count_taken(found.map(|it| it.task))
    }
}

impl Policy for CapabilityWeights {
    fn name(&self) -> &'static str {
        "capability-weights"
    }

    fn push(&self, by: Place, task: ReadyTask, outlook: &dyn Outlook) -> Option<Resource> {
        if outlook.resources() == 1 {
            return self.host_only.push(by, task, outlook);
        }
        // The outlook is queried before the lock is taken, because its answers come from foreign code.
        let is_panel = matches!(outlook.level(&task), Some(BlasLevel::One | BlasLevel::Two));
        let home = outlook.home(&task);
        let at_home = home.filter(|_| !is_panel).and_then(|home| Some((home, outlook.forecast(&task, home)?)));
        let is_outdone = |(on, it): &Assignment| {
            let host = outlook.forecast(&task, Resource::HOST).filter(|_| *on != Resource::HOST);
            host.is_some_and(|host| host_outdoes(&host, it, outlook))
        };
        let at_home = at_home.filter(|it| !is_outdone(it));
        // If the home resource can run the task, assign it there and skip the other forecasts.
        let mut forecasts = Forecasts::new();
        if at_home.is_none() {
            resources(outlook).for_each(|on| forecasts.push(outlook.forecast(&task, on)));
        }
        self.held.fetch_add(1, Ordering::Relaxed);
        let rule = at_home.or_else(|| bound_assignment(&forecasts, is_panel, home.filter(|_| is_panel)));
        let arrival = |task, (on, forecast), is_bound| {
            let assigned = Assigned { task, is_bound, is_home: home == Some(on), forecast };
            Arrival { on, is_panel, assigned }
        };
        // An issuer takes the lock next anyway, when it looks for tasks.
        let is_issuer = outlook.resource_at(by) != Resource::HOST;
        if let (Some(at), false) = (rule, is_issuer) {
            self.inbox.put(arrival(task, at, true));
            return Some(at.0);
        }
        let now_ns = outlook.now_ns() as f64;
        let mut state = self.current(self.state(), outlook);
        state.forget_running(task.id(), now_ns);
        let at = rule.unwrap_or_else(|| state.soonest_assignment(task.priority(), &forecasts, now_ns));
        state.assign(arrival(task, at, rule.is_some()));
        rule.map(|it| it.0)
    }

    fn take(&self, by: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        let Some(outlook) = want.outlook() else {
            return self.host_only.take(by, want).or_else(|| self.take_any(want));
        };
        let mut state = self.current(want.lock(&self.state)?, outlook);
        let task = state.take_own(outlook.resource_at(by), want, outlook);
        self.count_taken(task)
    }

    fn steal(&self, by: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        let Some(outlook) = want.outlook() else { return self.host_only.steal(by, want) };
        let mut state = self.current(want.lock(&self.state)?, outlook);
        let on = outlook.resource_at(by);
        let at = usize::from(on.0);
        if want.is_hasty() && state.failed_steal_epoch[at] == state.epoch {
            return None;
        }
        let task = state.steal(on, want, outlook);
        if task.is_none() {
            state.failed_steal_epoch[at] = state.epoch;
        }
        self.count_taken(task)
    }

    fn ended(&self, tasks: &[TaskId], outlook: &dyn Outlook) -> bool {
        let now_ns = outlook.now_ns() as f64;
        let mut state = self.current(self.state(), outlook);
        state.epoch += 1;
        let mut any = false;
        for (at, station) in state.stations.iter_mut().enumerate() {
            let mut is_surprising = false;
            for &task in tasks {
                is_surprising |= station.end(task, now_ns) == Deviation::Surprising;
            }
            // If no queued task may go to other resources, an update of the loads changes nothing.
            if is_surprising && station.has_unbound_queued() {
                let on = Resource(at as u16);
                station.reweigh(|task| outlook.forecast(task, on));
                any = true;
            }
        }
        any
    }

    fn is_late(&self, on: Resource, outlook: &dyn Outlook) -> bool {
        let now_ns = outlook.now_ns() as f64;
        let mut state = self.current(self.state(), outlook);
        let Some(station) = state.stations.get(usize::from(on.0)) else { return false };
        let is_late = station.is_late(now_ns) && station.has_unbound_queued();
        if is_late {
            // Makes resources look again whose last steal found nothing.
            state.epoch += 1;
        }
        is_late
    }

    fn follows_homes(&self) -> bool {
        true
    }

    fn hands_over(&self, by: Place, task: &ReadyTask) -> bool {
        self.host_only.hands_over(by, task)
    }
}

#[cfg(test)]
mod tests;
