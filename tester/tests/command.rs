//! Runs the tester as a user does.

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

/// Returns the BLAS and LAPACK libraries in `TESTER_PEER` and those installed on this machine.
fn peers() -> Vec<String> {
    let installed = ["/usr/lib/x86_64-linux-gnu/libopenblas.so.0", "/usr/lib/aarch64-linux-gnu/libopenblas.so.0"];
    let installed = installed.into_iter().filter(|path| PathBuf::from(path).exists()).map(str::to_owned);
    std::env::var("TESTER_PEER").into_iter().chain(installed).collect()
}

/// Checks that every row is ok, or skipped because there is no lower precision.
fn holds(line: &str) -> Vec<Value> {
    let (rows, status) = rows(line);
    for row in &rows {
        if row["status"] == "skipped" {
            let (routine, letter) = (row["routine"].as_str().unwrap_or(""), row["type"].as_str().unwrap_or(""));
            assert!(routine.ends_with("_mixed") && "sc".contains(letter), "{row}");
            continue;
        }
        assert_eq!(row["status"], "ok", "{row}");
        assert!(row["error"].as_f64() <= row["bound"].as_f64() && row["error"].is_f64(), "{row}");
        assert_eq!((&row["workers"], &row["ld_pad"], &row["peer"]), (&2.into(), &3.into(), &Value::Null), "{row}");
    }
    assert_eq!(status, Some(0));
    rows
}

#[test]
fn all_routines_pass_in_all_types() {
    let rows =
        holds("all --type s,d,c,z --dim 0:2,33,30x20,20x30 --nrhs 0,3 --nb 8 --workers 2 --repeat 1 --format json");
    let letters = |routine: &str, letter: &str| {
        rows.iter().filter(|row| row["routine"] == routine && row["type"] == letter && row["n"] == 33).count()
    };
    assert_eq!((letters("gemm", "d"), letters("trsm", "z"), letters("lansy", "s")), (9, 24, 8));
    // A complex product with a transpose is either symmetric or Hermitian; a real one is both.
    assert_eq!((letters("syrk", "d"), letters("syrk", "c"), letters("herk", "c"), letters("unmqr", "z")), (6, 4, 4, 4));
}

/// Checks that every row is that of a batch whose problems were all checked.
fn batches_hold(line: &str) -> Vec<Value> {
    let (rows, status) = rows(&format!("{line} --repeat 1 --workers 2 --nrhs 2 --format json"));
    for row in &rows {
        assert_eq!(row["status"], "ok", "{row}");
        assert!(row["error"].as_f64() <= row["bound"].as_f64() && row["error"].is_f64(), "{row}");
        assert_eq!(row["batch"], row["batch_checked"], "{row}");
    }
    assert_eq!(status, Some(0));
    rows
}

#[test]
fn batches_of_all_sizes_pass_in_all_types() {
    for sizes in ["uniform", "random", "sorted"] {
        for options in ["--dim 0,7,5x3", "--dim 6x9 --ld-pad 2 --nb 3"] {
            let options = format!("--batch 10 --batch-sizes {sizes} --type s,d,c,z {options}");
            let rows = batches_hold(&format!("all {options}"));
            for routine in ["gemv", "trsv", "getrf_nopiv", "gels", "unmqr"] {
                let is_there = |row: &Value| row["routine"] == routine && row["batch_sizes"] == sizes;
                assert!(rows.iter().any(is_there), "{routine} with {options}");
            }
        }
    }
    let (none, status) = rows("potrf,gemm,geqrf --batch 0 --dim 5 --repeat 1 --workers 2 --format json");
    assert!(status == Some(0) && none.iter().all(|row| row["status"] == "ok"), "{none:?}");
}

#[test]
fn bad_problems_change_no_other() {
    for sizes in ["uniform", "random"] {
        let line = format!("potrf,posv,getrf,getrf_nopiv,gesv,gels,geqrf,gemm --batch 20 --batch-sizes {sizes}");
        let rows = batches_hold(&format!("{line} --type d,c --dim 9 --batch-bad 5"));
        assert!(rows.iter().all(|row| row["batch_bad"].as_u64() >= Some(1)), "{rows:?}");
    }
}

#[test]
fn batches_can_be_on_devices() {
    let line = "potrf,gemm,getrf,geqrf,gels,unmqr --type d,z --dim 9 --batch 12 --batch-bad 2";
    for sizes in ["uniform", "random"] {
        let rows = batches_hold(&format!("{line} --batch-sizes {sizes} --devices sim:0..2 --location device"));
        assert!(rows.iter().all(|row| row["location"] == "device"));
    }
}

