//! The gallery: each trace is consistent; the page shows its picture, explains how it was made, and matches its
//! figures.

use std::{fs, path::PathBuf};
use superscalar_traces::{Trace, analysis::Analysis, check::check};

fn gallery() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/gallery"))
}

fn open(name: &str) -> (Trace, Analysis) {
    let trace = Trace::open(gallery().join(format!("{name}.json"))).unwrap_or_else(|error| panic!("{name}: {error}"));
    let analysis = Analysis::new(&trace);
    (trace, analysis)
}

#[test]
fn traces_are_consistent_and_explained() {
    let page = fs::read_to_string(gallery().join("README.md")).expect("the gallery has a page");
    let mut traces = 0;
    for entry in fs::read_dir(gallery()).expect("the gallery is there") {
        let path = entry.expect("it can be listed").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        traces += 1;
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("names are UTF-8");
        let verdict = check(&open(name).0);
        assert!(verdict.is_consistent(), "{name}: {verdict:?}");
        for part in [format!("\nSUPERSCALAR_TRACE={name}.json "), format!("]({name}.svg)")] {
            assert!(page.contains(&part), "the page does not contain {part}");
        }
        assert!(gallery().join(format!("{name}.svg")).exists(), "{name} has no picture");
    }
    assert_eq!(traces, 8);
}

#[test]
fn figures_match_the_page() {
    let busy = |name: &str| {
        let (trace, analysis) = open(name);
        let all = (trace.wall_ns() as usize * trace.lanes.len()) as f64;
        analysis.lanes.rows.iter().map(|row| row.busy_ns as f64).sum::<f64>() / all
    };
    assert!(busy("lookahead") > busy("no-lookahead") + 0.05, "lookahead keeps the workers busy");
    assert!(busy("starving-panel") < 0.6, "panels starve");
    let path = |name: &str| {
        let (trace, analysis) = open(name);
        analysis.path.length_ns as f64 / trace.wall_ns() as f64
    };
    assert!(
        (0.5..0.7).contains(&path("gpu")) && (0.5..0.7).contains(&path("four-gpus")),
        "the chain of panels, and waits"
    );
    assert!(path("starving-panel") > 0.99 && path("lu") > 0.9 && path("cholesky") < 0.5, "the critical paths");
}
