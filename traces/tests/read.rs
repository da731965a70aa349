//! Hand-made traces as data: how each event, and each form of the file, is read.

use superscalar_traces::read::{OddityKind, ReadOptions, Reading};
use superscalar_traces::{ActivityKind, Hazard, HazardEdge, LaneKind, Outcome, Plan, TileIndex, Trace};

fn read(text: &str) -> Reading {
    ReadOptions::default().read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns a file with these events, one per line.
fn file(events: &[&str]) -> String {
    format!("{{\"traceEvents\":[\n{}\n]}}", events.join(",\n"))
}

/// Returns a task's slice on thread 1 of process 1.
fn task(id: u64, start_us: u64, length_us: u64) -> String {
    format!(
        concat!(
            r#"{{"ph":"X","cat":"task","name":"gemm","pid":1,"tid":1,"ts":{start_us},"dur":{length_us},"#,
            r#""args":{{"task":{id}}}}}"#
        ),
        id = id,
        start_us = start_us,
        length_us = length_us
    )
}

/// Reads tasks 0 (0 to 10 µs) and 1 (20 to 30 µs), followed by `events`.
fn two_tasks(events: &[&str]) -> Reading {
    let tasks = [task(0, 0, 10), task(1, 20, 10)];
    let all: Vec<&str> = tasks.iter().map(String::as_str).chain(events.iter().copied()).collect();
    read(&file(&all))
}

fn hazards(reading: &Reading) -> Vec<(u64, u64, Hazard, u32)> {
    let id = |place: u32| reading.trace.tasks[place as usize].id;
    let tuple = |hazard: &HazardEdge| (id(hazard.from), id(hazard.to), hazard.kind, hazard.datum);
    reading.trace.hazards.iter().map(tuple).collect()
}

#[test]
fn a_task_with_all_its_arguments() {
    let trace = read(&file(&[
        r#"{"ph":"M","name":"process_name","pid":1,"args":{"name":"workers"}}"#,
        r#"{"ph":"M","name":"thread_name","pid":1,"tid":7,"args":{"name":"worker 0","kind":"worker"}}"#,
        r#"{"args":{"site":"a\\b.rs:9","bytes":1.5e3,"flops":2000,"BLAS level":3,"index":[4, 2],"priority":-3,
            "inserted":0.25,"outcome":"failed","task":18446744073709551615},
            "dur":0.5,"ts":1719999999999999.123,"tid":7,"pid":1,"name":"pot\u0072f","cat":"task","ph":"X"}"#,
    ]))
    .trace;
    let task = trace.tasks[0];
    assert_eq!((task.id, task.priority, task.outcome, task.level), (u64::MAX, -3, Outcome::Failed, 3));
    assert_eq!((task.start_ns, task.end_ns), (1_719_999_999_999_999_123, 1_719_999_999_999_999_623));
    assert_eq!((task.inserted_ns, task.flops, task.bytes), (Some(250), 2000.0, 1500.0));
    assert_eq!(task.index, TileIndex::new(&[4, 2]).unwrap());
    assert_eq!((&*trace.kernels, &*trace.sites), (&["potrf".to_owned()][..], &["a\\b.rs:9".to_owned()][..]));
    let lane = &trace.lanes[task.lane as usize];
    assert_eq!((&*lane.name, &*lane.process, lane.kind), ("worker 0", "workers", LaneKind::Worker));
}

#[test]
fn task_order_in_a_thread_is_free() {
    let trace = read(&file(&[&task(1, 20, 10), &task(0, 0, 10)])).trace;
    assert_eq!(trace.tasks.iter().map(|task| task.id).collect::<Vec<_>>(), [0, 1]);
    assert_eq!((trace.extent_ns(), trace.wall_ns()), ((0, 30_000), 30_000));
}

#[test]
fn member_order_is_free() {
    let data = r#""otherData":{"tasks":1,"records dropped":2,"window":64,"machine":"a \"laptop\"","list":[1, {}]}"#;
    let events = format!("\"traceEvents\":[{}]", task(0, 1, 2));
    let more = r#""stackFrames":{"a":[[],{"b":null}]},"displayTimeUnit":"ns""#;
    let first = read(&format!("\u{feff}{{{data},{more},{events}}}")).trace;
    assert_eq!(first, read(&format!("{{ {events} , {more} , {data} }}\n")).trace);
    let facts: Vec<_> = first.facts.iter().map(|(key, value)| (&**key, &**value)).collect();
    assert_eq!(facts, [("tasks", "1"), ("machine", "a \"laptop\""), ("list", "[1, {}]")]);
    assert_eq!((first.window, first.dropped), (Some(64), 2));
}

