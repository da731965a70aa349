//! Tests the graph as GraphViz text.

use crate::samples::*;
use proptest::prelude::*;
use superscalar_recording::*;

/// The first steps of a tiled Cholesky factorization.
fn cholesky() -> Recording {
    Recording {
        tasks: vec![
            task(0, "potrf", TileIndex::from(0)),
            task(1, "trsm", TileIndex::from([1, 0])),
            task(2, "syrk", TileIndex::from([1, 1, 0])),
            task(3, "potrf", TileIndex::from(1)),
            task(4, "say \"hi\"\\n", TileIndex::NONE),
        ],
        hazards: vec![
            hazard(0, 1, Hazard::RaW),
            hazard(1, 2, Hazard::RaW),
            hazard(0, 2, Hazard::WaR),
            hazard(2, 3, Hazard::WaW),
            hazard(2, 3, Hazard::RaW),
            hazard(3, 4, Hazard::WaW),
        ],
        ..Recording::default()
    }
}

#[test]
fn small_graph_is_printed() -> Result<(), RecordingError> {
    let expected = r#"digraph tasks {
  node [shape=box, style="rounded,filled", fontname="Helvetica"];
  t0 [label="potrf (0)", fillcolor="0.580 0.350 0.950"];
  t1 [label="trsm (1, 0)", fillcolor="0.198 0.350 0.950"];
  t2 [label="syrk (1, 1, 0)", fillcolor="0.816 0.350 0.950"];
  t3 [label="potrf (1)", fillcolor="0.580 0.350 0.950"];
  t4 [label="say \"hi\"\\n", fillcolor="0.434 0.350 0.950"];
  t0 -> t1 [style=solid];
  t0 -> t2 [style=dashed];
  t1 -> t2 [style=solid];
  t2 -> t3 [style=solid, label="RaW, WaW"];
  t3 -> t4 [style=dotted];
}
"#;
    let run = cholesky();
    assert_eq!(Dot::new(&run).to_string(), expected);
    let reduced = Dot::new(&run).reduced()?.to_string();
    let without = expected.replace("  t0 -> t2 [style=dashed];\n", "");
    assert_eq!(reduced, without);
    Ok(())
}

/// Returns whether a path along these edges connects two tasks.
fn reaches(edges: &[(u64, u64)], from: u64, to: u64) -> bool {
    from == to || edges.iter().any(|&(tail, head)| tail == from && reaches(edges, head, to))
}

/// Returns the printed edges.
fn pairs(graph: &Dot<'_>) -> Vec<(u64, u64)> {
    let pair = |line: &str| {
        let (from, rest) = line.trim().strip_prefix('t')?.split_once(" -> t")?;
        Some((from.parse().expect("a number"), rest.split_once(' ')?.0.parse().expect("a number")))
    };
    graph.to_string().lines().filter_map(pair).collect()
}

fn steps(count: u64) -> Vec<TaskRecord> {
    (0..count).map(|id| task(id, "step", TileIndex::NONE)).collect()
}

#[test]
fn empty_graph_has_no_edges() {
    let empty = Recording::default();
    let reduced = Dot::new(&empty).reduced().expect("nothing to reduce");
    assert_eq!((reduced.to_string().lines().count(), pairs(&reduced)), (3, vec![]));
}

#[test]
fn hazards_of_a_pair_share_an_edge() {
    let hazards = vec![
        hazard(0, 1, Hazard::WaW),
        hazard(0, 1, Hazard::RaW),
        hazard(0, 1, Hazard::RaW),
        hazard(0, 9, Hazard::RaW),
    ];
    let recording = Recording { tasks: steps(2), hazards, ..Recording::default() };
    let text = Dot::new(&recording).to_string();
    assert_eq!(pairs(&Dot::new(&recording)), [(0, 1)], "task 9 has no record");
    assert!(text.contains("t0 -> t1 [style=solid, label=\"RaW, WaW\"]"), "{text}");
}

#[test]
fn cycles_are_reported_with_a_task() {
    let hazards = vec![hazard(0, 1, Hazard::RaW), hazard(1, 2, Hazard::RaW), hazard(2, 1, Hazard::RaW)];
    let mut recording = Recording { tasks: steps(4), hazards, ..Recording::default() };
    let error = Dot::new(&recording).reduced().expect_err("1 and 2 wait for each other").to_string();
    assert!(error.contains("task #1,") && error.contains("cycle"), "{error}");
    recording.hazards = vec![hazard(3, 3, Hazard::WaW)];
    let error = Dot::new(&recording).reduced().expect_err("3 waits for itself").to_string();
    assert!(error.contains("task #3,"), "{error}");
}

#[test]
fn first_record_of_a_number_is_shown() {
    let tasks = vec![task(5, "a", TileIndex::NONE), task(5, "b", TileIndex::NONE)];
    let text = Dot::new(&Recording { tasks, ..Recording::default() }).to_string();
    assert!(text.contains("\"a\"") && !text.contains("\"b\""), "{text}");
}

#[test]
fn reduction_is_limited() {
    let chain = |tasks: u64| Recording {
        tasks: steps(tasks),
        hazards: (1..tasks).map(|id| hazard(id - 1, id, Hazard::RaW)).collect(),
        ..Recording::default()
    };
    let largest = chain(8192);
    let reduced = Dot::new(&largest).reduced().expect("within the limit");
    assert_eq!(pairs(&reduced).len(), 8191);
    let error = Dot::new(&chain(8193)).reduced().expect_err("past the limit").to_string();
    assert!(error.contains("limited to 8192"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reduction_is_minimal(run in any_run(11), is_reversed: bool) {
        let mut run = run;
        if is_reversed {
            // Numbers need not ascend along hazards, because two threads may insert.
            let last = run.tasks.iter().map(|task| task.id.0).max().unwrap_or(0);
            run.tasks.iter_mut().for_each(|task| task.id.0 = last - task.id.0);
            run.hazards.iter_mut().for_each(|hazard| {
                (hazard.from.0, hazard.to.0) = (last - hazard.from.0, last - hazard.to.0);
            });
        }
        let (before, reduced) = (pairs(&Dot::new(&run)), Dot::new(&run).reduced().expect("small"));
        let after = pairs(&reduced);
        prop_assert!(after.is_sorted());
        prop_assert!(after.iter().all(|edge| before.contains(edge)));
        for &(from, to) in &before {
            prop_assert!(reaches(&after, from, to));
        }
        for &edge in &after {
            let others: Vec<_> = after.iter().copied().filter(|&other| other != edge).collect();
            prop_assert!(!reaches(&others, edge.0, edge.1), "{:?} follows from others", edge);
        }
    }

    #[test]
    fn random_recordings_are_graphs(recording in any_recording()) {
        let nodes = |graph: &Dot<'_>| graph.to_string().lines().filter(|line| line.contains("fillcolor")).count();
        let graph = Dot::new(&recording);
        prop_assert_eq!(nodes(&graph), recording.tasks.len());
        match graph.reduced() {
            Ok(graph) => prop_assert_eq!(nodes(&graph), recording.tasks.len()),
            Err(error) => prop_assert!(error.to_string().contains("cycle")),
        }
    }
}
