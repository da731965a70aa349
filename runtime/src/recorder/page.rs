//! A stretch of records from one seat.

use crate::recording::{Activity, CounterSample, HazardRecord, Span, TaskRecord};
use std::mem::size_of;

/// What was recorded at one seat from one moment to another. A page under construction is its seat's; a sealed one is in the
/// [`Ring`](super::ring::Ring), and does not change.
#[derive(Default)]
pub(super) struct Page {
    /// The seat.
    pub(super) place: u32,
    /// The order in which pages were sealed.
    pub(super) sequence: u64,
    /// The last moment that was read from the clock here. Records need not read it again for what belongs to that moment.
    pub(super) last_ns: u64,
    /// Bytes of records.
    pub(super) bytes: usize,
    pub(super) tasks: Vec<TaskRecord>,
    pub(super) hazards: Vec<HazardRecord>,
    pub(super) spans: Vec<Span>,
    pub(super) activities: Vec<Activity>,
    pub(super) samples: Vec<CounterSample>,
    /// When tasks became ready.
    pub(super) ready_ns: Vec<u64>,
}

impl Page {
    pub(super) fn new(place: u32) -> Self {
        Self { place, ..Self::default() }
    }

    /// An empty page for the seat of this one, with room for as much: so that a seat's lists, which grow alike from page to page,
    /// are not moved while they grow.
    pub(super) fn next(&self) -> Self {
        Self {
            place: self.place,
            last_ns: self.last_ns,
            tasks: Vec::with_capacity(self.tasks.len()),
            hazards: Vec::with_capacity(self.hazards.len()),
            spans: Vec::with_capacity(self.spans.len()),
            activities: Vec::with_capacity(self.activities.len()),
            samples: Vec::with_capacity(self.samples.len()),
            ready_ns: Vec::with_capacity(self.ready_ns.len()),
            ..Self::default()
        }
    }

    /// The same memory, empty, for the seat of `previous`.
    pub(super) fn reuse(mut self, previous: &Self) -> Self {
        self.tasks.clear();
        self.hazards.clear();
        self.spans.clear();
        self.activities.clear();
        self.samples.clear();
        self.ready_ns.clear();
        Self { place: previous.place, last_ns: previous.last_ns, sequence: 0, bytes: 0, ..self }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records() == 0
    }

    pub(super) fn records(&self) -> u64 {
        let of_tasks = self.tasks.len() + self.hazards.len() + self.spans.len();
        (of_tasks + self.activities.len() + self.samples.len() + self.ready_ns.len()) as u64
    }

    /// Bytes of memory that the page takes.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.tasks.capacity() * size_of::<TaskRecord>()
            + self.hazards.capacity() * size_of::<HazardRecord>()
            + self.spans.capacity() * size_of::<Span>()
            + self.activities.capacity() * size_of::<Activity>()
            + self.samples.capacity() * size_of::<CounterSample>()
            + self.ready_ns.capacity() * size_of::<u64>()
    }

    #[inline]
    pub(super) fn add<R: Record>(&mut self, record: R) {
        self.bytes += size_of::<R>();
        R::list(self).push(record);
    }

    #[inline]
    pub(super) fn ready(&mut self, at_ns: u64) {
        self.bytes += size_of::<u64>();
        self.ready_ns.push(at_ns);
    }
}

/// A kind of record, with the list of those in a page.
pub(super) trait Record: Sized {
    fn list(page: &mut Page) -> &mut Vec<Self>;
}

macro_rules! records {
    ($($list:ident: $record:ty),*) => {
        $(impl Record for $record {
            #[inline]
            fn list(page: &mut Page) -> &mut Vec<Self> {
                &mut page.$list
            }
        })*
    };
}

records!(tasks: TaskRecord, hazards: HazardRecord, spans: Span, activities: Activity, samples: CounterSample);
