//! Loads a trace into a real viewer, if there is one.
//!
//! This writes one trace with every kind of object and loads it into Chrome through `tests/chrome_loads.py`. The script
//! skips with a note if Chromium is missing, and fails instead if `REQUIRE_CHROME=1` is set.

use crate::samples::*;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use superscalar_recording::*;

/// A pipeline on two workers and a device's queue, with a failed task and its cancelled successors, a nested task and a
/// crossing span. The tasks of a lane touch, as on a busy lane.
fn everything() -> Recording {
    let mut lanes = workers(2);
    lanes.push(Lane { name: "queue 0".to_owned(), kind: LaneKind::Queue, process: "device 0".to_owned() });
    let mut recording = Recording { lanes, ..Recording::default() };
    for id in 0..300 {
        let index = TileIndex::from([id as u32 / 20, id as u32 % 20]);
        let mut record = task(id, NAMES[(id % 6) as usize], index);
        (record.flops, record.bytes) = (1e6 / 3.0, 4096.0);
        recording.tasks.push(record);
        let start_ns = 1_000_000 + id * 333;
        let (lane, length_ns) = ((id % 3) as u32, 999);
        recording.spans.push(span(id, lane, start_ns, start_ns + length_ns));
        for (distance, why) in [(1, Hazard::RaW), (7, Hazard::WaR), (20, Hazard::WaW)] {
            if id >= distance {
                recording.hazards.push(hazard(id - distance, id, why));
            }
        }
        let counter = if id % 2 == 0 { Counter::ReadyTasks } else { Counter::WindowTasks };
        recording.counters.push(CounterSample { counter, at_ns: start_ns, value: id % 13 });
    }
    let last_ns = 1_000_000 + 299 * 333 + 999;
    recording.spans[299].outcome = Outcome::Panicked;
    for id in 300..310 {
        recording.tasks.push(task(id, "cancelled", TileIndex::NONE));
        recording.hazards.push(hazard(299, id, Hazard::RaW));
        let outcome = Outcome::Cancelled;
        recording.spans.push(Span { outcome, ..span(id, 2, last_ns, last_ns) });
    }
    // Task 311 is nested in 310 and ends with it; 312 crosses 310.
    recording.spans.push(span(310, 0, last_ns + 1000, last_ns + 5000));
    recording.spans.push(span(311, 0, last_ns + 2000, last_ns + 5000));
    recording.spans.push(span(312, 0, last_ns + 4000, last_ns + 6000));
    recording.hazards.push(hazard(299, 310, Hazard::RaW));
    recording.hazards.push(hazard(310, 312, Hazard::WaW));
    // Task 314 covers 313 completely, so a hazard is an instant. Other activities follow.
    recording.spans.push(span(313, 1, last_ns + 7000, last_ns + 7100));
    recording.spans.push(span(314, 1, last_ns + 7000, last_ns + 7100));
    recording.hazards.push(hazard(312, 313, Hazard::RaW));
    recording.nodes = ["host", "device 0"].map(str::to_owned).into();
    let (from, to, bytes) = (NodeId(0), NodeId(1), 4096);
    let kinds = [
        ActivityKind::Stall(Stall::WindowFull),
        ActivityKind::Transfer { from, to, bytes },
        ActivityKind::Eviction { node: to, bytes },
        ActivityKind::Allocation { node: to, bytes },
    ];
    for (nth, kind) in kinds.into_iter().enumerate() {
        let (lane, start_ns) = (nth as u32 % 3, last_ns + 10_000 + 700 * nth as u64);
        recording.activities.push(Activity {
            kind,
            lane,
            start_ns,
            end_ns: start_ns + 500,
            task: None,
            datum: Some(1),
        });
        let counter = Counter::LinkBytes { from, to };
        recording.counters.push(CounterSample { counter, at_ns: start_ns, value: bytes });
    }
    recording
}

#[test]
fn chrome_loads_it() -> std::io::Result<()> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("everything.trace.json");
    let recording = everything();
    let written = ChromeTrace::new(&recording)
        .other_data("title", "everything at once")
        .write(File::create(&path)?)
        .expect("a valid recording");
    assert_eq!((written.slices, written.activities), (315, 4));
    assert_eq!((written.hazards_hidden, written.hazards_left_out), (1, 0));
    crate::format::check(&std::fs::read(&path)?);

    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/chrome_loads.py");
    match Command::new("python3").arg(script).arg(&path).output() {
        Ok(output) => {
            println!("{}", String::from_utf8_lossy(&output.stdout));
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
        Err(error) => {
            println!("SKIPPED: no python3 ({error})");
            assert!(std::env::var_os("REQUIRE_CHROME").is_none_or(|value| value != "1"));
        }
    }
    Ok(())
}
