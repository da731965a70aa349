//! The file that `SUPERSCALAR_TRACE` asks for, with programs that end in different ways.
//!
//! The programs are this test binary itself, started with the name of an end.

use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};
use superscalar_runtime::{Error, Runtime};

const END: &str = "RECORDING_TEST_END";
const TASKS: u64 = 300;
/// Much longer than the period of the appends.
const LONG: Duration = Duration::from_millis(800);

fn chain(rt: &Runtime, tasks: u64, body: fn(u64)) -> Result<(), Error> {
    let mut value = 0_u64;
    rt.scope(|s| {
        let value = s.lend(&mut value);
        for _ in 0..tasks {
            s.spawn("link", value.read_write(), move |value| {
                *value += 1;
                body(*value);
            });
        }
    })
}

/// The program that the tests run; not a test itself.
#[test]
#[ignore = "run by the other tests"]
fn program() {
    let Ok(end) = std::env::var(END) else { return };
    let rt = Runtime::builder().workers(2).build().expect("a runtime");
    if end == "panic in a task" {
        chain(&rt, TASKS, |value| assert!(value < 100, "on purpose")).expect_err("a task panicked");
        return;
    }
    chain(&rt, TASKS, |_| ()).expect("nothing fails");
    match &*end {
        "return" => return,
        "take" => {
            let recording = rt.take_recording().expect("a recording");
            assert_eq!(recording.tasks.len() as u64, TASKS);
            return chain(&rt, TASKS, |_| ()).expect("nothing fails");
        }
        "two runtimes" => {
            let second = Runtime::builder().workers(1).build().expect("a runtime");
            chain(&second, 7, |_| ()).expect("nothing fails");
            drop(rt);
            // A runtime that does not record uses no file name.
            let silent = Runtime::builder().workers(1).trace(false).build().expect("a runtime");
            chain(&silent, 5, |_| ()).expect("nothing fails");
            let third = Runtime::builder().workers(1).build().expect("a runtime");
            return chain(&third, 9, |_| ()).expect("nothing fails");
        }
        "panic" => panic!("on purpose"),
        _ => std::thread::sleep(LONG),
    }
    match &*end {
        "abort" => std::process::abort(),
        "abort in a task" => drop(chain(&rt, 1, |_| std::process::abort())),
        "exit" => std::process::exit(0),
        "leak" => std::mem::forget(rt),
        _ => {
            println!("ready");
            std::thread::sleep(Duration::from_secs(60));
        }
    }
}

fn command(end: &str, file: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("the path of this test"));
    command.args(["--exact", "file::program", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(END, end).env("SUPERSCALAR_TRACE", file).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Creates an empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("trace files").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn run(end: &str) -> (PathBuf, Output) {
    let file = folder(end).join("trace.json");
    let output = command(end, &file).output().expect("the program starts");
    (file, output)
}

/// Parses a trace. If the file ends in the middle of an append, the incomplete last line is dropped.
fn read(file: &Path) -> Value {
    let text = fs::read_to_string(file).expect("a file");
    serde_json::from_str(&text).unwrap_or_else(|_| {
        let whole = text.rfind(",\n").expect("an event");
        serde_json::from_str(&format!("{}]}}", &text[..whole])).expect("a prefix of a trace")
    })
}

fn events<'a>(trace: &'a Value, phase: &str) -> Vec<&'a Value> {
    let events = trace["traceEvents"].as_array().expect("events");
    events.iter().filter(|event| event["ph"] == phase).collect()
}

fn tasks(trace: &Value) -> usize {
    let tasks: BTreeSet<u64> = events(trace, "X")
        .iter()
        .filter(|event| event["cat"] == "task")
        .map(|event| event["args"]["task"].as_u64().expect("a number"))
        .collect();
    tasks.len()
}

/// Checks the trace of a program that ended normally.
fn assert_complete(file: &Path, expected: u64) {
    let trace = read(file);
    assert_eq!((tasks(&trace) as u64, &trace["otherData"]["complete"]), (expected, &json!(true)));
    assert_eq!(trace["otherData"]["tasks"], json!(expected));
    let model = crate::format::check(&fs::read(file).expect("a file"));
    assert_eq!((model.arrows.len() + model.hidden.len()) as u64, expected - 1, "a hazard from each task to the next");
    assert!(model.samples as u64 >= 4 * expected);
}

/// Checks the trace of a program that was aborted.
fn assert_cut_short(file: &Path) {
    let trace = read(file);
    assert_eq!((tasks(&trace) as u64, &trace["otherData"]["complete"]), (TASKS, &json!(false)));
    assert_eq!((events(&trace, "s").len() + events(&trace, "i").len()) as u64, TASKS - 1);
    let model = crate::format::check(&fs::read(file).expect("a file"));
    assert!(model.slices.iter().all(|slice| slice.name == "link" && slice.arguments.contains_key("inserted")));
}

#[test]
fn finished_program_leaves_complete_trace() {
    let (file, output) = run("return");
    assert!(output.status.success());
    assert_complete(&file, TASKS);
    let left: Vec<_> = fs::read_dir(file.parent().expect("a folder")).expect("a folder").collect();
    assert_eq!(left.len(), 1, "other files remain: {left:?}");
}

