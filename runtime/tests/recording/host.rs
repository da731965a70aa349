//! Real `tracing` spans, merged into a trace.
//!
//! There is one test, because a process has one layer.

use crate::format::{self, Model};
use std::thread;
use std::time::{Duration, Instant};
use superscalar_runtime::recording::*;
use tracing::{Dispatch, dispatcher::with_default, info, info_span};
use tracing_subscriber::prelude::*;

#[test]
fn host_spans_share_the_recording_clock() {
    let (layer, mut host) = HostSpans::layer::<tracing_subscriber::Registry>().expect("the first layer");
    let second = HostSpans::layer::<tracing_subscriber::Registry>();
    assert!(second.is_err_and(|error| error.to_string().contains("already")));
    let subscriber = Dispatch::new(tracing_subscriber::registry().with(layer));

    // A time on the recording's clock, in the middle of a host span.
    let epoch = Instant::now();
    let at_ns = with_default(&subscriber, || {
        let outer = info_span!("outer \"quoted\"", n = 4096, later = tracing::field::Empty);
        let _outer = outer.enter();
        let _inner = info_span!("inner").entered();
        thread::sleep(Duration::from_millis(2));
        let at_ns = epoch.elapsed().as_nanos() as u64;
        thread::sleep(Duration::from_millis(2));
        info!(value = 3, "an instant");
        outer.record("later", "known now");
        at_ns
    });
    thread::scope(|scope| {
        for _ in 0..2 {
            let subscriber = subscriber.clone();
            let spans = move || {
                with_default(&subscriber, || {
                    (0..100).for_each(|step| drop(info_span!("step", step).entered()));
                });
            };
            thread::Builder::new().name("helper".to_owned()).spawn_scoped(scope, spans).expect("a thread");
        }
    });
    let capture = host.take().expect("a capture");
    assert_eq!((capture.events.len(), capture.dropped), (203, 0));

    let recording = during(at_ns);
    // The layer was created before the epoch, so the recording is shifted. With an epoch before the layer, the host
    // spans are shifted. The distance between the two is the same.
    let late = inside_the_outer_span(&recording, &capture, epoch);
    let early = Instant::now() - Duration::from_secs(5);
    let shift_ns = epoch.duration_since(early).as_nanos() as u64;
    let early = inside_the_outer_span(&during(at_ns + shift_ns), &capture, early);
    assert_eq!(late, early);

    open_spans_are_continued(&mut host, &subscriber);
    assert!(host.take().expect("a capture").events.is_empty());
    // A layer without a receiver is harmless.
    drop(host);
    with_default(&subscriber, || drop(info_span!("unseen").entered()));
}

/// Returns a recording of one task, which runs for a microsecond. The record of its name is missing.
fn during(start_ns: u64) -> Recording {
    let lane = Lane { name: "worker 0".to_owned(), kind: LaneKind::Worker, process: "workers".to_owned() };
    let (task, end_ns, outcome) = (TaskId(0), start_ns + 1000, Outcome::Completed);
    let spans = vec![Span { task, lane: 0, start_ns, end_ns, outcome }];
    Recording { lanes: vec![lane], spans, ..Recording::default() }
}

fn merged(recording: &Recording, capture: &HostCapture, epoch: Instant) -> Model {
    let mut bytes = Vec::new();
    let trace = ChromeTrace::new(recording).host_spans(capture, epoch);
    let written = trace.write(&mut bytes).expect("a valid recording");
    assert_eq!(written.host_events as usize, capture.events.len());
    format::check(&bytes)
}

/// Checks the merged trace; returns the time from the outer span's start to the task's start.
fn inside_the_outer_span(recording: &Recording, capture: &HostCapture, epoch: Instant) -> u64 {
    let model = merged(recording, capture, epoch);
    assert_eq!(model.instants, 1);
    assert_eq!(model.slices.len(), 203);
    let processes: Vec<&str> = model.processes.values().map(String::as_str).collect();
    assert_eq!(processes, ["workers", "host spans"]);
    let helpers = model.threads.values().filter(|name| *name == "helper").count();
    assert_eq!(helpers, 2);
    let find = |name: &str| model.slices.iter().find(|slice| slice.name == name);
    let outer = find("outer \"quoted\"").expect("the outer span");
    let inner = find("inner").expect("the inner span");
    let during = find("task").expect("the task");
    assert!(outer.start_ns <= inner.start_ns && inner.end_ns <= outer.end_ns);
    assert!(inner.start_ns < during.start_ns && during.end_ns < inner.end_ns);
    assert_eq!(outer.arguments["n"], "4096");
    assert_eq!(outer.arguments["later"], "\"known now\"");
    let site = outer.arguments["site"].as_str().expect("a source line");
    assert!(site.starts_with(&format!("{}:", file!())), "{site}");
    during.start_ns - outer.start_ns
}

fn open_spans_are_continued(host: &mut HostSpans, subscriber: &Dispatch) {
    let epoch = Instant::now();
    let (first, second) = with_default(subscriber, || {
        let _long = info_span!("long", n = 1).entered();
        let first = host.take().expect("a capture");
        drop(info_span!("short").entered());
        drop(_long);
        (first, host.take().expect("a capture"))
    });
    let empty = Recording::default();
    let before = merged(&empty, &first, epoch);
    let after = merged(&empty, &second, epoch);
    assert_eq!((before.slices.len(), after.slices.len()), (1, 2));
    assert_eq!(before.slices[0].arguments["open"], true);
    assert_eq!(before.slices[0].arguments["n"], "1");
    let rest = &after.slices[0];
    assert_eq!((rest.name.as_str(), rest.arguments.get("open")), ("long", None));
    assert_eq!(rest.start_ns, before.slices[0].end_ns);
}
