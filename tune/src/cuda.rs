//! NVIDIA GPUs: the tiles of batched products.

use crate::{Arguments, Session, session::known, with_type};
use std::{
    error::Error,
    time::{Duration, Instant},
};
use superscalar::{
    DeviceError, Runtime,
    devices::cuda,
    kernels::cuda::tuning::{ProductKernel, TileTable, TunedTile, measure},
};

/// Kernels that are measured for each order.
const MOST: usize = 12;

/// Measures each type and order, and stores what was measured after each.
pub fn tune(arguments: &Arguments, number: &str, session: &mut Session) -> Result<(), Box<dyn Error>> {
    let number = number.parse().map_err(|_| format!("--device {}: expected cuda:N", arguments.device))?;
    let gpu = cuda::open(number, &cuda::Options::default())?;
    let class = gpu.class().clone();
    let path =
        arguments.out.clone().or_else(|| TileTable::path(&class)).ok_or("no folder for caches: give --out FILE")?;
    let rt = Runtime::builder().workers(1).device(gpu).build()?;
    let orders = arguments.orders(&TileTable::ORDERS);
    let mut table: TileTable = known(&path, arguments.out.is_some())?;
    for &letter in &arguments.types {
        session.begin(letter, arguments.seconds)?;
        let mut lines = Vec::new();
        for (at, &order) in orders.iter().enumerate() {
            if session.left_s() <= 0.0 {
                lines.push(format!("{letter} {order}: not measured, the time is over"));
                continue;
            }
            let until = Instant::now() + Duration::from_secs_f64(session.left_s() / (orders.len() - at) as f64);
            let report = |kernel, rate: Result<f64, &DeviceError>| {
                let name = match kernel {
                    ProductKernel::Tiles(tile) => format!("tile {tile}"),
                    ProductKernel::Cublas => "cuBLAS".into(),
                };
                let rate = rate.map_or_else(|why| format!("discarded: {why}"), |rate| format!("{rate:.1} GFLOP/s"));
                session.note(format_args!("{letter} {order} {name} {rate}"), format_args!("order {order}"));
            };
            let entry = with_type!(letter, T => measure::<T>(&rt, &class, order, MOST, until, report))?;
            let TunedTile { tile, gflops, cublas_gflops, .. } = entry;
            lines.push(format!("{letter} {order}: {tile}, {gflops:.1} GFLOP/s; cuBLAS {cublas_gflops:.1}"));
            table.replace(entry);
            if !arguments.dry_run {
                // What was measured stays, if a later measurement fails.
                table.save(&path)?;
            }
        }
        session.end(lines.join("\n"))?;
    }
    if !arguments.dry_run {
        println!("written to {}", path.display());
    }
    Ok(())
}
