//! The choice of a device's queue for a task.
//!
//! Work in a queue waits for all work before it, even if that is not necessary. So a task continues a predecessor's
//! queue only if that predecessor is the last in it; then the order costs nothing and delays nothing. Otherwise the
//! task takes an empty queue and waits for events, or the queue with the fewest tasks if none is empty. (In a
//! factorization the first update may follow its panel. If the other updates of that panel followed in the same queue,
//! the next panel would run after all of them, though it needs only one.)
//!
//! Tasks whose data are still being copied from the host share a queue, because the copies arrive in order, too. Tasks
//! whose data are present avoid that queue if there is another.
//!
//! Ordinary tasks do not use the urgent queues, which are for tasks of a priority above zero. An urgent task follows
//! another in the same queue rather than join ordinary tasks, because of two ready urgent tasks one mostly waits for
//! the other. More than two are not a chain. For example, the columns of a triangular solve with many right-hand sides
//! are independent. Such tasks use the ordinary queues, too.

#![forbid(unsafe_code)]

use crate::device::{DeviceInfo, Event};
use std::ops::Range;

/// The maximum number of urgent tasks in one urgent queue before others use ordinary queues (measured:
/// docs/measurements/2026-11-28-constants.md).
const URGENT_IN_QUEUE_MAX: usize = 2;

#[derive(Clone, Copy, Default)]
struct Queue {
    /// The ticket of the last task.
    tail: u64,
    /// The ticket of the last task that has ended.
    ended: u64,
    /// The ticket of the last task that waits for data from host memory.
    arrival: u64,
    /// Number of tasks in it.
    in_flight: usize,
}

impl Queue {
    fn awaits_host(&self) -> bool {
        self.in_flight > 0 && self.arrival > self.ended
    }
}

/// The tasks in a device's queues, by which the next queue is chosen.
pub(super) struct Queues {
    each: Box<[Queue]>,
    /// Number of urgent queues, which are the first ones.
    urgent: usize,
    /// Where the search for an empty queue begins, so that they are used in turn.
    next: usize,
}

impl Queues {
    pub(super) fn new(info: &DeviceInfo) -> Self {
        let count = usize::from(info.queues.max(1));
        // At least one queue is ordinary.
        Self {
            each: vec![Queue::default(); count].into(),
            urgent: usize::from(info.urgent_queues).min(count - 1),
            next: 0,
        }
    }

    /// Returns the queue for a task with this priority. `awaits_host` says whether it waits for data from host memory;
    /// `before` are the events of this device that it must wait for.
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
                let found =
                    found.or_else(|| self.least(urgent).filter(|&at| self.each[at].in_flight < URGENT_IN_QUEUE_MAX));
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

    /// Returns one of these queues that is empty, or whose last task is a predecessor.
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

    /// Iterates over these queues, beginning with the next in turn.
    fn in_turn(&self, among: Range<usize>) -> impl Iterator<Item = usize> {
        let first = self.next.clamp(among.start, among.end);
        (first..among.end).chain(among.start..first)
    }

    /// Records that a task was put into a queue.
    pub(super) fn issued(&mut self, queue: u16, ticket: u64, awaits_host: bool) {
        let queue = &mut self.each[usize::from(queue)];
        (queue.tail, queue.in_flight) = (ticket, queue.in_flight + 1);
        if awaits_host {
            queue.arrival = ticket;
        }
    }

    /// Records that a task has ended.
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

        /// Ends the first task in the queue.
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
    fn next_panel_skips_unrelated_updates() {
        let mut device = Device::new(4, 0);
        let panel = device.issue(0, &[]);
        let updates: Vec<Event> = (0..3).map(|_| device.issue(0, &[panel])).collect();
        assert_eq!(updates[0].queue, panel.queue, "the first update continues the panel's queue");
        let others: Vec<u16> = updates[1..].iter().map(|update| update.queue).collect();
        assert!(others[0] != others[1] && !others.contains(&panel.queue), "{others:?}");
        let next = device.issue(0, &[updates[0]]);
        assert_eq!(next.queue, panel.queue, "the next panel continues the queue of its update");
        // Now another task follows that update.
        assert_ne!(device.issue(0, &[updates[0]]).queue, panel.queue);
    }

    #[test]
    fn shortest_queue_if_none_is_empty() {
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
    fn tasks_with_data_avoid_arrival_queue() {
        let mut device = Device::new(4, 1);
        let arrivals: Vec<Event> = (0..3).map(|_| device.put(0, true, &[])).collect();
        assert!(arrivals.iter().all(|event| event.queue == arrivals[0].queue), "{arrivals:?}");
        let others: Vec<u16> = (0..8).map(|_| device.issue(0, &[arrivals[0]]).queue).collect();
        assert!(!others.contains(&arrivals[0].queue), "{others:?}");
        assert_eq!(device.issue(0, &[arrivals[2]]).queue, arrivals[0].queue, "a successor of the last arrival");
        (0..3).for_each(|_| device.end(arrivals[0].queue));
        assert_eq!(device.issue(0, &[]).queue, arrivals[0].queue, "no task in it waits for the host any more");
    }

    #[test]
    fn ordinary_tasks_avoid_urgent_queues() {
        let mut device = Device::new(3, 1);
        let ordinary: Vec<Event> = (0..6).map(|_| device.issue(0, &[])).collect();
        assert_eq!(device.issued, [0, 3, 3]);
        let panel = device.issue(4, &[ordinary[5]]);
        assert_eq!(panel.queue, 0);
        // An urgent task follows another, even if an ordinary queue is empty.
        (0..3).for_each(|_| device.end(1));
        assert_eq!(device.issue(1, &[]).queue, 0);
        assert_ne!(device.issue(0, &[panel]).queue, 0);
        assert_eq!(Device::new(1, 1).issue(0, &[]).queue, 0, "a single queue is ordinary");
    }

    #[test]
    fn independent_urgent_tasks_spread() {
        let mut device = Device::new(4, 1);
        let solves: Vec<Event> = (0..8).map(|_| device.issue(1, &[])).collect();
        assert_eq!(device.issued, [2, 2, 2, 2], "{solves:?}");
        let last = solves.iter().rfind(|solve| solve.queue == 0).expect("two solves in queue 0");
        assert_eq!(device.issue(1, &[*last]).queue, 0, "a chain stays in its queue");
    }
}
