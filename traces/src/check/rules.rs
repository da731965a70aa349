//! The rules that can be checked without the file.

use super::{Rule, Verdict, cycle};
use crate::read::number;
use crate::{ActivityKind, HazardEdge, LaneKind, Outcome, Task, Trace};
use std::collections::BTreeMap;

/// The recorder draws very short slices up to this long so that viewers show them; such a slice ends when it begins.
const DRAWN_NS_MIN: u64 = 2;

/// The key in `otherData` for the maximum difference between device clocks and the host's clock.
const TOLERANCE: &str = "clock tolerance";

/// Checks every rule.
pub(super) fn apply(trace: &Trace, verdict: &mut Verdict) {
    indices(trace, verdict);
    if !verdict.is_consistent() {
        return;
    }
    slices(trace, verdict);
    ids(trace, verdict);
    hazards(trace, verdict);
    counters(trace, verdict);
    task_count(trace, verdict);
    transfers(trace, verdict);
    limits(trace, verdict);
}

/// Returns whether nothing is known to be missing from the run.
pub(super) fn is_complete(trace: &Trace) -> bool {
    trace.dropped == 0 && fact(trace, "complete") != Some("false")
}

fn fact<'a>(trace: &'a Trace, key: &str) -> Option<&'a str> {
    trace.facts.iter().find(|(known, _)| known == key).map(|(_, value)| &**value)
}

fn indices(trace: &Trace, verdict: &mut Verdict) {
    let exists = |place: u32, count: usize| (place as usize) < count;
    for task in &trace.tasks {
        let is_whole = exists(task.lane, trace.lanes.len())
            && exists(task.kernel, trace.kernels.len())
            && task.site.is_none_or(|site| exists(site, trace.sites.len()));
        if !is_whole {
            verdict.fault(Rule::Places, Some(task.id), None, || "its lane, kernel or site does not exist".to_owned());
        }
    }
    for activity in &trace.activities {
        let is_name = |place: u32| exists(place, trace.names.len());
        let has_link = activity.link.is_none_or(|(from, to)| is_name(from) && is_name(to));
        if !exists(activity.lane, trace.lanes.len()) || !is_name(activity.name) || !has_link {
            let text = || "the lane, the name or the link of an activity does not exist".to_owned();
            verdict.fault(Rule::Places, activity.task, None, text);
        }
    }
    for plan in &trace.plans {
        let is_name = |place: u32| exists(place, trace.names.len());
        let has_site = plan.site.is_none_or(|site| exists(site, trace.sites.len()));
        if !is_name(plan.name) || !has_site || !plan.traffic.iter().all(|&(link, _)| is_name(link)) {
            let text = || "the name, the site or a link of a plan does not exist".to_owned();
            verdict.fault(Rule::Places, None, None, text);
        }
    }
    for hazard in &trace.hazards {
        if !exists(hazard.from, trace.tasks.len()) || !exists(hazard.to, trace.tasks.len()) {
            verdict.fault(Rule::Places, None, None, || "a task of a hazard does not exist".to_owned());
        }
    }
}

fn slices(trace: &Trace, verdict: &mut Verdict) {
    let tolerance_ns = tolerance_ns(trace);
    for task in &trace.tasks {
        let (id, lane) = (Some(task.id), Some(task.lane));
        if task.end_ns < task.start_ns {
            let text = || format!("it ends at {} ns, before it begins at {} ns", task.end_ns, task.start_ns);
            verdict.fault(Rule::Length, id, lane, text);
        }
        let allowed_ns = if is_device(trace, task) { tolerance_ns } else { 0 };
        match task.inserted_ns {
            Some(inserted_ns) if inserted_ns > task.start_ns.saturating_add(allowed_ns) => {
                let text = || format!("it begins at {} ns, before it is inserted at {inserted_ns} ns", task.start_ns);
                verdict.fault(Rule::Insertion, id, lane, text);
            }
            _ => {}
        }
    }
    for activity in trace.activities.iter().filter(|activity| activity.end_ns < activity.start_ns) {
        let text =
            || format!("an activity ends at {} ns, before it begins at {} ns", activity.end_ns, activity.start_ns);
        verdict.fault(Rule::Length, activity.task, Some(activity.lane), text);
    }
}

fn ids(trace: &Trace, verdict: &mut Verdict) {
    let mut ids: Vec<u64> = trace.tasks.iter().map(|task| task.id).collect();
    ids.sort_unstable();
    for same in ids.chunk_by(|a, b| a == b).filter(|same| same.len() > 1) {
        verdict.fault(Rule::Once, Some(same[0]), None, || format!("it has {} slices", same.len()));
    }
}

