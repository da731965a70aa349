//! Each task goes where it will be finished first (task-superscalar, section 5.2).

mod inbox;
mod order;

use self::inbox::{Arrival, Inbox};
use super::{
    BlasLevel, Forecast, Outlook, Place, Policy, Priority, ReadyTask, Resource, TaskId, Want, held,
    station::{Assigned, Ended, Station, load_ns},
};
use smallvec::SmallVec;
use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicUsize, Ordering},
};

/// Greedy scheduling by capability weights.
///
/// *Assignment.* A task that has become ready is assigned to the resource that is expected to finish it first: after what the resource
/// has taken and not finished, after what is assigned to it and no less urgent, after moving the task's data there, after the work
/// itself at the rate that its capability weight says. So resources of unequal speed get shares of that ratio. Exceptions:
///
/// - a task of level 1 or 2, such as a panel, is the host's, unless a device is faster by itself, with what must be moved;
/// - any other, and one that is no longer the host's, goes home if its data were dealt to a resource that can run it; but not where the host's
///   workers outdo all devices, which would keep them idle.
///
/// *Order.* Each resource takes what is assigned to it by priority, and among equals the one that was inserted first, as a serial run would,
/// whenever it became ready: so what goes on with some data comes before what begins with others. A device takes, of the first few of these,
/// the one with the least to be moved for the work that it is, as what is there may soon make room for something else, and one that needs
/// nothing before one whose data would come later than there is other work for. Data that were dealt to it, and for which there is room, it sends
/// for ahead, so that its link is never idle, and meanwhile takes what it has data for (`order.rs`). A device that is at work takes ahead only
/// what nobody else would finish sooner, as things stand by then: what it has not taken can still go elsewhere.
///
/// *Stealing.* Who has nothing of its own takes from another what it finishes sooner than the other would; a faster one the most
/// urgent, a slower one the last in the queue. What is somebody's by one of the two rules is not stolen. So a slow resource never begins a
/// task that a fast one would have finished before it, and the last tasks of a run are left to the fast ones.
///
/// *Accelerators first.* Where workers could add next to nothing, they leave everything to devices that these can do. Elsewhere a
/// worker takes a task from a faster device only if it finishes it a margin sooner; and the last worker
/// that is free only if it can do a panel besides, since a panel that waits for a worker keeps all devices waiting.
///
/// Without devices this is [`Priority`].
pub struct CapabilityWeights {
    state: Mutex<State>,
    /// What is somebody's by a rule, on its way into `state`.
    inbox: Inbox,
    /// How many tasks these two have.
    held: AtomicUsize,
    /// Where there are no devices.
    host_only: Priority,
}

/// A slower thief's advantage must be at least this share of what the task takes it: forecasts are not that exact.
const MARGIN: f64 = 0.125;
/// Where all devices together are so many times as fast as all workers, these leave the work to them: what they would add is little, and
/// a task that takes a worker hundreds of times as long holds up all that waits for it.
const HOPELESS: f64 = 20.0;
/// A thief looks at so many tasks of each victim.
const LOOKS: usize = 4;
/// The share of the latest panel in the mean of what panels take.
const PANEL_SHARE: f64 = 0.25;

/// By resource.
type Forecasts = SmallVec<[Option<Forecast>; 8]>;
/// Where a task goes, and what it takes there.
type Target = (Resource, Forecast);

#[derive(Default)]
struct State {
    /// By resource; empty until the first task comes.
    stations: Vec<Station>,
    /// Room for those that come; empty between calls.
    arriving: Vec<Arrival>,
    /// What panels take on the host.
    panel_ns: f64,
    /// Raised by whatever happens.
    epoch: u64,
    /// By resource: the epoch in which there was nothing to steal for it.
    in_vain: Vec<u64>,
}

/// The paper's cost: communication and computation.
fn cost_ns(forecast: &Forecast) -> f64 {
    forecast.computation_ns + forecast.communication_ns
}

fn resources(outlook: &dyn Outlook) -> impl Iterator<Item = Resource> {
    (0..outlook.resources()).map(Resource)
}

fn at(forecasts: &Forecasts, on: Resource) -> Option<&Forecast> {
    forecasts.get(usize::from(on.0)).and_then(Option::as_ref)
}

/// The devices that can run it.
fn devices(forecasts: &Forecasts) -> impl Iterator<Item = (Resource, &Forecast)> {
    (1..forecasts.len() as u16).map(Resource).filter_map(|on| Some((on, at(forecasts, on)?)))
}

fn fastest(forecasts: &Forecasts) -> Option<&Forecast> {
    devices(forecasts).map(|it| it.1).min_by(|a, b| cost_ns(a).total_cmp(&cost_ns(b)))
}

