//! The runtime's cost per task: thousands of empty tasks.
//!
//! ```text
//! cargo bench -p superscalar-runtime --bench overhead
//! ```
//!
//! Prints one line per case and number of workers. The numbers are medians of several rounds:
//! - nanoseconds per task from the first insertion until all are done;
//! - nanoseconds per insertion. With one worker, the inserting thread, the program fits the window, so nothing runs
//!   until the last task is inserted. With several workers it is the time until the last insertion, including tasks
//!   that run meanwhile;
//! - bytes of memory per task in flight.
//!
//! Then, for some task graphs, the efficiency of tasks of 1 to 50 µs (the time that they take on all workers without
//! overhead, over the time measured), and the shortest tasks with 90 %. An argument selects the cases whose names
//! contain it (`random3`, `granularity`), and `SUPERSCALAR_WORKERS` limits the number of workers.

#![allow(clippy::undocumented_unsafe_blocks, reason = "the counting allocator forwards every call unchanged")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};
use superscalar_runtime::{Lent, Runtime, Scope, TaskSpec};

struct Counting;
static LIVE: AtomicUsize = AtomicUsize::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const TASKS: usize = 100_000;
/// A number of tasks that fits the default window.
const WINDOWFUL: usize = 4000;
const HANDLES: usize = 256;
const ROUNDS: usize = 11;

/// Inserts about the given number of tasks of a case; returns the exact number.
type Case = for<'s> fn(&'s Scope<'s, '_>, &[Lent<'s, u64>], &[u32], usize) -> usize;

fn random3<'s>(s: &'s Scope<'s, '_>, h: &[Lent<'s, u64>], random: &[u32], tasks: usize) -> usize {
    for r in random[..3 * tasks].chunks_exact(3) {
        let (a, b, c) = (h[r[0] as usize], h[r[1] as usize], h[r[2] as usize]);
        s.spawn("task", (a.read(), b.read(), c.read_write()), |_| ());
    }
    tasks
}

fn independent<'s>(s: &'s Scope<'s, '_>, _: &[Lent<'s, u64>], _: &[u32], tasks: usize) -> usize {
    for _ in 0..tasks {
        s.spawn("task", (), |()| ());
    }
    tasks
}

fn chain<'s>(s: &'s Scope<'s, '_>, h: &[Lent<'s, u64>], _: &[u32], tasks: usize) -> usize {
    for _ in 0..tasks {
        s.spawn("task", h[0].read_write(), |_| ());
    }
    tasks
}

/// The tasks of a tiled Cholesky factorization, each empty, with one handle per tile.
///
/// The matrix has 40 by 40 tiles, or fewer if that is more than about `about` tasks.
fn cholesky<'s>(s: &'s Scope<'s, '_>, h: &[Lent<'s, u64>], _: &[u32], about: usize) -> usize {
    let nt = (1..=40).take_while(|nt| nt * (nt + 1) * (nt + 2) / 6 <= about).last().unwrap_or(1);
    let a = |i: usize, j: usize| h[i * nt + j];
    let mut tasks = 0;
    for k in 0..nt {
        s.spawn(TaskSpec::new("potrf").priority(3), a(k, k).read_write(), |_| ());
        for i in k + 1..nt {
            s.spawn(TaskSpec::new("trsm").priority(2), (a(k, k).read(), a(i, k).read_write()), |_| ());
        }
        for j in k + 1..nt {
            s.spawn(TaskSpec::new("syrk").priority(1), (a(j, k).read(), a(j, j).read_write()), |_| ());
            for i in j + 1..nt {
                s.spawn("gemm", (a(i, k).read(), a(j, k).read(), a(i, j).read_write()), |_| ());
            }
            tasks += nt - j;
        }
        tasks += nt - k;
    }
    tasks
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Draws random triples of handles. A handle is used twice in one task only if both uses are reads.
fn draw() -> Vec<u32> {
    let mut x = 12345u32;
    let mut next = || {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (x >> 8) % HANDLES as u32
    };
    let mut random = Vec::with_capacity(3 * TASKS);
    while random.len() < 3 * TASKS {
        let r = [next(), next(), next()];
        if r[2] != r[0] && r[2] != r[1] {
            random.extend(r);
        }
    }
    random
}

/// A task graph of the granularity table, in the manner of Task Bench: in each step, the task at a column depends on
/// tasks of the step before.
struct Graph {
    name: &'static str,
    /// The number of columns per worker.
    columns: usize,
    /// Inserts the task at `at` of `columns` columns in this step.
    insert: for<'s> fn(&'s Scope<'s, '_>, &Steps<'_, 's>, usize, usize, u64),
}

/// The handles of the step before and of this step: each step's tasks read the first and write the second.
struct Steps<'a, 's> {
    before: &'a [Lent<'s, u64>],
    now: &'a [Lent<'s, u64>],
}

const GRAPHS: [Graph; 4] = [
    Graph { name: "independent", columns: 4, insert: |s, _, _, _, ns| s.spawn("task", (), move |()| work(ns)) },
    Graph {
        name: "chains",
        columns: 4,
        insert: |s, h, at, _, ns| s.spawn("task", (h.before[at].read(), h.now[at].write()), move |_| work(ns)),
    },
    Graph { name: "stencil, 1 column per worker", columns: 1, insert: stencil },
    Graph { name: "stencil, 4 columns per worker", columns: 4, insert: stencil },
];

fn stencil<'s>(s: &'s Scope<'s, '_>, h: &Steps<'_, 's>, at: usize, columns: usize, ns: u64) {
    let left = h.before[at.saturating_sub(1)];
    let right = h.before[(at + 1).min(columns - 1)];
    s.spawn("task", (left.read(), h.before[at].read(), right.read(), h.now[at].write()), move |_| work(ns));
}

