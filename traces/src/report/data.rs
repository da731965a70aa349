//! The run's data in the page: one line of JSON with the names, and sections of numbers in base64.
//!
//! Numbers are stored as varints of differences, because a million tasks as JSON objects would be too large and too
//! slow to parse; measured: docs/measurements/2026-11-28-constants.md. `run.js` decodes the sections. This is the
//! format for both sides:
//!
//! | section | contents |
//! |---|---|
//! | `classes` | shared by tasks: count; then kernel, site + 1 or 0, outcome, level, number of indices, 1 if inserted |
//! | `costs` | pairs of flops and bytes: count; then two doubles each |
//! | `tasks` | by lane: count; then class, cost, start, length, number, priority, indices, insertion |
//! | `hazards` | by task in the order of numbers: count; then distance · 4 + kind, and datum |
//! | `activities` | by lane: count; then kind, name, start, length, bytes, link (0, or 1 and 2 nodes), task + 1 or 0 |
//! | `counters` | by counter: count, 0 if all values are whole or else 1; then time and value |
//! | `path` | the tasks of the critical path: count; then the index of each in the order of numbers |
//!
//! Starts, numbers, priorities and sample times are stored as differences to the previous value of the same lane or
//! counter, data as differences to the previous hazard's, and insertions relative to the start. Times are nanoseconds
//! from the start of the run. The tasks of a lane are sorted by start, outer ones first. Kinds and outcomes are
//! numbered from 0 in the order of their declarations, which is that of the lists at the top of `run.js`.

use super::bytes::Bytes;
use crate::{Activity, Counter, Task, Trace, graph::Lists};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hash;

/// An offset added to all times, so that times before the start of the run are not negative.
const ZERO_NS: u64 = 1 << 62;

/// The name of a section, and its bytes in base64.
pub(super) struct Section {
    pub name: &'static str,
    pub base64: String,
}

/// Returns all sections, in the order of the table above. `path` holds indices into [`Trace::tasks`].
pub(super) fn sections(trace: &Trace, path: &[u32]) -> Vec<Section> {
    let origin_ns = trace.extent_ns().0;
    let lanes = by_lane(trace.lanes.len(), &trace.tasks, |task| (task.lane, task.start_ns, task.end_ns));
    let by_number = order_of_numbers(trace, &lanes);
    let mut places = vec![0; trace.tasks.len()];
    for (place, &task) in by_number.iter().enumerate() {
        places[task as usize] = place as u32;
    }
    let (classes, costs, tasks) = tasks(trace, &lanes, origin_ns);
    let named = [
        ("classes", classes),
        ("costs", costs),
        ("tasks", tasks),
        ("hazards", hazards(trace, &by_number, &places)),
        ("activities", activities(trace, origin_ns)),
        ("counters", counters(&trace.counters, origin_ns)),
        ("path", path_section(path, &places)),
    ];
    named.into_iter().map(|(name, bytes)| Section { name, base64: bytes.base64() }).collect()
}

/// Returns the names, and other text for the scripts, as JSON that is safe within a `script` element.
pub(super) fn names(trace: &Trace, file: &str) -> String {
    let lanes: Vec<_> = trace.lanes.iter().map(|lane| (&lane.name, &lane.process, lane.kind.name())).collect();
    let counters: Vec<_> = trace.counters.iter().map(|counter| &counter.name).collect();
    let (start_ns, end_ns) = trace.extent_ns();
    let names = serde_json::json!({
        "file": file,
        "origin_ns": start_ns,
        "end_ns": end_ns - start_ns,
        "tasks": trace.tasks.len(),
        "hazards": trace.hazards.len(),
        "lanes": lanes,
        "kernels": trace.kernels,
        "sites": trace.sites,
        "names": trace.names,
        "counters": counters,
    });
    // Within a script element, only `<` can end the element or open a comment.
    names.to_string().replace('<', "\\u003c")
}

/// Returns a time relative to the start of the run, plus [`ZERO_NS`].
fn since(origin_ns: u64, at_ns: u64) -> u64 {
    at_ns.saturating_add(ZERO_NS).saturating_sub(origin_ns)
}

/// Returns the indices of the tasks, sorted by the tasks' numbers. Equal numbers are in the order of `lanes`.
fn order_of_numbers(trace: &Trace, lanes: &[Vec<u32>]) -> Vec<u32> {
    let mut order: Vec<u32> = lanes.concat();
    order.sort_by_key(|&task| trace.tasks[task as usize].id);
    order
}

/// Numbers distinct values in the order of their first use.
struct Numbering<T> {
    numbers: HashMap<T, usize>,
    values: Vec<T>,
}

impl<T: Copy + Eq + Hash> Numbering<T> {
    fn new() -> Self {
        Self { numbers: HashMap::new(), values: Vec::new() }
    }

    fn number(&mut self, value: T) -> u64 {
        let Self { numbers, values } = self;
        let number = *numbers.entry(value).or_insert_with(|| {
            values.push(value);
            values.len() - 1
        });
        number as u64
    }
}

type Class = [u32; 6];

fn class_of(task: &Task) -> Class {
    let site = task.site.map_or(0, |site| site + 1);
    let indices = task.index.as_slice().len() as u32;
    let (outcome, is_inserted) = (task.outcome as u32, u32::from(task.inserted_ns.is_some()));
    [task.kernel, site, outcome, u32::from(task.level), indices, is_inserted]
}

