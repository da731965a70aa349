//! Measures which kernels are the fastest for batched products on an NVIDIA GPU, and stores them for all programs that
//! use the library.
//!
//! ```text
//! cargo run --release --example tune_tiles -- [--gpu 0] [--types s,d,c,z] [--orders 32,64] [--most 12] [--out FILE]
//! ```
//!
//! Most parameters are discarded or ranked without a measurement; `--most` of them are measured for each order. The
//! table is plain text, and may be edited. By default it is written to the file that the library reads
//! (`SUPERSCALAR_TILES`, or a file in the user's cache folder); entries of other types and orders stay. A kernel whose
//! products are wrong is reported and not used.

use clap::Parser;
use std::{error::Error, io::ErrorKind, path::PathBuf};
use superscalar::{
    DeviceError, Runtime,
    devices::cuda,
    kernels::{
        c32, c64,
        cuda::tuning::{ProductKernel, TileTable, TunedTile, measure},
    },
};

#[derive(Parser)]
struct Arguments {
    /// CUDA's number of the GPU
    #[arg(long, default_value_t = 0)]
    gpu: usize,
    /// Element types
    #[arg(long, value_delimiter = ',', default_value = "s,d,c,z")]
    types: Vec<char>,
    /// Orders of the factors [default: those that the library tells apart]
    #[arg(long, value_delimiter = ',')]
    orders: Vec<usize>,
    /// Kernels that are measured for each order
    #[arg(long, default_value_t = 12)]
    most: usize,
    /// File for the table
    #[arg(long)]
    out: Option<PathBuf>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    if cuda::count()? == 0 {
        println!("there is no NVIDIA GPU: nothing was measured");
        return Ok(());
    }
    let gpu = cuda::open(arguments.gpu, &cuda::Options::default())?;
    let class = gpu.class().clone();
    let path = arguments.out.or_else(|| TileTable::path(&class)).ok_or("no folder for caches: give --out FILE")?;
    let rt = Runtime::builder().workers(1).device(gpu).build()?;
    let orders = if arguments.orders.is_empty() { TileTable::ORDERS.to_vec() } else { arguments.orders };
    let mut table: TileTable = match std::fs::read_to_string(&path) {
        Ok(text) => text.parse()?,
        Err(error) if error.kind() == ErrorKind::NotFound => TileTable::default(),
        Err(error) => return Err(format!("{}: {error}", path.display()).into()),
    };
    for &letter in &arguments.types {
        let measure = match letter {
            's' => measure::<f32>,
            'd' => measure::<f64>,
            'c' => measure::<c32>,
            'z' => measure::<c64>,
            other => return Err(format!("--types {other}: expected s, d, c or z").into()),
        };
        for &order in &orders {
            if order == 0 {
                return Err("--orders 0: expected an order of at least 1".into());
            }
            let entry = measure(&rt, &class, order, arguments.most, report)?;
            let TunedTile { tile, gflops, cublas_gflops, .. } = entry;
            println!("{letter} {order}: {tile}, {gflops:.1} GFLOP/s; cuBLAS {cublas_gflops:.1}");
            table.replace(entry);
            // What was measured stays, if a later measurement fails.
            table.save(&path)?;
        }
    }
    println!("written to {}", path.display());
    let read: TileTable = std::fs::read_to_string(&path)?.parse()?;
    let key = |entry: &TunedTile| (entry.letter, entry.order, entry.tile);
    if !table.entries.iter().map(key).eq(read.entries.iter().map(key)) {
        return Err("the table that was read differs from the one that was written".into());
    }
    Ok(())
}

fn report(kernel: ProductKernel, rate: Result<f64, &DeviceError>) {
    let name = match kernel {
        ProductKernel::Tiles(tile) => format!("tile {tile}"),
        ProductKernel::Cublas => "cuBLAS".into(),
    };
    match rate {
        Ok(rate) => println!("    {name}: {rate:.1} GFLOP/s"),
        Err(why) => println!("    {name} discarded: {why}"),
    }
}
