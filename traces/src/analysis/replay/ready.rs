//! Ready tasks of like lanes, under the runtime's policy `priority`.

use std::collections::VecDeque;

const BANDS: usize = 16;
/// The band of priority zero; there are seven below and eight above.
const ORDINARY: usize = 7;
/// At most so many tasks are stolen at once, and at most half of the victim's.
const LOOT_MAX: usize = 16;

/// A set of places, a bit each.
struct Places {
    words: Vec<u64>,
    places: usize,
}

impl Places {
    fn new(places: usize) -> Self {
        Self { words: vec![0; places.div_ceil(64)], places }
    }

    fn set(&mut self, place: usize, is_in: bool) {
        let bit = 1 << (place % 64);
        match is_in {
            true => self.words[place / 64] |= bit,
            false => self.words[place / 64] &= !bit,
        }
    }

    /// The first after this place, and around.
    fn next_after(&self, place: usize) -> Option<usize> {
        let from = |start: usize| {
            let first = self.words.get(start / 64)? & (u64::MAX << (start % 64));
            let rest = self.words.iter().enumerate().skip(start / 64 + 1).map(|(at, &word)| (at, word));
            let mut words = std::iter::once((start / 64, first)).chain(rest);
            words.find(|(_, word)| *word != 0).map(|(at, word)| 64 * at + word.trailing_zeros() as usize)
        };
        let next = if place + 1 < self.places { from(place + 1) } else { None };
        next.or_else(|| from(0))
    }
}

/// The queues of one place.
#[derive(Default)]
struct Queues {
    bands: u32,
    queues: [VecDeque<u32>; BANDS],
}

impl Queues {
    fn highest(&self) -> Option<usize> {
        self.bands.checked_ilog2().map(|band| band as usize)
    }
}

/// The ready tasks of all places of a group.
pub(super) struct Ready {
    places: Vec<Queues>,
    /// Who has tasks of a band.
    holders: [Places; BANDS],
    /// Who has any.
    rich: Places,
    counts: [usize; BANDS],
    count: usize,
}

impl Ready {
    pub(super) fn new(places: usize) -> Self {
        Self {
            places: std::iter::repeat_with(Queues::default).take(places).collect(),
            holders: std::array::from_fn(|_| Places::new(places)),
            rich: Places::new(places),
            counts: [0; BANDS],
            count: 0,
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// A task has become ready at a place.
    pub(super) fn push(&mut self, place: usize, priority: i32, task: u32) {
        let band = (priority.clamp(-(ORDINARY as i32), (BANDS - 1 - ORDINARY) as i32) + ORDINARY as i32) as usize;
        self.put(place, band, task);
    }

    /// The task that a place runs next: an urgent one from anywhere, its own oldest, or another's oldest. With the last, it takes
    /// along half of the other's.
    pub(super) fn take(&mut self, place: usize) -> Option<u32> {
        if self.count == 0 {
            return None;
        }
        let own = self.places[place].highest();
        let highest = (ORDINARY + 1..BANDS).rev().find(|&band| self.counts[band] > 0);
        if let Some(band) = highest.filter(|&band| own.is_none_or(|own| band > own)) {
            let victim = self.holders[band].next_after(place)?;
            return self.pop(victim, band);
        }
        if let Some(band) = own {
            return self.pop(place, band);
        }
        let victim = self.rich.next_after(place)?;
        let band = self.places[victim].highest()?;
        let half = self.places[victim].queues[band].len().div_ceil(2).min(LOOT_MAX);
        let first = self.pop(victim, band);
        for _ in 1..half {
            if let Some(task) = self.pop(victim, band) {
                self.put(place, band, task);
            }
        }
        first
    }

    fn put(&mut self, place: usize, band: usize, task: u32) {
        self.places[place].queues[band].push_back(task);
        self.places[place].bands |= 1 << band;
        self.holders[band].set(place, true);
        self.rich.set(place, true);
        self.counts[band] += 1;
        self.count += 1;
    }

    fn pop(&mut self, place: usize, band: usize) -> Option<u32> {
        let task = self.places[place].queues[band].pop_front()?;
        if self.places[place].queues[band].is_empty() {
            self.places[place].bands &= !(1 << band);
            self.holders[band].set(place, false);
            self.rich.set(place, self.places[place].bands != 0);
        }
        self.counts[band] -= 1;
        self.count -= 1;
        Some(task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_place_goes_around() {
        let mut places = Places::new(130);
        assert_eq!(places.next_after(5), None);
        places.set(5, true);
        places.set(129, true);
        assert_eq!([5, 128, 129, 4].map(|place| places.next_after(place)), [Some(129), Some(129), Some(5), Some(5)]);
    }

    #[test]
    fn urgent_tasks_come_first_then_own_then_stolen() {
        let mut ready = Ready::new(2);
        (0..4).for_each(|task| ready.push(0, 0, task));
        ready.push(1, -1, 10);
        ready.push(0, 3, 20);
        assert_eq!(ready.take(1), Some(20), "urgent, of another place");
        assert_eq!(ready.take(1), Some(10), "its own, although another has one of a higher band");
        assert_eq!(ready.take(1), Some(0), "the oldest of another");
        assert_eq!(ready.take(1), Some(1), "half of the four were taken along");
        assert_eq!(ready.take(0), Some(2));
        assert_eq!(ready.len(), 1);
        assert_eq!((ready.take(1), ready.take(1)), (Some(3), None));
    }
}
