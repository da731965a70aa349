//! Decides which hazards can be drawn as arrows, and the times of the arrows' ends.

use super::layout::{Layout, LayoutSlice, SliceSource};
use super::order::TaskOrder;
use super::{HazardRecord, Recording, TaskId};

/// One end of an arrow: a time within a slice of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Anchor {
    pub(super) row: usize,
    pub(super) at_ns: u64,
}

/// The first and the last slice of each task that ran: arrows enter the first and leave the last. They differ only for
/// a task with several spans, such as one that was retried.
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
            let SliceSource::Span(span) = slice.source else { continue };
            let Some(place) = order.index_of(recording.spans[span].task) else {
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

    /// Returns the ends of a hazard's arrow: from the end of the producer to the start of the consumer, or as near to
    /// these as the uncovered parts of their slices allow.
    ///
    /// Returns `None` if one of the tasks never ran or is covered by nested slices, or if the arrow would point back in
    /// time. Clocks of devices differ slightly: if the producer seems to end after the consumer starts, the arrow
    /// leaves the producer's start instead.
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

    /// Returns the position of a hazard without an arrow: the start of the later task. `None` if one of the tasks never
    /// ran.
    pub(super) fn position_of(&self, hazard: &HazardRecord) -> Option<Anchor> {
        self.slices_of(hazard.from)?;
        let (first, _) = self.slices_of(hazard.to)?;
        Some(Anchor { row: first.row, at_ns: first.start_ns })
    }

    fn slices_of(&self, task: TaskId) -> Option<(&'a LayoutSlice, &'a LayoutSlice)> {
        let (first, last) = self.first_last[self.order.index_of(task)?]?;
        Some((&self.layout.slices[first], &self.layout.slices[last]))
    }
}
