//! Makes a recording from pages.

use super::{
    Recorder,
    page::Page,
    ring::{Pages, TasksInProgress},
};
use crate::recording::{Activity, ActivityKind, Counter, CounterSample, PlanRecord, Recording, Span};
use std::{borrow::Borrow, cmp::Reverse, collections::BTreeMap};

impl Recorder {
    /// Returns the recording of these pages with counters. Its lanes are those of the workers and those with records.
    pub(super) fn collect(&self, read: Pages) -> Recording {
        let mut recording = self.records(&read.pages);
        (recording.dropped, recording.whole_from_ns) = (read.dropped, read.whole_from_ns);
        recording.tasks.sort_unstable_by_key(|task| task.id);

        let ready: Vec<u64> = read.pages.iter().flat_map(|page| page.ready_ns.iter().copied()).collect();
        let begun = recording.spans.iter().map(|span| span.start_ns);
        let inserted: Vec<u64> = recording.tasks.iter().map(|task| task.inserted_ns).collect();
        let ended = recording.spans.iter().map(|span| span.end_ns);
        let TasksInProgress { ready: were_ready, in_window } = read.before;
        recording.counters = counter(Counter::ReadyTasks, were_ready, ready, begun);
        recording.counters.extend(counter(Counter::WindowTasks, in_window, inserted, ended));
        recording.counters.extend(read.pages.iter().flat_map(|page| page.samples.iter().copied()));
        recording.counters.extend(link_bytes(&recording.activities));
        // Before that time the changes of some seats are missing.
        recording.counters.retain(|sample| sample.at_ns >= read.whole_from_ns);

        let mut is_used = vec![false; recording.lanes.len()];
        is_used[..recording.workers.map_or(0, |workers| workers as usize)].fill(true);
        recording.spans.iter().for_each(|span| is_used[span.lane as usize] = true);
        recording.activities.iter().for_each(|activity| is_used[activity.lane as usize] = true);
        recording.plans.iter().for_each(|plan| is_used[plan.lane as usize] = true);
        let numbers = is_used.iter().scan(0, |next, &is_used| {
            let number = *next;
            *next += u32::from(is_used);
            Some(number)
        });
        let lanes: Vec<u32> = numbers.collect();
        recording.spans.iter_mut().for_each(|Span { lane, .. }| *lane = lanes[*lane as usize]);
        recording.activities.iter_mut().for_each(|Activity { lane, .. }| *lane = lanes[*lane as usize]);
        recording.plans.iter_mut().for_each(|PlanRecord { lane, .. }| *lane = lanes[*lane as usize]);
        let mut is_used = is_used.into_iter();
        recording.lanes.retain(|_| is_used.next() == Some(true));
        recording
    }

    /// Returns the records of these pages without counters, on all lanes.
    pub(super) fn records(&self, pages: &[impl Borrow<Page>]) -> Recording {
        let mut recording = self.blank();
        let pages = || pages.iter().map(Borrow::borrow);
        recording.tasks.reserve(pages().map(|page| page.tasks.len()).sum());
        recording.hazards.reserve(pages().map(|page| page.hazards.len()).sum());
        recording.spans.reserve(pages().map(|page| page.spans.len()).sum());
        for page in pages() {
            recording.tasks.extend_from_slice(&page.tasks);
            recording.hazards.extend_from_slice(&page.hazards);
            recording.spans.extend_from_slice(&page.spans);
            recording.activities.extend_from_slice(&page.activities);
            recording.plans.extend_from_slice(&page.plans);
        }
        recording
    }
}

/// Returns the accumulated bytes over each link at the end of each transfer.
fn link_bytes(activities: &[Activity]) -> Vec<CounterSample> {
    let link = |activity: &Activity| match activity.kind {
        ActivityKind::Transfer { from, to, bytes } => Some((activity.end_ns, Counter::LinkBytes { from, to }, bytes)),
        _ => None,
    };
    let mut transfers: Vec<_> = activities.iter().filter_map(link).collect();
    transfers.sort_unstable_by_key(|&(end_ns, ..)| end_ns);
    let mut sums = BTreeMap::new();
    let samples = transfers.into_iter().map(|(at_ns, counter, bytes)| {
        let sum = sums.entry(counter).or_insert(0);
        *sum += bytes;
        CounterSample { counter, at_ns, value: *sum }
    });
    samples.collect()
}

/// Returns the samples of a counter that starts at `value`, increases at the times `enter` and decreases at `leave`.
fn counter(counter: Counter, mut value: i64, enter: Vec<u64>, leave: impl Iterator<Item = u64>) -> Vec<CounterSample> {
    let enter = enter.into_iter().map(|at| (at, 1));
    let mut changes: Vec<(u64, i64)> = enter.chain(leave.map(|at| (at, -1))).collect();
    // Entering comes before leaving at the same time, so that a short presence is counted.
    changes.sort_unstable_by_key(|&(at, change)| (at, Reverse(change)));
    let samples = changes.into_iter().map(|(at_ns, change)| {
        value += change;
        CounterSample { counter, at_ns, value: value.max(0) as u64 }
    });
    samples.collect()
}
