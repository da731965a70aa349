//! The layout of spans, activities and plans: rows of properly nested slices, and the times at which arrows may attach.
//!
//! Trace viewers have three rules that recordings may violate:
//!
//! - Slices of one row must nest. Tasks that a worker runs inside a waiting body nest, but the spans of a queue, timed
//!   by a device's clock, may overlap slightly. A span that would cross another one is drawn on an additional row of
//!   the same lane.
//! - An arrow belongs to the innermost slice at its time, and that time must be well inside the slice. Chrome computes
//!   the end of a slice by adding floating-point microseconds, so where two slices touch, it often assigns the first
//!   nanosecond of the later one to the earlier one. For every slice, the layout therefore notes the second and the
//!   last nanosecond at which no nested slice covers it. A slice that is always covered has none, and gets no arrows.
//! - A slice therefore needs two nanoseconds. A cancelled task, of length zero, is drawn that long, and tasks cancelled
//!   at the same time are drawn beside each other.

use std::cmp::Reverse;

use super::Recording;
use super::error::Repr;

/// The object that a slice shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SliceSource {
    /// Index into [`Recording::spans`].
    Span(usize),
    /// Index into [`Recording::activities`].
    Activity(usize),
    /// Index into [`Recording::plans`].
    Plan(usize),
}

/// A span, an activity or a plan as it will be drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayoutSlice {
    pub(super) source: SliceSource,
    /// Index into [`Layout::rows`].
    pub(super) row: usize,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    /// The second and the last nanosecond at which this is the innermost slice of its row.
    pub(super) inside_ns: Option<(u64, u64)>,
}

/// One row, which is a thread of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LayoutRow {
    pub(super) lane: usize,
    /// 0 for the lane's own row; 1, 2, … for additional rows with crossing slices.
    pub(super) overflow: usize,
}

pub(super) struct Layout {
    /// Sorted by lane, then by start; if two start together, the outer one comes first.
    pub(super) slices: Vec<LayoutSlice>,
    /// Sorted by lane, then by `overflow`; every lane has at least one.
    pub(super) rows: Vec<LayoutRow>,
}

impl Layout {
    /// Computes the layout of a recording.
    ///
    /// # Errors
    /// If a span, an activity or a plan is on a lane that does not exist, or ends before it starts.
    pub(super) fn new(recording: &Recording) -> Result<Self, Repr> {
        check(recording, recording.lanes.len())?;
        let spans = recording.spans.iter().enumerate();
        let spans = spans.map(|(at, span)| (SliceSource::Span(at), span.lane, span.start_ns, span.end_ns));
        let activities = recording.activities.iter().enumerate();
        let activities = activities.map(|(at, it)| (SliceSource::Activity(at), it.lane, it.start_ns, it.end_ns));
        let plans = recording.plans.iter().enumerate();
        let plans = plans.map(|(at, it)| (SliceSource::Plan(at), it.lane, it.start_ns, it.predicted_end_ns()));
        let slice = |(source, lane, start_ns, end_ns): (SliceSource, u32, u64, u64)| {
            // Until it is assigned to a row, this holds its lane.
            LayoutSlice { source, row: lane as usize, start_ns, end_ns, inside_ns: None }
        };
        let mut slices: Vec<LayoutSlice> = spans.chain(activities).chain(plans).map(slice).collect();
        // The sort is stable and fast on presorted runs, because recorders append lane by lane and in order.
        slices.sort_by_key(|slice| (slice.row, slice.start_ns, Reverse(slice.end_ns)));

        let mut rows = Vec::with_capacity(recording.lanes.len());
        let mut rest = slices.as_mut_slice();
        for lane in 0..recording.lanes.len() {
            let of_lane = rest.partition_point(|slice| slice.row <= lane);
            let (mine, others) = rest.split_at_mut(of_lane);
            rest = others;
            widen(mine);
            let rows_of_lane = nest(mine, rows.len());
            rows.extend((0..rows_of_lane).map(|overflow| LayoutRow { lane, overflow }));
        }
        Ok(Self { slices, rows })
    }
}