/// Who alone is to take a task, whatever they all have to do. A panel has its home only where the host would take longer.
fn by_rule(forecasts: &Forecasts, is_panel: bool, home: Option<Resource>) -> Option<Target> {
    let here = |on| Some((on, *at(forecasts, on)?));
    let (host, mut each) = (here(Resource::HOST), devices(forecasts));
    // What one of them alone can run is not others' either.
    match (host, each.next(), each.next()) {
        (_, None, _) => return Some(host.unwrap_or_default()),
        (None, Some((only, _)), None) => return here(only),
        _ => {}
    }
    let at_home = home.and_then(here);
    let other = at_home.as_ref().map(|it| &it.1).or_else(|| fastest(forecasts));
    let is_hosts = |it: &Target| is_panel && other.is_some_and(|other| cost_ns(&it.1) <= cost_ns(other));
    host.filter(is_hosts).or(at_home)
}

/// Whether the host's workers together are faster than all devices would be that are like this one.
fn host_outdoes(host: &Forecast, device: &Forecast, outlook: &dyn Outlook) -> bool {
    let devices = f64::from(outlook.resources() - 1);
    host.computation_ns * devices < device.computation_ns * outlook.workers() as f64
}

impl State {
    fn prepare(&mut self, outlook: &dyn Outlook) {
        if self.stations.is_empty() {
            let servers = |on| if on == Resource::HOST { outlook.workers().max(1) } else { 1 };
            self.stations = resources(outlook).map(|on| Station::new(servers(on))).collect();
            self.in_vain = vec![u64::MAX; self.stations.len()];
        }
    }

    fn station(&mut self, on: Resource) -> &mut Station {
        &mut self.stations[usize::from(on.0)]
    }

    /// How long it will be until the task is finished there, were it assigned now.
    fn done_ns(&self, on: Resource, priority: i32, forecast: &Forecast, now_ns: f64) -> f64 {
        let station = &self.stations[usize::from(on.0)];
        station.wait_ns(now_ns, station.queue.load_before_ns(priority)) + cost_ns(forecast)
    }

    /// What a worker must have in hand before it takes a task that a faster resource could do, of which that is the forecast.
    fn reserve_ns(&self, on: Resource, forecast: &Forecast, other: &Forecast) -> f64 {
        if cost_ns(forecast) <= cost_ns(other) {
            return 0.0;
        }
        let (workers, devices) = (self.workers() as f64, self.stations.len() as f64 - 1.0);
        if on == Resource::HOST && forecast.computation_ns * devices > HOPELESS * workers * other.computation_ns {
            return f64::INFINITY;
        }
        let margin_ns = MARGIN * cost_ns(forecast);
        let host = &self.stations[0];
        // Whoever takes it, one worker is to be left for the next panel, or free in time for it.
        let is_last = on == Resource::HOST && host.unbound() + 1 >= self.workers();
        margin_ns + if is_last { self.panel_ns } else { 0.0 }
    }

    fn workers(&self) -> usize {
        self.stations[0].servers
    }

    /// Where a task runs that may run elsewhere, too.
    fn greedy(&self, priority: i32, forecasts: &Forecasts, now_ns: f64) -> Target {
        let done_ns = |on, forecast| self.done_ns(on, priority, forecast, now_ns);
        let done = devices(forecasts).map(|(on, forecast)| (done_ns(on, forecast), (on, *forecast)));
        let soonest = done.min_by(|a, b| a.0.total_cmp(&b.0));
        let host = at(forecasts, Resource::HOST).zip(fastest(forecasts)).map(|(host, fastest)| {
            let reserve_ns = self.reserve_ns(Resource::HOST, host, fastest);
            (done_ns(Resource::HOST, host) + reserve_ns, (Resource::HOST, *host))
        });
        let other_ns = soonest.map_or(f64::INFINITY, |it| it.0);
        host.filter(|host| host.0 < other_ns).or(soonest).map(|it| it.1).unwrap_or_default()
    }

    fn is_better_elsewhere(&self, on: Resource, task: &ReadyTask, outlook: &dyn Outlook, now_ns: f64) -> bool {
        let Some(own) = outlook.forecast(task, on) else { return false };
        let own_done_ns = self.stations[usize::from(on.0)].wait_ns(now_ns, 0.0) + cost_ns(&own);
        resources(outlook).filter(|&other| other != on).any(|other| {
            outlook.forecast(task, other).is_some_and(|forecast| {
                let reserve_ns = self.reserve_ns(other, &forecast, &own).max(MARGIN * cost_ns(&forecast));
                self.done_ns(other, task.priority(), &forecast, now_ns) + reserve_ns < own_done_ns
            })
        })
    }

