//! Which of its own tasks a resource takes next.

use super::{
    super::{
        Forecast, Moves, Outlook, ReadyTask, Resource, Want,
        station::{Assigned, Station},
    },
    State,
};

/// So many tasks at home that wait for data from host memory a device takes ahead. While the first of them runs, the data of the others keep the
/// link busy; were there more, what needs no such data would find no room beside them.
const SENT_FOR: usize = 4;
/// A device looks at so many of its own for the one with the least to be moved.
const NEAR: usize = 8;
/// It has to be nearer than the oldest by this share to go before it.
const NEARER: f64 = 0.1;
/// And at so many more for one that needs nothing to be moved, if it waits for its link already.
const FAR: usize = 500;
/// So many that had to wait for data from host memory when they were assigned are asked whether they still have to.
const ASKED: usize = 64;

/// What was there when it was assigned is there still, but for what has made room: too rarely to be asked for every task.
fn was_there(it: &Assigned) -> bool {
    it.forecast.communication_ns == 0.0 && !it.was_afar()
}

impl State {
    /// The next of the resource's own tasks.
    pub(super) fn take_own(&mut self, on: Resource, want: &Want<'_>, outlook: &dyn Outlook) -> Option<ReadyTask> {
        let station = self.stations.get(usize::from(on.0))?;
        if on == Resource::HOST {
            let found = self.station(on).remove_first(|it| want.accepts(&it.task))?;
            return Some(self.taken(on, found, outlook.now_ns() as f64));
        }
        let (is_ahead, now_ns) = (station.is_busy(), outlook.now_ns() as f64);
        // Ahead of time: what is its own by rule, and the first of the others, if it is still best here.
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
        let (moves, id) = match self.instead_of(on, first, want, outlook) {
            Next::Take(moves, it) if it.task.id() == first.task.id() || is_here(it) => (moves, it.task.id()),
            Next::Take(..) => (outlook.moves(&first.task, on), first.task.id()),
            Next::Later => return None,
        };
        let found = self.station(on).remove_first(|it| it.task.id() == id)?;
        for (others, (_, it)) in self.station(on).queue.iter().take(2).enumerate() {
            outlook.comes_soon(&it.task, others);
        }
        let forecast = Forecast { communication_ns: moves.ns, from_host: moves.from_host, ..found.forecast };
        Some(self.taken(on, Assigned { forecast, ..found }, now_ns))
    }

    /// Whether the device takes this task, or another that comes later.
    fn instead_of<'a>(&'a self, on: Resource, first: &'a Assigned, want: &Want<'_>, outlook: &dyn Outlook) -> Next<'a> {
        let station = &self.stations[usize::from(on.0)];
        let accepts = |it: &&Assigned| want.accepts(&it.task);
        let from_first = station.queue.iter().map(|(_, it)| it).skip_while(|it| it.task.id() != first.task.id());
        if first.task.priority() <= 0
            && station.is_any_afar()
            && let Some(next) = sending(station, on, from_first.clone().filter(accepts), outlook)
        {
            return next;
        }
        if was_there(first) {
            return Next::Take(Moves::NOTHING, first);
        }
        let is_equal = |it: &&Assigned| it.task.priority() == first.task.priority();
        let mut equals = from_first.skip(1).take_while(is_equal).filter(accepts).peekable();
        if equals.peek().is_none() {
            return Next::Take(Moves { ns: first.forecast.communication_ns, ..Moves::NOTHING }, first);
        }
        nearest(station, on, first, equals, outlook)
    }
}

/// What keeps the link busy with data that were dealt to the device: while few of its tasks wait for such, it takes the first for which some
/// have to be sent for, and else the first that does not wait for any. None where memory is short, or if there is no such task.
fn sending<'a>(
    station: &Station,
    on: Resource,
    all: impl Iterator<Item = &'a Assigned>,
    outlook: &dyn Outlook,
) -> Option<Next<'a>> {
    let (sent, mut asked, mut here) = (station.waiting_for_host(), 0, None);
    for it in all.take(FAR) {
        let mut moves = it.forecast.moves();
        if it.was_afar() {
            asked += 1;
            moves = outlook.moves(&it.task, on);
        }
        if !it.was_afar() || !moves.from_host {
            here = here.or(Some(Next::Take(moves, it)));
        } else if !moves.has_room {
            return None;
        } else if sent < SENT_FOR && moves.ns > 0.0 {
            return Some(Next::Take(moves, it));
        }
        if asked == ASKED || sent >= SENT_FOR && here.is_some() {
            break;
        }
    }
    here.or((sent > 0).then_some(Next::Later))
}

/// Of the first and the next few that are as urgent, the one with the least to be moved for the work that it is.
fn nearest<'a>(
    station: &Station,
    on: Resource,
    first: &'a Assigned,
    mut equals: impl Iterator<Item = &'a Assigned>,
    outlook: &dyn Outlook,
) -> Next<'a> {
    // Near is what needs little for the work that it is: a small task is not nearer than a large one.
    let share = |moves: Moves, it: &Assigned| moves.ns / it.forecast.computation_ns.max(1.0);
    let moves = outlook.moves(&first.task, on);
    let (mut best, mut least) = ((moves, first), (1.0 - NEARER) * share(moves, first));
    for it in equals.by_ref().take(NEAR) {
        if least == 0.0 {
            break;
        }
        let moves = outlook.moves(&it.task, on);
        if share(moves, it) < least {
            (best, least) = ((moves, it), share(moves, it));
        }
    }
    // What comes later than there is work for is sent for, but one at a time: meanwhile there is time for what is here.
    if station.is_fetching() && best.0.ns > station.in_hand_ns() {
        let here = equals.take(FAR).find(|it| was_there(it));
        best = here.map_or(best, |it| (Moves::NOTHING, it));
    }
    Next::Take(best.0, best.1)
}

/// What a device does next.
enum Next<'a> {
    /// It takes this task, for which that has to be moved.
    Take(Moves, &'a Assigned),
    /// It takes none before something that it has taken has ended.
    Later,
}
