//! [`Lane`]: a queue, as work is inserted into it and collected from it.
//!
//! There are two locks. Whoever inserts work holds the first one from the first command to the ticket, so that tickets
//! follow the order of the queue. The second one guards the list of the work in the queue, which the issuer reads at
//! the same time. No lock is held while an end is reported to the runtime or a task's outcome is checked.

use super::{
    context::lock,
    queue::{DeviceState, OpenclQueue},
    queued_work::{QueuedWork, WorkEnd},
};
use crate::signal::Inserted;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};
use superscalar_runtime::{DeviceError, Event, Finished};

#[derive(Debug)]
pub(super) struct Lane {
    number: u16,
    state: Arc<DeviceState>,
    insertion: Mutex<OpenclQueue>,
    contents: Mutex<LaneContents>,
}

#[derive(Debug, Default)]
struct LaneContents {
    last_ticket: u64,
    queued: VecDeque<(u64, QueuedWork)>,
}

impl Lane {
    pub(super) fn new(queue: OpenclQueue) -> Self {
        let (number, state) = (queue.number(), Arc::clone(queue.state()));
        Self { number, state, insertion: Mutex::new(queue), contents: Mutex::default() }
    }

    /// Inserts the work that `fill` issues, behind the events. Returns its ticket. Only timed work has a duration.
    pub(super) fn put(
        &self,
        (what, is_timed): (Inserted, bool),
        waits: &[Event],
        fill: impl FnOnce(&mut OpenclQueue) -> Result<(), DeviceError>,
    ) -> Result<u64, DeviceError> {
        let mut queue = lock(&self.insertion);
        let waits = self.state.context.waits((self.state.index, self.number), waits)?;
        queue.begin(waits, is_timed);
        let result = fill(&mut queue);
        let mut work = queue.end(result)?;
        work.is_read_by_host = what == Inserted::HostCopy;
        let last = work.events.last().map(Arc::clone);
        let ticket = {
            let mut contents = lock(&self.contents);
            // Zero is not a valid ticket.
            contents.last_ticket = contents.last_ticket.checked_add(1).unwrap_or(1);
            let ticket = contents.last_ticket;
            // Added before the issuer can see the work, because the end of the work removes the event.
            if let Some(last) = last {
                self.state.context.add(self.event(ticket), last);
            }
            if work.failed.as_ref().is_some_and(|error| !error.is_outcome()) {
                self.state.context.note_failure(self.event(ticket));
            }
            contents.queued.push_back((ticket, work));
            ticket
        };
        self.state.signal.nudge(what);
        Ok(ticket)
    }

    /// Runs work without a ticket, and waits for it.
    pub(super) fn run_now(
        &self,
        fill: impl FnOnce(&mut OpenclQueue) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let mut queue = lock(&self.insertion);
        queue.begin(Vec::new(), true);
        let result = fill(&mut queue);
        let work = queue.end(result)?;
        queue.finish()?;
        work.ended().result
    }

    /// Removes the work that is over and reports it.
    pub(super) fn collect(&self, report: &mut dyn FnMut(Finished)) {
        while let Some((ticket, work)) = self.next_over() {
            let noticed_ns = self.state.clock.now_ns();
            let WorkEnd { busy_ns, ended_ns, result } = work.ended();
            if result.as_ref().is_err_and(|error| !error.is_outcome()) {
                self.state.context.note_failure(self.event(ticket));
            }
            self.state.context.remove(self.event(ticket));
            let ended_ago_ns = ended_ns.map(|ended_ns| self.state.clock.noticed(ended_ns, noticed_ns).ago_ns(ended_ns));
            report(Finished { queue: self.number, ticket, busy_ns, ended_ago_ns, result });
        }
    }

    /// Returns whether there is work in the queue.
    pub(super) fn is_busy(&self) -> bool {
        !lock(&self.contents).queued.is_empty()
    }

    /// Returns whether the oldest work is over.
    pub(super) fn is_due(&self) -> bool {
        lock(&self.contents).queued.front().is_some_and(|(_, work)| work.is_over())
    }

    fn next_over(&self) -> Option<(u64, QueuedWork)> {
        let mut contents = lock(&self.contents);
        let is_over = contents.queued.front().is_some_and(|(_, work)| work.is_over());
        if is_over { contents.queued.pop_front() } else { None }
    }

    fn event(&self, ticket: u64) -> Event {
        Event { device: self.state.index, queue: self.number, ticket }
    }

    /// Waits until all work has ended, and removes it. Work that the driver does not end is abandoned.
    pub(super) fn close(&mut self) {
        let queue = self.insertion.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        if queue.finish().is_ok() {
            self.collect(&mut |_| ());
        }
    }
}
