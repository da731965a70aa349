//! [`QueueState`]: the work in a queue, as seen by the issuer that collects it and by other queues that wait for it.
//!
//! One lock guards it. Nobody calls the driver while holding it, except to read the times of work that is over. An
//! event is therefore looked up under the lock and waited for without it. In between, its work may end and the event
//! may be recorded again, behind later work of the same queue. That only lengthens the wait. It cannot cause a
//! deadlock: the work being issued has no ticket yet, so no work in any queue waits for it.
//!
//! Events are reused: when work is over, its event is spare and is recorded for later work of the queue. Only the end
//! of the last collected timed work is kept until the next one has been timed from it. A queue therefore has about as
//! many events as it ever had pieces of work at once, and allocates nothing in the steady state.

use super::{
    clock::DeviceClock,
    context::Context,
    marks::{SpareMarks, WorkMarks, count_over},
    outcome::{OutcomeCheck, OutcomeSlot},
    stream::{Mark, Timing, is_over},
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

/// The number of failed tickets that are remembered. Failures older than that have already been reported, so later
/// waiters learn of them from the report.
const FAILURES_MAX: usize = 4096;

/// A task or a copy in a queue.
#[derive(Default)]
pub(super) struct QueuedWork {
    pub(super) ticket: u64,
    pub(super) stage: Stage,
    pub(super) marks: WorkMarks,
    pub(super) checks: Vec<(OutcomeSlot, OutcomeCheck)>,
    /// How long it took, if that is known from another source than its marks.
    pub(super) busy_ns: Option<u64>,
    /// The device time of its end, if it is timed.
    pub(super) ended_ns: Option<f64>,
    /// Why it fails, if that is known before it ends.
    pub(super) failed: Option<DeviceError>,
}

impl fmt::Debug for QueuedWork {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ticket, stage, failed, .. } = self;
        write!(out, "QueuedWork {{ ticket: {ticket}, stage: {stage:?}, failed: {failed:?} }}")
    }
}

impl QueuedWork {
    /// Returns how long the work took, if that is known.
    fn taken_ns(&self) -> Option<u64> {
        let WorkMarks { begin, end } = &self.marks;
        self.busy_ns.or_else(|| Some(end.as_ref()?.since_ns(begin.as_ref()?)? as u64))
    }
}

/// How much of the work is in the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// All of it is in the stream; it ends with its mark.
    #[default]
    Issued,
    /// A copier holds it, and its mark is not recorded yet.
    AtCopier,
    /// The device's part ends with its mark; the copier still has to write host memory.
    WritingHost,
    /// The copier has finished it.
    CopierDone,
}

/// The status of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventStatus {
    /// Its work is over.
    Over,
    /// Its work has failed or will fail.
    Failed,
    /// The driver's event to wait for. The copier may have to write host memory after it.
    Event(CUevent, Stage),
    /// A copier holds the work, and no event is recorded yet.
    NoEvent,
}

#[derive(Debug)]
pub(super) struct QueueState {
    context: Arc<Context>,
    contents: Mutex<Contents>,
    /// Notified when a copier has advanced some work.
    advanced: Condvar,
    in_flight: AtomicUsize,
    /// The number of pieces of work that copiers hold.
    at_copier: AtomicUsize,
}

/// The end of the last collected timed work, from which later work is timed.
#[derive(Debug)]
struct LastEnd {
    mark: Mark,
    /// In device time. Not rounded, because it is the sum of all times since the clock's start.
    ended_ns: f64,
}

#[derive(Debug, Default)]
struct Contents {
    last_ticket: u64,
    queued: VecDeque<QueuedWork>,
    /// The events that work in flight waits for, each with the ticket of the waiting work.
    waits: VecDeque<(u64, Event)>,
    spare: SpareMarks,
    failed: VecDeque<u64>,
    last_end: Option<LastEnd>,
    /// A lower bound of how many of the oldest pieces of work are over.
    known_over: usize,
    /// About how many pieces of work were not over at the last query.
    expected_left: usize,
}

/// The current state of one piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WorkSnapshot {
    pub(super) ticket: u64,
    pub(super) stage: Stage,
    pub(super) event: Option<CUevent>,
}

impl QueueState {
    pub(super) fn new(context: Arc<Context>) -> Self {
        let (in_flight, at_copier) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { context, contents: Mutex::default(), advanced: Condvar::new(), in_flight, at_copier }
    }

