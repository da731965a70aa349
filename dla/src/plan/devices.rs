//! Cuts where there are devices, by measurement.
//!
//! A tile has to be large for its updates to take longer than its way to a device: n³ against n². An accelerator takes
//! the same time for a panel's column however many there are, so its chain of panels is as long for any width, and
//! wants few large tasks. Columns of 32 KiB cross the bus at its full rate, half as long ones at nine tenths of it.

use super::{
    Machine, Plan, Problem, Tiles,
    factorization::{CHOLESKY_AT_ONCE, PANELS_AT_ONCE},
    product::many_tiles,
};
use superscalar_kernels::Side;

/// Edges of tiles: a length over so many parts, rounded up to a multiple, between two limits.
struct Edge {
    parts: usize,
    multiple: usize,
    least: usize,
    most: usize,
}

/// The shortest edge of a product's tile that is still cut into halves, and the longest.
const PRODUCT: (usize, usize) = (256, 1024);
/// Parts for each of the devices and the host.
const CHOLESKY: Edge = Edge { parts: 6, multiple: 32, least: 128, most: 1024 };
const PANELS: Edge = Edge { parts: 8, multiple: 32, least: 64, most: 512 };
/// Accelerators: parts in all, and for Cholesky for each of them. Measured on one H200 and four, 2026-11-22, TFLOP/s:
/// LU of order 32768 with 512, 768, 1024 columns 37.5, 40.6, 39.9; LU of order 8192 in 16, 32 panels 9.2, 4.6; QR of
/// order 16384 with 512, 768 columns 31.5, 30.3. Cholesky is better with 1024 than with 512 from order 16384 on, on
/// four devices beyond 32768.
const FAST_PRODUCT: Edge = Edge { parts: 2, multiple: 256, least: 512, most: 4096 };
const FAST_CHOLESKY: Edge = Edge { parts: 16, multiple: 128, least: 512, most: 1024 };
const FAST_LU: Edge = Edge { parts: 16, multiple: 64, least: 128, most: 768 };
const FAST_QR: Edge = Edge { parts: 16, multiple: 64, least: 128, most: 512 };
/// Multiplications up to which a product is done at once, whatever the type.
const PRODUCT_AT_ONCE: usize = 160 * 160 * 160;

impl Edge {
    fn of(&self, len: usize, resources: usize) -> usize {
        let edge = len / (self.parts * resources.max(1));
        edge.checked_next_multiple_of(self.multiple).unwrap_or(edge).clamp(self.least, self.most)
    }
}

/// The plan of a problem of products or panels on a machine with devices.
pub(super) fn plan(problem: Problem, machine: &Machine) -> Plan {
    let (is_fast, resources) = (machine.has_accelerator, machine.devices + 1);
    let panels = |(m, n): (usize, usize), fast: Edge| {
        let nb = if is_fast { fast.of(m.min(n), 1) } else { PANELS.of(n, resources) };
        if m == 0 || m.max(n) <= PANELS_AT_ONCE || n <= nb { Plan::AtOnce } else { Plan::Blocks(nb) }
    };
    match problem {
        Problem::Cholesky { n } if n <= CHOLESKY_AT_ONCE => Plan::AtOnce,
        Problem::Cholesky { n } if is_fast => Plan::Blocks(FAST_CHOLESKY.of(n, machine.devices)),
        Problem::Cholesky { n } => Plan::Blocks(CHOLESKY.of(n, resources)),
        Problem::Lu { m, n } => panels((m, n), FAST_LU),
        Problem::Qr { m, n } => panels((m, n), FAST_QR),
        _ => products(problem, machine),
    }
}

fn products(problem: Problem, machine: &Machine) -> Plan {
    let [m, n, k] = problem.product();
    if m.saturating_mul(n).saturating_mul(k) <= PRODUCT_AT_ONCE {
        return Plan::AtOnce;
    }
    let Tiles { mb, nb, kb } = if machine.has_accelerator {
        // Long columns, for the bus, and few of them, so that the first tiles are there soon and the last ones gone.
        let edge = FAST_PRODUCT.of(m.max(n).max(k), 1);
        Tiles { mb: edge.min(m), nb: (edge / 4).min(n), kb: edge.min(k) }
    } else {
        many_tiles([m, n, k], machine.devices + 1, PRODUCT)
    };
    if !machine.has_accelerator && [mb, nb, kb] == [m, n, k] {
        return Plan::AtOnce;
    }
    Plan::Tiles(match problem {
        Problem::Sided { side: Side::Left, .. } => Tiles { mb, nb, kb: mb },
        Problem::Sided { side: Side::Right, .. } => Tiles { mb, nb, kb: nb },
        Problem::Triangle { .. } => {
            // An accelerator's tiles are higher than wide; a square one has the mean of the edges.
            let edge = nb.max(mb / 2);
            Tiles { mb: edge, nb: edge, kb }
        }
        _ => Tiles { mb, nb, kb },
    })
}
