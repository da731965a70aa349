//! What drivers with real clocks tell of ends that were noticed late.

use superscalar_runtime::Finished;

/// Checks reports of tasks, each of which waited for the one before, all noticed some fifty milliseconds late: when each ended is told,
/// and none ended before it can have begun.
pub fn are_told_apart(ended: &[Finished]) {
    let ago_ns: Vec<_> = ended.iter().map(|one| one.ended_ago_ns.expect("it is timed")).collect();
    // They may have taken a while, but not long, and are reported one after the other.
    assert!(ago_ns.iter().all(|&ns| ns > 25_000_000 && ns < 1_000_000_000), "{ago_ns:?}");
    const REPORTS_NS: u64 = 1_000_000;
    for (pair, later) in ago_ns.windows(2).zip(&ended[1..]) {
        let least_ns = pair[1] + later.busy_ns.expect("it is timed");
        assert!(pair[0] + REPORTS_NS >= least_ns, "{ago_ns:?}: {later:?}");
    }
}
