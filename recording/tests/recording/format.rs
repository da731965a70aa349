//! A checker of the trace event format, written from its documentation and independent of the writer. It checks the
//! required keys and their types for each phase, that the slices of every thread nest, and that the two ends of each
//! arrow match and lie inside slices.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Event = Map<String, Value>;
type ThreadKey = (u64, u64);

/// The trace as a viewer reads it.
#[derive(Debug, Default)]
pub struct Model {
    pub slices: Vec<Slice>,
    pub arrows: Vec<Arrow>,
    pub samples: usize,
    pub instants: usize,
    /// Hazards written as instants: name, earlier task, later task.
    pub hidden: Vec<(String, u64, u64)>,
    pub processes: BTreeMap<u64, String>,
    pub threads: BTreeMap<ThreadKey, String>,
    /// The kind of each thread.
    pub kinds: BTreeMap<ThreadKey, String>,
    pub other_data: Value,
}

#[derive(Debug, Clone)]
pub struct Slice {
    pub category: String,
    pub thread: ThreadKey,
    pub name: String,
    pub start_ns: u64,
    pub end_ns: u64,
    pub arguments: Event,
}

#[derive(Debug)]
pub struct Arrow {
    pub name: String,
    /// Earlier task, later task.
    pub tasks: (u64, u64),
    pub leaves_ns: u64,
    pub enters_ns: u64,
    /// Indices into `slices`.
    pub from: usize,
    pub to: usize,
}

/// # Panics
/// If the text is not a valid trace.
pub fn check(json: &[u8]) -> Model {
    let trace: Value = serde_json::from_slice(json).expect("the trace is JSON");
    let unit = trace["displayTimeUnit"].as_str();
    assert!(matches!(unit, Some("ms" | "ns")), "displayTimeUnit is {unit:?}");
    assert!(trace["otherData"].is_object(), "otherData is an object");
    let mut model = Model { other_data: trace["otherData"].clone(), ..Model::default() };
    let events = trace["traceEvents"].as_array().expect("traceEvents is an array");
    let mut ends: BTreeMap<(String, u64), [Vec<End>; 2]> = BTreeMap::new();
    for event in events {
        let event = event.as_object().expect("an event is an object");
        match text(event, "ph") {
            "M" => metadata(event, &mut model),
            "X" => model.slices.push(slice(event)),
            "s" => arrow_end(event, 0, &mut ends),
            "f" => {
                assert_eq!(text(event, "bp"), "e", "binds to the enclosing slice");
                arrow_end(event, 1, &mut ends);
            }
            "C" => {
                sample(event);
                model.samples += 1;
            }
            "i" => {
                time_ns(event, "ts");
                assert!(matches!(text(event, "s"), "t" | "p" | "g"));
                assert!(!text(event, "name").is_empty());
                if text(event, "cat") == "hazard" {
                    let (from, to) = hazard(event);
                    model.hidden.push((text(event, "name").to_owned(), from, to));
                } else {
                    model.instants += 1;
                }
            }
            other => panic!("phase {other:?}"),
        }
    }
    every_thread_is_named(&model);
    let threads = nested_slices(&model);
    for ((_, id), [starts, finishes]) in ends {
        assert!(starts.len() == 1 && finishes.len() == 1, "arrow {id} has one end each");
        let (start, finish) = (&starts[0], &finishes[0]);
        assert_eq!(start.name, finish.name, "arrow {id}");
        assert_eq!(finish.tasks, None, "Chrome complains of arguments at both ends: arrow {id}");
        assert!(start.at_ns < finish.at_ns, "arrow {id} points forward in time");
        model.arrows.push(Arrow {
            name: start.name.clone(),
            tasks: start.tasks.expect("an arrow's start says of which tasks it is"),
            leaves_ns: start.at_ns,
            enters_ns: finish.at_ns,
            from: innermost(&model.slices, &threads, start).expect("leaves a slice"),
            to: innermost(&model.slices, &threads, finish).expect("enters a slice"),
        });
    }
    model
}

#[derive(Debug)]
struct End {
    name: String,
    tasks: Option<(u64, u64)>,
    thread: ThreadKey,
    at_ns: u64,
}

fn text<'a>(event: &'a Event, key: &str) -> &'a str {
    let value = event.get(key).and_then(Value::as_str);
    value.unwrap_or_else(|| panic!("{key} is a string in {event:?}"))
}

fn number(event: &Event, key: &str) -> u64 {
    let value = event.get(key).and_then(Value::as_u64);
    value.unwrap_or_else(|| panic!("{key} is a whole number in {event:?}"))
}

/// Reads microseconds as nanoseconds, by way of doubles like a viewer.
fn time_ns(event: &Event, key: &str) -> u64 {
    let value = event.get(key).and_then(Value::as_f64);
    let micros = value.unwrap_or_else(|| panic!("{key} is a number in {event:?}"));
    assert!(micros >= 0.0, "{key} is not negative in {event:?}");
    (micros * 1000.0).round() as u64
}