/// Computes for this time.
fn work(ns: u64) {
    let begun = Instant::now();
    while (begun.elapsed().as_nanos() as u64) < ns {}
}

/// The time that the machine would take without overhead, over the time that it took; the median of a few rounds.
fn efficiency(runtime: &Runtime, graph: &Graph, task_ns: u64) -> f64 {
    const NS: u64 = 10_000_000;
    let columns = graph.columns * runtime.workers();
    let steps = (NS / task_ns / graph.columns as u64).clamp(20, 2000);
    let mut values = vec![0u64; 2 * columns];
    let rounds = (0..7).map(|_| {
        let (before, now) = values.split_at_mut(columns);
        runtime
            .scope(|s| {
                let mut before: Vec<_> = before.iter_mut().map(|value| s.lend(value)).collect();
                let mut now: Vec<_> = now.iter_mut().map(|value| s.lend(value)).collect();
                let begun = Instant::now();
                for _ in 0..steps {
                    let handles = Steps { before: &before, now: &now };
                    (0..columns).for_each(|at| (graph.insert)(s, &handles, at, columns, task_ns));
                    std::mem::swap(&mut before, &mut now);
                }
                s.wait().expect("they do not fail");
                let ideal_ns = (task_ns * steps * graph.columns as u64) as f64;
                ideal_ns / begun.elapsed().as_nanos() as f64
            })
            .expect("they do not fail")
    });
    median(rounds.collect())
}

/// Prints, for each graph, the efficiency of tasks of several durations and the shortest with 90 %.
fn print_granularity(workers: usize) {
    const MICROSECONDS: [u64; 8] = [1, 2, 3, 5, 7, 10, 20, 50];
    let runtime = Runtime::builder().workers(workers).build().expect("a runtime");
    for graph in &GRAPHS {
        let found = MICROSECONDS.map(|us| efficiency(&runtime, graph, 1000 * us));
        let smallest = MICROSECONDS.iter().zip(found).rev().take_while(|(_, found)| *found >= 0.9).last();
        let smallest = smallest.map_or("more than 50".to_owned(), |(us, _)| us.to_string());
        let table: Vec<_> = MICROSECONDS.iter().zip(found).map(|(us, found)| format!("{us}:{found:.2}")).collect();
        println!(
            "granularity {} workers={workers} efficiency_at_us={} smallest_us_for_90_percent={smallest}",
            graph.name,
            table.join(" ")
        );
    }
}

struct Figures {
    total_ns: f64,
    insert_ns: f64,
}

fn measure(runtime: &Runtime, case: Case, random: &[u32], about: usize, rounds: usize) -> Figures {
    let mut values = vec![0u64; 1600];
    let (mut total, mut insert) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let (mut begun, mut inserted, mut tasks) = (Instant::now(), Instant::now(), 0);
        runtime
            .scope(|s| {
                let handles: Vec<_> = values.iter_mut().map(|value| s.lend(value)).collect();
                begun = Instant::now();
                tasks = case(s, &handles, random, about);
                inserted = Instant::now();
                s.wait().expect("empty tasks do not fail");
                if round > 0 {
                    total.push(begun.elapsed().as_nanos() as f64 / tasks as f64);
                    insert.push((inserted - begun).as_nanos() as f64 / tasks as f64);
                }
            })
            .expect("empty tasks do not fail");
    }
    Figures { total_ns: median(total), insert_ns: median(insert) }
}

/// Returns the memory per task in flight: the increase with a full window over the memory of runtime and data.
fn bytes_per_task(case: Case, random: &[u32]) -> f64 {
    let runtime = Runtime::builder().workers(1).window(1 << 20).build().expect("a runtime");
    let mut values = vec![0u64; 1600];
    let mut bytes = 0.0;
    runtime
        .scope(|s| {
            let handles: Vec<_> = values.iter_mut().map(|value| s.lend(value)).collect();
            let before = LIVE.load(Ordering::Relaxed);
            let tasks = case(s, &handles, random, TASKS);
            bytes = (LIVE.load(Ordering::Relaxed) - before) as f64 / tasks as f64;
        })
        .expect("empty tasks do not fail");
    bytes
}

fn main() {
    let random = draw();
    let cases: [(&str, Case); 4] =
        [("random3", random3), ("independent", independent), ("chain", chain), ("cholesky40", cholesky)];
    let all = Runtime::new().expect("a runtime").workers();
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for (name, case) in cases.into_iter().filter(|(name, _)| only.as_ref().is_none_or(|only| name.contains(&**only))) {
        let bytes = bytes_per_task(case, &random);
        let alone = Runtime::builder().workers(1).build().expect("a runtime");
        let insert_alone = measure(&alone, case, &random, WINDOWFUL, 25 * ROUNDS).insert_ns;
        drop(alone);
        let mut counts: Vec<_> = [1, 2, 4, 16, all].into_iter().filter(|&workers| workers <= all).collect();
        counts.dedup();
        for workers in counts {
            let runtime = Runtime::builder().workers(workers).build().expect("a runtime");
            let figures = measure(&runtime, case, &random, TASKS, ROUNDS);
            let insert = if workers == 1 { insert_alone } else { figures.insert_ns };
            println!(
                "overhead {name} workers={workers} ns_per_task={:.0} insert_ns={insert:.0} bytes_per_task={bytes:.0}",
                figures.total_ns
            );
        }
    }
    if only.is_none_or(|only| "granularity".contains(&*only)) {
        print_granularity(all);
    }
}
