//! The sealed pages of a recording: the newest ones within a memory limit.
//!
//! Pages come from all seats, in the order in which they were sealed. All records of a page are older than its sealing.
//! So when the oldest page is dropped, all lost records are older than its last time, and the recording is complete
//! from there on. Each [`Reader`] reads every page once. It learns how many records were dropped before it could read
//! them, and how many tasks were in progress where its pages begin.

use super::page::Page;
use std::{collections::VecDeque, sync::Arc};

/// The sealed pages and the progress of their readers.
pub(super) struct Ring {
    pages: VecDeque<Arc<Page>>,
    bytes: usize,
    bytes_max: usize,
    next_sequence: u64,
    readers: [Reader; READERS],
}

/// The purpose of reading, which identifies the reader.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The user takes a recording.
    Taking,
    /// The pages are appended to the file while the program runs.
    Growing,
    /// The file is written at the end; read once.
    Finishing,
}

const READERS: usize = 3;

/// The progress of a reader, and what it has missed.
#[derive(Clone, Copy, Default)]
struct Reader {
    is_there: bool,
    /// The first page that it has neither read nor missed.
    next: u64,
    dropped: u64,
    whole_from_ns: u64,
    before: TasksInProgress,
}

/// The number of tasks in progress.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(super) struct TasksInProgress {
    pub(super) ready: i64,
    pub(super) in_window: i64,
}

impl TasksInProgress {
    fn pass(&mut self, page: &Page) {
        self.ready += page.ready_ns.len() as i64 - page.spans.len() as i64;
        self.in_window += page.tasks.len() as i64 - page.spans.len() as i64;
    }
}

/// The pages that a reader gets.
pub(super) struct Pages {
    pub(super) pages: Vec<Arc<Page>>,
    /// Number of records that it has missed since its last reading.
    pub(super) dropped: u64,
    /// No record after this time was missed; zero if none was missed at all.
    pub(super) whole_from_ns: u64,
    /// The tasks in progress before the first page.
    pub(super) before: TasksInProgress,
    /// A lower bound of the sequence number of the oldest kept page.
    pub(super) oldest: u64,
}

impl Ring {
    /// Creates a ring. With a file, pages taken by the user stay until the file's readers have read them.
    pub(super) fn new(bytes_max: usize, has_file: bool) -> Self {
        let mut readers = [Reader { is_there: has_file, ..Reader::default() }; READERS];
        readers[Purpose::Taking as usize].is_there = true;
        Self { pages: VecDeque::new(), bytes: 0, bytes_max, next_sequence: 0, readers }
    }

    /// Adds a page, and returns an empty one for the same seat.
    pub(super) fn seal(&mut self, mut page: Page) -> Page {
        page.sequence = self.next_sequence;
        self.next_sequence += 1;
        self.bytes += page.memory_bytes();
        let mut empty = None;
        while self.bytes > self.bytes_max {
            let Some(oldest) = self.pages.pop_front() else { break };
            self.bytes -= oldest.memory_bytes();
            for reader in self.readers.iter_mut().filter(|reader| reader.next <= oldest.sequence) {
                reader.next = oldest.sequence + 1;
                reader.dropped += oldest.records();
                reader.whole_from_ns = reader.whole_from_ns.max(oldest.last_ns);
                reader.before.pass(&oldest);
            }
            // Only a page of the same seat is reused: the lists of another seat have other lengths, and capacities
            // would add up.
            empty = Arc::into_inner(oldest).filter(|oldest| oldest.place == page.place).or(empty);
        }
        let empty = empty.map_or_else(|| page.next(), |old| old.reuse(&page));
        self.pages.push_back(Arc::new(page));
        empty
    }