    /// A task of another's that is better off here.
    fn steal(&mut self, on: Resource, want: &Want<'_>, outlook: &dyn Outlook) -> Option<ReadyTask> {
        let now_ns = outlook.now_ns() as f64;
        let mut best: Option<(f64, Resource, TaskId)> = None;
        for victim in resources(outlook).filter(|&other| other != on) {
            let Some(station) = self.stations.get(usize::from(victim.0)) else { continue };
            let found = if outlook.is_lost(victim) {
                // It can do none that others can.
                let first = station.queue.iter().find(|(_, it)| want.accepts(&it.task));
                first.map(|(_, it)| (f64::INFINITY, it.task.id()))
            } else if station.is_open() {
                self.loot(on, victim, want, outlook, now_ns)
            } else {
                None
            };
            if let Some((gain_ns, task)) = found
                && best.is_none_or(|(most_ns, ..)| gain_ns > most_ns)
            {
                best = Some((gain_ns, victim, task));
            }
        }
        let (_, victim, task) = best?;
        let found = self.station(victim).remove_first(|it| it.task.id() == task)?;
        let forecast = outlook.forecast(&found.task, on).unwrap_or_default();
        Some(self.taken(on, Assigned { forecast, ..found }, now_ns))
    }

    /// What to take from a victim, and how much sooner it will be finished.
    fn loot(
        &self,
        on: Resource,
        victim: Resource,
        want: &Want<'_>,
        outlook: &dyn Outlook,
        now_ns: f64,
    ) -> Option<(f64, TaskId)> {
        let (station, own) = (&self.stations[usize::from(victim.0)], &self.stations[usize::from(on.0)]);
        let wait_ns = own.wait_ns(now_ns, 0.0);
        let gain_ns = |it: &Assigned, before_ns: f64| {
            let (here, there) = (outlook.forecast(&it.task, on)?, outlook.forecast(&it.task, victim)?);
            let there_ns = station.wait_ns(now_ns, before_ns) + cost_ns(&there);
            let here_ns = wait_ns + cost_ns(&here) + self.reserve_ns(on, &here, &there);
            let is_faster = cost_ns(&here) <= cost_ns(&there);
            Some((is_faster, there_ns - here_ns))
        };
        let is_open = |it: &Assigned| !it.is_bound && want.accepts(&it.task);
        let mut before_ns = 0.0;
        for (load_ns, it) in station.queue.iter() {
            if is_open(it) {
                let (is_faster, gain_ns) = gain_ns(it, before_ns)?;
                if is_faster && gain_ns > 0.0 {
                    return Some((gain_ns, it.task.id()));
                }
                break;
            }
            before_ns += load_ns;
        }
        let (mut before_ns, mut looks) = (station.queue.load_ns(), 0);
        for (load_ns, it) in station.queue.iter().rev() {
            before_ns -= load_ns;
            if is_open(it) {
                let (_, gain_ns) = gain_ns(it, before_ns)?;
                looks += 1;
                if gain_ns > 0.0 {
                    return Some((gain_ns, it.task.id()));
                }
                if looks == LOOKS {
                    break;
                }
            }
        }
        None
    }

    /// A task that has been pushed may be one that was taken and has come back.
    fn come_back(&mut self, task: TaskId, now_ns: f64) {
        for station in &mut self.stations {
            let _ = station.end(task, now_ns);
        }
    }

    fn assign(&mut self, Arrival { on, is_panel, assigned }: Arrival) {
        if on == Resource::HOST && is_panel {
            self.panel_ns += PANEL_SHARE * (load_ns(&assigned.forecast) - self.panel_ns);
        }
        self.station(on).assign(assigned);
        self.epoch += 1;
    }

    fn taken(&mut self, on: Resource, found: Assigned, now_ns: f64) -> ReadyTask {
        self.station(on).take(found.task.id(), found.is_bound, found.forecast, now_ns);
        self.epoch += 1;
        found.task
    }
}

