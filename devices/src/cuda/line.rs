//! [`Line`]: what is in a queue, as everybody may see it: the issuer that collects it, and the queues of other devices that wait for it.
//!
//! One lock guards it, which nobody holds while the driver is called, but to ask for the times of work that is over. So an event is looked up
//! under the lock and waited for without it. By then its work may be over, and the event recorded anew, behind later work of the same queue.
//! That only makes the wait longer, and can not make a circle: what is being issued has no ticket yet, so nothing in any queue waits for it.
//!
//! Events go round: when work is over, its event is spare, and later work of the queue takes it; only the end of the timed work that was
//! collected last is kept, until the next is timed from it. So a queue has about as many events as it ever had work in it at once, and in the
//! steady state nothing is allocated.

use super::{
    clock::DeviceClock,
    context::Context,
    marks::{Marks, Stock, over_among},
    outcome::{Judge, Word},
    stream::{Kind, Mark, is_over},
};
use cudarc::driver::sys::CUevent;
use std::{
    collections::VecDeque,
    fmt,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use superscalar_runtime::{DeviceError, Event};

/// How many failures are remembered. Who waits for an older one was told of it by its report.
const FAILURES_MAX: usize = 4096;

/// A task or a copy in a queue.
#[derive(Default)]
pub(super) struct Work {
    pub(super) ticket: u64,
    pub(super) stage: Stage,
    pub(super) marks: Marks,
    pub(super) judges: Vec<(Word, Judge)>,
    /// How long it took, if that is known otherwise than by marks.
    pub(super) busy_ns: Option<u64>,
    /// When it ended, by the device's clock, if that was asked for and is known.
    pub(super) ended_ns: Option<f64>,
    /// Why it fails, if that is known before it ends.
    pub(super) failed: Option<DeviceError>,
}

impl fmt::Debug for Work {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ticket, stage, failed, .. } = self;
        write!(out, "Work {{ ticket: {ticket}, stage: {stage:?}, failed: {failed:?} }}")
    }
}

impl Work {
    /// How long it took, if that is known.
    fn taken_ns(&self) -> Option<u64> {
        let Marks { begin, end } = &self.marks;
        self.busy_ns.or_else(|| Some(end.as_ref()?.since_ns(begin.as_ref()?)? as u64))
    }
}

/// How far work has come on its way into the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// All of it is in the stream; it ends with its mark.
    #[default]
    Issued,
    /// A copier has it, and its mark is not recorded yet.
    Held,
    /// What the device does of it ends with its mark; the copier still has work with host memory.
    Landing,
    /// The copier is done with it.
    Landed,
}

/// What there is to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Nothing: it is over.
    Over,
    /// It has failed, or will.
    Failed,
    /// The event. Behind it the copier may still have work with host memory.
    Event(CUevent, Stage),
    /// It has no event yet.
    Held,
}

#[derive(Debug)]
pub(super) struct Line {
    context: Arc<Context>,
    inside: Mutex<Inside>,
    /// A copier has brought something forward.
    moved: Condvar,
    in_flight: AtomicUsize,
    /// How much of it copiers have.
    with_copier: AtomicUsize,
}

/// The end of the timed work that was collected last: what comes behind it is timed from it.
#[derive(Debug)]
struct LastEnd {
    mark: Mark,
    /// By the device's clock. Not rounded, as it is the sum of all times since that began.
    ended_ns: f64,
}

#[derive(Debug, Default)]
struct Inside {
    last_ticket: u64,
    works: VecDeque<Work>,
    /// What works in flight wait for, by their tickets.
    waits: VecDeque<(u64, Event)>,
    spare: Stock,
    failed: VecDeque<u64>,
    last_end: Option<LastEnd>,
    /// So many of the oldest are over.
    known_over: usize,
    /// So many were not, one more or less, when that was asked last.
    left: usize,
}

/// The oldest work, as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Front {
    pub(super) ticket: u64,
    pub(super) stage: Stage,
    pub(super) event: Option<CUevent>,
}

impl Line {
    pub(super) fn new(context: Arc<Context>) -> Self {
        let (in_flight, with_copier) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { context, inside: Mutex::default(), moved: Condvar::new(), in_flight, with_copier }
    }

