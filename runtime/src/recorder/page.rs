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

    pub(super) fn is_empty(&self) -> bool {
        self.records() == 0
    }

    #[inline]
    pub(super) fn add<R: Record>(&mut self, record: R) {
        self.bytes += size_of::<R>();
        R::list(self).push(record);
    }
}

/// A kind of record, with the list of those in a page.
pub(super) trait Record: Sized {
    fn list(page: &mut Page) -> &mut Vec<Self>;
}

/// What is done with each list of a page.
macro_rules! lists {
    ($($list:ident: $record:ty),*) => {
        impl Page {
            /// An empty page for the seat of this one, with room for as much: so that a seat's lists, which grow alike
            /// from page to page, are not moved while they grow.
            pub(super) fn next(&self) -> Self {
                let Self { place, last_ns, .. } = *self;
                Self { place, last_ns, $($list: Vec::with_capacity(self.$list.len()),)* ..Self::default() }
            }

            /// The same memory, empty, for the seat of `previous`.
            pub(super) fn reuse(mut self, previous: &Self) -> Self {
                $(self.$list.clear();)*
                Self { place: previous.place, last_ns: previous.last_ns, sequence: 0, bytes: 0, ..self }
            }

            pub(super) fn records(&self) -> u64 {
                [$(self.$list.len()),*].iter().sum::<usize>() as u64
            }

            /// Bytes of memory that the page takes.
            pub(super) fn memory_bytes(&self) -> usize {
                size_of::<Self>() $(+ self.$list.capacity() * size_of::<$record>())*
            }
        }

        $(impl Record for $record {
            #[inline]
            fn list(page: &mut Page) -> &mut Vec<Self> {
                &mut page.$list
            }
        })*
    };
}

lists!(
    tasks: TaskRecord, hazards: HazardRecord, spans: Span, activities: Activity, samples: CounterSample, ready_ns: u64
);
