//! One run for each rule, so short that the expected result is obvious.

use super::run::Run;
use superscalar_traces::{
    ActivityKind, LaneKind, Trace,
    analysis::{Analysis, gaps::Reason},
};

/// Returns the gaps of a lane: start, end, reason.
fn gaps(trace: &Trace, lane: u32) -> Vec<(u64, u64, Reason)> {
    let gaps = Analysis::new(trace).gaps;
    gaps.of_lane(lane).iter().map(|gap| (gap.start_ns, gap.end_ns, gap.reason)).collect()
}

#[test]
fn waiting_for_a_task_on_another_lane() {
    let run = Run::workers(2).task("a", 0, 0, 100).task("b", 1, 0, 10).task("c", 1, 105, 120).after(&[1, 2]);
    let trace = run.trace();
    assert_eq!(gaps(&trace, 1), [(10, 105, Reason::NoReadyTask)]);
    assert_eq!(gaps(&trace, 0), [(100, 120, Reason::End)]);
    let analysis = Analysis::new(&trace);
    let gap = analysis.gaps.of_lane(1)[0];
    let id = |task: Option<u32>| task.map(|task| trace.tasks[task as usize].id);
    assert_eq!((id(gap.ended_by), id(gap.released_by)), (Some(3), Some(1)), "a ended last");
    let longest = &analysis.gaps.longest[0];
    assert_eq!((longest.ended_by_label.as_str(), longest.released_by_label.as_str()), ("c 3", "a 1"));
}

#[test]
fn waiting_ready_task_is_overhead() {
    let run = Run::workers(1).task("a", 0, 0, 10).task("b", 0, 15, 20).after(&[1]);
    assert_eq!(gaps(&run.trace(), 0), [(10, 15, Reason::Overhead)]);
}

#[test]
fn overhead_needs_half_of_the_gap() {
    let of_release = |at_ns| {
        let run = Run::workers(2).task("a", 0, 0, at_ns).task("b", 1, 0, 10).task("c", 1, 110, 120).after(&[1]);
        gaps(&run.trace(), 1)[0].2
    };
    assert_eq!(of_release(60), Reason::Overhead);
    assert_eq!(of_release(61), Reason::NoReadyTask);
}

#[test]
fn other_ready_tasks_make_it_overhead() {
    let run = || Run::workers(2).task("a", 0, 0, 100).task("b", 1, 0, 10).task("c", 1, 100, 120).after(&[1]);
    let some = run().counter("ready tasks", &[(0, 0.0), (20, 2.0), (90, 0.0)]);
    assert_eq!(gaps(&some.trace(), 1), [(10, 100, Reason::Overhead)]);
    let few = run().counter("ready tasks", &[(0, 0.0), (60, 2.0), (90, 0.0)]);
    assert_eq!(gaps(&few.trace(), 1), [(10, 100, Reason::NoReadyTask)]);
}

#[test]
fn ready_tasks_of_other_lanes_are_ignored() {
    let run = Run::workers(1)
        .lane("queue 0", "cuda:0", LaneKind::Queue)
        .task("a", 0, 0, 100)
        .task("b", 1, 0, 10)
        .task("c", 1, 100, 120)
        .after(&[1])
        .counter("ready tasks", &[(0, 5.0), (110, 0.0)]);
    assert_eq!(gaps(&run.trace(), 1), [(10, 100, Reason::NoReadyTask)]);
}

#[test]
fn late_insertion_by_a_separate_thread() {
    // Insertions fall into the tasks of both lanes, so a separate thread inserts.
    let run = Run::workers(2)
        .task("a", 0, 0, 100)
        .inserted(0)
        .task("b", 1, 0, 30)
        .inserted(20)
        .task("c", 1, 82, 120)
        .inserted(80);
    let trace = run.trace();
    assert_eq!(gaps(&trace, 1), [(30, 82, Reason::NotInserted)]);
    assert_eq!(Analysis::new(&trace).gaps.of_lane(1)[0].released_by, None, "its insertion made it ready");
}

#[test]
fn the_inserting_lane_inserts() {
    // Worker 0 runs no task at any insertion.
    let run = Run::workers(2)
        .task("a", 1, 10, 100)
        .inserted(5)
        .task("b", 0, 60, 100)
        .inserted(20)
        .task("c", 0, 100, 110)
        .inserted(50);
    let trace = run.trace();
    assert_eq!(gaps(&trace, 0), [(10, 50, Reason::Inserting), (50, 60, Reason::Overhead)]);
}