/// Returns for each lane the indices of its items, sorted by start; an enclosing item precedes those within it.
fn by_lane<T>(lanes: usize, items: &[T], span: impl Fn(&T) -> (u32, u64, u64)) -> Vec<Vec<u32>> {
    let mut of_lane = vec![Vec::new(); lanes];
    for (place, item) in items.iter().enumerate() {
        of_lane[span(item).0 as usize].push(place as u32);
    }
    for places in &mut of_lane {
        places.sort_by_key(|&place| {
            let (_, start_ns, end_ns) = span(&items[place as usize]);
            (start_ns, Reverse(end_ns))
        });
    }
    of_lane
}

/// Encodes the sections `classes`, `costs` and `tasks`.
fn tasks(trace: &Trace, lanes: &[Vec<u32>], origin_ns: u64) -> (Bytes, Bytes, Bytes) {
    let (mut classes, mut costs, mut out) = (Numbering::new(), Numbering::new(), Bytes::default());
    for lane in lanes {
        out.number(lane.len() as u64);
        let (mut start, mut id, mut priority) = (ZERO_NS, 0, 0);
        for task in lane.iter().map(|&task| &trace.tasks[task as usize]) {
            out.number(classes.number(class_of(task)));
            out.number(costs.number((task.flops.to_bits(), task.bytes.to_bits())));
            out.difference(start, since(origin_ns, task.start_ns));
            start = since(origin_ns, task.start_ns);
            out.number(task.length_ns());
            out.difference(id, task.id);
            id = task.id;
            out.difference(unsigned(priority), unsigned(task.priority));
            priority = task.priority;
            task.index.as_slice().iter().for_each(|&index| out.number(u64::from(index)));
            if let Some(inserted_ns) = task.inserted_ns {
                out.difference(inserted_ns, task.start_ns);
            }
        }
    }
    let (mut class_bytes, mut cost_bytes) = (Bytes::default(), Bytes::default());
    class_bytes.number(classes.values.len() as u64);
    classes.values.iter().flatten().for_each(|&field| class_bytes.number(u64::from(field)));
    cost_bytes.number(costs.values.len() as u64);
    for (flops, bytes) in costs.values {
        cost_bytes.double(f64::from_bits(flops));
        cost_bytes.double(f64::from_bits(bytes));
    }
    (class_bytes, cost_bytes, out)
}

/// Maps a priority to an unsigned number; differences and order are preserved.
fn unsigned(priority: i32) -> u64 {
    u64::from(priority.abs_diff(i32::MIN))
}

fn hazards(trace: &Trace, by_number: &[u32], places: &[u32]) -> Bytes {
    let of_tasks = trace.hazards.iter().enumerate().map(|(at, hazard)| (hazard.to, at as u32));
    let of_tasks = Lists::new(trace.tasks.len(), of_tasks);
    let (mut out, mut datum) = (Bytes::default(), 0);
    for &task in by_number {
        let of_task = of_tasks.of(task);
        out.number(of_task.len() as u64);
        for hazard in of_task.iter().map(|&at| trace.hazards[at as usize]) {
            let distance = i64::from(places[hazard.to as usize]) - i64::from(places[hazard.from as usize]);
            out.number(((distance << 1) ^ (distance >> 63)) as u64 * 4 + hazard.kind as u64);
            out.difference(datum, u64::from(hazard.datum));
            datum = u64::from(hazard.datum);
        }
    }
    out
}

fn activities(trace: &Trace, origin_ns: u64) -> Bytes {
    let mut out = Bytes::default();
    let span = |activity: &Activity| (activity.lane, activity.start_ns, activity.end_ns);
    for lane in by_lane(trace.lanes.len(), &trace.activities, span) {
        out.number(lane.len() as u64);
        let mut start = ZERO_NS;
        for activity in lane.iter().map(|&place| &trace.activities[place as usize]) {
            out.number(activity.kind as u64);
            out.number(u64::from(activity.name));
            out.difference(start, since(origin_ns, activity.start_ns));
            start = since(origin_ns, activity.start_ns);
            out.number(activity.end_ns - activity.start_ns);
            out.number(activity.bytes);
            out.number(u64::from(activity.link.is_some()));
            if let Some((from, to)) = activity.link {
                out.number(u64::from(from));
                out.number(u64::from(to));
            }
            out.number(activity.task.map_or(0, |task| task.saturating_add(1)));
        }
    }
    out
}

fn counters(counters: &[Counter], origin_ns: u64) -> Bytes {
    let mut out = Bytes::default();
    let is_whole = |value: f64| value >= 0.0 && value < (1_u64 << 52) as f64 && value.fract() == 0.0;
    for counter in counters {
        let all_whole = counter.samples.iter().all(|&(_, value)| is_whole(value));
        out.number(counter.samples.len() as u64);
        out.number(u64::from(!all_whole));
        let (mut moment, mut previous) = (ZERO_NS, 0);
        for &(at_ns, value) in &counter.samples {
            out.difference(moment, since(origin_ns, at_ns));
            moment = since(origin_ns, at_ns);
            if all_whole {
                out.difference(previous, value as u64);
                previous = value as u64;
            } else {
                out.double(value);
            }
        }
    }
    out
}

fn path_section(path: &[u32], places: &[u32]) -> Bytes {
    let mut out = Bytes::default();
    out.number(path.len() as u64);
    path.iter().for_each(|&task| out.number(u64::from(places[task as usize])));
    out
}
