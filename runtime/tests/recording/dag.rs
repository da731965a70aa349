//! The task graph against brute force.

use crate::samples::*;
use proptest::prelude::*;
use superscalar_runtime::recording::*;

fn dag(recording: &Recording) -> Dag {
    Dag::new(recording).expect("hazards point forward")
}

/// Whether there is a path from one task to another, along the edges given.
fn reaches(edges: &[(u64, u64)], from: u64, to: u64) -> bool {
    from == to || edges.iter().any(|&(tail, head)| tail == from && reaches(edges, head, to))
}

/// The longest of all paths from a task, one by one.
fn longest_from(edges: &[(u64, u64)], from: u64, weight: &dyn Fn(u64) -> u64) -> u64 {
    let nexts = edges.iter().filter(|&&(tail, _)| tail == from);
    let rest = nexts.map(|&(_, head)| longest_from(edges, head, weight)).max();
    weight(from) + rest.unwrap_or(0)
}

fn pairs(dag: &Dag) -> Vec<(u64, u64)> {
    dag.edges().map(|edge| (edge.from.0, edge.to.0)).collect()
}

#[test]
fn an_empty_graph_has_no_parallelism() {
    let dag = dag(&Recording::default());
    assert_eq!((dag.tasks_len(), dag.edges_len()), (0, 0));
    assert!(dag.critical_path(Measure::Seconds).tasks.is_empty());
    assert_eq!(dag.average_parallelism(Measure::Tasks), None);
    assert!(dag.transitive_reduction().is_ok());
    assert_eq!(dag.to_string().lines().count(), 5);
}

#[test]
fn tasks_that_never_ran_have_a_path_but_no_seconds() {
    let recording = Recording {
        tasks: (0..3).map(|id| task(id, "step", TileIndex::NONE)).collect(),
        hazards: vec![hazard(0, 1, Hazard::RaW)],
        ..Recording::default()
    };
    let dag = dag(&recording);
    let path = dag.critical_path(Measure::Tasks);
    assert_eq!(path.tasks, [TaskId(0), TaskId(1)]);
    assert_eq!(dag.average_parallelism(Measure::Tasks), Some(1.5));
    assert_eq!(dag.average_parallelism(Measure::Seconds), None);
}

#[test]
fn several_hazards_of_a_pair_are_one_edge() {
    let recording = Recording {
        tasks: (0..2).map(|id| task(id, "step", TileIndex::NONE)).collect(),
        hazards: vec![
            hazard(0, 1, Hazard::WaW),
            hazard(0, 1, Hazard::RaW),
            hazard(0, 1, Hazard::RaW),
            hazard(0, 9, Hazard::RaW),
        ],
        ..Recording::default()
    };
    let dag = dag(&recording);
    assert_eq!((dag.edges_len(), dag.hazards_left_out()), (1, 1));
    let hazards = dag.edges().next().map(|edge| edge.hazards.iter().collect::<Vec<_>>());
    assert_eq!(hazards, Some(vec![Hazard::RaW, Hazard::WaW]));
}

#[test]
fn a_cycle_is_an_error_that_names_a_task_on_it() {
    let mut recording = Recording {
        tasks: (0..4).map(|id| task(id, "step", TileIndex::NONE)).collect(),
        hazards: vec![hazard(0, 1, Hazard::RaW), hazard(1, 2, Hazard::RaW), hazard(2, 1, Hazard::RaW)],
        ..Recording::default()
    };
    let error = Dag::new(&recording).expect_err("1 and 2 wait for each other");
    assert!(matches!(error.cycle(), Some(TaskId(1 | 2))), "{error}");
    recording.hazards = vec![hazard(3, 3, Hazard::WaW)];
    let error = Dag::new(&recording).expect_err("3 waits for itself");
    assert_eq!(error.cycle(), Some(TaskId(3)));
}

#[test]
fn a_number_used_twice_is_an_error() {
    let recording =
        Recording { tasks: vec![task(5, "a", TileIndex::NONE), task(5, "b", TileIndex::NONE)], ..Recording::default() };
    let error = Dag::new(&recording).expect_err("ambiguous");
    assert!(error.to_string().contains("#5"), "{error}");
    assert_eq!(error.cycle(), None);
}

#[test]
fn the_reduction_is_limited() {
    let chain = |tasks: u64| Recording {
        tasks: (0..tasks).map(|id| task(id, "step", TileIndex::NONE)).collect(),
        hazards: (1..tasks).map(|id| hazard(id - 1, id, Hazard::RaW)).collect(),
        ..Recording::default()
    };
    let largest = dag(&chain(8192));
    let reduced = largest.transitive_reduction().expect("within the limit");
    assert_eq!(reduced.edges_len(), 8191);
    let error = dag(&chain(8193)).transitive_reduction().expect_err("past the limit");
    assert_eq!(error.tasks_max(), Some(8192));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_critical_path_is_the_longest_of_all_paths(run in any_run(11)) {
        let dag = dag(&run);
        let edges = pairs(&dag);
        let busy_ns = |id: u64| {
            dag.tasks().find(|task| task.id.0 == id).map_or(0, |task| task.busy_ns)
        };
        let longest = |weight: &dyn Fn(u64) -> u64| {
            run.tasks.iter().map(|task| longest_from(&edges, task.id.0, weight)).max().unwrap_or(0)
        };
        let by_tasks = dag.critical_path(Measure::Tasks);
        let by_seconds = dag.critical_path(Measure::Seconds);
        prop_assert_eq!(by_tasks.tasks.len() as u64, longest(&|_| 1));
        let along: u64 = by_seconds.tasks.iter().map(|task| busy_ns(task.0)).sum();
        prop_assert_eq!(along, longest(&busy_ns));
        prop_assert_eq!(by_seconds.seconds, along as f64 * 1e-9);
        for path in [&by_tasks, &by_seconds] {
            for step in path.tasks.windows(2) {
                prop_assert!(edges.contains(&(step[0].0, step[1].0)));
            }
        }
        let work: u64 = run.spans.iter().map(|span| span.end_ns - span.start_ns).sum();
        prop_assert_eq!(dag.total_work(Measure::Seconds), work as f64 * 1e-9);
        if let Some(parallelism) = dag.average_parallelism(Measure::Seconds) {
            prop_assert!(parallelism >= 1.0 - 1e-12);
        }
    }

    #[test]
    fn the_reduction_reaches_the_same_with_the_fewest_edges(run in any_run(11)) {
        let whole = dag(&run);
        let reduced = whole.transitive_reduction().expect("small");
        let (before, after) = (pairs(&whole), pairs(&reduced));
        prop_assert!(after.is_sorted());
        prop_assert!(after.iter().all(|edge| before.contains(edge)));
        for &(from, to) in &before {
            prop_assert!(reaches(&after, from, to));
        }
        for &edge in &after {
            let others: Vec<_> = after.iter().copied().filter(|&other| other != edge).collect();
            prop_assert!(!reaches(&others, edge.0, edge.1), "{:?} follows from others", edge);
        }
        prop_assert_eq!(
            whole.critical_path(Measure::Seconds), reduced.critical_path(Measure::Seconds)
        );
    }

    #[test]
    fn any_recording_is_a_graph_or_a_typed_error(recording in any_recording()) {
        match Dag::new(&recording) {
            Ok(dag) => prop_assert_eq!(dag.tasks_len(), recording.tasks.len()),
            Err(error) => prop_assert!(error.cycle().is_some()),
        }
    }
}
