//! The cost of recording: the same programs with and without it, in turns.
//!
//! ```text
//! cargo bench -p superscalar-runtime --bench recording
//! ```
//!
//! First the clock, the most expensive part of a record. Then empty tasks on one worker, where nothing hides a cost:
//! the difference per task, and per record of the task (its insertion, its hazards, its becoming ready, its span). Then
//! 10⁵ tasks of 20 µs on all workers: the relative overhead of recording in memory and to a growing file. All numbers
//! are medians of several rounds. The two variants take turns, because the load of a shared machine varies from second
//! to second.
//!
//! The cost of each kind of record is printed by
//! `cargo test --release -p superscalar-runtime --lib recorder -- --ignored --nocapture`.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};
use superscalar_runtime::{Lent, Runtime, Scope};

const TASKS: usize = 100_000;
const ROUNDS: usize = 15;
const HANDLES: usize = 64;
const BODY: Duration = Duration::from_micros(20);

/// Inserts `TASKS` tasks.
type Case = for<'s> fn(&'s Scope<'s, '_>, &[Lent<'s, u64>]);

fn independent<'s>(s: &'s Scope<'s, '_>, _: &[Lent<'s, u64>]) {
    for _ in 0..TASKS {
        s.spawn("task", (), |()| ());
    }
}

/// One hazard per task.
fn chains<'s>(s: &'s Scope<'s, '_>, h: &[Lent<'s, u64>]) {
    for task in 0..TASKS {
        s.spawn("task", h[task % HANDLES].read_write(), |_| ());
    }
}

/// Three accesses per task.
fn stencil<'s>(s: &'s Scope<'s, '_>, h: &[Lent<'s, u64>]) {
    for task in 0..TASKS {
        let [left, middle, right] = [0, 1, 2].map(|of| h[(task + of) % HANDLES]);
        s.spawn("task", (left.read(), right.read(), middle.read_write()), |_| ());
    }
}

/// The stencil's tasks with a body of 20 µs.
fn working<'s>(s: &'s Scope<'s, '_>, h: &[Lent<'s, u64>]) {
    for task in 0..TASKS {
        let [left, middle, right] = [0, 1, 2].map(|of| h[(task * 7 + of) % HANDLES]);
        s.spawn("task", (left.read(), right.read(), middle.read_write()), |_| work());
    }
}

/// Computes for 20 µs. It does not watch the clock, so that interruptions of the thread lengthen it.
fn work() {
    let turns = *TURNS.get_or_init(|| {
        let begun = Instant::now();
        spin(10_000_000);
        (10e6 * BODY.as_secs_f64() / begun.elapsed().as_secs_f64()) as u64
    });
    spin(turns);
}

static TURNS: std::sync::OnceLock<u64> = std::sync::OnceLock::new();

fn spin(turns: u64) {
    let mut x = 1_u64;
    for _ in 0..turns {
        x = black_box(x).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    }
    black_box(x);
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Runs a case; returns nanoseconds per task.
fn run(rt: &Runtime, case: Case) -> f64 {
    let mut values = vec![0_u64; HANDLES];
    let begun = Instant::now();
    rt.scope(|s| {
        let handles: Vec<_> = values.iter_mut().map(|value| s.lend(value)).collect();
        case(s, &handles);
    })
    .expect("the tasks do not fail");
    begun.elapsed().as_nanos() as f64 / TASKS as f64
}

fn clock_ns() -> f64 {
    let reads = 1_000_000;
    let rounds = (0..ROUNDS).map(|_| {
        let begun = Instant::now();
        (0..reads).for_each(|_| {
            black_box(begun.elapsed());
        });
        begun.elapsed().as_nanos() as f64 / f64::from(reads)
    });
    median(rounds.collect())
}

fn empty_tasks(name: &str, case: Case) {
    let off = Runtime::builder().workers(1).build().expect("a runtime");
    let on = Runtime::builder().workers(1).trace(true).build().expect("a runtime");
    let (mut without, mut with, mut records) = (Vec::new(), Vec::new(), 0);
    for round in 0..=ROUNDS {
        let (plain, recorded) = (run(&off, case), run(&on, case));
        let taken = on.take_recording().expect("a recording");
        // Each task has one record of becoming ready.
        records = taken.tasks.len() + taken.hazards.len() + taken.spans.len() + taken.tasks.len();
        if round > 0 {
            without.push(plain);
            with.push(recorded);
        }
    }
    let extra: Vec<f64> = with.iter().zip(&without).map(|(with, without)| with - without).collect();
    let (per_task, per_record) = (median(extra), records as f64 / TASKS as f64);
    println!(
        "recording {name} workers=1 off_ns={:.0} on_ns={:.0} extra_ns_per_task={per_task:.0} \
         records_per_task={per_record:.1} ns_per_record={:.1}",
        median(without),
        median(with),
        per_task / per_record
    );
}

/// Measures tasks of 20 µs. Each run has its own runtime, so that the backlog of a growing file does not affect the
/// next run.
fn working_tasks(name: &str, file: bool) {
    let path = std::env::temp_dir().join(format!("recording-cost-{}.json", std::process::id()));
    let plain = || run(&Runtime::new().expect("a runtime"), working);
    let recorded = || {
        let builder = Runtime::builder().trace(true);
        run(&if file { builder.trace_file(&path) } else { builder }.build().expect("a runtime"), working)
    };
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        // The order alternates, because the first of a pair may have an advantage.
        let first = (round % 2 == 0).then(recorded);
        let off = plain();
        let on = first.unwrap_or_else(recorded);
        if round > 0 {
            without.push(off);
            with.push(on);
        }
        for number in 0..=2 * ROUNDS {
            let _ = std::fs::remove_file(path.with_extension(format!("{number}.json")));
        }
    }
    let _ = std::fs::remove_file(&path);
    let ratios = with.iter().zip(&without).map(|(with, without)| 100.0 * (with / without - 1.0)).collect();
    println!(
        "recording {name} workers={} off_us={:.2} on_us={:.2} overhead_percent={:.2}",
        Runtime::new().expect("a runtime").workers(),
        median(without) * 1e-3,
        median(with) * 1e-3,
        median(ratios)
    );
}

fn main() {
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let wanted = |name: &str| only.as_ref().is_none_or(|only| name.contains(&**only));
    println!("recording clock ns_per_read={:.1}", clock_ns());
    let cases: [(&str, Case); 3] = [("independent", independent), ("chains", chains), ("stencil", stencil)];
    for (name, case) in cases.into_iter().filter(|(name, _)| wanted(name)) {
        empty_tasks(name, case);
    }
    work();
    for (name, file) in [("20us", false), ("20us, to a file", true)] {
        if wanted(name) {
            working_tasks(name, file);
        }
    }
}
