//! The CPU: the block sizes of factorizations.

use crate::{Arguments, Session, session::known, with_type};
use std::error::Error;
use superscalar::{
    Runtime,
    dla::tuning::{BlockKind, TuningTable, measure},
};

/// The orders of the matrices.
const ORDERS: [usize; 4] = [256, 512, 1024, 2048];

/// Measures each type, and stores what was measured after each.
pub fn tune(arguments: &Arguments, session: &mut Session) -> Result<(), Box<dyn Error>> {
    let path = arguments.out.clone().or_else(TuningTable::path).ok_or("no folder for caches: give --out FILE")?;
    let all = Runtime::new()?.workers();
    let workers = match &arguments.workers[..] {
        [] if all == 1 => vec![1],
        // All first: what is not measured in the time should be what matters less.
        [] => vec![all, 1],
        given => given.to_vec(),
    };
    let runtimes = workers.iter().map(|&workers| Runtime::builder().workers(workers).build());
    let runtimes = runtimes.collect::<Result<Vec<_>, _>>()?;
    let mut table: TuningTable = known(&path, arguments.out.is_some())?;
    let orders = arguments.orders(&ORDERS);
    for &letter in &arguments.types {
        session.begin(letter, arguments.seconds)?;
        let blocks = BlockKind::ALL;
        let cases = runtimes.iter().flat_map(|rt| blocks.map(|blocks| (rt, blocks)));
        let cases: Vec<_> = cases.flat_map(|(rt, blocks)| orders.iter().map(move |&n| (rt, blocks, n))).collect();
        let mut lines = Vec::new();
        for (at, &(rt, blocks, n)) in cases.iter().enumerate() {
            let case = format!("{:5} {letter} workers {} n {n:5}", blocks.name(), rt.workers());
            if session.left_s() <= 0.0 {
                lines.push(format!("{case}: not measured, the time is over"));
                continue;
            }
            let seconds = session.left_s() / (cases.len() - at) as f64;
            let entry = with_type!(letter, T => measure::<T>(rt, blocks, n, seconds))?;
            let line = format!("{case}: nb {:4}, {:.1} GFLOP/s", entry.nb, entry.gflops);
            session.note(&line, &line);
            lines.push(line);
            table.replace(entry);
        }
        session.end(lines.join("\n"))?;
        if !arguments.dry_run {
            table.save(&path)?;
        }
    }
    if !arguments.dry_run {
        println!("written to {}", path.display());
    }
    Ok(())
}
