//! Recorded runs: one Cholesky factorization, n = 1024, tiles of 128, on one worker and on two of one machine.
//!
//! The files come from an old recorder that did not write insertion times; the window counter gives them.

use std::path::Path;
use superscalar_traces::{
    Trace,
    analysis::{
        Analysis,
        gaps::Reason,
        replay::{Replay, WhatIf},
    },
};

fn recorded(name: &str) -> Trace {
    Trace::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).expect("a trace")
}

fn off(predicted_ns: u64, real_ns: u64) -> f64 {
    (predicted_ns as f64 / real_ns as f64 - 1.0).abs()
}

#[test]
fn replay_reproduces_the_run() {
    for name in ["cholesky-1-worker.json", "cholesky-2-workers.json"] {
        let trace = recorded(name);
        let prediction = Replay::new(&trace).predict(&WhatIf::default()).unwrap();
        let off = off(prediction.makespan_ns, trace.wall_ns());
        assert!(off < 0.05, "{name}: {off}");
    }
}

#[test]
fn replay_predicts_one_worker() {
    let (one, two) = (recorded("cholesky-1-worker.json"), recorded("cholesky-2-workers.json"));
    let alone = WhatIf { workers: Some(1), speedups: Vec::new() };
    let prediction = Replay::new(&two).predict(&alone).unwrap();
    let off = off(prediction.makespan_ns, one.wall_ns());
    assert!(off < 0.10, "{off}");
}

#[test]
fn parts_of_a_run_add_up() {
    let trace = recorded("cholesky-2-workers.json");
    let analysis = Analysis::new(&trace);
    for row in &analysis.lanes.rows {
        assert_eq!(row.busy_ns + row.communication_ns + row.other_ns, trace.wall_ns());
    }
    assert_eq!(analysis.overview.tasks, 120);
    // 36 tiles of the triangle: 8 panels, 28 solves, 28 rank-k updates, 56 products.
    let counts: Vec<_> = analysis.kernels.rows.iter().map(|row| (row.name.as_str(), row.tasks)).collect();
    for count in [("potrf", 8), ("trsm", 28), ("herk", 28), ("gemm", 56)] {
        assert!(counts.contains(&count), "{counts:?}");
    }
    assert!(analysis.gaps.time_ns(Reason::Inserting) > 0, "worker 0 inserts");
    assert!(analysis.bounds.nearness <= 1.0 && analysis.bounds.nearness > 0.5);
}
