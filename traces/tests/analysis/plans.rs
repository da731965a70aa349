//! Predictions beside what happened.

use crate::run::Run;
use superscalar_traces::{ActivityKind, LaneKind, analysis::Analysis};

const SITE: &str = "src/app.rs:7";

/// Two products inserted by the same line, and a task of another line. The result of the first one returns to the host.
fn products() -> Run {
    let links = [("host to sim:0", 100), ("sim:0 to host", 40)];
    Run::workers(1)
        .lane("queue 0", "sim:0", LaneKind::Queue)
        .plan("gemm", SITE, 100..200, 1000, &links)
        .plan("gemm", SITE, 2000..2100, 500, &links[..1])
        .task("gemm", 1, 300, 900)
        .inserted(150)
        .site(SITE)
        .task("other", 0, 300, 5000)
        .inserted(160)
        .site("src/app.rs:9")
        .task("return", 0, 900, 1300)
        .inserted(250)
        .site("scope.rs:1")
        .after(&[1])
        .task("gemm", 1, 2200, 2500)
        .inserted(2050)
        .site(SITE)
        .activity(ActivityKind::Transfer, "host to sim:0", 1, 120, 250)
        .between("host", "sim:0", 100)
        .activity(ActivityKind::Transfer, "sim:0 to host", 1, 900, 1250)
        .between("sim:0", "host", 40)
        .activity(ActivityKind::Transfer, "host to sim:0", 1, 2100, 2150)
        .between("host", "sim:0", 300)
}

#[test]
fn products_are_measured_with_their_returns() {
    let plans = Analysis::new(&products().trace()).plans;
    let [first, second] = &plans.rows[..] else { panic!("{plans:?}") };
    assert_eq!((&*first.name, &*first.site), ("gemm", SITE));
    assert_eq!((first.predicted_ns, first.measured_ns, first.ratio()), (1000, Some(1200), Some(1.2)));
    assert!(first.has_planned_traffic(), "{:?}", first.links);
    assert_eq!((second.measured_ns, second.ratio()), (Some(500), Some(1.0)));
    assert!(!second.has_planned_traffic(), "{:?}", second.links);
    let text = plans.to_string();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["2", "planned", "operations"]);
    assert_eq!(lines[2], ["gemm", "app.rs:7", "0.001", "0.001", "1.20", "as", "planned"]);
    assert_eq!(lines[3][4..], ["1.00", "not", "as", "planned"], "{text}");
    assert_eq!(lines[4], ["host", "to", "sim:0", "300", "of", "100"], "{text}");
}

#[test]
fn last_plans_are_listed() {
    let mut run = products();
    for number in 0..8 {
        run = run.plan("gemm", SITE, 10_000 + number..10_000 + number, number, &[]);
    }
    let analysis = Analysis::new(&run.trace());
    let (all, text) = (analysis.to_string(), analysis.plans.to_string());
    assert!(all.contains(&text), "{all}");
    assert!(text.starts_with("10 planned operations, of which these are the last 5\n"), "{text}");
    assert_eq!(text.lines().filter(|line| line.ends_with("its tasks are not in the trace")).count(), 5, "{text}");
    assert!(Analysis::new(&Run::workers(1).task("gemm", 0, 0, 1).trace()).plans.rows.is_empty());
}
