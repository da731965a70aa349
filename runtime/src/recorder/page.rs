//! A page: consecutive records of one seat.

use crate::recording::{Activity, CounterSample, HazardRecord, PlanRecord, Prediction, Span, TaskRecord};
use std::mem::{size_of, size_of_val};

/// The records of one seat from one time to another. The seat owns the page under construction. A sealed page is in the
/// [`Ring`](super::ring::Ring), and does not change.
#[derive(Default)]
pub(super) struct Page {
    /// The seat.
    pub(super) place: u32,
    /// The position in the order in which pages were sealed.
    pub(super) sequence: u64,
    /// The time last read from the clock at this seat. Records that belong to the same moment use it.
    pub(super) last_ns: u64,
    /// Bytes of records.
    pub(super) bytes: usize,
    pub(super) tasks: Vec<TaskRecord>,
    pub(super) hazards: Vec<HazardRecord>,
    pub(super) spans: Vec<Span>,
    pub(super) activities: Vec<Activity>,
    pub(super) samples: Vec<CounterSample>,
    pub(super) plans: Vec<PlanRecord>,
    /// The times at which tasks became ready.
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

    /// Returns the bytes of the lists inside records.
    fn inner_bytes(&self) -> usize {
        let bytes = |Prediction { tile, traffic, .. }: &Prediction| size_of_val(&**tile) + size_of_val(&**traffic);
        self.plans.iter().map(|plan| bytes(&plan.prediction)).sum()
    }
}

/// A kind of record, with its list in a page.
pub(super) trait Record: Sized {
    fn list(page: &mut Page) -> &mut Vec<Self>;
}

/// Implements the operations on every list of a page.
macro_rules! lists {
    ($($list:ident: $record:ty),*) => {
        impl Page {
            /// Returns an empty page for the same seat with the capacity of this one. A seat's lists grow alike from
            /// page to page, so this avoids reallocation.
            pub(super) fn next(&self) -> Self {
                let Self { place, last_ns, .. } = *self;
                Self { place, last_ns, $($list: Vec::with_capacity(self.$list.len()),)* ..Self::default() }
            }

            /// Returns this page's memory as an empty page for the seat of `previous`.
            pub(super) fn reuse(mut self, previous: &Self) -> Self {
                $(self.$list.clear();)*
                Self { place: previous.place, last_ns: previous.last_ns, sequence: 0, bytes: 0, ..self }
            }

            pub(super) fn records(&self) -> u64 {
                [$(self.$list.len()),*].iter().sum::<usize>() as u64
            }

            /// Returns the bytes of memory that the page takes.
            pub(super) fn memory_bytes(&self) -> usize {
                self.inner_bytes() + size_of::<Self>() $(+ self.$list.capacity() * size_of::<$record>())*
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
    tasks: TaskRecord, hazards: HazardRecord, spans: Span, activities: Activity, samples: CounterSample,
    plans: PlanRecord, ready_ns: u64
);