#[test]
fn large_batches_are_sampled() {
    let (rows, status) = rows("potrf --dim 3 --batch 1000 --batch-bad 1 --repeat 1 --workers 2 --format json");
    let row = &rows[0];
    assert_eq!((status, &row["status"], &row["batch_bad"]), (Some(0), &"ok".into(), &1.into()), "{row}");
    assert!(row["batch_checked"].as_u64().is_some_and(|checked| (64..100).contains(&checked)), "{row}");
    let table = tester("potrf --dim 3 --batch 1000 --repeat 1 --workers 1");
    assert!(String::from_utf8_lossy(&table.stdout).contains("# batches of 1000 problems"));
}

#[test]
fn wrong_batches_are_reported() {
    let (rows, status) = rows("getrf --dim 9 --batch 5 --bound 0 --repeat 1 --workers 1 --format json");
    assert_eq!((&rows[0]["status"], status), (&"FAILED".into(), Some(1)), "{}", rows[0]);
    assert!(rows[0]["reason"].as_str().is_some_and(|reason| reason.contains("problem 0: residual")), "{}", rows[0]);
}

#[test]
fn peers_compute_batches() {
    for peer in peers() {
        let line = "gemm,gemv,trsm,potrf,getrf,gesv,geqrf,ungqr,getrf_nopiv --dim 7 --batch 40 --type d,z";
        for options in ["", "--batch-sizes random --batch-bad 2"] {
            let rows = batches_hold(&format!("{line} {options} --peer {peer}"));
            assert!(rows.iter().any(|row| row["peer"].as_str().is_some_and(|name| name.ends_with("/loop"))));
            assert!(rows.iter().all(|row| row["peer_gflops"].is_f64() != row["reason"].is_string()), "{rows:?}");
        }
    }
}

#[test]
fn any_tile_size_works() {
    let routines = "potrf,potrs,posv,gemm,trsm,getrf,gesv,geqrf,gels";
    // At a larger order, tiles of one element are too many.
    for sizes in ["--dim 37 --nb auto,1,16", "--dim 70 --nb auto,16"] {
        let options = "--type s,d,c,z --nrhs 0,5 --uplo l,u --workers 2 --repeat 1";
        holds(&format!("{routines} {sizes} {options} --format json"));
    }
}

#[test]
fn zero_scalars_work() {
    let options = "--type d,z --dim 20x9 --nb 8 --alpha 0,1,-1:2 --beta 0,1 --workers 2 --repeat 1 --format json";
    let rows = holds(&format!("gemm,gemmt,symm,hemm,syrk,herk,syr2k,her2k,trmm,trsm,geadd,laset {options}"));
    let gemm = rows.iter().filter(|row| row["routine"] == "gemm" && row["type"] == "z");
    assert_eq!(gemm.map(|row| (&row["alpha"], &row["beta"])).nth(5), Some((&"-1:2".into(), &"1".into())));
}

#[test]
fn any_policy_and_worker_count_works() {
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
fn failed_checks_are_reported() {
    // No result is exact, so with a bound of zero every result is wrong.
    let (rows, status) = rows("potrf --dim 1,50 --bound 0 --format json --workers 1");
    assert_eq!((&rows[1]["status"], status), (&"FAILED".into(), Some(1)));
    assert!(rows[1]["reason"].as_str().is_some_and(|reason| reason.contains("residual")));
    let table = tester("potrf --dim 50 --bound 0 --workers 1");
    assert!(String::from_utf8_lossy(&table.stdout).contains("FAILED (residual above 0)"));
}

#[test]
fn unchecked_rows_are_not_ok() {
    let output = tester("potrf --dim 50 --bound 0 --check n --repeat 1 --format json --workers 1");
    let row: Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!((&row["status"], &row["error"], output.status.code()), (&"unchecked".into(), &Value::Null, Some(0)));
    assert!(String::from_utf8_lossy(&output.stderr).contains("0 rows ok, 1 not checked"));
    let table = tester("potrf,swap --dim 20 --check n --repeat 1 --workers 1").stdout;
    let table = String::from_utf8_lossy(&table).into_owned();
    assert!(table.ends_with("# 0 rows ok, 2 not checked, 0 FAILED, 0 skipped\n"), "{table}");
    let table = tester("potrf,swap --dim 20 --repeat 1 --workers 1").stdout;
    assert!(String::from_utf8_lossy(&table).ends_with("# 2 rows ok, 0 not checked, 0 FAILED, 0 skipped\n"));
}

#[test]
fn seed_repeats_a_case() {
    let error = |seed| rows(&format!("potrf --dim 60 --format json --workers 1 --seed {seed}")).0[0]["error"].clone();
    assert_eq!(error(5), error(5));
    assert_ne!(error(5), error(6));
}

#[test]
fn too_large_cases_are_skipped() {
    let (rows, status) = rows("potrf --dim 100000000 --format json --workers 1");
    assert_eq!((&rows[0]["status"], &rows[0]["reason"]), (&"skipped".into(), &"not enough memory".into()));
    assert_eq!(status, Some(0));
}

#[test]
fn matrices_can_be_on_devices() {
    let routines = "potrf,gemm,getrf,geqrf,trsm --type d,z --dim 70 --nb 16,auto";
    let (rows, status) = rows(&format!("{routines} --devices sim:0..2 --location device --format json"));
    assert_eq!((rows.len(), status), (20, Some(0)));
    for row in &rows {
        assert_eq!((&row["location"], &row["status"]), (&"device".into(), &"ok".into()), "{row}");
        assert!(row["seconds"].is_number(), "{row}");
    }
}

#[test]
fn host_routines_are_skipped_on_devices() {
    let (rows, status) = rows("lange --dim 20 --devices sim:0 --location device --format json");
    assert_eq!((&rows[0]["status"], status), (&"skipped".into(), Some(0)));
    assert!(rows[0]["reason"].as_str().is_some_and(|why| why.contains("devices")), "{}", rows[0]);
}

#[test]
fn failed_rows_show_no_rates() {
    let (rows, _) = rows("potrf --dim 50 --bound 0 --format json --workers 1");
    for key in ["seconds", "gflops", "peer_gflops", "ratio"] {
        assert_eq!(rows[0][key], Value::Null, "{key}");
    }
}

#[test]
fn bad_variables_are_named() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tester"));
    let output = command.args(["potrf", "--dim", "5"]).env("SUPERSCALAR_POLICY", "best").output();
    let output = output.expect("the binary starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("SUPERSCALAR_POLICY=best") && !message.contains("--workers"), "{message}");
}

#[test]
fn missing_libraries_are_explained_by_the_loader() {
    let output = tester("potrf --dim 5 --peer libnope.so");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("--peer libnope.so: ") && message.contains("cannot open"), "{message}");
}

