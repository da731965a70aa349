//! `superscalar-tune`: measures what is the fastest on a device, and stores it for all programs that use the library.
//!
//! | module | device | what is measured |
//! |---|---|---|
//! | [`opencl`] | `opencl:0` | the kernels of products and of packing |
//! | [`cuda`] | `cuda:0` | the tiles of batched products |
//! | [`cpu`] | `cpu` | the block sizes of factorizations |
//! | [`session`] | | the command line's part that all share: progress, log and time |
//!
//! What is stored is text, which can be read and edited. The guide's page on tuning says where it is.

#![forbid(unsafe_code)]

mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
#[cfg(feature = "opencl")]
mod opencl;
mod session;

use clap::Parser;
use session::Session;
use std::{error::Error, path::PathBuf, process::ExitCode};
use superscalar::kernels::scalar::LETTERS;

/// Measures what is the fastest on a device, and stores it for all programs that use the library.
#[derive(Parser)]
#[command(name = "superscalar-tune", version)]
struct Arguments {
    /// The device: cpu, cuda:N or opencl:N
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Element types
    #[arg(long = "type", value_delimiter = ',', default_value = "s,d,c,z", value_parser = letter)]
    types: Vec<char>,
    /// Time for each element type, in seconds
    #[arg(long, default_value_t = 60.0, value_parser = seconds)]
    seconds: f64,
    /// File for a line about everything that is measured
    #[arg(long)]
    log: Option<PathBuf>,
    /// Measure, but store nothing
    #[arg(long)]
    dry_run: bool,
    /// File for the result [default: the one that the library reads]
    #[arg(long)]
    out: Option<PathBuf>,
    /// Seed of the random choices, for OpenCL devices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Measure nothing, and store a random row that is valid, for OpenCL devices: a test of their kernels
    #[arg(long)]
    sample: bool,
    /// Orders of the matrices, for cpu and CUDA devices [default: those that the library tells apart]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    orders: Vec<u32>,
    /// Numbers of workers, for cpu [default: one, and one per physical core]
    #[arg(long, value_delimiter = ',')]
    workers: Vec<usize>,
}

impl Arguments {
    /// Returns the orders, or these if none are given.
    fn orders(&self, default: &[usize]) -> Vec<usize> {
        let given: Vec<usize> = self.orders.iter().map(|&order| order as usize).collect();
        if given.is_empty() { default.to_vec() } else { given }
    }
}

fn letter(text: &str) -> Result<char, String> {
    let letter = text.parse().ok().filter(|letter| LETTERS.contains(letter));
    letter.ok_or_else(|| "expected s, d, c or z".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0 && *seconds <= 1e6);
    seconds.ok_or_else(|| "expected a positive number of seconds".to_owned())
}

/// Evaluates an expression with `$t` as the element type of a letter, which [`letter`] has checked.
macro_rules! with_type {
    ($letter:expr, $t:ident => $body:expr) => {{
        macro_rules! instance {
            ($type:ty) => {{
                type $t = $type;
                $body
            }};
        }
        match $letter {
            's' => instance!(f32),
            'd' => instance!(f64),
            'c' => instance!(superscalar::kernels::c32),
            _ => instance!(superscalar::kernels::c64),
        }
    }};
}
pub(crate) use with_type;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if arguments.sample && !arguments.device.starts_with("opencl:") {
        return Err(format!("--sample: {} is no OpenCL device", arguments.device).into());
    }
    let mut session = Session::new(arguments.log.as_deref())?;
    match arguments.device.split_once(':').unwrap_or((&arguments.device, "")) {
        ("cpu", "") => cpu::tune(arguments, &mut session),
        (kind @ "cuda", _) if !cfg!(feature = "cuda") => Err(not_built(kind)),
        (kind @ "opencl", _) if !cfg!(feature = "opencl") => Err(not_built(kind)),
        #[cfg(feature = "cuda")]
        ("cuda", number) => cuda::tune(arguments, number, &mut session),
        #[cfg(feature = "opencl")]
        ("opencl", _) => opencl::tune(arguments, &mut session),
        _ => Err(format!("--device {}: expected cpu, cuda:N or opencl:N", arguments.device).into()),
    }
}

fn not_built(kind: &str) -> Box<dyn Error> {
    format!("--device {kind}: this program was built without the feature `{kind}`").into()
}