#[test]
fn lane_that_only_inserts() {
    // Worker 0 runs none of them.
    let run = Run::workers(2)
        .task("a", 1, 10, 100)
        .inserted(5)
        .task("b", 1, 100, 200)
        .inserted(50)
        .task("c", 1, 200, 300)
        .inserted(110);
    assert_eq!(gaps(&run.trace(), 0), [(10, 111, Reason::Inserting), (111, 300, Reason::End)]);
}

#[test]
fn insertion_times_from_the_window_counter() {
    let samples = [(5, 1.0), (20, 2.0), (50, 3.0), (100, 1.0), (110, 0.0)];
    let run = Run::workers(2)
        .task("a", 1, 10, 100)
        .task("b", 0, 60, 100)
        .task("c", 0, 100, 110)
        .counter("window tasks", &samples);
    assert_eq!(gaps(&run.trace(), 0), [(10, 50, Reason::Inserting), (50, 60, Reason::Overhead)]);
}

#[test]
fn full_window_delays_insertion() {
    let run = |window| {
        Run::workers(2)
            .task("a", 0, 0, 100)
            .inserted(0)
            .task("b", 1, 0, 10)
            .inserted(0)
            .task("c", 0, 100, 150)
            .inserted(2)
            .task("d", 1, 105, 150)
            .inserted(102)
            .window(window)
            .trace()
    };
    assert_eq!(gaps(&run(3), 1), [(10, 105, Reason::WindowFull)]);
    assert_eq!(gaps(&run(1000), 1), [(10, 105, Reason::NotInserted)]);
}

#[test]
fn recorded_reasons_take_precedence() {
    let run = Run::workers(2)
        .task("a", 0, 0, 200)
        .task("b", 1, 0, 10)
        .task("c", 1, 200, 220)
        .after(&[1])
        .activity(ActivityKind::Stall, "window full", 1, 20, 50)
        .activity(ActivityKind::Stall, "data", 1, 60, 70)
        .activity(ActivityKind::Stall, "memory full", 1, 70, 80)
        .activity(ActivityKind::Allocation, "cuda:0", 1, 75, 90)
        .activity(ActivityKind::Stall, "data", 0, 0, 200);
    // The time between the records is decided separately: no task was ready then.
    let expected = [
        (10, 20, Reason::NoReadyTask),
        (20, 50, Reason::WindowFull),
        (50, 60, Reason::NoReadyTask),
        (60, 70, Reason::Data),
        (70, 90, Reason::MemoryFull),
        (90, 200, Reason::NoReadyTask),
    ];
    assert_eq!(gaps(&run.trace(), 1), expected);
}

#[test]
fn transfer_for_the_task_is_data() {
    let run = Run::default()
        .lane("queue 0", "cuda:0", LaneKind::Queue)
        .lane("host to cuda:0", "links", LaneKind::Link)
        .task("a", 0, 0, 10)
        .task("b", 0, 50, 60)
        .activity(ActivityKind::Transfer, "host to cuda:0", 1, 5, 48)
        .between("host", "cuda:0", 1)
        .with_activity(|transfer| transfer.task = Some(2));
    assert_eq!(gaps(&run.trace(), 0), [(10, 48, Reason::Data), (48, 50, Reason::Overhead)]);
}

#[test]
fn start_and_end() {
    let run = Run::workers(2).task("a", 0, 100, 200).activity(ActivityKind::Transfer, "x", 1, 0, 250);
    let trace = run.trace();
    assert_eq!(gaps(&trace, 0), [(0, 100, Reason::Start), (200, 250, Reason::End)]);
    assert_eq!(gaps(&trace, 1), [(0, 250, Reason::End)], "a lane that runs nothing");
}

#[test]
fn zero_length_tasks_end_no_gap() {
    let run = Run::workers(1).task("a", 0, 0, 10).task("zero", 0, 20, 20).task("b", 0, 30, 40);
    let trace = run.trace();
    assert_eq!(gaps(&trace, 0), [(10, 30, Reason::Overhead)]);
    let ended_by = Analysis::new(&trace).gaps.of_lane(0)[0].ended_by.unwrap();
    assert_eq!(trace.tasks[ended_by as usize].id, 3);
}

#[test]
fn longest_gaps_and_totals() {
    let run = (0..300).fold(Run::workers(1), |run, task| {
        let start_ns = task * 1000 + task;
        run.task("a", 0, start_ns, start_ns + 500)
    });
    let gaps = Analysis::new(&run.trace()).gaps;
    assert_eq!((gaps.all.len(), gaps.longest.len(), gaps.total_ns), (299, 100, 299 * 501));
    assert_eq!(gaps.longest[0].gap.length_ns(), 501);
    assert_eq!(gaps.time_ns(Reason::Overhead), gaps.total_ns);
}
