//! Measures the best block sizes on this machine, and stores them for all programs that use the library.
//!
//! ```text
//! cargo run --release --example tune -- [--types s,d,c,z] [--orders 256,512,1024,2048] [--workers 1,2] [--out FILE]
//! ```
//!
//! The table is plain text and may be edited. It has a line for each routine, type, number of workers and order. By
//! default it is written to the file that the library reads (`SUPERSCALAR_TUNING`, or a file in the user's cache
//! folder). The example reads the table back and compares it with the measurements.

use clap::Parser;
use std::{error::Error, path::PathBuf};
use superscalar::{
    Runtime,
    dla::tuning::{BlockKind, TunedBlockSize, TuningTable, measure},
    kernels::{c32, c64},
};

#[derive(Parser)]
struct Arguments {
    /// Element types
    #[arg(long, value_delimiter = ',', default_value = "s,d,c,z")]
    types: Vec<char>,
    /// Orders of the matrices
    #[arg(long, value_delimiter = ',', default_value = "256,512,1024,2048")]
    orders: Vec<usize>,
    /// Numbers of workers [default: one, and one per physical core]
    #[arg(long, value_delimiter = ',')]
    workers: Vec<usize>,
    /// File for the table
    #[arg(long)]
    out: Option<PathBuf>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let path = arguments.out.or_else(TuningTable::path).ok_or("no folder for caches: give --out FILE")?;
    let all = Runtime::new()?.workers();
    let workers = match &arguments.workers[..] {
        [] if all == 1 => vec![1],
        [] => vec![1, all],
        given => given.to_vec(),
    };
    let mut table = TuningTable::default();
    for workers in workers {
        let rt = Runtime::builder().workers(workers).build()?;
        for &letter in &arguments.types {
            for (blocks, n) in
                BlockKind::ALL.into_iter().flat_map(|blocks| arguments.orders.iter().map(move |&n| (blocks, n)))
            {
                let entry = measure_entry(&rt, letter, blocks, n)?;
                println!(
                    "{:5} {letter} workers {workers} n {n:5}: nb {:4}, {:.1} GFLOP/s",
                    blocks.name(),
                    entry.nb,
                    entry.gflops
                );
                table.entries.push(entry);
            }
        }
    }
    table.save(&path)?;
    println!("written to {}", path.display());
    let read: TuningTable = std::fs::read_to_string(&path)?.parse()?;
    check(&table.entries, &read.entries)
}

/// Checks that the table was read as it was measured, and that each entry is valid.
fn check(measured: &[TunedBlockSize], read: &[TunedBlockSize]) -> Result<(), Box<dyn Error>> {
    let key = |entry: &TunedBlockSize| (entry.blocks, entry.letter, entry.workers, entry.n, entry.nb);
    if !measured.iter().map(key).eq(read.iter().map(key)) {
        return Err("the table that was read differs from the one that was written".into());
    }
    match measured.iter().find(|entry| !entry.gflops.is_finite() || entry.gflops <= 0.0 || entry.nb == 0) {
        Some(entry) => Err(format!("{entry:?} is not a valid measurement").into()),
        None => Ok(()),
    }
}

fn measure_entry(rt: &Runtime, letter: char, blocks: BlockKind, n: usize) -> Result<TunedBlockSize, Box<dyn Error>> {
    if n == 0 {
        return Err("--orders 0: expected an order of at least 1".into());
    }
    Ok(match letter {
        's' => measure::<f32>(rt, blocks, n)?,
        'd' => measure::<f64>(rt, blocks, n)?,
        'c' => measure::<c32>(rt, blocks, n)?,
        'z' => measure::<c64>(rt, blocks, n)?,
        other => return Err(format!("--types {other}: expected s, d, c or z").into()),
    })
}
