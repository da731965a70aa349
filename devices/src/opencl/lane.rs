//! [`Lane`]: a queue with what is in it.
//!
//! Two locks: one is held by whoever puts work into the queue, from the first command to the ticket, so that tickets count in the
//! queue's order; the other guards the list of what is in the queue, which the issuer looks through meanwhile. No lock is held while the
//! runtime is told of an end, or a task's result is judged.

use super::{
    context::held,
    queue::{Common, OpenclQueue},
    work::{Ended, Work},
};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};
use superscalar_runtime::{DeviceError, Event, Finished};

#[derive(Debug)]
pub(super) struct Lane {
    number: u16,
    common: Arc<Common>,
    entrance: Mutex<OpenclQueue>,
    inside: Mutex<Inside>,
}

#[derive(Debug, Default)]
struct Inside {
    last_ticket: u64,
    works: VecDeque<(u64, Work)>,
}

impl Lane {
    pub(super) fn new(queue: OpenclQueue) -> Self {
        let (number, common) = (queue.number(), Arc::clone(queue.common()));
        Self { number, common, entrance: Mutex::new(queue), inside: Mutex::default() }
    }

    /// Puts into the queue, behind the events, what `fill` puts there; returns its ticket.
    pub(super) fn put(
        &self,
        waits: &[Event],
        fill: impl FnOnce(&mut OpenclQueue) -> Result<(), DeviceError>,
    ) -> Result<u64, DeviceError> {
        let mut queue = held(&self.entrance);
        let waits = self.common.context.waits((self.common.index, self.number), waits)?;
        queue.begin(waits);
        let result = fill(&mut queue);
        let work = queue.end(result)?;
        let last = work.events.last().map(Arc::clone);
        let ticket = {
            let mut inside = held(&self.inside);
            // Zero is no ticket.
            inside.last_ticket = inside.last_ticket.checked_add(1).unwrap_or(1);
            let ticket = inside.last_ticket;
            // Before the issuer can see it: what is reported is taken out.
            if let Some(last) = &last {
                self.common.context.add(self.event(ticket), Arc::clone(last));
            }
            inside.works.push_back((ticket, work));
            ticket
        };
        if let Some(last) = last {
            self.common.signal.raise_after(&last);
        }
        Ok(ticket)
    }

    /// Puts something into the queue that no ticket stands for, and waits for it.
    pub(super) fn try_out(
        &self,
        fill: impl FnOnce(&mut OpenclQueue) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let mut queue = held(&self.entrance);
        queue.begin(Vec::new());
        let result = fill(&mut queue);
        let work = queue.end(result)?;
        queue.finish();
        work.ended().result
    }

    /// Takes out what is over, and tells of it.
    pub(super) fn collect(&self, report: &mut dyn FnMut(Finished)) {
        while let Some((ticket, work)) = self.next_over() {
            let noticed_ns = self.common.clock.now_ns();
            let Ended { busy_ns, ended_ns, result } = work.ended();
            self.common.context.remove(self.event(ticket));
            let ended_ago_ns =
                ended_ns.map(|ended_ns| self.common.clock.noticed(ended_ns, noticed_ns).ago_ns(ended_ns));
            report(Finished { queue: self.number, ticket, busy_ns, ended_ago_ns, result });
        }
    }

    fn next_over(&self) -> Option<(u64, Work)> {
        let mut inside = held(&self.inside);
        let is_over = inside.works.front().is_some_and(|(_, work)| work.is_over());
        if is_over { inside.works.pop_front() } else { None }
    }

    fn event(&self, ticket: u64) -> Event {
        Event { device: self.common.index, queue: self.number, ticket }
    }

    /// Waits until everything has ended, and forgets it. What a driver does not end is left alone.
    pub(super) fn close(&mut self) {
        let queue = self.entrance.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        if queue.finish() {
            self.collect(&mut |_| ());
        }
    }
}
