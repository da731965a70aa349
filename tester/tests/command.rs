//! Runs the binary as a user does.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};

fn tester(line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tester"));
    command.args(line.split_whitespace()).output().expect("the binary starts")
}

fn rows(line: &str) -> (Vec<Value>, Option<i32>) {
    let output = tester(line);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let rows = text.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    (rows, output.status.code())
}

/// BLAS and LAPACK libraries that this machine may have, beside those named in `TESTER_PEER`.
fn peers() -> Vec<String> {
    let installed = ["/usr/lib/x86_64-linux-gnu/libopenblas.so.0", "/usr/lib/aarch64-linux-gnu/libopenblas.so.0"];
    let installed = installed.into_iter().filter(|path| PathBuf::from(path).exists()).map(str::to_owned);
    std::env::var("TESTER_PEER").into_iter().chain(installed).collect()
}

#[test]
fn all_routines_hold_in_all_types() {
    let line = "all --type s,d,c,z --dim 0:2,37,130 --nrhs 0,1,5 --nb auto,1,16 --uplo l,u --workers 2 --repeat 1 --format json";
    let (rows, status) = rows(line);
    assert!(rows.len() >= 4 * 5 * 3 * 2 * (1 + 3 + 3));
    for row in &rows {
        assert_eq!(row["status"], "ok", "{row}");
        assert!(row["error"].as_f64() <= row["bound"].as_f64() && row["error"].is_f64(), "{row}");
        assert_eq!((&row["workers"], &row["ld_pad"], &row["peer"]), (&2.into(), &3.into(), &Value::Null), "{row}");
    }
    assert_eq!(status, Some(0));
}

#[test]
fn every_policy_and_any_number_of_workers_will_do() {
    for policy in ["fifo", "work-stealing", "priority"] {
        for workers in [1, 3] {
            let line = format!("posv --dim 90 --nb 8 --workers {workers} --policy {policy} --format json --repeat 2");
            let (rows, status) = rows(&line);
            assert_eq!((rows.len(), status), (1, Some(0)), "{line}");
            assert_eq!((&rows[0]["policy"], &rows[0]["status"]), (&policy.into(), &"ok".into()), "{line}");
        }
    }
}

#[test]
fn large_orders_are_probed() {
    let (rows, status) = rows("potrf --type s --dim 1537 --repeat 1 --format json --ld-pad 1");
    assert_eq!((&rows[0]["check"], &rows[0]["status"], status), (&"probes".into(), &"ok".into(), Some(0)));
}

#[test]
fn a_failed_check_is_said_and_is_the_status() {
    // No result is exact, so a bound of zero stands for a wrong one.
    let (rows, status) = rows("potrf --dim 1,50 --bound 0 --format json --workers 1");
    assert_eq!((&rows[1]["status"], status), (&"FAILED".into(), Some(1)));
    assert!(rows[1]["reason"].as_str().is_some_and(|reason| reason.contains("residual")));
    let table = tester("potrf --dim 50 --bound 0 --workers 1");
    assert!(String::from_utf8_lossy(&table.stdout).contains("FAILED (residual above 0)"));
    assert_eq!(tester("potrf --dim 50 --bound 0 --check n").status.code(), Some(0));
}

#[test]
fn the_seed_repeats_a_case() {
    let error = |seed| rows(&format!("potrf --dim 60 --format json --workers 1 --seed {seed}")).0[0]["error"].clone();
    assert_eq!(error(5), error(5));
    assert_ne!(error(5), error(6));
}

#[test]
fn cases_that_do_not_fit_are_skipped() {
    let (rows, status) = rows("potrf --dim 100000000 --format json --workers 1");
    assert_eq!((&rows[0]["status"], &rows[0]["reason"]), (&"skipped".into(), &"not enough memory".into()));
    assert_eq!(status, Some(0));
}

#[test]
fn bad_usage_names_the_argument() {
    for (line, argument) in [
        ("", "ROUTINES"),
        ("potr", "ROUTINES"),
        ("potrf --dim 5:1", "--dim"),
        ("potrf --dim -5", "--dim"),
        ("potrf --type x", "--type"),
        ("potrf --policy none", "--policy"),
        ("potrf --peer /nowhere/libblas.so", "--peer"),
        ("potrf --workers 99999", "--workers"),
    ] {
        let output = tester(line);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        assert!(message.contains(argument), "{line}: {message}");
        assert!(output.stdout.is_empty(), "{line}");
    }
    assert_eq!(tester("--help").status.code(), Some(0));
}

#[test]
fn a_library_that_is_no_blas_is_refused() {
    let libc = "libc.so.6";
    let output = tester(&format!("potrf --peer {libc}"));
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(message.contains("--peer") && message.contains(libc), "{message}");
}

#[test]
fn peers_get_a_row_each() {
    let peers = peers();
    if peers.is_empty() {
        eprintln!("skipped: no BLAS is installed here, and TESTER_PEER names none");
        return;
    }
    let options: String = peers.iter().map(|peer| format!(" --peer {peer}")).collect();
    let (rows, status) = rows(&format!(
        "all --type s,d,c,z --dim 0:1,70,300 --uplo l,u --nb 32 --nrhs 2 --workers 2 --repeat 2 --format json{options}"
    ));
    assert_eq!(rows.len() % peers.len(), 0);
    for row in rows {
        assert_eq!(row["status"], "ok", "{row}");
        assert!(row["peer"].is_string() && row["peer_gflops"].is_f64() && row["peer_error"].is_f64(), "{row}");
        assert_eq!(row["n"] == 0, row["ratio"].is_null(), "{row}");
    }
    assert_eq!(status, Some(0));
}
