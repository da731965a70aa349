//! Which of a device's queues a task goes to.
//!
//! What stands in a queue waits for all that stands before it, whether it needs that or not. So a task continues the queue of a predecessor
//! only if that is the last in it: the order comes for free there, and nothing else is in the way. Otherwise it takes an empty queue and
//! waits for events, and if none is empty, the one with the least in it. (In a factorization the first update may stand behind its panel. But
//! were the others put there, too, because they also wait for the panel, the next panel would come after all of them, though it waits for one.)
//!
//! Tasks whose data have still to come from host memory stand behind each other, as the data come one after the other, too; and what has its data
//! does not stand behind them, if there is another queue.
//!
//! Ordinary tasks leave the urgent queues to those of a priority above zero. One of these stands behind another rather than among ordinary ones, which
//! the device would run beside it, and as soon: of two that are ready, one mostly waits for the other. But more than two are no chain, as in a triangular
//! solve with many right-hand sides, whose columns have nothing to do with each other: they stand where ordinary ones do.

#![forbid(unsafe_code)]

use crate::device::{DeviceInfo, Event};
use std::ops::Range;

/// So many urgent tasks stand in a queue of theirs before others go elsewhere. (Were it any number, trsm of order 24576 would run at 33 instead of 41 TFLOP/s
/// on one H200, 2026-11-23; Cholesky of order 8192 and 16384 and LU of 8192 ran alike with 1, 2 and 3.)
const LINE: usize = 2;

#[derive(Clone, Copy, Default)]
struct Queue {
    /// The last ticket that was put in.
    tail: u64,
    /// The last one that ended.
    ended: u64,
    /// The last one of a task that waits for data from host memory.
    arrival: u64,
    /// How many tasks are in it.
    in_flight: usize,
}

impl Queue {
    fn awaits_host(&self) -> bool {
        self.in_flight > 0 && self.arrival > self.ended
    }
}

/// What an issuer has put into the queues for tasks; see the module's head.
pub(super) struct Queues {
    each: Box<[Queue]>,
    /// So many, the first of them, are for urgent tasks.
    urgent: usize,
    /// Where the search for an empty one begins, so that they take turns.
    next: usize,
}

impl Queues {
    pub(super) fn new(info: &DeviceInfo) -> Self {
        let count = usize::from(info.queues.max(1));
        // One at least is for everybody.
        Self {
            each: vec![Queue::default(); count].into(),
            urgent: usize::from(info.urgent_queues).min(count - 1),
            next: 0,
        }
    }

    /// The queue for a task of this priority, which waits for data from host memory or not. `before` are the events of the device's own that
    /// it must wait for.
    pub(super) fn choose(
        &mut self,
        priority: i32,
        awaits_host: bool,
        before: impl Iterator<Item = Event> + Clone,
    ) -> u16 {
        let (urgent, ordinary) = (0..self.urgent, self.urgent..self.each.len());
        let found = match priority > 0 && !urgent.is_empty() {
            true => {
                let found = self.without_delay(&urgent, before.clone());
                let found = found.or_else(|| self.least(urgent).filter(|&at| self.each[at].in_flight < LINE));
                found.or_else(|| self.without_delay(&ordinary, before)).or_else(|| self.least(0..self.each.len()))
            }
            false => {
                let behind = ordinary.clone().find(|&at| awaits_host && self.each[at].awaits_host());
                behind.or_else(|| self.without_delay(&ordinary, before)).or_else(|| self.least(ordinary))
            }
        };
        let found = found.unwrap_or(0);
        self.next = found + 1;
        found as u16
    }

    /// One of these in which nothing stands before the task but what it waits for anyway.
    fn without_delay(&self, among: &Range<usize>, mut before: impl Iterator<Item = Event>) -> Option<usize> {
        let is_last = |event: Event| {
            let at = usize::from(event.queue);
            (among.contains(&at) && self.each[at].tail == event.ticket).then_some(at)
        };
        before.find_map(is_last).or_else(|| self.in_turn(among.clone()).find(|&at| self.each[at].in_flight == 0))
    }

    fn least(&self, among: Range<usize>) -> Option<usize> {
        self.in_turn(among).min_by_key(|&at| (self.each[at].awaits_host(), self.each[at].in_flight))
    }

    /// These, beginning with the one whose turn it is.
    fn in_turn(&self, among: Range<usize>) -> impl Iterator<Item = usize> {
        let first = self.next.clamp(among.start, among.end);
        (first..among.end).chain(among.start..first)
    }

    /// A task was put in, which waits for data from host memory or not.
    pub(super) fn issued(&mut self, queue: u16, ticket: u64, awaits_host: bool) {
        let queue = &mut self.each[usize::from(queue)];
        (queue.tail, queue.in_flight) = (ticket, queue.in_flight + 1);
        if awaits_host {
            queue.arrival = ticket;
        }
    }

