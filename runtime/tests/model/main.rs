//! The model test: random task programs on the runtime, compared with serial execution.
//!
//! A seed determines a setting (workers, policy, window, devices) and a program (`generate.rs`). The oracle
//! (`oracle.rs`) computes the expected values, errors and tasks. The program runs (`execute.rs`), and the results are
//! compared (`check.rs`): values, errors, which tasks ran, the order of every pair of conflicting accesses, the
//! recording, and whether everything that was created was dropped.
//!
//! `SUPERSCALAR_MODEL_SEEDS=n` sets the number of seeds, `SUPERSCALAR_MODEL_SEED=s` the first one. With the second
//! variable alone, only that seed runs, and its program is printed. A failure prints its seed; so does a hang, after a
//! minute.

mod body;
mod check;
mod codelets;
mod execute;
mod generate;
mod insert;
mod oracle;
mod print;
mod program;
mod random;
#[path = "../test_device/mod.rs"]
mod test_device;
mod threads;
mod value;

use program::Setting;
use std::{
    io::Write,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use superscalar_runtime::{Runtime, Speed};
use test_device::{Machine, Spec};

const SEEDS: u64 = if cfg!(debug_assertions) { 10_000 } else { 100_000 };
/// The default time limit of one seed in seconds; `SUPERSCALAR_MODEL_PATIENCE` sets another.
const PATIENCE_S: u64 = 60;

/// Live values are counted for the whole process, so only one test runs at a time.
static ALONE: Mutex<()> = Mutex::new(());
static CURRENT: AtomicU64 = AtomicU64::new(u64::MAX);

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is not a number")))
}

/// Aborts the process if one seed takes too long.
fn watch() {
    let patience = Duration::from_secs(number("SUPERSCALAR_MODEL_PATIENCE").unwrap_or(PATIENCE_S));
    std::thread::spawn(move || {
        let (mut last, mut since) = (u64::MAX, Instant::now());
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let current = CURRENT.load(Ordering::SeqCst);
            if current != last {
                (last, since) = (current, Instant::now());
            } else if since.elapsed() > patience && current != u64::MAX {
                // Not `eprintln`, which the test harness captures.
                let _ = writeln!(std::io::stderr(), "no progress: SUPERSCALAR_MODEL_SEED={current}");
                std::process::abort();
            }
        }
    });
}

fn runtime(setting: &Setting) -> Arc<Runtime> {
    let spec = |device: &program::DeviceSetting| Spec {
        queues: device.queues,
        urgent_queues: device.queues / 2,
        depth: device.depth,
        waits_for: if device.waits_for_others { (0..16).collect() } else { Vec::new() },
        delay_us_max: device.delay_us_max,
        tells_times: device.tells_times,
        // Some devices state a speed far below or above the host's. So the resources to which tasks are left change
        // during a run.
        speed: Speed { flops_per_s: [0.0, 1e3, 1e15][device.depth % 3], ..Speed::default() },
        ..Spec::new(device.kind)
    };
    let specs: Vec<Spec> = setting.devices.iter().map(spec).collect();
    let builder =
        Runtime::builder().workers(setting.workers).policy(setting.policy).window(setting.window).weights_file(None);
    let builder = Machine::start(&specs).into_iter().fold(builder, |builder, device| builder.device(device));
    Arc::new(builder.trace(setting.trace).build().expect("threads"))
}

/// Runs one seed; returns the complaints.
fn run(seed: u64, setting: &Setting, rt: &Arc<Runtime>, print: bool) -> check::Complaints {
    let program = Arc::new(generate::program(seed, setting));
    if print {
        println!("{setting:?}\n{program}");
    }
    let verdict = oracle::judge(&program);
    let run = Arc::new(body::Execution::new(program, rt.clone()));
    let left = execute::level(&run, 0);
    // Values of handles are dropped by tasks, so wait for those.
    let _ = rt.wait();
    let mut wrong = check::check(&run, &verdict, &left.numbers, rt.take_recording());
    let alive = value::ALIVE.load(Ordering::SeqCst);
    if alive != 0 || value::BROKEN.load(Ordering::SeqCst) != 0 {
        wrong.push(format!("{alive} values are alive, {} were used after drop", value::BROKEN.load(Ordering::SeqCst)));
    }
    if Arc::strong_count(&run) != 1 {
        wrong.push(format!("{} bodies are alive", Arc::strong_count(&run) - 1));
    }
    wrong
}

#[test]
fn programs_match_serial_execution() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (start, count) = (number("SUPERSCALAR_MODEL_SEED"), number("SUPERSCALAR_MODEL_SEEDS"));
    let only = start.is_some() && count.is_none();
    let start = start.unwrap_or(0);
    let count = if only { 1 } else { count.unwrap_or(SEEDS) };
    watch();
    let mut cached: Option<(Setting, Arc<Runtime>)> = None;
    for seed in start..start + count {
        CURRENT.store(seed, Ordering::SeqCst);
        let setting = generate::setting(seed);
        if cached.as_ref().is_none_or(|(before, _)| *before != setting) {
            drop(cached.take());
            cached = Some((setting.clone(), runtime(&setting)));
        }
        let Some((_, rt)) = &cached else { unreachable!() };
        let wrong = run(seed, &setting, rt, only);
        assert!(wrong.is_empty(), "SUPERSCALAR_MODEL_SEED={seed} ({setting:?}):\n{}", wrong.join("\n"));
    }
    drop(cached);
    CURRENT.store(u64::MAX, Ordering::SeqCst);
}

#[test]
fn threads_share_a_runtime() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    watch();
    let start = number("SUPERSCALAR_MODEL_SEED").unwrap_or(0);
    let count = number("SUPERSCALAR_MODEL_SEEDS").unwrap_or(SEEDS) / 100;
    for seed in start..start + count.max(1) {
        CURRENT.store(seed, Ordering::SeqCst);
        let wrong = threads::run(seed);
        assert!(wrong.is_empty(), "threads, SUPERSCALAR_MODEL_SEED={seed}:\n{}", wrong.join("\n"));
    }
    CURRENT.store(u64::MAX, Ordering::SeqCst);
}
