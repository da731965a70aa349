//! The order in which a resource takes its own tasks.

use super::{
    super::{
        Forecast, Outlook, ReadyTask, Resource, TaskFilter, Transfers,
        station::{Assigned, Station},
    },
    SchedulerState,
};

/// The largest number of home tasks waiting for data from host memory that a device takes ahead. While the first of
/// them runs, the data of the others keep the link busy. With more, tasks that need no such data would find no room in
/// the queues.
const FETCHES_AHEAD_MAX: usize = 4;
/// How many tasks of equal priority a device compares to find the one with the shortest copies.
const COMPARED_TASKS_MAX: usize = 8;
/// A task must need this much less copying, as a share, to overtake the oldest task.
const TRANSFER_ADVANTAGE_MIN: f64 = 0.1;
/// How many tasks a device scans for one that needs no copies while its link is busy.
const SCANNED_TASKS_MAX: usize = 500;
/// Some tasks needed host data when they were assigned. The outlook is asked for the current copies of at most this
/// many of them.
const TRANSFER_QUERIES_MAX: usize = 64;

/// Returns whether the task needed no copies when it was assigned. Its operands may have been evicted since, but that
/// is too rare to ask about for every task.
fn needed_no_copies(it: &Assigned) -> bool {
    it.forecast.communication_ns == 0.0 && !it.needed_host_data()
}

impl SchedulerState {
    /// Takes the next of the resource's own tasks.
    pub(super) fn take_own(&mut self, on: Resource, want: &TaskFilter<'_>, outlook: &dyn Outlook) -> Option<ReadyTask> {
        let station = self.stations.get(usize::from(on.0))?;
        if on == Resource::HOST {
            let found = self.station(on).remove_first(|it| want.accepts(&it.task))?;
            return Some(self.record_taken(on, found, outlook.now_ns() as f64));
        }
        let (is_ahead, now_ns) = (station.is_busy(), outlook.now_ns() as f64);
        // A busy device takes ahead its bound tasks, and the first of the others if no other resource would now finish
        // it sooner.
        let is_here =
            |it: &Assigned| !is_ahead || it.is_bound || !self.is_better_elsewhere(on, &it.task, outlook, now_ns);
        let mut is_refused = false;
        let first = station.queue.iter().find_map(|(_, it)| {
            if !it.is_bound && is_refused || !want.accepts(&it.task) {
                return None;
            }
            is_refused = !is_here(it);
            (!is_refused).then_some(it)
        })?;
        let (moves, id) = match self.choose(on, first, want, outlook) {
            Choice::Take(moves, it) if it.task.id() == first.task.id() || is_here(it) => (moves, it.task.id()),
            Choice::Take(..) => (outlook.moves(&first.task, on), first.task.id()),
            Choice::Wait => return None,
        };
        let found = self.station(on).remove_first(|it| it.task.id() == id)?;
        for (others, (_, it)) in self.station(on).queue.iter().take(2).enumerate() {
            outlook.comes_soon(&it.task, others);
        }
        let forecast = Forecast { communication_ns: moves.ns, from_host: moves.from_host, ..found.forecast };
        Some(self.record_taken(on, Assigned { forecast, ..found }, now_ns))
    }

    /// Chooses between this task and a later one of the same device.
    fn choose<'a>(
        &'a self,
        on: Resource,
        first: &'a Assigned,
        want: &TaskFilter<'_>,
        outlook: &dyn Outlook,
    ) -> Choice<'a> {
        let station = &self.stations[usize::from(on.0)];
        let accepts = |it: &&Assigned| want.accepts(&it.task);
        let from_first = station.queue.iter().map(|(_, it)| it).skip_while(|it| it.task.id() != first.task.id());
        if first.task.priority() <= 0
            && station.any_needed_host_data()
            && let Some(next) = choose_fetch_ahead(station, on, from_first.clone().filter(accepts), outlook)
        {
            return next;
        }
        if needed_no_copies(first) {
            return Choice::Take(Transfers::NOTHING, first);
        }
        let is_equal = |it: &&Assigned| it.task.priority() == first.task.priority();
        let mut equals = from_first.skip(1).take_while(is_equal).filter(accepts).peekable();
        if equals.peek().is_none() {
            return Choice::Take(Transfers { ns: first.forecast.communication_ns, ..Transfers::NOTHING }, first);
        }
        choose_shortest_copies(station, on, first, equals, outlook)
    }
}

/// Chooses a task that keeps the link busy with data dealt to the device. While few taken tasks wait for such data,
/// this is the first task whose data must be fetched; otherwise it is the first task that needs no fetch. Returns
/// `None` if memory is short or if there is no such task.
fn choose_fetch_ahead<'a>(
    station: &Station,
    on: Resource,
    all: impl Iterator<Item = &'a Assigned>,
    outlook: &dyn Outlook,
) -> Option<Choice<'a>> {
    let sent = station.waiting_for_host();
    let mut queries = 0;
    let mut here = None;
    for it in all.take(SCANNED_TASKS_MAX) {
        let mut moves = it.forecast.moves();
        if it.needed_host_data() {
            queries += 1;
            moves = outlook.moves(&it.task, on);
        }
        if !it.needed_host_data() || !moves.from_host {
            here = here.or(Some(Choice::Take(moves, it)));
        } else if !moves.has_room {
            return None;
        } else if sent < FETCHES_AHEAD_MAX && moves.ns > 0.0 {
            return Some(Choice::Take(moves, it));
        }
        if queries == TRANSFER_QUERIES_MAX || sent >= FETCHES_AHEAD_MAX && here.is_some() {
            break;
        }
    }
    here.or((sent > 0).then_some(Choice::Wait))
}

/// Chooses, from the first task and the next few of equal priority, the one with the shortest copies relative to its
/// computation.
fn choose_shortest_copies<'a>(
    station: &Station,
    on: Resource,
    first: &'a Assigned,
    mut equals: impl Iterator<Item = &'a Assigned>,
    outlook: &dyn Outlook,
) -> Choice<'a> {
    // Relative to the computation, so that small tasks have no advantage over large ones.
    let share = |moves: Transfers, it: &Assigned| moves.ns / it.forecast.computation_ns.max(1.0);
    let moves = outlook.moves(&first.task, on);
    let (mut best, mut least) = ((moves, first), (1.0 - TRANSFER_ADVANTAGE_MIN) * share(moves, first));
    for it in equals.by_ref().take(COMPARED_TASKS_MAX) {
        if least == 0.0 {
            break;
        }
        let moves = outlook.moves(&it.task, on);
        if share(moves, it) < least {
            (best, least) = ((moves, it), share(moves, it));
        }
    }
    // If the copies would take longer than the work in hand, take only one such task at a time, and a task that needs
    // no copies meanwhile.
    if station.is_fetching() && best.0.ns > station.in_hand_ns() {
        let here = equals.take(SCANNED_TASKS_MAX).find(|it| needed_no_copies(it));
        best = here.map_or(best, |it| (Transfers::NOTHING, it));
    }
    Choice::Take(best.0, best.1)
}

/// A device's choice of its next task.
enum Choice<'a> {
    /// Take this task, which needs these copies.
    Take(Transfers, &'a Assigned),
    /// Take no task until a running one has ended.
    Wait,
}
