//! The traffic of a matrix product over each link, with three devices that each have memory for half of a matrix.
//!
//! ```text
//! cargo run --release --example traffic
//! cargo run --release --example traffic -- --n 1024 --nb 64 --devices sim:0..3 --memory 4M
//! ```
//!
//! The output has a row for each policy and device with the megabytes from host memory, to host memory, and from peers,
//! as in Table V of the BLASX paper (Wang et al., 2016). The last row is the traffic of a schedule that keeps no tiles
//! on the devices: every step of a tile of C copies a tile of A, B and C to a device, and the tile of C back.
//!
//! Each product is checked: C must equal A A up to rounding.
//!
//! The simulated devices 0 and 1 are linked with each other; `--devices sim:0:peer=none,sim:1,sim:2` removes that link.

use clap::Parser;
use std::error::Error;
use superscalar::{
    PolicyName, Traffic, devices,
    dla::{Matrix, Options, gemm},
    kernels::Op,
};
use superscalar_oracle::{Exceeded, ROUNDINGS_MAX, Sum, at_most, general};

/// Multiplies two matrices on devices with each policy, and shows the traffic.
#[derive(Parser)]
struct Arguments {
    /// Order of the matrices.
    #[arg(long, default_value_t = 512)]
    n: usize,
    /// Order of a tile.
    #[arg(long, default_value_t = 32)]
    nb: usize,
    /// The devices.
    #[arg(long, default_value = "sim:0..3")]
    devices: String,
    /// Memory of each device in bytes, such as 64M; half of a matrix by default.
    #[arg(long)]
    memory: Option<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { n, nb, devices: names, memory } = Arguments::parse();
    let memory = memory.map_or(Ok(n * n * 8 / 2), |text| devices::bytes(&text))?;
    let a = Matrix::from_fn(n, n, |i, j| 1.0 / (1 + i + j) as f64);
    println!("{:<20} {:<8} {:>9} {:>9} {:>9}", "policy", "device", "from host", "to host", "peers");
    for policy in [PolicyName::DemandDriven, PolicyName::CapabilityWeights, PolicyName::Priority] {
        let builder = devices::open(&names, Some(memory))?.builder().policy(policy).weights_file(None);
        let (rt, mut c) = (builder.build()?, Matrix::zeros(n, n));
        gemm(&rt, 1.0, Op::None, a.as_ref(), Op::None, a.as_ref(), 1.0, c.as_mut(), &Options::default().nb(nb))?;
        check(&a, &c)?;
        let traffic = rt.traffic();
        let moved = |wanted: &dyn Fn(&Traffic) -> bool| {
            traffic.iter().filter(|link| wanted(link)).map(|link| link.bytes).sum::<u64>() as f64 * 1e-6
        };
        for device in rt.devices() {
            let name = &device.name;
            let inward = moved(&|link| &link.to == name && link.from == "host");
            let outward = moved(&|link| &link.from == name && link.to == "host");
            let peers = moved(&|link| &link.to == name && link.from != "host");
            println!("{:<20} {name:<8} {inward:>9.2} {outward:>9.2} {peers:>9.2}", policy.as_str());
        }
        let host = moved(&|link| link.from == "host" || link.to == "host");
        println!("{:<20} {:<8} {host:>9.2} over host links in all", policy.as_str(), "");
    }
    let steps = n.div_ceil(nb).pow(3);
    println!("{:<20} {:<8} {:>9.2} over host links in all", "no cache", "", (steps * 4 * nb * nb * 8) as f64 * 1e-6);
    Ok(())
}

/// Checks the error C − A A.
fn check(a: &Matrix<f64>, c: &Matrix<f64>) -> Result<(), Exceeded> {
    let (n, a, c) = (a.nrows(), general(a.as_ref()), general(c.as_ref()));
    let error = Sum::new(n).plus(1.0, [a, a]).minus([c]).componentwise();
    at_most("error of the product, in roundings", error, ROUNDINGS_MAX)
}
