use super::run::Run;
use superscalar_traces::analysis::{Analysis, comparison::Comparison, gaps::Reason};

fn run(gemm_ns: u64, idle_ns: u64) -> Analysis {
    let potrf_ns = gemm_ns + idle_ns;
    let run = Run::workers(1).task("gemm", 0, 0, gemm_ns).task("potrf", 0, potrf_ns, potrf_ns + 50).after(&[1]);
    Analysis::new(&run.trace())
}

#[test]
fn causes_are_sorted_and_add_up() {
    let comparison = Comparison::new(&run(100, 10), &run(120, 60));
    assert_eq!((comparison.wall_ns.a, comparison.wall_ns.b), (160.0, 230.0));
    let causes: Vec<_> = comparison.causes.iter().map(|cause| (cause.name.as_str(), cause.growth_ns)).collect();
    assert_eq!(causes, [("idle: overhead", 50.0), ("gemm", 20.0), ("potrf", 0.0)]);
    let sum: f64 = comparison.causes.iter().map(|cause| cause.growth_ns).sum();
    assert_eq!(sum, comparison.wall_ns.growth());
    assert_eq!(comparison.kernels[0].median_ns.ratio(), Some(1.2));
    assert_eq!(comparison.idle[0].reason, Reason::Overhead);
    assert_eq!((comparison.rows[0].busy_ns.a, comparison.rows[0].other_ns.b), (150.0, 60.0));
}

#[test]
fn objects_of_one_run_are_listed() {
    let other = Run::workers(2).task("trsm", 1, 0, 10).trace();
    let comparison = Comparison::new(&run(100, 10), &Analysis::new(&other));
    let trsm = comparison.kernels.iter().find(|row| row.name == "trsm").unwrap();
    assert_eq!((trsm.total_ns.a, trsm.total_ns.b, trsm.total_ns.ratio()), (0.0, 10.0, None));
    assert_eq!(comparison.rows.len(), 2);
    let nothing = Analysis::new(&Run::default().trace());
    let text = Comparison::new(&nothing, &nothing).to_string();
    assert!(!text.contains("NaN"), "{text}");
}
