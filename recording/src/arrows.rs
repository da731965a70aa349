//! Which hazards can be drawn as arrows, and from which moment to which.

use super::layout::{Layout, Shown, Slice};
use super::order::TaskOrder;
use super::{HazardRecord, Recording, TaskId};

/// One end of an arrow: a moment inside a slice of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Anchor {
    pub(super) row: usize,
    pub(super) at_ns: u64,
}

/// For each task that ran, its first and its last slice: arrows enter the one and leave the other.
/// They differ only for a task with several spans, such as one that was retried.
pub(super) struct Arrows<'a> {
    layout: &'a Layout,
    order: TaskOrder,
    first_last: Vec<Option<(usize, usize)>>,
}

impl<'a> Arrows<'a> {
    pub(super) fn new(recording: &Recording, layout: &'a Layout) -> Self {
        let order = TaskOrder::new(recording.spans.iter().map(|span| span.task));
        let mut first_last: Vec<Option<(usize, usize)>> = vec![None; order.len()];
        for (index, slice) in layout.slices.iter().enumerate() {
            let Shown::Span(span) = slice.shown else { continue };
            let Some(place) = order.place(recording.spans[span].task) else {
                continue;
            };
            let (mut first, mut last) = first_last[place].unwrap_or((index, index));
            if slice.start_ns < layout.slices[first].start_ns {
                first = index;
            }
            if slice.end_ns > layout.slices[last].end_ns {
                last = index;
            }
            first_last[place] = Some((first, last));
        }
        Self { layout, order, first_last }
    }

    /// From the end of the producer to the start of the consumer, as nearly as the inside of their
    /// slices allows.
    ///
    /// `None` where a side never ran, is hidden by nested slices, or the arrow would point back in
    /// time. Devices' clocks disagree a little: where the producer seems to end after the
    /// consumer starts, the arrow leaves the producer's start instead.
    pub(super) fn ends(&self, hazard: &HazardRecord) -> Option<(Anchor, Anchor)> {
        let (_, producer) = self.slices_of(hazard.from)?;
        let (consumer, _) = self.slices_of(hazard.to)?;
        let (producer_first_ns, producer_last_ns) = producer.inside_ns?;
        let (entry_ns, _) = consumer.inside_ns?;
        let exit_ns = if producer_last_ns < entry_ns { producer_last_ns } else { producer_first_ns };
        let leave = Anchor { row: producer.row, at_ns: exit_ns };
        let enter = Anchor { row: consumer.row, at_ns: entry_ns };
        (exit_ns < entry_ns).then_some((leave, enter))
    }

    /// Where a hazard without an arrow is noted: where the later task began. `None` if one of the two never ran.
    pub(super) fn place_of(&self, hazard: &HazardRecord) -> Option<Anchor> {
        self.slices_of(hazard.from)?;
        let (first, _) = self.slices_of(hazard.to)?;
        Some(Anchor { row: first.row, at_ns: first.start_ns })
    }

    fn slices_of(&self, task: TaskId) -> Option<(&'a Slice, &'a Slice)> {
        let (first, last) = self.first_last[self.order.place(task)?]?;
        Some((&self.layout.slices[first], &self.layout.slices[last]))
    }
}