fn thread(event: &Event) -> ThreadKey {
    (number(event, "pid"), number(event, "tid"))
}

fn metadata(event: &Event, model: &mut Model) {
    let arguments = event["args"].as_object().expect("args is an object");
    let previous = match text(event, "name") {
        "process_name" => {
            let name = text(arguments, "name").to_owned();
            model.processes.insert(number(event, "pid"), name)
        }
        "thread_name" => {
            let (name, kind) = (text(arguments, "name").to_owned(), text(arguments, "kind"));
            assert!(matches!(kind, "worker" | "queue" | "link" | "host"), "{kind}");
            model.kinds.insert(thread(event), kind.to_owned());
            model.threads.insert(thread(event), name)
        }
        "process_sort_index" | "thread_sort_index" => {
            number(arguments, "sort_index");
            None
        }
        other => panic!("metadata {other:?}"),
    };
    assert_eq!(previous, None, "named once: {event:?}");
}

fn slice(event: &Event) -> Slice {
    let start_ns = time_ns(event, "ts");
    if let Some(colour) = event.get("cname") {
        // Viewers refuse colours that are not in a fixed list.
        assert!(matches!(colour.as_str(), Some("terrible" | "grey")));
    }
    Slice {
        category: text(event, "cat").to_owned(),
        thread: thread(event),
        name: text(event, "name").to_owned(),
        start_ns,
        end_ns: start_ns + time_ns(event, "dur"),
        arguments: event["args"].as_object().expect("args is an object").clone(),
    }
}

fn arrow_end(event: &Event, side: usize, ends: &mut BTreeMap<(String, u64), [Vec<End>; 2]>) {
    let key = (text(event, "cat").to_owned(), number(event, "id"));
    ends.entry(key).or_default()[side].push(End {
        name: text(event, "name").to_owned(),
        tasks: event.contains_key("args").then(|| hazard(event)),
        thread: thread(event),
        at_ns: time_ns(event, "ts"),
    });
}

/// Returns the earlier and the later task.
fn hazard(event: &Event) -> (u64, u64) {
    assert!(matches!(text(event, "name"), "RaW" | "WaR" | "WaW"), "{event:?}");
    let arguments = event["args"].as_object().expect("args is an object");
    number(arguments, "datum");
    (number(arguments, "from"), number(arguments, "to"))
}

fn sample(event: &Event) {
    text(event, "name");
    number(event, "pid");
    time_ns(event, "ts");
    let series = event["args"].as_object().expect("args is an object");
    assert!(!series.is_empty());
    assert!(series.values().all(Value::is_number), "{event:?}");
}

fn every_thread_is_named(model: &Model) {
    let mut numbers: Vec<u64> = model.processes.keys().copied().collect();
    for &(pid, tid) in model.threads.keys() {
        assert!(model.processes.contains_key(&pid), "process {pid} is named");
        numbers.push(tid);
    }
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), count, "numbers are unique");
    for slice in &model.slices {
        assert!(model.threads.contains_key(&slice.thread), "{slice:?} has a thread");
    }
}

/// Returns the slices of each thread; checks that they are in order of start (outer first) and nest.
fn nested_slices(model: &Model) -> BTreeMap<ThreadKey, Vec<usize>> {
    let mut threads: BTreeMap<ThreadKey, Vec<usize>> = BTreeMap::new();
    let mut open: BTreeMap<ThreadKey, Vec<u64>> = BTreeMap::new();
    for (index, slice) in model.slices.iter().enumerate() {
        let of_thread = threads.entry(slice.thread).or_default();
        if let Some(&previous) = of_thread.last() {
            assert!(model.slices[previous].start_ns <= slice.start_ns, "ordered: {slice:?}");
        }
        of_thread.push(index);
        let open = open.entry(slice.thread).or_default();
        open.retain(|&end_ns| end_ns > slice.start_ns);
        let fits = open.last().is_none_or(|&end_ns| slice.end_ns <= end_ns);
        assert!(fits, "crosses the slice before it: {slice:?}");
        open.push(slice.end_ns);
    }
    threads
}

/// Returns the slice to which a viewer attaches an arrow's end: of the thread's slices that cover the time, the one
/// that began last. It must have begun earlier, because viewers that use floating point assign the first nanosecond of
/// a slice to the slice that ends there.
fn innermost(slices: &[Slice], threads: &BTreeMap<ThreadKey, Vec<usize>>, end: &End) -> Option<usize> {
    let of_thread = threads.get(&end.thread)?;
    let covers = |&index: &usize| {
        let slice = &slices[index];
        slice.start_ns <= end.at_ns && end.at_ns < slice.end_ns
    };
    let found = of_thread.iter().rev().copied().find(|index| covers(index));
    found.filter(|&index| slices[index].start_ns < end.at_ns)
}