/// Checks that all spans, activities and plans can be drawn on this number of lanes.
///
/// # Errors
/// The same as those of [`Layout::new`].
pub(super) fn check(recording: &Recording, lanes: usize) -> Result<(), Repr> {
    let check = |lane: u32, start_ns: u64, end_ns: u64, what: &dyn Fn() -> String| {
        if lane as usize >= lanes {
            return Err(Repr::UnknownLane { what: what(), lane, lanes });
        }
        if end_ns < start_ns {
            return Err(Repr::Backward { what: what(), start_ns, end_ns });
        }
        Ok(())
    };
    for span in &recording.spans {
        check(span.lane, span.start_ns, span.end_ns, &|| format!("a span of task {}", span.task))?;
    }
    for activity in &recording.activities {
        let what = || format!("an activity ({})", activity.kind.category());
        check(activity.lane, activity.start_ns, activity.end_ns, &what)?;
    }
    for plan in &recording.plans {
        let what = || format!("a plan ({})", plan.prediction.name);
        check(plan.lane, plan.start_ns, plan.predicted_end_ns(), &what)?;
    }
    Ok(())
}

/// The minimum length of a slice with an inside.
const SLICE_NS_MIN: u64 = 2;

/// Extends slices without an inside to the minimum length, beside each other, and restores the order.
fn widen(slices: &mut [LayoutSlice]) {
    let mut free_from_ns = 0;
    let mut moved = false;
    for slice in slices.iter_mut() {
        if slice.end_ns - slice.start_ns >= SLICE_NS_MIN {
            continue;
        }
        slice.start_ns = slice.start_ns.max(free_from_ns);
        slice.end_ns = slice.start_ns.saturating_add(SLICE_NS_MIN);
        free_from_ns = slice.end_ns.saturating_add(1);
        moved = true;
    }
    if moved {
        slices.sort_by_key(|slice| (slice.start_ns, Reverse(slice.end_ns)));
    }
}

/// A row under construction: the indices of the open slices, outermost first, and the time up to which nested slices
/// cover each.
#[derive(Default)]
struct OpenRow(Vec<(usize, u64)>);

impl OpenRow {
    /// Closes the slices that have ended by `at_ns`.
    fn close_until(&mut self, at_ns: u64, slices: &mut [LayoutSlice]) {
        while let Some(&(top, _)) = self.0.last() {
            let end_ns = slices[top].end_ns;
            if end_ns > at_ns {
                return;
            }
            self.note_inside(end_ns, slices);
            self.0.pop();
        }
    }

    /// Returns whether a slice that ends at `end_ns` fits into the innermost open one.
    fn fits(&self, end_ns: u64, slices: &[LayoutSlice]) -> bool {
        self.0.last().is_none_or(|&(top, _)| end_ns <= slices[top].end_ns)
    }

    fn push(&mut self, index: usize, slices: &mut [LayoutSlice]) {
        let LayoutSlice { start_ns, end_ns, .. } = slices[index];
        self.note_inside(start_ns, slices);
        if let Some((_, covered_to_ns)) = self.0.last_mut() {
            *covered_to_ns = end_ns;
        }
        self.0.push((index, start_ns));
    }

    /// Notes that the innermost open slice was uncovered since its last nested slice ended, until `until_ns`.
    fn note_inside(&self, until_ns: u64, slices: &mut [LayoutSlice]) {
        let Some(&(top, from_ns)) = self.0.last() else { return };
        if until_ns.saturating_sub(from_ns) >= SLICE_NS_MIN {
            let second_ns = slices[top].inside_ns.map_or(from_ns + 1, |(second, _)| second);
            slices[top].inside_ns = Some((second_ns, until_ns - 1));
        }
    }
}

/// Assigns the sorted slices of one lane to rows numbered from `first_row`. Returns the number of rows, at least one.
fn nest(slices: &mut [LayoutSlice], first_row: usize) -> usize {
    let mut rows = vec![OpenRow::default()];
    for index in 0..slices.len() {
        let LayoutSlice { start_ns, end_ns, .. } = slices[index];
        for row in &mut rows {
            row.close_until(start_ns, slices);
        }
        let place = rows.iter().position(|row| row.fits(end_ns, slices));
        let place = place.unwrap_or_else(|| {
            rows.push(OpenRow::default());
            rows.len() - 1
        });
        slices[index].row = first_row + place;
        rows[place].push(index, slices);
    }
    for row in &mut rows {
        row.close_until(u64::MAX, slices);
    }
    rows.len()
}