#[test]
fn bare_array_may_be_unterminated() {
    let task = task(0, 1, 2);
    let whole = read(&format!("[{task}]")).trace;
    assert_eq!(whole.tasks.len(), 1);
    for text in [format!("[\n{task},\n"), format!("[{task}"), format!(" [ {task} ] ")] {
        assert_eq!(read(&text).trace, whole, "{text}");
    }
    assert_eq!(read("[").trace, Trace::default());
    assert_eq!(read("[]").trace, Trace::default());
}

#[test]
fn truncated_file_is_read_partly() {
    let text = file(&[&task(0, 0, 10), &task(1, 20, 10)]);
    let cut = &text[..text.len() - 20];
    let error = ReadOptions::default().read(cut.as_bytes()).unwrap_err();
    assert!(error.is_cut_short());
    assert_eq!(error.position().unwrap().offset, cut.len() as u64);
    assert_eq!(error.position().unwrap().line, 3);
    let reading = ReadOptions::default().read_whole_events(cut.as_bytes()).unwrap();
    assert_eq!(reading.trace.tasks.len(), 1);
    assert_eq!(reading.broken.unwrap().to_string(), error.to_string());
}

#[test]
fn arrows_that_name_their_tasks() {
    let named = r#""pid":1,"tid":1,"args":{"from":0,"to":1,"datum":5}"#;
    let start = format!(r#"{{"ph":"s","cat":"hazard","name":"WaR","id":1,"ts":9,{named}}}"#);
    let finish = format!(r#"{{"ph":"f","cat":"hazard","name":"WaR","id":1,"ts":21,"bp":"e",{named}}}"#);
    for order in [[&*start, &*finish], [&*finish, &*start]] {
        let reading = two_tasks(&order);
        assert_eq!(hazards(&reading), [(0, 1, Hazard::WaR, 5)]);
        assert_eq!(reading.oddities.total(), 0);
    }
    // Chrome warns if both ends have arguments; one end is enough, whichever comes first.
    let bare = finish.replace(r#","args":{"from":0,"to":1,"datum":5}"#, "");
    assert_ne!(bare, finish);
    for order in [[&*start, &*bare], [&*bare, &*start]] {
        let reading = two_tasks(&order);
        assert_eq!(hazards(&reading), [(0, 1, Hazard::WaR, 5)]);
        assert_eq!((reading.oddities.total(), reading.trace.hazards_left_out), (0, 0));
    }
    let alone = two_tasks(&[&start]);
    assert_eq!(hazards(&alone), [(0, 1, Hazard::WaR, 5)]);
    assert_eq!(alone.oddities.count(OddityKind::LoneArrow), 1);
    let hidden = r#"{"ph":"i","cat":"hazard","name":"WaW","ts":1,"args":{"from":0,"to":1,"datum":6}}"#;
    assert_eq!(hazards(&two_tasks(&[hidden])), [(0, 1, Hazard::WaW, 6)]);
}

#[test]
fn arrows_that_point_at_slices() {
    let end = |phase: &str, id: &str, at: &str, more: &str| {
        format!(r#"{{"ph":"{phase}","cat":"hazard","name":"RaW","id":{id},"pid":1,"tid":1,"ts":{at}{more}}}"#)
    };
    let e = r#","bp":"e""#;
    // Inside, at the very ends, between the slices (pointing at the next one), and with a reused id.
    for (from, to, more) in [("9.999", "20.001", e), ("10", "20", e), ("0", "30", e), ("5", "12", ""), ("5", "20", "")]
    {
        let id = if more.is_empty() { "\"x\"" } else { "7" };
        let reading = two_tasks(&[&end("s", id, from, r#","args":{"datum":3}"#), &end("f", id, to, more)]);
        assert_eq!(hazards(&reading), [(0, 1, Hazard::RaW, 3)], "{from} {to} {more}");
    }
    let stray = two_tasks(&[&end("s", "1", "5", ""), &end("f", "1", "15", e)]);
    assert_eq!((stray.trace.hazards.len(), stray.trace.hazards_left_out), (0, 1));
    assert_eq!(stray.oddities.count(OddityKind::StrayArrow), 1);
    let lone = two_tasks(&[&end("s", "1", "5", ""), &end("s", "1", "5", ""), &end("f", "1", "25", e)]);
    assert_eq!((lone.trace.hazards.len(), lone.trace.hazards_left_out), (1, 1));
    assert_eq!(lone.oddities.count(OddityKind::LoneArrow), 1);
}

#[test]
fn arrow_points_at_innermost_task() {
    let outer = task(0, 0, 100);
    let inner = task(1, 10, 20);
    let later = task(2, 200, 10);
    let stall = r#"{"ph":"X","cat":"stall","name":"data","pid":1,"tid":1,"ts":12,"dur":6}"#;
    let arrow = |at: u64| {
        let ends = [("s", at), ("f", 205)].map(|(phase, at)| {
            let rest = r#""cat":"hazard","name":"RaW","id":1,"pid":1,"tid":1,"bp":"e""#;
            format!(r#"{{"ph":"{phase}","ts":{at},{rest}}}"#)
        });
        let reading = read(&file(&[&later, stall, &inner, &outer, &ends[0], &ends[1]]));
        hazards(&reading)[0].0
    };
    assert_eq!([5, 10, 15, 29, 30, 99, 100].map(arrow), [0, 1, 1, 1, 0, 0, 0]);
}

#[test]
fn hazards_of_unknown_tasks_are_left_out() {
    let hidden = r#"{"ph":"i","cat":"hazard","name":"RaW","ts":1,"args":{"from":0,"to":900}}"#;
    let reading = two_tasks(&[hidden]);
    assert_eq!((reading.trace.hazards.len(), reading.trace.hazards_left_out), (0, 1));
    let oddity = &reading.oddities.first()[0];
    assert_eq!((oddity.kind, oddity.task), (OddityKind::UnknownTask, Some(900)));
}

#[test]
fn activities_with_their_arguments() {
    let event = |category: &str, arguments: &str| {
        let head = r#""ph":"X","name":"n","pid":1,"tid":1,"ts":5,"dur":1"#;
        let reading = read(&file(&[&format!("{{{head},\"cat\":\"{category}\",\"args\":{{{arguments}}}}}")]));
        (reading.trace.activities[0], reading.trace.names)
    };
    let (transfer, names) = event("transfer", r#""bytes":64,"from":"host","to":"cuda:0","task":3,"datum":9"#);
    assert_eq!((transfer.kind, transfer.bytes, transfer.task), (ActivityKind::Transfer, 64, Some(3)));
    let (from, to) = transfer.link.unwrap();
    assert_eq!((&*names[from as usize], &*names[to as usize]), ("host", "cuda:0"));
    let (eviction, _) = event("eviction", r#""bytes":7"#);
    assert_eq!((eviction.kind, eviction.bytes, eviction.link), (ActivityKind::Eviction, 7, None));
    let (stall, _) = event("stall", r#""task":2"#);
    assert_eq!((stall.kind, stall.task), (ActivityKind::Stall, Some(2)));
    assert_eq!(event("allocation", "").0.kind, ActivityKind::Allocation);
    // Arguments of the program may have any type.
    let (host, _) = event("my_program", r#""bytes":"many","task":[1],"from":{}"#);
    assert_eq!((host.kind, host.bytes, host.task), (ActivityKind::Host, 0, None));
}

/// All arguments of a plan may be missing. Its slice is also an activity.
#[test]
fn plans_without_arguments() {
    let event = r#"{"ph":"X","cat":"plan","name":"gemm","pid":1,"tid":1,"ts":5,"dur":2.5}"#;
    let trace = read(&file(&[event])).trace;
    let (start_ns, predicted_ns) = (5000, 2500);
    let traffic = Vec::new();
    let plan = Plan { name: 0, site: None, start_ns, inserted_ns: None, predicted_ns, tile: Vec::new(), traffic };
    assert_eq!((&*trace.names[0], trace.plans), ("gemm", vec![plan]));
    assert_eq!((trace.activities[0].kind, trace.activities[0].end_ns), (ActivityKind::Host, 7500));
}

#[test]
fn begin_and_end_events_are_paired() {
    let event = |phase: &str, tid: u32, at: u32| {
        format!(r#"{{"ph":"{phase}","name":"{phase}{at}","pid":1,"tid":{tid},"ts":{at}}}"#)
    };
    // Two threads, an end that comes first in the file, an end too many, a begin too many.
    let events = [
        event("E", 1, 9),
        event("B", 1, 1),
        event("B", 1, 2),
        event("B", 2, 3),
        event("E", 1, 4),
        event("E", 1, 10),
        event("i", 2, 20),
    ];
    let all: Vec<&str> = events.iter().map(String::as_str).collect();
    let reading = read(&file(&all));
    let trace = &reading.trace;
    let spans: Vec<_> = trace.activities.iter().map(|span| (span.start_ns, span.end_ns)).collect();
    assert_eq!(spans, [(1000, 9000), (2000, 4000), (3000, 20_000), (20_000, 20_000)]);
    assert_eq!(trace.names[trace.activities[0].name as usize], "B1");
    assert!(trace.activities.iter().all(|span| span.kind == ActivityKind::Host));
    assert!(trace.lanes.iter().all(|lane| lane.kind == LaneKind::Host));
    assert_eq!(reading.oddities.count(OddityKind::LoneSpan), 2);
    assert_eq!(reading.oddities.total(), 2);
}

#[test]
fn additional_threads_belong_to_the_lane() {
    let name = |tid: u32, name: &str, sort: i32| {
        [
            format!(r#"{{"ph":"M","name":"thread_name","pid":1,"tid":{tid},"args":{{"name":"{name}"}}}}"#),
            format!(r#"{{"ph":"M","name":"thread_sort_index","pid":1,"tid":{tid},"args":{{"sort_index":{sort}}}}}"#),
        ]
    };
    let threads = [
        name(5, "worker 3 (2)", 0),
        name(6, "worker 3", 9),
        name(7, "worker 4 (2)", 1),
        name(8, "worker (1)", 2),
        name(9, "queue 0", 3),
    ];
    let slice = |tid: u32| task(u64::from(tid), 0, 5).replace("\"tid\":1", &format!("\"tid\":{tid}"));
    let slices = [5, 6, 7, 8, 9].map(slice);
    let all: Vec<&str> = threads.iter().flatten().chain(&slices).map(String::as_str).collect();
    let trace = read(&file(&all)).trace;
    let lanes: Vec<_> = trace.lanes.iter().map(|lane| (&*lane.name, lane.kind)).collect();
    // An additional thread without a first one keeps its name, and (1) does not mark an additional thread.
    let (worker, queue) = (LaneKind::Worker, LaneKind::Queue);
    assert_eq!(lanes, [("worker 4 (2)", worker), ("worker (1)", worker), ("queue 0", queue), ("worker 3", worker)]);
    assert_eq!(trace.tasks.iter().map(|task| task.lane).collect::<Vec<_>>(), [3, 3, 0, 1, 2]);
}

#[test]
fn counters_are_kept_apart() {
    let sample = |pid: u32, name: &str, at: u32, arguments: &str| {
        format!(r#"{{"ph":"C","name":"{name}","pid":{pid},"ts":{at},"args":{{{arguments}}}}}"#)
    };
    let events = [
        r#"{"ph":"M","name":"process_name","pid":1,"args":{"name":"first"}}"#.to_owned(),
        sample(1, "ready", 1, r#""value":1"#),
        sample(2, "ready", 1, r#""value":2.5"#),
        sample(1, "memory", 2, r#""used":3,"free":4e3,"none":null"#),
        sample(1, "ready", 2, r#""value":-1"#),
    ];
    let all: Vec<&str> = events.iter().map(String::as_str).collect();
    let counters = read(&file(&all)).trace.counters;
    let found: Vec<_> = counters.iter().map(|counter| (&*counter.name, &*counter.samples)).collect();
    assert_eq!(
        found,
        [
            ("first: ready", &[(1000, 1.0), (2000, -1.0)][..]),
            ("process 2: ready", &[(1000, 2.5)]),
            ("memory used", &[(2000, 3.0)]),
            ("memory free", &[(2000, 4000.0)]),
        ]
    );
}

#[test]
fn unrelated_events_are_skipped() {
    let reading = read(&file(&[
        r#"{"ph":"b","cat":"x","id":1,"name":"async","ts":1}"#,
        r#"{"ph":"s","cat":"flow","id":1,"name":"any","ts":1}"#,
        r#"{"ph":"N","args":"a string"}"#,
        r#"{"ph":"i","name":"all","s":"g","ts":1}"#,
        r#"{"ph":"M","name":"process_labels","pid":1,"args":{"labels":"x"}}"#,
        r#"{"ph":"M","name":"thread_name","pid":1,"tid":3,"args":{"name":"idle","kind":"queue"}}"#,
    ]));
    let lanes = reading.trace.lanes;
    assert_eq!((lanes.len(), &*lanes[0].name, lanes[0].kind), (1, "idle", LaneKind::Queue));
    assert_eq!(reading.oddities.total(), 0);
    assert!(reading.trace.activities.is_empty());
}