    /// Returns the number of pieces of work in the queue.
    #[inline]
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::SeqCst)
    }

    /// Returns whether copiers hold work of this queue.
    #[inline]
    pub(super) fn has_copier_work(&self) -> bool {
        self.at_copier.load(Ordering::SeqCst) > 0
    }

    /// Returns marks for work that is about to be inserted: from the stock, from the spare ones, or new.
    pub(super) fn marks(&self, spare_marks: &mut SpareMarks, is_timed: bool) -> Result<WorkMarks, DeviceError> {
        if is_timed && spare_marks.timed.len() < 2 {
            spare_marks.timed.append(&mut self.lock().spare.timed);
        } else if !is_timed && spare_marks.plain.is_empty() {
            std::mem::swap(&mut spare_marks.plain, &mut self.lock().spare.plain);
        }
        let (begin, end) = match is_timed {
            true => (spare_marks.timed.pop(), spare_marks.timed.pop()),
            false => (None, spare_marks.plain.pop()),
        };
        let made = |mark: Option<Mark>, kind| mark.map_or_else(|| Mark::new(&self.context, kind), Ok);
        Ok(match is_timed {
            true => WorkMarks { begin: Some(made(begin, Timing::Timed)?), end: Some(made(end, Timing::Timed)?) },
            false => WorkMarks { begin: None, end: Some(made(end, Timing::Untimed)?) },
        })
    }

    /// Returns unused marks to the spare ones.
    pub(super) fn keep(&self, marks: WorkMarks) {
        self.lock().spare.keep(marks);
    }

    /// Adds work and returns its ticket. Inserters of the queue call this one at a time, in the order of their commands
    /// in the stream.
    pub(super) fn push(&self, mut work: QueuedWork, waits: &[Event]) -> u64 {
        // Counted before the issuer can remove it.
        self.in_flight.fetch_add(1, Ordering::SeqCst);
        let mut contents = self.lock();
        // Zero is not a valid ticket.
        let ticket = contents.last_ticket.checked_add(1).unwrap_or(1);
        contents.last_ticket = ticket;
        work.ticket = ticket;
        if work.stage != Stage::Issued {
            self.at_copier.fetch_add(1, Ordering::SeqCst);
        }
        contents.queued.push_back(work);
        contents.waits.extend(waits.iter().map(|&event| (ticket, event)));
        ticket
    }

    /// Returns the status of a ticket's work.
    pub(super) fn status(&self, ticket: u64) -> EventStatus {
        let contents = self.lock();
        match contents.find(ticket).map(|at| &contents.queued[at]) {
            None if contents.failed.contains(&ticket) => EventStatus::Failed,
            None => EventStatus::Over,
            Some(work) if work.failed.is_some() => EventStatus::Failed,
            Some(QueuedWork { stage: Stage::AtCopier, .. }) => EventStatus::NoEvent,
            Some(QueuedWork { stage: Stage::CopierDone, .. }) => EventStatus::Over,
            Some(_) => contents
                .last_mark(ticket)
                .map_or(EventStatus::Over, |(mark, stage)| EventStatus::Event(mark.raw(), stage)),
        }
    }

    /// Waits until a copier has advanced some work, or for at most `at_most`.
    pub(super) fn wait_for_copier(&self, ticket: u64, at_most: Duration) {
        let is_held = |contents: &mut Contents| {
            contents
                .find(ticket)
                .is_some_and(|at| matches!(contents.queued[at].stage, Stage::AtCopier | Stage::WritingHost))
        };
        let mut contents = self.lock();
        if is_held(&mut contents) {
            drop(self.advanced.wait_timeout(contents, at_most).unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Records that a copier has put all of a copy into the stream. From now on it is like any other work there.
    pub(super) fn set_issued(&self, ticket: u64, marks: WorkMarks) {
        let mut contents = self.lock();
        if let Some(at) = contents.find(ticket) {
            let work = &mut contents.queued[at];
            (work.stage, work.marks) = (Stage::Issued, marks);
            self.at_copier.fetch_sub(1, Ordering::SeqCst);
        }
        drop(contents);
        self.advanced.notify_all();
    }

    /// Records that a copier has put the device's part of a copy into the stream.
    pub(super) fn set_writing_host(&self, ticket: u64, marks: WorkMarks) {
        let mut contents = self.lock();
        if let Some(at) = contents.find(ticket) {
            let work = &mut contents.queued[at];
            (work.stage, work.marks) = (Stage::WritingHost, marks);
        }
        drop(contents);
        self.advanced.notify_all();
    }

    /// Records that a copier has finished a copy.
    pub(super) fn set_copier_done(&self, ticket: u64, busy_ns: u64, result: Result<(), DeviceError>) {
        let mut contents = self.lock();
        if let Some(at) = contents.find(ticket) {
            let work = &mut contents.queued[at];
            (work.stage, work.busy_ns, work.failed) = (Stage::CopierDone, Some(busy_ns), result.err());
            self.at_copier.fetch_sub(1, Ordering::SeqCst);
        }
        drop(contents);
        self.advanced.notify_all();
    }

    pub(super) fn oldest(&self) -> Option<WorkSnapshot> {
        self.lock().snapshot(0)
    }

    /// Returns whether work in the queue is over, or the query failed.
    pub(super) fn is_due(&self) -> bool {
        self.in_flight() > 0 && self.over().map_or(true, |over| over > 0)
    }

    /// Returns a lower bound of how many of the oldest pieces of work are over. The result is cached until they are
    /// removed.
    pub(super) fn over(&self) -> Result<usize, DeviceError> {
        let (last, expected_left) = {
            let contents = self.lock();
            if contents.known_over > 0 {
                return Ok(contents.known_over);
            }
            match contents.snapshot(0) {
                Some(WorkSnapshot { stage: Stage::CopierDone, .. }) => return Ok(1),
                Some(WorkSnapshot { stage: Stage::Issued, event: None, .. }) => return Ok(contents.count_unmarked()),
                Some(WorkSnapshot { stage: Stage::Issued, .. }) => {
                    (contents.count_marked() - 1, contents.expected_left)
                }
                _ => return Ok(0),
            }
        };
        let over = count_over(last, expected_left, |at| match self.lock().snapshot(at).and_then(|one| one.event) {
            Some(event) => is_over(event),
            None => Ok(false),
        })?;
        let mut contents = self.lock();
        (contents.known_over, contents.expected_left) = (over, last.saturating_sub(over));
        Ok(over)
    }

    /// Removes the oldest pieces of work, which are over, under one lock: as many as fit into `closed`, up to the first
    /// that has failed or has outcomes to check. Returns their number.
    pub(super) fn remove_plain(&self, closed: &mut [PlainEnd], clock: Option<&DeviceClock>) -> usize {
        let mut contents = self.lock();
        let is_plain = |work: &QueuedWork| work.checks.is_empty() && work.failed.is_none();
        let mut count = 0;
        while let (Some(place), true) = (closed.get_mut(count), contents.queued.front().is_some_and(is_plain)) {
            let Some(work) = contents.queued.pop_front() else { break };
            let ended_ns = contents.ended_ns(&work, clock);
            *place = PlainEnd { ticket: work.ticket, busy_ns: work.taken_ns(), ended_ns };
            contents.forget_waits(work.ticket);
            contents.keep_ended(work.marks, ended_ns);
            count += 1;
        }
        contents.known_over = contents.known_over.saturating_sub(count);
        drop(contents);
        self.in_flight.fetch_sub(count, Ordering::SeqCst);
        count
    }

    /// Takes the outcome checks of the oldest work. The work stays in the queue, so that its status is not yet "over".
    pub(super) fn take_checks_of_oldest(&self, clock: Option<&DeviceClock>) -> Option<OldestEnd> {
        let mut contents = self.lock();
        let ended_ns = contents.ended_ns(contents.queued.front()?, clock);
        let work = contents.queued.front_mut()?;
        work.ended_ns = ended_ns;
        let checks = std::mem::take(&mut work.checks);
        let failed = work.failed.clone();
        Some(OldestEnd { ticket: work.ticket, checks, failed, busy_ns: work.taken_ns(), ended_ns })
    }

    /// Returns the events that a piece of work in flight waits for.
    pub(super) fn awaited(&self, ticket: u64) -> Vec<Event> {
        let contents = self.lock();
        contents.waits.iter().filter(|(of, _)| *of == ticket).map(|&(_, event)| event).collect()
    }

    /// Returns whether a piece of work in flight waits for an event that satisfies `is_one`.
    pub(super) fn work_waits_for(&self, ticket: u64, is_one: impl Fn(Event) -> bool) -> bool {
        self.lock().waits.iter().any(|&(of, event)| of == ticket && is_one(event))
    }

    /// Returns whether any work in the queue waits for an event that satisfies `is_one`.
    pub(super) fn any_waits_for(&self, is_one: impl Fn(Event) -> bool) -> bool {
        self.lock().waits.iter().any(|&(_, event)| is_one(event))
    }

    /// Removes the oldest work. Its marks become spare.
    pub(super) fn remove_oldest(&self, has_failed: bool) {
        let mut contents = self.lock();
        let Some(work) = contents.queued.pop_front() else { return };
        contents.forget_waits(work.ticket);
        if has_failed {
            if contents.failed.len() == FAILURES_MAX {
                contents.failed.pop_front();
            }
            contents.failed.push_back(work.ticket);
        }
        contents.keep_ended(work.marks, work.ended_ns);
        contents.known_over = contents.known_over.saturating_sub(1);
        drop(contents);
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
    }

    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of work that had no outcomes to check.
#[derive(Clone, Copy, Default)]
pub(super) struct PlainEnd {
    pub(super) ticket: u64,
    pub(super) busy_ns: Option<u64>,
    /// In device time.
    pub(super) ended_ns: Option<f64>,
}

/// The end of the oldest work, with its outcome checks.
pub(super) struct OldestEnd {
    pub(super) ticket: u64,
    pub(super) checks: Vec<(OutcomeSlot, OutcomeCheck)>,
    pub(super) failed: Option<DeviceError>,
    pub(super) busy_ns: Option<u64>,
    /// In device time.
    pub(super) ended_ns: Option<f64>,
}

impl Contents {
    /// Returns the index of a ticket's work. Tickets are consecutive, except that zero is skipped when they wrap
    /// around.
    fn find(&self, ticket: u64) -> Option<usize> {
        let first = self.queued.front()?.ticket;
        let at = ticket.wrapping_sub(first) as usize;
        [at, at.wrapping_sub(1)].into_iter().find(|&at| self.queued.get(at).is_some_and(|work| work.ticket == ticket))
    }

    fn snapshot(&self, at: usize) -> Option<WorkSnapshot> {
        let QueuedWork { ticket, stage, marks, .. } = self.queued.get(at)?;
        Some(WorkSnapshot { ticket: *ticket, stage: *stage, event: marks.end.as_ref().map(Mark::raw) })
    }

    /// Returns the mark behind which a ticket's work is over: its own, or that of the last earlier work that has one.
    fn last_mark(&self, ticket: u64) -> Option<(&Mark, Stage)> {
        let at = self.find(ticket)?;
        self.queued.range(..=at).rev().find_map(|work| Some((work.marks.end.as_ref()?, work.stage)))
    }

    /// Returns how many of the oldest pieces of work have put nothing into the stream.
    fn count_unmarked(&self) -> usize {
        self.queued.iter().take_while(|work| work.stage == Stage::Issued && work.marks.end.is_none()).count()
    }

    /// Returns how many of the oldest pieces of work are completely in the stream, with a mark.
    fn count_marked(&self) -> usize {
        self.queued.iter().take_while(|work| work.stage == Stage::Issued && work.marks.end.is_some()).count()
    }

    /// Removes the events that the oldest work has waited for.
    fn forget_waits(&mut self, ticket: u64) {
        while self.waits.front().is_some_and(|(of, _)| *of == ticket) {
            self.waits.pop_front();
        }
    }

    /// Returns the device time at which work ended, if the device has a clock and the work is timed by its marks alone.
    fn ended_ns(&self, work: &QueuedWork, clock: Option<&DeviceClock>) -> Option<f64> {
        let (clock, end) = (clock?, work.marks.end.as_ref()?);
        if work.busy_ns.is_some() || work.marks.begin.is_none() {
            return None;
        }
        match &self.last_end {
            Some(LastEnd { mark, ended_ns }) => Some(ended_ns + end.since_ns(mark)?),
            None => clock.since_origin_ns(end),
        }
    }

    /// Makes the marks of ended work spare. If the time of its end is known, keeps the end mark to time later work.
    fn keep_ended(&mut self, mut marks: WorkMarks, ended_ns: Option<f64>) {
        if let Some(ended_ns) = ended_ns
            && let Some(mark) = marks.end.take()
        {
            let before = self.last_end.replace(LastEnd { mark, ended_ns });
            marks.end = before.map(|before| before.mark);
        }
        self.spare.keep(marks);
    }
}
