//! Hand-made traces as data: what the reader makes of each event and of each form of the file.

use superscalar_traces::read::{OddityKind, ReadOptions, Reading};
use superscalar_traces::{ActivityKind, Hazard, HazardKind, LaneKind, Outcome, TileIndex, Trace};

fn read(text: &str) -> Reading {
    ReadOptions::default().read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A file of these events, one a line.
fn file(events: &[&str]) -> String {
    format!("{{\"traceEvents\":[\n{}\n]}}", events.join(",\n"))
}

/// A task's slice on thread 1 of process 1.
fn task(id: u64, start_us: u64, length_us: u64) -> String {
    format!(
        r#"{{"ph":"X","cat":"task","name":"gemm","pid":1,"tid":1,"ts":{start_us},"dur":{length_us},"args":{{"task":{id}}}}}"#
    )
}

/// Tasks 0 (at 0 to 10 µs) and 1 (at 20 to 30 µs), then `events`.
fn two_tasks(events: &[&str]) -> Reading {
    let tasks = [task(0, 0, 10), task(1, 20, 10)];
    let all: Vec<&str> = tasks.iter().map(String::as_str).chain(events.iter().copied()).collect();
    read(&file(&all))
}

fn hazards(reading: &Reading) -> Vec<(u64, u64, HazardKind, u32)> {
    let id = |place: u32| reading.trace.tasks[place as usize].id;
    let tuple = |hazard: &Hazard| (id(hazard.from), id(hazard.to), hazard.kind, hazard.datum);
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
fn tasks_of_a_thread_may_come_in_any_order() {
    let trace = read(&file(&[&task(1, 20, 10), &task(0, 0, 10)])).trace;
    assert_eq!(trace.tasks.iter().map(|task| task.id).collect::<Vec<_>>(), [0, 1]);
    assert_eq!((trace.extent_ns(), trace.wall_ns()), ((0, 30_000), 30_000));
}

#[test]
fn the_members_of_the_outermost_object_come_in_any_order() {
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
fn a_bare_array_may_lack_its_end() {
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
fn a_file_that_was_cut_short_is_read_up_to_there() {
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
        assert_eq!(hazards(&reading), [(0, 1, HazardKind::WaR, 5)]);
        assert_eq!(reading.oddities.total(), 0);
    }
    let alone = two_tasks(&[&start]);
    assert_eq!(hazards(&alone), [(0, 1, HazardKind::WaR, 5)]);
    assert_eq!(alone.oddities.count(OddityKind::LoneArrow), 1);
    let hidden = r#"{"ph":"i","cat":"hazard","name":"WaW","ts":1,"args":{"from":0,"to":1,"datum":6}}"#;
    assert_eq!(hazards(&two_tasks(&[hidden])), [(0, 1, HazardKind::WaW, 6)]);
}

#[test]
fn arrows_that_point_at_slices() {
    let end = |phase: &str, id: &str, at: &str, more: &str| {
        format!(r#"{{"ph":"{phase}","cat":"hazard","name":"RaW","id":{id},"pid":1,"tid":1,"ts":{at}{more}}}"#)
    };
    let e = r#","bp":"e""#;
    // Inside, at the very ends, between the slices (to the next one), and with an id that is used again.
    for (from, to, more) in [("9.999", "20.001", e), ("10", "20", e), ("0", "30", e), ("5", "12", ""), ("5", "20", "")]
    {
        let id = if more.is_empty() { "\"x\"" } else { "7" };
        let reading = two_tasks(&[&end("s", id, from, r#","args":{"datum":3}"#), &end("f", id, to, more)]);
        assert_eq!(hazards(&reading), [(0, 1, HazardKind::RaW, 3)], "{from} {to} {more}");
    }
    let stray = two_tasks(&[&end("s", "1", "5", ""), &end("f", "1", "15", e)]);
    assert_eq!((stray.trace.hazards.len(), stray.trace.hazards_left_out), (0, 1));
    assert_eq!(stray.oddities.count(OddityKind::StrayArrow), 1);
    let lone = two_tasks(&[&end("s", "1", "5", ""), &end("s", "1", "5", ""), &end("f", "1", "25", e)]);
    assert_eq!((lone.trace.hazards.len(), lone.trace.hazards_left_out), (1, 1));
    assert_eq!(lone.oddities.count(OddityKind::LoneArrow), 1);
}

#[test]
fn an_arrow_points_at_the_innermost_task() {
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
