//! One factorization on the host and two devices of different speed, scheduled and distributed in four ways.
//!
//! ```text
//! cargo run --release --example heterogeneous
//! cargo run --release --example heterogeneous -- --n 2048 --devices sim:0,sim:1,sim:2
//! cargo run --release --bin superscalar-trace -- compare heterogeneous.cyclic.json heterogeneous.guided.json
//! ```
//!
//! The devices are simulated: they have memories of their own, and take the time that their model says. By default one is twice as
//! fast as the other. Panels stay on the host in all four runs; the serial code is the same, a call of potrf.
//!
//! - `priority`: whoever asks first gets the next update; data wander.
//! - `weights`: capability weights; each update goes where it is finished first, which may be the host.
//! - `cyclic`: block columns are dealt in turns, so the slow device is what all wait for.
//! - `guided`: block columns are dealt in proportion to the capability weights.
//!
//! Each run leaves a trace; open two of them beside each other in `chrome://tracing` or <https://ui.perfetto.dev>.

use clap::Parser;
use std::{error::Error, fs::File, time::Instant};
use superscalar::{
    PolicyName, Runtime, devices,
    dla::{Distribution, Matrix, Options, potrf},
    kernels::{Diag, Op, Uplo},
    recording::{ChromeTrace, Recording},
};
use superscalar_oracle::{ROUNDINGS_MAX, Sum, at_most, element, general, triangle};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Factors a matrix on the host and devices of different speed, in four ways.
#[derive(Parser)]
struct Arguments {
    /// Order of the matrix.
    #[arg(long, default_value_t = 1024)]
    n: usize,
    /// Columns of a block.
    #[arg(long, default_value_t = 64)]
    nb: usize,
    /// The devices.
    #[arg(long, default_value = "sim:0,sim:2")]
    devices: String,
    /// Threads of the host.
    #[arg(long, default_value_t = 1)]
    workers: usize,
}

/// One way to run it.
struct Way {
    name: &'static str,
    policy: PolicyName,
    distribution: Distribution,
    /// Whether the host takes updates, too.
    host_helps: bool,
}

const WAYS: [Way; 4] = [
    Way { name: "priority", policy: PolicyName::Priority, distribution: Distribution::None, host_helps: false },
    Way { name: "weights", policy: PolicyName::CapabilityWeights, distribution: Distribution::None, host_helps: true },
    Way {
        name: "cyclic",
        policy: PolicyName::CapabilityWeights,
        distribution: Distribution::BlockColumnCyclic,
        host_helps: false,
    },
    Way {
        name: "guided",
        policy: PolicyName::CapabilityWeights,
        distribution: Distribution::Guided,
        host_helps: false,
    },
];

fn main() -> Outcome {
    let arguments = Arguments::parse();
    let n = arguments.n;
    let a = Matrix::from_fn(n, n, |i, j| if i == j { n as f64 } else { element(1, i.max(j), i.min(j)) });
    println!("order {n}, block columns of {}, {} and the host's panels", arguments.nb, arguments.devices);
    for way in &WAYS {
        run(&arguments, way, &a)?;
    }
    Ok(())
}

/// Factors the matrix in one of the ways, and says how it went.
fn run(arguments: &Arguments, way: &Way, a: &Matrix<f64>) -> Outcome {
    let builder = Runtime::builder().workers(arguments.workers).policy(way.policy).trace(true).weights_file(None);
    let opened = devices::open(&arguments.devices, None)?;
    let rt = opened.add_to(builder).host_helps(way.host_helps).build()?;
    let options = Options::default().nb(arguments.nb).distribution(way.distribution);
    let mut l = a.clone();
    let begun = Instant::now();
    potrf(&rt, Uplo::Lower, l.as_mut(), &options)?;
    let seconds = begun.elapsed().as_secs_f64();

    let recording = rt.take_recording().unwrap_or_default();
    let moved: u64 = rt.traffic().iter().map(|link| link.bytes).sum();
    println!("{:<9} {:>6.1} ms, {:>5.1} MB moved", way.name, 1e3 * seconds, moved as f64 * 1e-6);
    for (device, tasks) in rt.devices().iter().zip(rt.tasks_issued()) {
        println!("  {:<8} {tasks:>5} tasks", device.name);
    }
    println!("  {:<8} {:>5} tasks", "host", host_tasks(&recording));
    let file = format!("heterogeneous.{}.json", way.name);
    let written = ChromeTrace::new(&recording).write(File::create(&file)?)?;
    println!("  trace: {file} ({} tasks, {} hazards)", written.slices, written.arrows);
    check(a, &l)
}

/// How many tasks the host's workers ran.
fn host_tasks(recording: &Recording) -> usize {
    let is_host = |lane: u32| recording.lanes.get(lane as usize).is_some_and(|lane| lane.process == "workers");
    recording.spans.iter().filter(|span| is_host(span.lane)).count()
}

/// Looks at what is left of A without L Lᵀ.
fn check(a: &Matrix<f64>, l: &Matrix<f64>) -> Outcome {
    let l = |op| triangle(Uplo::Lower, op, Diag::NonUnit, l.as_ref());
    let error = Sum::new(a.nrows()).plus(1.0, [l(Op::None), l(Op::Trans)]).minus([general(a.as_ref())]).columnwise();
    println!("  A - L L^T is {error:.1} roundings of its terms");
    Ok(at_most("error of the factorization, in roundings", error, ROUNDINGS_MAX)?)
}
