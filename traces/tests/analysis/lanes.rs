use super::run::Run;
use superscalar_traces::{ActivityKind, LaneKind, analysis::Analysis};

#[test]
fn nested_tasks_count_once() {
    let run = Run::workers(1).task("outer", 0, 0, 100).task("inner", 0, 20, 50).task("last", 0, 150, 200);
    let analysis = Analysis::new(&run.trace());
    let row = &analysis.lanes.rows[0];
    assert_eq!((row.busy_ns, row.communication_ns, row.other_ns, row.tasks), (150, 0, 50, 3));
    assert_eq!(analysis.overview.work_ns, 150);
    let own: Vec<_> = analysis.kernels.rows.iter().map(|row| (row.name.as_str(), row.total_ns)).collect();
    assert_eq!(own, [("outer", 70), ("last", 50), ("inner", 30)]);
}

#[test]
fn hidden_communication_does_not_count() {
    let run = Run::workers(1)
        .lane("queue 0", "cuda:0", LaneKind::Queue)
        .lane("host to cuda:0", "links", LaneKind::Link)
        .task("potrf", 0, 0, 100)
        .task("gemm", 1, 40, 60)
        .activity(ActivityKind::Transfer, "host to cuda:0", 2, 10, 50)
        .between("host", "cuda:0", 4000)
        .activity(ActivityKind::Eviction, "cuda:0", 1, 60, 65);
    let analysis = Analysis::new(&run.trace());
    let [worker, queue] = &analysis.lanes.rows[..] else { panic!("two lanes run tasks") };
    assert_eq!((worker.busy_ns, worker.communication_ns, worker.other_ns), (100, 0, 0));
    assert_eq!((queue.busy_ns, queue.communication_ns, queue.other_ns), (20, 30 + 5, 45));
    let link = &analysis.links.rows[0];
    assert_eq!((link.from.as_str(), link.to.as_str(), link.bytes, link.time_ns), ("host", "cuda:0", 4000, 40));
    assert_eq!(link.rate_gb_s, 100.0);
    assert_eq!((analysis.links.evictions[0].node.as_str(), analysis.links.evictions[0].time_ns), ("cuda:0", 5));
}

#[test]
fn process_is_busy_while_any_queue_is() {
    let run = Run::default()
        .lane("queue 0", "cuda:0", LaneKind::Queue)
        .lane("queue 1", "cuda:0", LaneKind::Queue)
        .task("gemm", 0, 0, 60)
        .task("gemm", 1, 40, 100);
    let analysis = Analysis::new(&run.trace());
    assert_eq!(analysis.lanes.processes.len(), 1);
    assert_eq!((analysis.lanes.processes[0].busy_ns, analysis.lanes.processes[0].other_ns), (100, 0));
}

#[test]
fn host_lanes_have_no_rows() {
    let run = Run::workers(1).lane("main", "host", LaneKind::Host).task("gemm", 0, 0, 10).activity(
        ActivityKind::Host,
        "main",
        1,
        0,
        500,
    );
    let analysis = Analysis::new(&run.trace());
    assert_eq!((analysis.lanes.rows.len(), analysis.lanes.wall_ns), (1, 10));
}

#[test]
fn empty_run_is_analysed() {
    let nothing = Analysis::new(&Run::default().trace());
    assert_eq!((nothing.overview.wall_ns, nothing.path.length_ns, nothing.bounds.bound_ns), (0, 0, 0));
    let text = nothing.to_string();
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    let idle = Analysis::new(&Run::workers(3).trace());
    assert_eq!((idle.lanes.rows.len(), idle.gaps.all.len()), (3, 0));
}

#[test]
fn brief_table_shows_extreme_lanes() {
    let run = (0..40).fold(Run::workers(40), |run, lane| run.task("gemm", lane, 0, 1000 + u64::from(lane)));
    let lanes = Analysis::new(&run.trace()).lanes;
    let brief = lanes.brief_table().to_string();
    assert!(brief.contains("worker 0 ") && brief.contains("worker 39") && !brief.contains("worker 20"), "{brief}");
    assert!(brief.contains("28 lanes in between"), "{brief}");
    assert_eq!(lanes.to_string().lines().count(), 43, "a title, headings and a legend");
}

#[test]
fn largest_times_do_not_overflow() {
    let end_ns = u64::MAX;
    let run = Run::workers(2)
        .task("a", 0, 0, end_ns)
        .inserted(0)
        .task("b", 1, 0, end_ns)
        .inserted(end_ns)
        .after(&[1])
        .task("c", 1, end_ns - 5, end_ns)
        .inserted(7)
        .after(&[2])
        .activity(ActivityKind::Transfer, "x", 0, 0, end_ns)
        .between("host", "workers", u64::MAX)
        .activity(ActivityKind::Transfer, "x", 1, 0, end_ns)
        .between("host", "workers", u64::MAX);
    let trace = run.lane("worker 2", "workers", LaneKind::Worker).lane("worker 3", "workers", LaneKind::Worker).trace();
    let analysis = Analysis::new(&trace);
    assert_eq!(analysis.lanes.rows[0].busy_ns, u64::MAX);
    assert_eq!(analysis.path.length_ns, u64::MAX, "sums saturate");
    assert!(!analysis.to_string().is_empty());
}