#[test]
fn panicking_programs_leave_complete_traces() {
    let (file, output) = run("panic");
    assert!(!output.status.success());
    assert_complete(&file, TASKS);
    let (file, output) = run("panic in a task");
    assert!(output.status.success());
    assert_complete(&file, TASKS);
    let trace = read(&file);
    let ended = |how: &str| events(&trace, "X").iter().filter(|event| event["args"]["outcome"] == how).count() as u64;
    assert_eq!((ended("completed"), ended("panicked"), ended("cancelled")), (99, 1, TASKS - 100));
}

#[test]
fn taken_records_are_in_the_file() {
    let (file, output) = run("take");
    assert!(output.status.success());
    let trace = read(&file);
    assert_eq!((tasks(&trace) as u64, &trace["otherData"]["complete"]), (2 * TASKS, &json!(true)));
}

#[test]
fn each_runtime_of_a_process_has_a_file() {
    let (file, output) = run("two runtimes");
    assert!(output.status.success());
    assert_complete(&file, TASKS);
    assert_complete(&file.with_file_name("trace.2.json"), 7);
    assert_complete(&file.with_file_name("trace.3.json"), 9);
}

#[test]
fn aborted_programs_leave_partial_traces() {
    for end in ["abort", "exit", "leak"] {
        let (file, _) = run(end);
        assert_cut_short(&file);
    }
    let (file, output) = run("abort in a task");
    assert!(!output.status.success());
    assert_eq!(tasks(&read(&file)) as u64, TASKS);
}

#[test]
fn killed_program_leaves_partial_trace() {
    let file = folder("kill").join("trace.json");
    let mut child = command("kill", &file).spawn().expect("the program starts");
    let lines = BufReader::new(child.stdout.take().expect("piped output")).lines();
    let is_ready = lines.map_while(Result::ok).any(|line| line.contains("ready"));
    child.kill().expect("the program runs");
    child.wait().expect("the program was killed");
    assert!(is_ready);
    assert_cut_short(&file);
}

#[test]
fn unwritable_file_is_reported_once() {
    let there = folder("not writable");
    fs::write(there.join("no folder"), "").expect("a writable folder");
    let mut cases = vec![(there.join("no folder").join("trace.json"), "no trace will be written to")];
    cases.push((there.clone(), "no trace will be written to"));
    if Path::new("/dev/full").exists() {
        cases.push((PathBuf::from("/dev/full"), "was not written"));
    }
    for (file, message) in cases {
        let output = command("return", &file).output().expect("the program starts");
        assert!(output.status.success());
        let said = String::from_utf8_lossy(&output.stderr);
        let said: Vec<&str> = said.lines().filter(|line| line.starts_with("superscalar:")).collect();
        let name = file.display().to_string();
        assert!(matches!(said[..], [line] if line.contains(&name) && line.contains(message)), "{said:?}");
    }
}

#[test]
fn missing_folder_is_created() -> std::io::Result<()> {
    let file = folder("new").join("one").join("two").join("trace.json");
    assert!(command("return", &file).output()?.status.success());
    assert_complete(&file, TASKS);
    Ok(())
}

#[test]
fn link_target_is_written() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        let there = folder("link");
        let (link, target) = (there.join("link.json"), there.join("target.json"));
        fs::write(&target, "old")?;
        std::os::unix::fs::symlink(&target, &link)?;
        assert!(command("return", &link).output()?.status.success());
        assert!(fs::symlink_metadata(&link)?.is_symlink());
        assert_complete(&target, TASKS);
    }
    Ok(())
}

#[test]
fn growing_file_stays_bounded() {
    let file = folder("long").join("trace.json");
    let rt = Runtime::builder().workers(2).trace_file(&file).trace_memory(1).build().expect("a runtime");
    let (mut tasks, mut most, mut shrank) = (0, 0, false);
    // The file is rewritten for the first time at about 25 MB.
    while !shrank && tasks < 3_000_000 {
        chain(&rt, 500, |_| ()).expect("nothing fails");
        tasks += 500;
        std::thread::sleep(Duration::from_millis(1));
        let bytes = fs::metadata(&file).map_or(0, |file| file.len());
        shrank |= bytes < most / 2;
        most = most.max(bytes);
    }
    assert!(shrank && most < 64 << 20, "{tasks} tasks took {most} bytes");
    std::thread::sleep(Duration::from_millis(300));
    let trace = read(&file);
    assert_eq!(trace["otherData"]["complete"], json!(false));
    let dropped = trace["otherData"]["records dropped"].as_u64().expect("a number");
    // Four or five records per task, and some about idle workers, whose number depends on the load of the machine.
    assert!(dropped > 0 && dropped < 100 * tasks, "{dropped} of {tasks} tasks");
    drop(rt);
    let trace = read(&file);
    assert_eq!(trace["otherData"]["complete"], json!(true));
    let dropped_at_end = trace["otherData"]["records dropped"].as_u64().expect("a number");
    assert!(dropped_at_end >= dropped);
    let whole_from = trace["otherData"]["whole from"].as_f64().expect("a time");
    let ended = events(&trace, "X");
    let late = ended.iter().filter(|event| event["args"]["inserted"].as_f64() > Some(whole_from)).count();
    assert!(late > 500, "only {late} tasks are complete");
}