    /// Returns the pages that this reader has not read.
    pub(super) fn read(&mut self, purpose: Purpose) -> Pages {
        let oldest = self.pages.front().map_or(self.next_sequence, |page| page.sequence);
        let reader = &mut self.readers[purpose as usize];
        let new = self.pages.partition_point(|page| page.sequence < reader.next);
        let read = Pages {
            pages: self.pages.range(new..).cloned().collect(),
            dropped: std::mem::take(&mut reader.dropped),
            whole_from_ns: std::mem::take(&mut reader.whole_from_ns),
            before: reader.before,
            oldest,
        };
        reader.next = self.next_sequence;
        read.pages.iter().for_each(|page| reader.before.pass(page));
        self.forget();
        read
    }

    /// Returns all kept pages, for rewriting the file, and the number of dropped records that the file already reports.
    pub(super) fn kept(&self) -> Pages {
        let [_, growing, finishing] = self.readers;
        Pages {
            pages: self.pages.iter().cloned().collect(),
            dropped: finishing.dropped - growing.dropped,
            whole_from_ns: finishing.whole_from_ns,
            before: finishing.before,
            oldest: self.pages.front().map_or(self.next_sequence, |page| page.sequence),
        }
    }

    /// Drops the pages that every reader has read.
    fn forget(&mut self) {
        let wanted = self.readers.iter().filter(|reader| reader.is_there).map(|reader| reader.next).min();
        let wanted = wanted.unwrap_or(self.next_sequence);
        while self.pages.front().is_some_and(|page| page.sequence < wanted) {
            self.bytes -= self.pages.pop_front().map_or(0, |page| page.memory_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(ready: std::ops::Range<u64>) -> Page {
        let mut page = Page::new(3);
        page.last_ns = ready.end;
        ready.for_each(|at_ns| page.add(at_ns));
        page
    }

    fn moments(pages: &Pages) -> Vec<u64> {
        pages.pages.iter().flat_map(|page| page.ready_ns.iter().copied()).collect()
    }

    #[test]
    fn oldest_pages_are_dropped_and_counted() {
        let bytes = page(0..10).memory_bytes();
        let mut ring = Ring::new(3 * bytes, false);
        for at in 0..5 {
            let next = ring.seal(page(10 * at..10 * at + 10));
            assert!(next.is_empty() && next.place == 3);
        }
        let read = ring.read(Purpose::Taking);
        assert_eq!(moments(&read), (20..50).collect::<Vec<_>>());
        assert_eq!((read.dropped, read.whole_from_ns), (20, 20));
        assert_eq!(read.before, TasksInProgress { ready: 20, in_window: 0 });

        ring.seal(page(50..51));
        let read = ring.read(Purpose::Taking);
        assert_eq!(moments(&read), [50]);
        assert_eq!((read.dropped, read.whole_from_ns, read.before.ready), (0, 0, 50));
        assert_eq!(ring.bytes, 0, "pages that were taken are released");
    }

    #[test]
    fn taken_pages_stay_for_the_file() {
        let mut ring = Ring::new(1 << 20, true);
        for at in 0..3 {
            ring.seal(page(at..at + 1));
            assert_eq!(moments(&ring.read(Purpose::Taking)), [at]);
        }
        assert_eq!(moments(&ring.read(Purpose::Growing)), [0, 1, 2]);
        assert_eq!(ring.kept().pages.len(), 3);
        let read = ring.read(Purpose::Finishing);
        assert_eq!((moments(&read), read.before.ready), (vec![0, 1, 2], 0));
        assert!(ring.kept().pages.is_empty());
    }

    #[test]
    fn page_memory_is_reused() {
        let mut ring = Ring::new(0, false);
        let mut seat = Page::new(0);
        let mut places = std::collections::BTreeSet::new();
        for _ in 0..100 {
            (0..1000).for_each(|at: u64| seat.add(at));
            places.insert(seat.ready_ns.as_ptr() as usize);
            seat = ring.seal(seat);
        }
        assert!(places.len() <= 2, "{} places", places.len());
        assert_eq!(ring.read(Purpose::Taking).dropped, 99_000);
    }
}
