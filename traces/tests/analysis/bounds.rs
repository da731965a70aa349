use super::run::Run;
use superscalar_traces::{LaneKind, analysis::Analysis};

#[test]
fn path_work_and_insertion() {
    let run = Run::workers(2)
        .task("a", 0, 0, 40)
        .inserted(0)
        .task("b", 1, 5, 45)
        .inserted(4)
        .task("c", 0, 40, 90)
        .inserted(35)
        .task("d", 1, 92, 100)
        .inserted(36)
        .after(&[3]);
    let bounds = Analysis::new(&run.trace()).bounds;
    assert_eq!((bounds.wall_ns, bounds.path_ns, bounds.work_ns), (100, 58, 69));
    assert_eq!(bounds.insertion_ns, Some(35 + 58));
    assert_eq!((bounds.bound_ns, bounds.nearness), (93, 0.93));
}

#[test]
fn waits_for_the_window_are_no_bound() {
    let run = Run::workers(2)
        .task("a", 0, 0, 100)
        .inserted(0)
        .task("b", 1, 10, 100)
        .inserted(4)
        .task("c", 0, 110, 150)
        .inserted(8)
        .task("d", 1, 110, 150)
        .inserted(104)
        .window(3);
    // An insertion takes 4; 96 of the last one's time was waiting.
    assert_eq!(Analysis::new(&run.trace()).bounds.insertion_ns, Some(100));
    let slow = Run::workers(2).task("a", 0, 0, 100).inserted(0).task("b", 1, 96, 150).inserted(90).window(3);
    assert_eq!(Analysis::new(&slow.trace()).bounds.insertion_ns, Some(90 + 54));
}

#[test]
fn work_is_bounded_per_kind_of_lane() {
    let run = Run::workers(4)
        .lane("queue 0", "cuda:0", LaneKind::Queue)
        .task("potrf", 0, 0, 40)
        .task("gemm", 4, 0, 90)
        .task("potrf", 1, 90, 100);
    let bounds = Analysis::new(&run.trace()).bounds;
    let groups: Vec<_> = bounds.groups.iter().map(|group| (group.name.as_str(), group.lanes, group.bound_ns)).collect();
    assert_eq!(groups, [("workers", 4, 13), ("cuda:0", 1, 90)]);
    assert_eq!((bounds.work_ns, bounds.insertion_ns), (90, None));
}