    /// A task has ended.
    pub(super) fn ended(&mut self, queue: u16, ticket: u64) {
        let queue = &mut self.each[usize::from(queue)];
        (queue.ended, queue.in_flight) = (ticket, queue.in_flight - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{DeviceKind, Speed};

    struct Device {
        queues: Queues,
        issued: Vec<u64>,
    }

    impl Device {
        fn new(queues: u16, urgent_queues: u16) -> Self {
            let (name, kind, speed) = (String::new(), DeviceKind("test"), Speed::default());
            let info = DeviceInfo { name, kind, queues, urgent_queues, depth: 1, memory: None, speed };
            Self { queues: Queues::new(&info), issued: vec![0; usize::from(queues)] }
        }

        fn issue(&mut self, priority: i32, before: &[Event]) -> Event {
            self.put(priority, false, before)
        }

        fn put(&mut self, priority: i32, awaits_host: bool, before: &[Event]) -> Event {
            let queue = self.queues.choose(priority, awaits_host, before.iter().copied());
            let ticket = &mut self.issued[usize::from(queue)];
            *ticket += 1;
            self.queues.issued(queue, *ticket, awaits_host);
            Event { device: 0, queue, ticket: *ticket }
        }

        /// The first of so many in the queue ends.
        fn end(&mut self, queue: u16) {
            let Queue { tail, in_flight, .. } = self.queues.each[usize::from(queue)];
            self.queues.ended(queue, tail + 1 - in_flight as u64);
        }
    }

    #[test]
    fn a_chain_stays_in_its_queue() {
        let mut device = Device::new(4, 0);
        let first = device.issue(0, &[]);
        let last = (0..9).fold(first, |before, _| device.issue(0, &[before]));
        assert_eq!((last.queue, last.ticket), (first.queue, 10));
        assert_ne!(device.issue(0, &[]).queue, first.queue);
    }

    #[test]
    fn the_next_panel_does_not_stand_behind_updates_that_it_does_not_wait_for() {
        let mut device = Device::new(4, 0);
        let panel = device.issue(0, &[]);
        let updates: Vec<Event> = (0..3).map(|_| device.issue(0, &[panel])).collect();
        assert_eq!(updates[0].queue, panel.queue, "the first continues the panel's queue");
        let others: Vec<u16> = updates[1..].iter().map(|update| update.queue).collect();
        assert!(others[0] != others[1] && !others.contains(&panel.queue), "{others:?}");
        let next = device.issue(0, &[updates[0]]);
        assert_eq!(next.queue, panel.queue, "behind the update that it waits for");
        // Now there is something behind that update.
        assert_ne!(device.issue(0, &[updates[0]]).queue, panel.queue);
    }

    #[test]
    fn the_shortest_queue_is_taken_where_none_is_empty() {
        let mut device = Device::new(3, 0);
        let events: Vec<Event> = (0..9).map(|_| device.issue(0, &[])).collect();
        assert_eq!(device.issued, [3, 3, 3]);
        let freed = events[4].queue;
        device.end(freed);
        assert_eq!(device.issue(0, &[events[0]]).queue, freed);
        (0..3).for_each(|_| device.end(freed));
        assert_eq!(device.issue(0, &[events[0]]).queue, freed);
    }

    #[test]
    fn who_has_its_data_does_not_stand_behind_who_waits_for_the_host() {
        let mut device = Device::new(4, 1);
        let arrivals: Vec<Event> = (0..3).map(|_| device.put(0, true, &[])).collect();
        assert!(arrivals.iter().all(|event| event.queue == arrivals[0].queue), "{arrivals:?}");
        let others: Vec<u16> = (0..8).map(|_| device.issue(0, &[arrivals[0]]).queue).collect();
        assert!(!others.contains(&arrivals[0].queue), "{others:?}");
        assert_eq!(device.issue(0, &[arrivals[2]]).queue, arrivals[0].queue, "what goes on with the last data");
        (0..3).for_each(|_| device.end(arrivals[0].queue));
        assert_eq!(device.issue(0, &[]).queue, arrivals[0].queue, "nothing in it waits any more");
    }

    #[test]
    fn ordinary_tasks_leave_the_urgent_queue_free() {
        let mut device = Device::new(3, 1);
        let ordinary: Vec<Event> = (0..6).map(|_| device.issue(0, &[])).collect();
        assert_eq!(device.issued, [0, 3, 3]);
        let panel = device.issue(4, &[ordinary[5]]);
        assert_eq!(panel.queue, 0);
        // Another one stands behind it, also if an ordinary queue is empty.
        (0..3).for_each(|_| device.end(1));
        assert_eq!(device.issue(1, &[]).queue, 0);
        assert_ne!(device.issue(0, &[panel]).queue, 0);
        assert_eq!(Device::new(1, 1).issue(0, &[]).queue, 0, "the only queue is for everybody");
    }

    #[test]
    fn urgent_tasks_that_are_no_chain_run_beside_each_other() {
        let mut device = Device::new(4, 1);
        let solves: Vec<Event> = (0..8).map(|_| device.issue(1, &[])).collect();
        assert_eq!(device.issued, [2, 2, 2, 2], "{solves:?}");
        let last = solves.iter().rfind(|solve| solve.queue == 0).expect("there are two");
        assert_eq!(device.issue(1, &[*last]).queue, 0, "what goes on with a chain stays with it");
    }
}