#[test]
fn negative_device_memory_is_explained() {
    let output = tester("potrf --dim 5 --device-memory -4M");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("--device-memory") && message.contains("expected a number of bytes"), "{message}");
    assert!(!message.contains("tip:"), "{message}");
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
        ("potrf --devices cuda:4096", "--devices"),
        ("potrf --location device", "--location"),
        ("potrf --peer cublasxt,wide", "--peer"),
        ("potrf --peer cusolver,512", "--peer"),
        ("potrf --peer cublas,512", "--peer"),
        ("lange --batch 3", "--batch"),
        ("lange --batch 3", "gemm, gemv, trsm"),
        ("potrf --batch -3", "--batch"),
        ("potrf --batch-sizes sorted", "--batch"),
        ("potrf --batch 3 --batch-bad x", "--batch-bad"),
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
fn non_blas_library_is_refused() {
    let libc = "libc.so.6";
    let output = tester(&format!("potrf --peer {libc}"));
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(message.contains("--peer") && message.contains(libc), "{message}");
}

#[test]
fn gpu_options_run_or_are_explained() {
    for (line, argument) in [
        ("gemm --dim 50 --repeat 1 --format json --pinned y", "--pinned"),
        ("gemm --dim 50 --repeat 1 --format json --peer cublasxt", "--peer"),
        ("potrf,getrf,geqrf --dim 50 --repeat 1 --format json --peer cusolver", "--peer"),
        ("potrf,getrf --dim 50 --repeat 1 --format json --peer cusolvermg,16", "--peer"),
    ] {
        let output = tester(line);
        let message = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => assert!(!output.stdout.is_empty(), "{line}"),
            status => assert_eq!((status, message.contains(argument)), (Some(2), true), "{line}: {message}"),
        }
    }
}

#[test]
fn peers_get_a_row_each() {
    let peers = peers();
    if peers.is_empty() {
        eprintln!("skipped: no BLAS is installed on this machine, and TESTER_PEER is not set");
        return;
    }
    let options: String = peers.iter().map(|peer| format!(" --peer {peer}")).collect();
    // The tester waits until a peer's threads are idle before each call, which takes longer than the calls.
    let letters = "--side l,r --transa n --transb n --diag n --norm o --part a --direction f --uplo u";
    for sizes in ["--type s,z --dim 40x60", "--type d --dim 0"] {
        let (rows, status) =
            rows(&format!("all {sizes} {letters} --nb 32 --nrhs 2 --workers 2 --repeat 1 --format json{options}"));
        for row in rows {
            if row["status"] == "skipped" {
                continue;
            }
            assert_eq!(row["status"], "ok", "{row}");
            let is_absent = row["reason"].is_string();
            assert!(row["peer"].is_string() && row["peer_gflops"].is_f64() != is_absent, "{row}");
            assert_eq!(row["peer_error"].is_f64(), !is_absent, "{row}");
            assert!(!(row["n"] == 0 && row["ratio"].is_f64()), "{row}");
        }
        assert_eq!(status, Some(0));
    }
}