impl CapabilityWeights {
    /// A policy for so many places.
    #[must_use]
    pub fn new(places: usize) -> Self {
        Self {
            state: Mutex::default(),
            inbox: Inbox::default(),
            held: AtomicUsize::new(0),
            host_only: Priority::new(places),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        held(self.state.lock())
    }

    /// The state, with what has come until now.
    #[inline]
    fn current<'m>(&self, mut state: MutexGuard<'m, State>, outlook: &dyn Outlook) -> MutexGuard<'m, State> {
        state.prepare(outlook);
        if self.inbox.has_any() {
            self.empty_inbox(&mut state, outlook);
        }
        state
    }

    #[inline(never)]
    fn empty_inbox(&self, state: &mut State, outlook: &dyn Outlook) {
        let (mut arriving, now_ns) = (std::mem::take(&mut state.arriving), outlook.now_ns() as f64);
        self.inbox.swap(&mut arriving);
        for arrival in arriving.drain(..) {
            state.come_back(arrival.assigned.task.id(), now_ns);
            state.assign(arrival);
        }
        state.arriving = arriving;
    }

    fn counted(&self, task: Option<ReadyTask>) -> Option<ReadyTask> {
        if task.is_some() {
            self.held.fetch_sub(1, Ordering::Relaxed);
        }
        task
    }

    /// For a thread that clears up: any task, whoever it was meant for.
    fn take_any(&self, want: &Want<'_>) -> Option<ReadyTask> {
        if self.held.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut state = self.state();
        let accepted = |it: &Assigned| want.accepts(&it.task);
        let found = state.stations.iter_mut().find_map(|station| station.remove_first(accepted));
        let found = found.or_else(|| self.inbox.remove_first(accepted));
        state.epoch += 1;
        self.counted(found.map(|it| it.task))
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
        // Asked before the lock is taken: the answers are not this policy's.
        let is_panel = matches!(outlook.level(&task), Some(BlasLevel::One | BlasLevel::Two));
        let home = outlook.home(&task);
        let at_home = home.filter(|_| !is_panel).and_then(|home| Some((home, outlook.forecast(&task, home)?)));
        let is_outdone = |(on, it): &Target| {
            let host = outlook.forecast(&task, Resource::HOST).filter(|_| *on != Resource::HOST);
            host.is_some_and(|host| host_outdoes(&host, it, outlook))
        };
        let at_home = at_home.filter(|it| !is_outdone(it));
        // Who can run it at home does, so nobody asks for more.
        let mut forecasts = Forecasts::new();
        if at_home.is_none() {
            resources(outlook).for_each(|on| forecasts.push(outlook.forecast(&task, on)));
        }
        self.held.fetch_add(1, Ordering::Relaxed);
        let rule = at_home.or_else(|| by_rule(&forecasts, is_panel, home.filter(|_| is_panel)));
        let arrival = |task, (on, forecast), is_bound| {
            let assigned = Assigned { task, is_bound, is_home: home == Some(on), forecast };
            Arrival { on, is_panel, assigned }
        };
        // An issuer looks for tasks itself, next.
        let is_issuer = outlook.resource_at(by) != Resource::HOST;
        if let (Some(at), false) = (rule, is_issuer) {
            self.inbox.put(arrival(task, at, true));
            return Some(at.0);
        }
        let now_ns = outlook.now_ns() as f64;
        let mut state = self.current(self.state(), outlook);
        state.come_back(task.id(), now_ns);
        let at = rule.unwrap_or_else(|| state.greedy(task.priority(), &forecasts, now_ns));
        state.assign(arrival(task, at, rule.is_some()));
        rule.map(|it| it.0)
    }

    fn take(&self, by: Place, want: &Want<'_>) -> Option<ReadyTask> {
        let Some(outlook) = want.outlook() else {
            return self.host_only.take(by, want).or_else(|| self.take_any(want));
        };
        let mut state = self.current(want.lock(&self.state)?, outlook);
        let task = state.take_own(outlook.resource_at(by), want, outlook);
        self.counted(task)
    }

    fn steal(&self, by: Place, want: &Want<'_>) -> Option<ReadyTask> {
        let Some(outlook) = want.outlook() else { return self.host_only.steal(by, want) };
        let mut state = self.current(want.lock(&self.state)?, outlook);
        let on = outlook.resource_at(by);
        let at = usize::from(on.0);
        if want.is_hasty() && state.in_vain[at] == state.epoch {
            return None;
        }
        let task = state.steal(on, want, outlook);
        if task.is_none() {
            state.in_vain[at] = state.epoch;
        }
        self.counted(task)
    }

    fn ended(&self, tasks: &[TaskId], outlook: &dyn Outlook) -> bool {
        let now_ns = outlook.now_ns() as f64;
        let mut state = self.current(self.state(), outlook);
        state.epoch += 1;
        let mut any = false;
        for (at, station) in state.stations.iter_mut().enumerate() {
            let mut is_surprising = false;
            for &task in tasks {
                is_surprising |= station.end(task, now_ns) == Ended::Surprising;
            }
            // If nobody else may have any of it, nothing can go elsewhere.
            if is_surprising && station.is_open() {
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
        let is_late = station.is_late(now_ns) && station.is_open();
        if is_late {
            // What was looked for in vain is there to be looked for again.
            state.epoch += 1;
        }
        is_late
    }

    fn hands_over(&self, by: Place, task: &ReadyTask) -> bool {
        self.host_only.hands_over(by, task)
    }
}

#[cfg(test)]
mod tests;
