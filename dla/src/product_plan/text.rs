//! Plans as text.

use super::{Place, PlanStep, ProductPlan, fabric::HOST};
use std::fmt;

/// A memory, by name.
struct Name(Place);

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == HOST { out.pad("host") } else { out.pad(&format!("device {}", self.0 - 1)) }
    }
}

const NS_PER_MS: f64 = 1e6;

/// The grid, the tiles, the predicted time, and the bytes over each link. The alternate form (`{:#}`) adds all steps in
/// the order in which they are issued, with their times in milliseconds.
impl fmt::Display for ProductPlan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.grid() {
            Some((rows, columns)) => write!(out, "{rows} x {columns} devices")?,
            None => out.write_str("C stays on its devices")?,
        }
        let ([mb, nb, kb], ms) = (self.tile, self.end_ns / NS_PER_MS);
        writeln!(out, ", tiles of {mb} x {nb} x {kb}, {ms:.3} ms")?;
        for &(from, to, bytes) in &self.traffic {
            writeln!(out, "{:>9} -> {:<9} {bytes:>14} bytes", Name(from), Name(to))?;
        }
        if out.alternate() {
            self.steps.iter().try_for_each(|step| write_step(out, step))?;
        }
        Ok(())
    }
}

fn write_step(out: &mut fmt::Formatter<'_>, step: &PlanStep) -> fmt::Result {
    let mut line = |begin: f64, end: f64, what: fmt::Arguments<'_>| {
        writeln!(out, "{:>9.3} to {:>9.3}: {what}", begin / NS_PER_MS, end / NS_PER_MS)
    };
    match step {
        PlanStep::Fetch { matrix, tile: (i, j), hops, .. } => hops.iter().try_for_each(|hop| {
            line(hop.begin, hop.end, format_args!("{matrix:?}({i}, {j}) from {} to {}", Name(hop.from), Name(hop.to)))
        }),
        PlanStep::Multiply { device, tile: (i, j), step, begin, end } => {
            line(*begin, *end, format_args!("device {device}: C({i}, {j}) += A({i}, {step}) B({step}, {j})"))
        }
        PlanStep::Add { device, tile: (i, j), begin, end } => {
            line(*begin, *end, format_args!("device {device}: C({i}, {j}) := beta C({i}, {j}) + its products"))
        }
        PlanStep::Return { tile: (i, j), hop, .. } => {
            line(hop.begin, hop.end, format_args!("C({i}, {j}) from {} to {}", Name(hop.from), Name(hop.to)))
        }
    }
}
