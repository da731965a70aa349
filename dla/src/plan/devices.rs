//! Cuts where there are devices, by measurement.
//!
//! A tile has to be large for its updates to take longer than its way to a device: n³ against n². An accelerator takes
//! the same time for a panel's column however many there are, so its chain of panels is as long for any width, and
//! wants few large tasks. Columns of 32 KiB cross the bus at its full rate, half as long ones at nine tenths of it.

use super::{
    Machine, Plan, Problem, Tiles,
    product::{STEP, cut},
};
use superscalar_kernels::Side;

/// Edges of tiles: a length over so many parts, rounded up to a multiple, between two limits.
struct Edge {
    parts: usize,
    multiple: usize,
    least: usize,
    most: usize,
}

/// Parts for each of the devices and the host.
const PRODUCT: Edge = Edge { parts: 1, multiple: 32, least: 256, most: 1024 };
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
/// Orders up to which a Cholesky factorization, and one by panels, is done at once.
const CHOLESKY_AT_ONCE: usize = 256;
const PANELS_AT_ONCE: usize = 192;

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
    let Tiles { mb, nb, kb } = if machine.has_accelerator {
        // Long columns, for the bus, and few of them, so that the first tiles are there soon and the last ones gone.
        let edge = FAST_PRODUCT.of(m.max(n).max(k), 1);
        Tiles { mb: edge.min(m), nb: (edge / 4).min(n), kb: edge.min(k) }
    } else {
        // Two for each of the devices and the host.
        let edge = PRODUCT.of((m.saturating_mul(n) / (2 * machine.devices + 2)).isqrt(), 1);
        // Nothing is halved whose halves were shorter.
        let parts = |len: usize| (len / edge).max(len.div_ceil(PRODUCT.most));
        let [mb, nb] = [m, n].map(|len| cut(len, parts(len), STEP).0);
        let kb = cut(k, k.div_ceil(PRODUCT.most), STEP).0;
        if [mb, nb, kb] == [m, n, k] {
            return Plan::AtOnce;
        }
        Tiles { mb, nb, kb }
    };
    Plan::Tiles(match problem {
        Problem::Sided { side: Side::Left, .. } => Tiles { mb, nb, kb: mb },
        Problem::Sided { side: Side::Right, .. } => Tiles { mb, nb, kb: nb },
        Problem::Triangle { .. } => {
            // Where tiles are higher than wide, the mean.
            let edge = nb.max(mb / 2);
            Tiles { mb: edge, nb: edge, kb }
        }
        _ => Tiles { mb, nb, kb },
    })
}
