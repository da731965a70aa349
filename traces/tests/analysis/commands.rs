//! Runs `superscalar-trace summary` and `compare` as programs.

use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn ask(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_superscalar-trace")).args(arguments).output().expect("the program starts")
}

/// Returns the standard output; fails if the command fails or prints to standard error.
fn text(arguments: &[&str]) -> String {
    let output = ask(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn two_workers() -> String {
    data("cholesky-2-workers.json").display().to_string()
}

/// Writes a file with this content for this test.
fn file(test: &str, content: &str) -> String {
    let path = std::env::temp_dir().join(format!("superscalar-traces-{}-{test}.json", std::process::id()));
    std::fs::write(&path, content).expect("the temporary folder can be written to");
    path.display().to_string()
}

#[test]
fn summary_fits_two_screens() {
    let text = text(&["summary", &two_workers()]);
    for word in
        ["120 tasks", "worker 1", "no ready task", "gemm", "critical path", "at least", "what if", "as recorded"]
    {
        assert!(text.contains(word), "{word} is missing in:\n{text}");
    }
    assert!(text.lines().count() <= 90, "{} lines", text.lines().count());
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
}

#[test]
fn blocks_have_headings_and_a_legend() {
    let text = text(&["summary", &two_workers()]);
    for heading in
        ["Time of each lane", "Idle time by reason", "Longest idle times", "Kernels", "Critical path", "Parallelism"]
    {
        assert!(text.lines().any(|line| line.starts_with(heading)), "no heading {heading} in:\n{text}");
    }
    assert!(text.contains("    no ready task: every inserted task"), "{text}");
}

#[test]
fn parts_are_shown_alone() {
    let file = two_workers();
    let gaps = text(&["summary", &file, "--gaps", "3"]);
    assert!(gaps.contains("made ready by") && !gaps.contains("what if") && !gaps.contains("GFLOP/s  "), "{gaps}");
    assert!(text(&["summary", &file, "--kernels"]).contains("lower"));
    assert!(text(&["summary", &file, "--lanes"]).contains("idle, ms"));
    assert!(text(&["summary", &file, "--links"]).contains("memory nodes: none"));
    assert!(text(&["summary", &file, "--path"]).contains("waited us"));
    let asked = text(&["summary", &file, "--what-if", "gemm=2", "--what-if", "trsm=1.5", "--workers", "1,4"]);
    assert!(asked.contains("4 workers, gemm 2 x, trsm 1.5 x"), "{asked}");
    assert_eq!(asked.lines().count(), 2 + 3, "{asked}");
}

#[test]
fn json_has_all_analyses_and_answers() {
    let json: Value =
        serde_json::from_str(&text(&["summary", &two_workers(), "--json", "--workers", "1"])).expect("JSON");
    assert_eq!(json["overview"]["tasks"], 120);
    assert_eq!(json["asked"][1]["workers"], 1);
    let sum = |row: &Value| {
        ["busy_ns", "communication_ns", "other_ns"].iter().map(|part| row[part].as_u64().unwrap()).sum::<u64>()
    };
    for row in json["lanes"]["rows"].as_array().expect("rows") {
        assert_eq!(sum(row), json["overview"]["wall_ns"].as_u64().unwrap());
    }
}

#[test]
fn run_compared_with_itself_is_unchanged() {
    let file = two_workers();
    let json: Value = serde_json::from_str(&text(&["compare", &file, &file, "--json"])).expect("JSON");
    assert!(json["causes"].as_array().unwrap().iter().all(|cause| cause["growth_ns"] == 0.0));
    let one = data("cholesky-1-worker.json").display().to_string();
    assert!(text(&["compare", &one, &file]).contains("b / a"));
}

#[test]
fn empty_and_truncated_files() {
    let empty = file("empty", "[]");
    assert!(text(&["summary", &empty]).contains("0 tasks"));
    assert!(text(&["compare", &empty, &empty]).contains("makespan"));
    let whole = std::fs::read_to_string(data("cholesky-2-workers.json")).unwrap();
    let cut = file("cut", &whole[..whole.len() / 4]);
    let output = ask(&["summary", &cut]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("before this point"));
    for path in [empty, cut] {
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn mistakes_are_reported() {
    let file = two_workers();
    let error = |arguments: &[&str]| {
        let output = ask(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(error(&["summary", &file, "--what-if", "nothing=2"]).contains("its kernels are"));
    assert!(error(&["summary", &file, "--what-if", "gemm"]).contains("KERNEL=FACTOR"));
    assert!(error(&["summary", &file, "--what-if", "gemm=-1"]).contains("not a positive"));
    assert!(error(&["summary", &file, "--workers", "0"]).contains("expected 1 to"));
    assert!(error(&["summary", "there-is-no-such-file.json"]).contains("there-is-no-such-file"));
}
