//! Where each span and each activity is drawn: rows of properly nested slices, and the moments that arrows may touch.
//!
//! The trace viewers have three rules that a recording need not obey:
//!
//! * Slices of one row must nest. A worker that helps inside a body nests; the spans of a queue,
//!   timed by a device's clock, may overlap a little. A span that would cross another one is drawn
//!   on a further row of the same lane.
//! * An arrow belongs to the innermost slice at its moment, and that moment must be well inside:
//!   Chrome finds the end of a slice by adding floating-point microseconds, so that where two
//!   slices touch, the first nanosecond of the later one often counts as the earlier one's. So
//!   for every slice we note the second and the last nanosecond of those at which nothing nested
//!   covers it; a slice that is covered all along has none, and gets no arrows.
//! * A slice therefore needs two nanoseconds. A cancelled task, of length zero, is drawn that
//!   wide, and those cancelled at one moment stand side by side.

use std::cmp::Reverse;

use super::Recording;
use super::error::Kind;

/// What a slice shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// Index into [`Recording::spans`].
    Span(usize),
    /// Index into [`Recording::activities`].
    Activity(usize),
}

/// A span or an activity as it will be drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slice {
    pub(super) shown: Shown,
    /// Index into [`Layout::rows`].
    pub(super) row: usize,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    /// The second and the last nanosecond at which this is the innermost slice of its row.
    pub(super) inside_ns: Option<(u64, u64)>,
}

/// One row: a thread of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) lane: usize,
    /// 0 for the lane's own row, then 1, 2, … for those that take what crosses.
    pub(super) overflow: usize,
}

pub(super) struct Layout {
    /// By lane, then by start; of two that start together, the outer one first.
    pub(super) slices: Vec<Slice>,
    /// By lane, then by `overflow`; every lane has at least one.
    pub(super) rows: Vec<Row>,
}

impl Layout {
    /// # Errors
    /// A span or an activity on a lane that does not exist, or one that ends before it starts.
    pub(super) fn new(recording: &Recording) -> Result<Self, Kind> {
        check(recording, recording.lanes.len())?;
        let spans = recording.spans.iter().enumerate();
        let spans = spans.map(|(at, span)| (Shown::Span(at), span.lane, span.start_ns, span.end_ns));
        let activities = recording.activities.iter().enumerate();
        let activities = activities.map(|(at, it)| (Shown::Activity(at), it.lane, it.start_ns, it.end_ns));
        let slice = |(shown, lane, start_ns, end_ns): (Shown, u32, u64, u64)| {
            // Until it is dealt to a row, a slice has its lane there.
            Slice { shown, row: lane as usize, start_ns, end_ns, inside_ns: None }
        };
        let mut slices: Vec<Slice> = spans.chain(activities).map(slice).collect();
        // Stable, because recorders append lane by lane and in order: presorted runs cost little.
        slices.sort_by_key(|slice| (slice.row, slice.start_ns, Reverse(slice.end_ns)));

        let mut rows = Vec::with_capacity(recording.lanes.len());
        let mut rest = slices.as_mut_slice();
        for lane in 0..recording.lanes.len() {
            let of_lane = rest.partition_point(|slice| slice.row <= lane);
            let (mine, others) = rest.split_at_mut(of_lane);
            rest = others;
            widen(mine);
            let rows_of_lane = nest(mine, rows.len());
            rows.extend((0..rows_of_lane).map(|overflow| Row { lane, overflow }));
        }
        Ok(Self { slices, rows })
    }
}

/// Whether all spans and activities can be drawn on that many lanes.
///
/// # Errors
/// Those of [`Layout::new`].
pub(super) fn check(recording: &Recording, lanes: usize) -> Result<(), Kind> {
    let check = |lane: u32, start_ns: u64, end_ns: u64, what: &dyn Fn() -> String| {
        if lane as usize >= lanes {
            return Err(Kind::UnknownLane { what: what(), lane, lanes });
        }
        if end_ns < start_ns {
            return Err(Kind::Backward { what: what(), start_ns, end_ns });
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
    Ok(())
}

/// The length of a slice that has an inside.
const SLICE_NS_MIN: u64 = 2;

/// Gives slices without an inside the least length, side by side, and restores the order.
fn widen(slices: &mut [Slice]) {
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

/// One row under construction: the slices that are open, outermost first, by index, and up to when nested slices cover
/// each.
#[derive(Default)]
struct OpenRow(Vec<(usize, u64)>);

impl OpenRow {
    /// Closes what has ended by `at_ns`.
    fn close_until(&mut self, at_ns: u64, slices: &mut [Slice]) {
        while let Some(&(top, _)) = self.0.last() {
            let end_ns = slices[top].end_ns;
            if end_ns > at_ns {
                return;
            }
            self.note_inside(end_ns, slices);
            self.0.pop();
        }
    }

    /// Whether a slice that ends at `end_ns` fits into the innermost open one.
    fn fits(&self, end_ns: u64, slices: &[Slice]) -> bool {
        self.0.last().is_none_or(|&(top, _)| end_ns <= slices[top].end_ns)
    }

    fn push(&mut self, index: usize, slices: &mut [Slice]) {
        let Slice { start_ns, end_ns, .. } = slices[index];
        self.note_inside(start_ns, slices);
        if let Some((_, covered_to_ns)) = self.0.last_mut() {
            *covered_to_ns = end_ns;
        }
        self.0.push((index, start_ns));
    }

    /// The innermost open slice was bare from where its last nested slice ended until `until_ns`.
    fn note_inside(&self, until_ns: u64, slices: &mut [Slice]) {
        let Some(&(top, from_ns)) = self.0.last() else { return };
        if until_ns.saturating_sub(from_ns) >= SLICE_NS_MIN {
            let second_ns = slices[top].inside_ns.map_or(from_ns + 1, |(second, _)| second);
            slices[top].inside_ns = Some((second_ns, until_ns - 1));
        }
    }
}

/// Deals the sorted slices of one lane to rows numbered from `first_row`; returns how many rows
/// there are, at least one.
fn nest(slices: &mut [Slice], first_row: usize) -> usize {
    let mut rows = vec![OpenRow::default()];
    for index in 0..slices.len() {
        let Slice { start_ns, end_ns, .. } = slices[index];
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