    /// How much is in the queue.
    #[inline]
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::SeqCst)
    }

    /// Whether copiers have some of it.
    #[inline]
    pub(super) fn is_with_copier(&self) -> bool {
        self.with_copier.load(Ordering::SeqCst) > 0
    }

    /// Marks for work that is about to be put in: from the stock, or if that is empty from all that is spare by now.
    pub(super) fn marks(&self, stock: &mut Stock, is_timed: bool) -> Result<Marks, DeviceError> {
        if is_timed && stock.timed.len() < 2 {
            stock.timed.append(&mut self.lock().spare.timed);
        } else if !is_timed && stock.plain.is_empty() {
            std::mem::swap(&mut stock.plain, &mut self.lock().spare.plain);
        }
        let (begin, end) = match is_timed {
            true => (stock.timed.pop(), stock.timed.pop()),
            false => (None, stock.plain.pop()),
        };
        let made = |mark: Option<Mark>, kind| mark.map_or_else(|| Mark::new(&self.context, kind), Ok);
        Ok(match is_timed {
            true => Marks { begin: Some(made(begin, Kind::Timed)?), end: Some(made(end, Kind::Timed)?) },
            false => Marks { begin: None, end: Some(made(end, Kind::Plain)?) },
        })
    }

    /// Gives back marks that were not used.
    pub(super) fn keep(&self, marks: Marks) {
        self.lock().spare.keep(marks);
    }

    /// Puts work in, and returns its ticket. Whoever puts something into the queue's stream does so one at a time, in the order of
    /// the tickets.
    pub(super) fn push(&self, mut work: Work, waits: &[Event]) -> u64 {
        // Before the issuer can take it out again.
        self.in_flight.fetch_add(1, Ordering::SeqCst);
        let mut inside = self.lock();
        // Zero is no ticket.
        let ticket = inside.last_ticket.checked_add(1).unwrap_or(1);
        inside.last_ticket = ticket;
        work.ticket = ticket;
        if work.stage != Stage::Issued {
            self.with_copier.fetch_add(1, Ordering::SeqCst);
        }
        inside.works.push_back(work);
        inside.waits.extend(waits.iter().map(|&event| (ticket, event)));
        ticket
    }

    /// What there is to wait for before this ticket's work is over.
    pub(super) fn look(&self, ticket: u64) -> Look {
        let inside = self.lock();
        match inside.find(ticket).map(|at| &inside.works[at]) {
            None if inside.failed.contains(&ticket) => Look::Failed,
            None => Look::Over,
            Some(work) if work.failed.is_some() => Look::Failed,
            Some(Work { stage: Stage::Held, .. }) => Look::Held,
            Some(Work { stage: Stage::Landed, .. }) => Look::Over,
            Some(_) => inside.last_mark(ticket).map_or(Look::Over, |(mark, stage)| Look::Event(mark.raw(), stage)),
        }
    }

    /// Waits until a copier has brought something forward, or for so long.
    pub(super) fn wait_for_copier(&self, ticket: u64, at_most: Duration) {
        let is_held = |inside: &mut Inside| {
            inside.find(ticket).is_some_and(|at| matches!(inside.works[at].stage, Stage::Held | Stage::Landing))
        };
        let mut inside = self.lock();
        if is_held(&mut inside) {
            drop(self.moved.wait_timeout(inside, at_most).unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// A copier has put all of a copy into the stream: from now on it is like any other work there.
    pub(super) fn issued(&self, ticket: u64, marks: Marks) {
        let mut inside = self.lock();
        if let Some(at) = inside.find(ticket) {
            let work = &mut inside.works[at];
            (work.stage, work.marks) = (Stage::Issued, marks);
            self.with_copier.fetch_sub(1, Ordering::SeqCst);
        }
        drop(inside);
        self.moved.notify_all();
    }

    /// A copier has put the device's part of a copy into the stream.
    pub(super) fn landing(&self, ticket: u64, marks: Marks) {
        let mut inside = self.lock();
        if let Some(at) = inside.find(ticket) {
            let work = &mut inside.works[at];
            (work.stage, work.marks) = (Stage::Landing, marks);
        }
        drop(inside);
        self.moved.notify_all();
    }

    /// A copier is done with a copy.
    pub(super) fn landed(&self, ticket: u64, busy_ns: u64, result: Result<(), DeviceError>) {
        let mut inside = self.lock();
        if let Some(at) = inside.find(ticket) {
            let work = &mut inside.works[at];
            (work.stage, work.busy_ns, work.failed) = (Stage::Landed, Some(busy_ns), result.err());
            self.with_copier.fetch_sub(1, Ordering::SeqCst);
        }
        drop(inside);
        self.moved.notify_all();
    }

    pub(super) fn front(&self) -> Option<Front> {
        self.lock().front(0)
    }

    /// Whether something in the queue is over, or the driver does not know.
    pub(super) fn is_due(&self) -> bool {
        self.in_flight() > 0 && self.over().map_or(true, |over| over > 0)
    }

    /// How many of the oldest works are over, at least: what is found is known until they are taken out.
    pub(super) fn over(&self) -> Result<usize, DeviceError> {
        let (last, left) = {
            let inside = self.lock();
            if inside.known_over > 0 {
                return Ok(inside.known_over);
            }
            match inside.front(0) {
                Some(Front { stage: Stage::Landed, .. }) => return Ok(1),
                Some(Front { stage: Stage::Issued, event: None, .. }) => return Ok(inside.empty()),
                Some(Front { stage: Stage::Issued, .. }) => (inside.issued() - 1, inside.left),
                _ => return Ok(0),
            }
        };
        let over = over_among(last, left, |at| match self.lock().front(at).and_then(|one| one.event) {
            Some(event) => is_over(event),
            None => Ok(false),
        })?;
        let mut inside = self.lock();
        (inside.known_over, inside.left) = (over, last.saturating_sub(over));
        Ok(over)
    }

    /// Takes the oldest works, which are over, out of the queue, as far as they have not failed and leave nothing to judge, and there is
    /// room for what is to be told of them; says how many. One lock for all of them.
    pub(super) fn close_plain(&self, closed: &mut [Closed], clock: Option<&DeviceClock>) -> usize {
        let mut inside = self.lock();
        let is_plain = |work: &Work| work.judges.is_empty() && work.failed.is_none();
        let mut count = 0;
        while let (Some(place), true) = (closed.get_mut(count), inside.works.front().is_some_and(is_plain)) {
            let Some(work) = inside.works.pop_front() else { break };
            let ended_ns = inside.ended_ns(&work, clock);
            *place = Closed { ticket: work.ticket, busy_ns: work.taken_ns(), ended_ns };
            inside.forget_waits(work.ticket);
            inside.keep_ended(work.marks, ended_ns);
            count += 1;
        }
        inside.known_over = inside.known_over.saturating_sub(count);
        drop(inside);
        self.in_flight.fetch_sub(count, Ordering::SeqCst);
        count
    }

    /// Takes what the oldest work leaves to judge; it stays in the queue, so that nobody takes it for well ended.
    pub(super) fn open_front(&self, clock: Option<&DeviceClock>) -> Option<Opened> {
        let mut inside = self.lock();
        let ended_ns = inside.ended_ns(inside.works.front()?, clock);
        let work = inside.works.front_mut()?;
        work.ended_ns = ended_ns;
        let judges = std::mem::take(&mut work.judges);
        let failed = work.failed.clone();
        Some(Opened { ticket: work.ticket, judges, failed, busy_ns: work.taken_ns(), ended_ns })
    }

    /// What a work in flight waits for, one after the other.
    pub(super) fn awaited(&self, ticket: u64) -> Vec<Event> {
        let inside = self.lock();
        inside.waits.iter().filter(|(of, _)| *of == ticket).map(|&(_, event)| event).collect()
    }

    /// Whether a work in flight waits for one of these.
    pub(super) fn awaits(&self, ticket: u64, is_one: impl Fn(Event) -> bool) -> bool {
        self.lock().waits.iter().any(|&(of, event)| of == ticket && is_one(event))
    }

    /// Whether something in the queue waits for one of these.
    pub(super) fn waits_for(&self, is_one: impl Fn(Event) -> bool) -> bool {
        self.lock().waits.iter().any(|&(_, event)| is_one(event))
    }

    /// Takes the oldest work out of the queue. Its marks are spare from now on.
    pub(super) fn close_front(&self, has_failed: bool) {
        let mut inside = self.lock();
        let Some(work) = inside.works.pop_front() else { return };
        inside.forget_waits(work.ticket);
        if has_failed {
            if inside.failed.len() == FAILURES_MAX {
                inside.failed.pop_front();
            }
            inside.failed.push_back(work.ticket);
        }
        inside.keep_ended(work.marks, work.ended_ns);
        inside.known_over = inside.known_over.saturating_sub(1);
        drop(inside);
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of work that left nothing to judge.
#[derive(Clone, Copy, Default)]
pub(super) struct Closed {
    pub(super) ticket: u64,
    pub(super) busy_ns: Option<u64>,
    /// By the device's clock.
    pub(super) ended_ns: Option<f64>,
}

/// What the oldest work has come to.
pub(super) struct Opened {
    pub(super) ticket: u64,
    pub(super) judges: Vec<(Word, Judge)>,
    pub(super) failed: Option<DeviceError>,
    pub(super) busy_ns: Option<u64>,
    /// By the device's clock.
    pub(super) ended_ns: Option<f64>,
}

impl Inside {
    /// Where a work is. Tickets go up by one, so it is mostly where it should be; zero, which is left out when they begin anew, shifts it.
    fn find(&self, ticket: u64) -> Option<usize> {
        let first = self.works.front()?.ticket;
        let at = ticket.wrapping_sub(first) as usize;
        [at, at.wrapping_sub(1)].into_iter().find(|&at| self.works.get(at).is_some_and(|work| work.ticket == ticket))
    }

    fn front(&self, at: usize) -> Option<Front> {
        let Work { ticket, stage, marks, .. } = self.works.get(at)?;
        Some(Front { ticket: *ticket, stage: *stage, event: marks.end.as_ref().map(Mark::raw) })
    }

    /// The mark behind which this ticket's work is over: its own, or if it has none that of work before it.
    fn last_mark(&self, ticket: u64) -> Option<(&Mark, Stage)> {
        let at = self.find(ticket)?;
        self.works.range(..=at).rev().find_map(|work| Some((work.marks.end.as_ref()?, work.stage)))
    }

    /// How many of the oldest works have put nothing into the stream.
    fn empty(&self) -> usize {
        self.works.iter().take_while(|work| work.stage == Stage::Issued && work.marks.end.is_none()).count()
    }

    /// How many of the oldest works are wholly in the stream.
    fn issued(&self) -> usize {
        self.works.iter().take_while(|work| work.stage == Stage::Issued && work.marks.end.is_some()).count()
    }

    /// What the oldest work has waited for is nobody's concern any more.
    fn forget_waits(&mut self, ticket: u64) {
        while self.waits.front().is_some_and(|(of, _)| *of == ticket) {
            self.waits.pop_front();
        }
    }

    /// When work that is over has ended, by the device's clock, if it has one and the work is timed by marks alone.
    fn ended_ns(&self, work: &Work, clock: Option<&DeviceClock>) -> Option<f64> {
        let (clock, end) = (clock?, work.marks.end.as_ref()?);
        if work.busy_ns.is_some() || work.marks.begin.is_none() {
            return None;
        }
        match &self.last_end {
            Some(LastEnd { mark, ended_ns }) => Some(ended_ns + end.since_ns(mark)?),
            None => clock.since_origin_ns(end),
        }
    }

    /// Keeps the marks of work that is over, and if it is known when that was, its end for what comes behind it.
    fn keep_ended(&mut self, mut marks: Marks, ended_ns: Option<f64>) {
        if let Some(ended_ns) = ended_ns
            && let Some(mark) = marks.end.take()
        {
            let before = self.last_end.replace(LastEnd { mark, ended_ns });
            marks.end = before.map(|before| before.mark);
        }
        self.spare.keep(marks);
    }
}
