//! The run as the page carries it: one line of JSON for the names, and sections of numbers in base64.
//!
//! A million tasks as JSON objects would be 150 MB that take ten seconds to parse. As differences to the one before, in varints, a
//! task takes 20 bytes and a hazard 6, before base64 adds a third. `run.js` reads the sections; both sides are described here.
//!
//! | section | what is in it |
//! |---|---|
//! | `classes` | what many tasks share: count; then kernel, site + 1 or 0, outcome, level, how many indices, 1 if its insertion is known |
//! | `costs` | pairs of flops and bytes: count; then two doubles each |
//! | `tasks` | by lane: count; then class, cost, start, length, number, priority, indices, insertion |
//! | `hazards` | by task in the order of numbers: count; then distance · 4 + kind, and datum |
//! | `activities` | by lane: count; then kind, name, start, length, bytes, link (0, or 1 and both nodes), task + 1 or 0 |
//! | `counters` | by counter: count, 0 for whole values or 1; then moment and value |
//! | `path` | the tasks of the critical path: count; then each one's place in the order of numbers |
//!
//! Starts, numbers, priorities, data and moments are differences to the one before of the same lane or counter (data: of all), an
//! insertion to the start. Times are nanoseconds from the start of the run. The tasks of a lane are ordered by start, outer ones
//! first. Kinds and outcomes are numbered from 0, in the order of their declarations, which is that of the lists at the
//! top of `run.js`.

use super::bytes::Bytes;
use crate::{Activity, Counter, Task, Trace, graph::Lists};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hash;

/// Times before the start of the run are below this; it keeps differences unsigned.
const ZERO_NS: u64 = 1 << 62;

/// A section's name and its bytes in base64.
pub(super) struct Section {
    pub name: &'static str,
    pub base64: String,
}

/// All sections, in the order of the table above. `path` holds places in [`Trace::tasks`].
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

/// What is text: names, and what the page says of the file. Fit to stand within a `script` element.
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
    // Within a script element only `<` can end it or open a comment.
    names.to_string().replace('<', "\\u003c")
}

/// Nanoseconds from the start of the run, plus [`ZERO_NS`].
fn since(origin_ns: u64, at_ns: u64) -> u64 {
    at_ns.saturating_add(ZERO_NS).saturating_sub(origin_ns)
}

/// Places in `trace.tasks`, by the tasks' numbers; of equal numbers, in the order of the page.
fn order_of_numbers(trace: &Trace, lanes: &[Vec<u32>]) -> Vec<u32> {
    let mut order: Vec<u32> = lanes.concat();
    order.sort_by_key(|&task| trace.tasks[task as usize].id);
    order
}

/// Values by number, each once.
struct Table<T> {
    numbers: HashMap<T, usize>,
    values: Vec<T>,
}

impl<T: Copy + Eq + Hash> Table<T> {
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

/// The places of each lane's items by start, and what encloses others before them.
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

/// The sections `classes`, `costs` and `tasks`.
fn tasks(trace: &Trace, lanes: &[Vec<u32>], origin_ns: u64) -> (Bytes, Bytes, Bytes) {
    let (mut classes, mut costs, mut out) = (Table::new(), Table::new(), Bytes::default());
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

/// Keeps differences, and the order.
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
