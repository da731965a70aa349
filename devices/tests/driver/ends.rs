//! Checks the times of ends that were noticed late, for drivers with real clocks.

use superscalar_runtime::Finished;

/// Checks reports of a chain of tasks that were all noticed about 50 ms late: each has a time, and no task ended before
/// it can have begun.
pub fn have_distinct_times(ended: &[Finished]) {
    let ago_ns: Vec<_> = ended.iter().map(|one| one.ended_ago_ns.expect("it is timed")).collect();
    // The tasks may have taken some time, but not long, and are reported one after the other.
    assert!(ago_ns.iter().all(|&ns| ns > 25_000_000 && ns < 1_000_000_000), "{ago_ns:?}");
    const REPORTS_NS: u64 = 1_000_000;
    for (pair, later) in ago_ns.windows(2).zip(&ended[1..]) {
        let least_ns = pair[1] + later.busy_ns.expect("it is timed");
        assert!(pair[0] + REPORTS_NS >= least_ns, "{ago_ns:?}: {later:?}");
    }
}
