use super::run::Run;
use superscalar_traces::analysis::Analysis;

/// A diamond: 1, then 2 and 3 in parallel, then 4.
fn diamond() -> Run {
    Run::workers(2)
        .task("a", 0, 0, 10)
        .task("b", 0, 12, 42)
        .after(&[1])
        .task("c", 1, 15, 20)
        .after(&[1])
        .task("d", 1, 50, 60)
        .after(&[2, 3])
}

#[test]
fn longest_chain_and_its_kernels() {
    let trace = diamond().trace();
    let path = Analysis::new(&trace).path;
    assert_eq!(path.tasks.iter().map(|&task| trace.tasks[task as usize].id).collect::<Vec<_>>(), [1, 2, 4]);
    assert_eq!((path.length_ns, path.waited_ns), (50, 2 + 8));
    assert_eq!(path.share, 50.0 / 60.0);
    let blame: Vec<_> = path.blame.iter().map(|blame| (blame.name.as_str(), blame.time_ns, blame.share)).collect();
    assert_eq!(blame, [("b", 30, 0.6), ("a", 10, 0.2), ("d", 10, 0.2)]);
}

#[test]
fn possible_and_achieved_parallelism() {
    let parallelism = Analysis::new(&diamond().trace()).parallelism;
    assert_eq!((parallelism.work_ns, parallelism.path_ns, parallelism.width_max), (55, 50, 2));
    assert_eq!((parallelism.average, parallelism.achieved), (55.0 / 50.0, 55.0 / 60.0));
    assert_eq!(parallelism.efficiency, 55.0 / 120.0);
    let widths: Vec<_> = parallelism.histogram.iter().map(|row| (row.from, row.to, row.time_ns)).collect();
    assert_eq!(widths, [(1, 1, 45), (2, 2, 5)]);
    assert_eq!(parallelism.profile.len(), 50, "steps of a nanosecond");
    let area: f64 = parallelism.profile.iter().map(|step| step.width * (step.end_ns - step.start_ns) as f64).sum();
    assert!((area - 55.0).abs() < 1e-9, "the profile's area is the work: {area}");
}