fn hazards(trace: &Trace, verdict: &mut Verdict) {
    let tolerance_ns = tolerance_ns(trace);
    let mut goes_back = false;
    for hazard in &trace.hazards {
        let HazardEdge { from, to, kind, .. } = *hazard;
        let (from, to) = (&trace.tasks[from as usize], &trace.tasks[to as usize]);
        if from.id >= to.id {
            goes_back = true;
            let text = || format!("{kind:?} on task {}, which is not before it in the serial program", from.id);
            verdict.fault(Rule::SerialOrder, Some(to.id), Some(to.lane), text);
        }
        // A cancelled task's body never ran, so its times mean nothing here.
        if [from, to].iter().any(|task| task.outcome == Outcome::Cancelled) {
            continue;
        }
        let ended_ns =
            if from.end_ns <= from.start_ns.saturating_add(DRAWN_NS_MIN) { from.start_ns } else { from.end_ns };
        let allowed_ns = if is_device(trace, from) || is_device(trace, to) { tolerance_ns } else { 0 };
        if to.start_ns.saturating_add(allowed_ns) < ended_ns {
            let text = || {
                let (start_ns, id) = (to.start_ns, from.id);
                format!("it begins at {start_ns} ns, but its {kind:?} predecessor, task {id}, ends at {ended_ns} ns")
            };
            verdict.fault(Rule::Hazard, Some(to.id), Some(to.lane), text);
        }
    }
    // If every hazard goes forward, there is no cycle.
    if goes_back && let Some((task, count)) = cycle::find(trace) {
        let text = || format!("it waits for itself through other tasks; {count} tasks can never begin");
        verdict.fault(Rule::Cycle, Some(task), None, text);
    }
}

/// Returns whether a task's times come from a device's clock.
fn is_device(trace: &Trace, task: &Task) -> bool {
    matches!(trace.lanes[task.lane as usize].kind, LaneKind::Queue | LaneKind::Link)
}

fn tolerance_ns(trace: &Trace) -> u64 {
    fact(trace, TOLERANCE).and_then(number::nanoseconds).unwrap_or(0)
}

fn counters(trace: &Trace, verdict: &mut Verdict) {
    for counter in &trace.counters {
        let name = &counter.name;
        for pair in counter.samples.windows(2).filter(|pair| pair[0].0 > pair[1].0) {
            let text = || format!("the counter `{name}` goes back from {} ns to {} ns", pair[0].0, pair[1].0);
            verdict.fault(Rule::Counter, None, None, text);
        }
        for (at_ns, value) in counter.samples.iter().filter(|(_, value)| value.is_nan() || *value < 0.0) {
            verdict.fault(Rule::Counter, None, None, || format!("the counter `{name}` is {value} at {at_ns} ns"));
        }
    }
}

fn task_count(trace: &Trace, verdict: &mut Verdict) {
    let Some(said) = fact(trace, "tasks") else {
        return;
    };
    let count = trace.tasks.len() as u64;
    let text = format!("the file states {said} tasks but contains {count}");
    match number::unsigned(said) {
        Some(said) if said == count => {}
        Some(said) if said.abs_diff(count) <= trace.dropped => {}
        Some(_) if !is_complete(trace) && trace.dropped == 0 => verdict.note(Rule::TaskCount, text),
        _ => verdict.fault(Rule::TaskCount, None, None, || text),
    }
}

fn transfers(trace: &Trace, verdict: &mut Verdict) {
    let name = |place: u32| &*trace.names[place as usize];
    let mut moved: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for activity in trace.activities.iter().filter(|activity| activity.kind == ActivityKind::Transfer) {
        match activity.link {
            Some((from, to)) if activity.bytes > 0 => {
                let bytes = moved.entry((name(from), name(to))).or_default();
                *bytes = bytes.saturating_add(activity.bytes);
            }
            _ => verdict.fault(Rule::Transfer, activity.task, Some(activity.lane), || {
                format!("the transfer at {} ns has no source, destination or byte count", activity.start_ns)
            }),
        }
    }
    let mut counted: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for counter in &trace.counters {
        if let (Some(link), Some((_, last))) = (link_of(&counter.name), counter.samples.last()) {
            *counted.entry(link).or_default() += last;
        }
    }
    for (link, counted) in counted {
        let moved = moved.get(&link).copied().unwrap_or(0);
        if moved as f64 != counted {
            let text =
                format!("transfers from {} to {} have {moved} bytes, but their counter has {counted}", link.0, link.1);
            if is_complete(trace) {
                verdict.fault(Rule::LinkBytes, None, None, || text);
            } else {
                verdict.note(Rule::LinkBytes, text);
            }
        }
    }
}

/// Returns the memory nodes of a counter `bytes FROM to TO`, which may have the name of a process in front.
fn link_of(counter: &str) -> Option<(&str, &str)> {
    let name = counter.rsplit_once(": ").map_or(counter, |(_, name)| name);
    name.strip_prefix("bytes ")?.split_once(" to ")
}

fn limits(trace: &Trace, verdict: &mut Verdict) {
    if trace.dropped > 0 {
        verdict.note(Rule::Completeness, format!("the recorder had no room for {} records", trace.dropped));
    }
    if trace.hazards_left_out > 0 {
        verdict.note(Rule::Completeness, format!("{} hazards are not in the file", trace.hazards_left_out));
    }
    if fact(trace, "complete") == Some("false") {
        verdict.note(Rule::Completeness, "the file was written before the run had ended".to_owned());
    }
}
