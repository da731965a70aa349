//! Nested slices of threads: which ones cross, and which one an arrow's end points at.
//!
//! This is one pass over all slices in the order of their starts, with a stack of open slices for each thread. Slices
//! need not be sorted by thread, and only open slices are kept in memory.

use super::oddities::{Oddities, OddityKind};
use crate::{Activity, Task};

/// A time on a thread that points at a slice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Anchor {
    pub(super) at_ns: u64,
    pub(super) thread: u32,
    /// The index of its result.
    pub(super) place: u32,
    /// Whether it points at the slice around it, or at the next one that begins.
    pub(super) encloses: bool,
}

/// A task or an activity on a thread.
#[derive(Debug, Clone, Copy)]
struct Slice {
    start_ns: u64,
    end_ns: u64,
    thread: u32,
    /// The index of the task, if it is one.
    task: Option<u32>,
}

/// The open slices of one thread.
#[derive(Debug, Clone, Default)]
struct OpenSlices {
    /// Outermost first.
    slices: Vec<Slice>,
    /// Result indices of the anchors that point at the next task.
    waiting: Vec<u32>,
}

/// Finds the task that each anchor points at, and notes slices that cross. The result is indexed by [`Anchor::place`].
///
/// `tasks` and `activities` must be sorted by start, and their lanes must still be threads.
pub(super) fn resolve(
    tasks: &[Task],
    activities: &[Activity],
    threads: usize,
    mut anchors: Vec<Anchor>,
    oddities: &mut Oddities,
) -> Vec<Option<u32>> {
    let mut found = vec![None; anchors.len()];
    let mut open = vec![OpenSlices::default(); threads];
    anchors.sort_unstable_by_key(|anchor| (anchor.at_ns, anchor.place));
    let mut anchors = anchors.into_iter().peekable();
    for slice in slices(tasks, activities) {
        while let Some(anchor) = anchors.next_if(|anchor| anchor.at_ns < slice.start_ns) {
            open[anchor.thread as usize].point(anchor, &mut found);
        }
        let thread = &mut open[slice.thread as usize];
        if let Some(other) = thread.push(slice) {
            note_crossing(other, slice, tasks, oddities);
        }
        if slice.task.is_some() {
            thread.waiting.drain(..).for_each(|place| found[place as usize] = slice.task);
        }
    }
    for anchor in anchors {
        open[anchor.thread as usize].point(anchor, &mut found);
    }
    for _ in found.iter().filter(|found| found.is_none()) {
        oddities.note(OddityKind::StrayArrow, (None, None), || "an end of an arrow points at no task".to_owned());
    }
    found
}

/// Returns all slices in the order of their starts.
fn slices<'a>(tasks: &'a [Task], activities: &'a [Activity]) -> impl Iterator<Item = Slice> + 'a {
    let mut tasks = tasks.iter().enumerate().peekable();
    let mut activities = activities.iter().peekable();
    std::iter::from_fn(move || {
        let next_ns = activities.peek().map_or(u64::MAX, |activity| activity.start_ns);
        if let Some((place, task)) = tasks.next_if(|(_, task)| task.start_ns <= next_ns) {
            let Task { start_ns, end_ns, lane: thread, .. } = *task;
            return Some(Slice { start_ns, end_ns, thread, task: Some(place as u32) });
        }
        let Activity { start_ns, end_ns, lane: thread, .. } = *activities.next()?;
        Some(Slice { start_ns, end_ns, thread, task: None })
    })
}

impl OpenSlices {
    /// Opens a slice; slices must be opened in the order of their starts. Returns the slice that it crosses, if there
    /// is one.
    fn push(&mut self, slice: Slice) -> Option<Slice> {
        while self.slices.pop_if(|open| open.end_ns <= slice.start_ns).is_some() {}
        // Of slices with the same start, the longest is the outermost, independent of their order.
        let is_inside = |open: &&Slice| open.start_ns == slice.start_ns && open.end_ns < slice.end_ns;
        let inside = self.slices.iter().rev().take_while(is_inside).count();
        let at = self.slices.len() - inside;
        let outer = self.slices[..at].last().copied();
        self.slices.insert(at, slice);
        outer.filter(|outer| outer.end_ns < slice.end_ns)
    }

    /// Resolves an anchor, once all slices that begin up to its time are known.
    fn point(&mut self, anchor: Anchor, found: &mut [Option<u32>]) {
        let at_ns = anchor.at_ns;
        let mut tasks = self.slices.iter().rev().filter(|slice| slice.task.is_some());
        let slice = if anchor.encloses {
            let around = tasks.clone().find(|slice| slice.end_ns > at_ns);
            // If no slice is around it, it may be at the very end of one.
            around.or_else(|| tasks.find(|slice| slice.end_ns == at_ns))
        } else {
            tasks.find(|slice| slice.start_ns == at_ns)
        };
        match slice {
            Some(slice) => found[anchor.place as usize] = slice.task,
            None if anchor.encloses => {}
            None => self.waiting.push(anchor.place),
        }
    }
}

#[cold]
fn note_crossing(outer: Slice, slice: Slice, tasks: &[Task], oddities: &mut Oddities) {
    let id = |slice: Slice| slice.task.map(|place| tasks[place as usize].id);
    let called = |slice: Slice| id(slice).map_or("a slice".to_owned(), |id| format!("task {id}"));
    oddities.note(OddityKind::Crossing, (id(slice).or(id(outer)), Some(slice.thread)), || {
        let [from, to, first, last] = [outer.start_ns, outer.end_ns, slice.start_ns, slice.end_ns];
        let (outer, slice) = (called(outer), called(slice));
        format!("{slice} ({first} to {last} ns) crosses {outer} ({from} to {to} ns) of the same thread")
    });
}
