//! The tester: checks every routine and times it, beside any BLAS or LAPACK library given by path. See its README.
//!
//! | module | contents |
//! |---|---|
//! | [`arguments`], [`range`] | the command line |
//! | [`case`], [`letters`] | the combinations of its values |
//! | [`routine`], [`routines`] | the description of a routine; the table of routines, with a file for each |
//! | [`types`] | the four element types |
//! | [`operand`], [`elements`], [`mod@memory`] | operands, surrounded by sentinels |
//! | [`drive`], [`batch`] | run a case: one problem, or a batch of them |
//! | [`mod@bench`], [`sizes`] | what all cases of a run share; the sizes of a batch |
//! | [`devices`] | the devices that cases run on, and their statistics |
//! | [`ours`], [`resident`] | calls of our library, with matrices on the host and on devices |
//! | [`check`] | checks results by the residuals of the crate `superscalar-oracle` |
//! | [`contest`], [`measure`] | call our library and the peers by turns; time calls |
//! | [`peer`] | other libraries; the only module with `unsafe` code |
//! | [`report`] | the rows of the report |

#![deny(unsafe_code)]

mod arguments;
mod batch;
mod bench;
mod case;
mod check;
mod contest;
mod devices;
mod drive;
mod elements;
mod letters;
mod measure;
mod memory;
mod methods;
mod operand;
mod ours;
#[allow(unsafe_code)]
mod peer;
mod range;
mod report;
mod resident;
mod routine;
mod routines;
mod sizes;
mod types;

use arguments::{Arguments, YesNo};
use bench::Bench;
use case::Location;
use clap::Parser;
use elements::{Elements, MemoryKind};
use peer::Peer;
use report::{Format, Setting, Tally};
use routines::RoutineEntry;
use std::io::{self, Write};
use std::process::ExitCode;
use superscalar_kernels::peak::measure_fma_peak;
use superscalar_runtime::Runtime;

/// Exit status: a check has failed.
const STATUS_FAILED: u8 = 1;
/// Exit status: an argument is not valid. The same as clap's.
const STATUS_USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(STATUS_USAGE)
        }
    }
}

/// Opens the peers, starts the runtime and runs the cases. Errors name the argument at fault.
fn run(arguments: &Arguments) -> Result<ExitCode, String> {
    let entries = arguments.entries()?;
    let workers = match arguments.workers {
        Some(workers) => workers as usize,
        // Build a runtime to learn the default. It is dropped before the peers are opened.
        None => Runtime::builder().trace(false).build().map_err(|error| error.to_string())?.workers(),
    };
    // Open the peers before our threads start and are bound to processors: the peers' threads inherit this thread's
    // affinity.
    let peers = open(arguments, workers)?;
    let mut builder = Runtime::builder().workers(workers);
    if let Some(policy) = arguments.policy {
        builder = builder.policy(policy);
    }
    let builder = devices::add_to(builder, arguments)?;
    let runtime = builder.build().map_err(|error| error.to_string())?;
    let setting = Setting {
        workers,
        policy: runtime.policy().to_owned(),
        devices: devices::names(&runtime),
        distribution: arguments.distribution,
        seed: arguments.seed,
        repeat: arguments.repeat as usize,
        bound: arguments.bound,
        is_pinned: arguments.pinned == YesNo::Y,
        location: arguments.location,
        batch: arguments.batch(),
    };
    if let (Location::Device, Some(why)) = (arguments.location, resident::absence(&runtime)) {
        return Err(format!("--location device: {why}"));
    }
    let memory = memory(arguments)?;
    let bench = Bench {
        runtime: &runtime,
        peers: &peers,
        setting: &setting,
        check: arguments.check == YesNo::Y,
        memory,
        ld_pad: arguments.ld_pad,
    };
    match report_all(arguments, &entries, &bench, &mut io::stdout().lock()) {
        Ok(true) => Ok(ExitCode::SUCCESS),
        Ok(false) => Ok(ExitCode::from(STATUS_FAILED)),
        // The reader has closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(format!("the report could not be written: {error}")),
    }
}

