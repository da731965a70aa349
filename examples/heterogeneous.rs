//! One factorization on the host and two devices of different speed, with four combinations of policy and distribution.
//!
//! ```text
//! cargo run --release --example heterogeneous
//! cargo run --release --example heterogeneous -- --n 2048 --devices sim:0,sim:1,sim:2
//! cargo run --release --bin superscalar-trace -- compare heterogeneous.cyclic.json heterogeneous.guided.json
//! ```
//!
//! The devices are simulated. They have their own memories, and a model determines the time of their operations. By
//! default one is twice as fast as the other. In all four runs the host computes the panels, and the program makes the
//! same call of potrf.
//!
//! - `priority`: the first resource that is idle takes the next update, so data move often.
//! - `weights`: capability weights; each update runs where it finishes first, which may be the host.
//! - `cyclic`: block columns are dealt cyclically, so the slow device determines the time.
//! - `guided`: block columns are dealt in proportion to the capability weights.
//!
//! Each run writes a trace; compare two of them in `chrome://tracing` or <https://ui.perfetto.dev>.

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

/// Factors a matrix on the host and devices of different speed, in four configurations.
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

/// The policy and distribution of one run.
struct Configuration {
    name: &'static str,
    policy: PolicyName,
    distribution: Distribution,
    /// Whether the host also computes updates.
    host_helps: bool,
}

const CONFIGURATIONS: [Configuration; 4] = [
    Configuration {
        name: "priority",
        policy: PolicyName::Priority,
        distribution: Distribution::None,
        host_helps: false,
    },
    Configuration {
        name: "weights",
        policy: PolicyName::CapabilityWeights,
        distribution: Distribution::None,
        host_helps: true,
    },
    Configuration {
        name: "cyclic",
        policy: PolicyName::CapabilityWeights,
        distribution: Distribution::BlockColumnCyclic,
        host_helps: false,
    },
    Configuration {
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
    for configuration in &CONFIGURATIONS {
        run(&arguments, configuration, &a)?;
    }
    Ok(())
}

/// Factors the matrix in one configuration, and prints the time, the traffic and the numbers of tasks.
fn run(arguments: &Arguments, configuration: &Configuration, a: &Matrix<f64>) -> Outcome {
    let &Configuration { name, policy, distribution, host_helps } = configuration;
    let builder = Runtime::builder().workers(arguments.workers).policy(policy).trace(true).weights_file(None);
    let opened = devices::open(&arguments.devices, None)?;
    let rt = opened.add_to(builder).host_helps(host_helps).build()?;
    let options = Options::default().nb(arguments.nb).distribution(distribution);
    let mut l = a.clone();
    let begun = Instant::now();
    potrf(&rt, Uplo::Lower, l.as_mut(), &options)?;
    let seconds = begun.elapsed().as_secs_f64();

    let recording = rt.take_recording().unwrap_or_default();
    let moved: u64 = rt.traffic().iter().map(|link| link.bytes).sum();
    println!("{name:<9} {:>6.1} ms, {:>5.1} MB moved", 1e3 * seconds, moved as f64 * 1e-6);
    for (device, tasks) in rt.devices().iter().zip(rt.tasks_issued()) {
        println!("  {:<8} {tasks:>5} tasks", device.name);
    }
    println!("  {:<8} {:>5} tasks", "host", host_tasks(&recording));
    let file = format!("heterogeneous.{name}.json");
    let written = ChromeTrace::new(&recording).write(File::create(&file)?)?;
    println!("  trace: {file} ({} tasks, {} hazards)", written.slices, written.arrows);
    check(a, &l)
}

/// Returns the number of tasks that the host's workers ran.
fn host_tasks(recording: &Recording) -> usize {
    let is_host = |lane: u32| recording.lanes.get(lane as usize).is_some_and(|lane| lane.process == "workers");
    recording.spans.iter().filter(|span| is_host(span.lane)).count()
}

/// Checks the error A − L Lᵀ.
fn check(a: &Matrix<f64>, l: &Matrix<f64>) -> Outcome {
    let l = |op| triangle(Uplo::Lower, op, Diag::NonUnit, l.as_ref());
    let error = Sum::new(a.nrows()).plus(1.0, [l(Op::None), l(Op::Trans)]).minus([general(a.as_ref())]).columnwise();
    println!("  A - L L^T is {error:.1} roundings of its terms");
    Ok(at_most("error of the factorization, in roundings", error, ROUNDINGS_MAX)?)
}
