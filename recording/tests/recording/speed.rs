//! Tests at realistic sizes. The timings are printed; run with `--release -- --nocapture` to see them.

use crate::samples::*;
use std::io;
use std::time::Instant;
use superscalar_recording::*;

/// A tiled matrix update on eight lanes: each tile waits for itself in the previous step and for its left neighbour.
fn steps(tasks_len: u64) -> Recording {
    let tiles = 1000;
    let mut recording = Recording { lanes: workers(8), ..Recording::default() };
    for id in 0..tasks_len {
        let (step, tile) = (id / tiles, id % tiles);
        let mut record = task(id, "gemm", TileIndex::from([tile as u32, step as u32]));
        (record.flops, record.bytes) = (1.234_567e6, 98_304.0);
        record.level = Some(BlasLevel::Three);
        recording.tasks.push(record);
        if step > 0 {
            recording.hazards.push(hazard(id - tiles, id, Hazard::RaW));
        }
        if tile > 0 {
            recording.hazards.push(hazard(id - 1, id, Hazard::WaR));
        }
        let start_ns = id * 1_017;
        recording.spans.push(span(id, (id % 8) as u32, start_ns, start_ns + 1_000));
    }
    recording
}

#[test]
fn large_graph_is_printed() {
    let recording = steps(100_000);
    let start = Instant::now();
    let graph = Dot::new(&recording);
    let built = start.elapsed();
    let edges = graph.to_string().lines().filter(|line| line.contains(" -> ")).count();
    assert_eq!(edges, 99_000 + 99_900);
    println!("graph built in {built:.1?}, with its text in {:.1?}", start.elapsed());
    assert!(graph.reduced().is_err());
}

#[test]
fn million_events_are_written() {
    let recording = steps(200_000);
    let start = Instant::now();
    let written = ChromeTrace::new(&recording).write(io::sink()).expect("valid");
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(written.hazards_left_out, 0);
    let events = written.slices + 2 * written.arrows;
    assert!(events > 990_000);
    println!(
        "{events} events, {:.1} MB in {:.0} ms: {:.1} M events/s, {:.0} MB/s",
        written.bytes as f64 * 1e-6,
        seconds * 1e3,
        events as f64 / seconds * 1e-6,
        written.bytes as f64 / seconds * 1e-6,
    );
}