/// Returns the kind of host memory for operands.
fn memory(arguments: &Arguments) -> Result<MemoryKind, String> {
    match arguments.pinned {
        YesNo::N => Ok(MemoryKind::Pageable),
        YesNo::Y => Elements::<f64>::new(1, MemoryKind::Pinned)
            .map(|_| MemoryKind::Pinned)
            .map_err(|why| format!("--pinned y: {why}")),
    }
}

fn open(arguments: &Arguments, workers: usize) -> Result<Vec<Peer>, String> {
    if arguments.peer.is_empty() {
        return Ok(Vec::new());
    }
    peer::set_threads(workers, arguments.batch.is_some(), &arguments.peer)
        .map_err(|error| format!("--peer: {error}"))?;
    let gpus = arguments.gpus();
    arguments.peer.iter().map(|path| Peer::open(path, &gpus).map_err(|error| format!("--peer {error}"))).collect()
}

/// Writes the report and the tally of all rows. Returns whether all checks hold.
fn report_all(
    arguments: &Arguments,
    entries: &[&RoutineEntry],
    bench: &Bench<'_>,
    out: &mut impl Write,
) -> io::Result<bool> {
    if arguments.format == Format::Table {
        write_head(bench, out)?;
    }
    let tally = report_cases(arguments, entries, bench, out)?;
    match arguments.format {
        Format::Table => {
            devices::write_work(bench.runtime, out)?;
            writeln!(out, "# {tally}")?;
        }
        // On standard output, every line is a JSON object.
        Format::Json => eprintln!("{tally}"),
    }
    Ok(tally.holds())
}

/// Runs every case and writes its rows.
fn report_cases(
    arguments: &Arguments,
    entries: &[&RoutineEntry],
    bench: &Bench<'_>,
    out: &mut impl Write,
) -> io::Result<Tally> {
    let (choices, mut tally) = (arguments.choices(), Tally::default());
    for entry in entries {
        for &letter in &arguments.types {
            for case in choices.cases(entry.uses) {
                for row in (entry.run)(bench, letter, &case) {
                    tally.count(row.status);
                    match arguments.format {
                        Format::Table => writeln!(out, "{}", row.line())?,
                        Format::Json => writeln!(out, "{}", row.json(bench.setting))?,
                    }
                    out.flush()?;
                }
            }
        }
    }
    Ok(tally)
}

/// Writes the processor, the setting, the devices and the peers.
fn write_head(bench: &Bench<'_>, out: &mut impl Write) -> io::Result<()> {
    let Setting { workers, policy, seed, repeat, .. } = bench.setting;
    let peaks = [measure_fma_peak::<f64>(), measure_fma_peak::<f32>()].map(|peak| peak / 1e9);
    writeln!(out, "# {}", processor())?;
    writeln!(out, "# multiply-add peak of a core: f64 {:.1}, f32 {:.1} GFLOP/s", peaks[0], peaks[1])?;
    writeln!(out, "# {workers} workers, policy {policy}, seed {seed}, median of {repeat}")?;
    devices::write_head(bench.runtime, bench.setting.distribution, out)?;
    if bench.setting.location == Location::Device {
        writeln!(out, "# location device: matrices are on the devices; copies to and from them are not timed")?;
    }
    if let Some(sizes::Batch { count, sizes, .. }) = bench.setting.batch {
        let sizes = sizes.as_str();
        writeln!(out, "# batches of {count} problems, {sizes} sizes; of a batch the info of each is checked, and the")?;
        writeln!(out, "# results of at least {} and of all that are bad", count.min(batch::CHECKED_MAX))?;
    }
    for peer in bench.peers {
        let about = peer.about(bench.setting.location);
        writeln!(out, "# peer {}: {}", peer.name(), about.as_deref().unwrap_or("no description available"))?;
    }
    writeln!(out, "{}", report::heading())
}

/// Returns the processor's name, if the system reports it.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or("an unknown processor", |(_, name)| name.trim()).to_owned()
}
