use super::run::Run;
use superscalar_traces::{Outcome, TileIndex, analysis::Analysis};

#[test]
fn rates_lengths_and_outcomes() {
    let gemm = |run: Run, start_ns: u64, length_ns: u64| {
        run.task("gemm", 0, start_ns, start_ns + length_ns).with(|task| (task.flops, task.bytes) = (1000.0, 8.0))
    };
    let run = [(0, 10), (100, 20), (200, 40), (300, 100)]
        .into_iter()
        .fold(Run::workers(1), |run, (at, length)| gemm(run, at, length));
    let run = run.with(|task| task.index = TileIndex::new(&[4, 2]).unwrap());
    let run = gemm(run, 500, 50).with(|task| task.outcome = Outcome::Failed);
    let run = run.task("potrf", 0, 600, 600).with(|task| task.outcome = Outcome::Cancelled);
    let analysis = Analysis::new(&run.trace());
    let [gemm, potrf] = &analysis.kernels.rows[..] else { panic!("two kernels") };
    assert_eq!((gemm.tasks, gemm.total_ns, gemm.share, gemm.bytes), (5, 220, 1.0, 40.0));
    assert_eq!((gemm.outcomes.completed, gemm.outcomes.to_string().as_str()), (4, "1 failed"));
    assert_eq!(gemm.length_ns.values(), [10.0, 20.0, 40.0, 50.0, 100.0]);
    // The failed task's operations do not count.
    assert_eq!((gemm.flops, gemm.rate_gflops), (4000.0, Some(4000.0 / 170.0)));
    assert_eq!(gemm.task_rate_gflops.unwrap().values(), [10.0, 10.0, 25.0, 50.0, 100.0]);
    assert_eq!(gemm.slowest_label, "gemm (4, 2)");
    assert_eq!((potrf.outcomes.cancelled, potrf.rate_gflops, potrf.length_ns.max), (1, None, 0.0));
    assert_eq!(analysis.overview.tasks_not_completed, 2);
    assert!(analysis.to_string().contains("1 failed"));
}
