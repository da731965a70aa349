//! Tile sizes for runtimes with devices, from measurements.
//!
//! A tile must be so large that its update takes longer than its transfer: n³ against n². On an accelerator, a panel
//! takes a fixed time per column, so the chain of panels takes the same time for any width; `PanelRule` weighs the
//! rest. Columns of 32 KiB reach the full bandwidth of the bus.

use super::{
    Machine, Plan, Problem, Tiles,
    factorization::{CHOLESKY_SERIAL_MAX, PANELS_SERIAL_MAX},
    machine::EDGE_FACTOR_MAX,
    product::many_tiles,
};
use superscalar_kernels::Side;

/// Rule for a tile's edge: a length divided by `parts`, rounded up to `multiple`, limited to `min..=max`, and then
/// shortened while the number of tiles stays the same.
struct EdgeRule {
    parts: usize,
    multiple: usize,
    min: usize,
    max: usize,
}

/// Rule for the width of a panel: `columns_per_root` √n for order n, with the bounds of an [`EdgeRule`]. Each update
/// reads and writes all that is left of the matrix, which in total takes a time proportional to n³ / width. The next
/// panel waits for the update of its own columns, which in total takes a time proportional to n² · width. The sum of
/// both is least at a width proportional to √n.
struct PanelRule {
    columns_per_root: f64,
    multiple: usize,
    min: usize,
    max: usize,
}

/// Smallest edge of a product's tile that may be halved further, and the largest edge.
const PRODUCT_EDGES: (usize, usize) = (256, 1024);
/// Rules for devices that are no accelerators: `parts` is per resource, the host included.
const CHOLESKY: EdgeRule = EdgeRule { parts: 6, multiple: 32, min: 128, max: 1024 };
const PANELS: EdgeRule = EdgeRule { parts: 8, multiple: 32, min: 64, max: 512 };
/// Rules for accelerators: `parts` is the total, except for Cholesky, where it is per device. Measured for CUDA:
/// docs/measurements/2026-11-28-constants.md, for panels also docs/measurements/2026-11-30-small-orders-h200.md. Where
/// kernels take longer to start, edges are [wider](EdgeRule::wider).
const ACCELERATOR_PRODUCT: EdgeRule = EdgeRule { parts: 2, multiple: 256, min: 512, max: 4096 };
const ACCELERATOR_CHOLESKY: EdgeRule = EdgeRule { parts: 16, multiple: 128, min: 512, max: 1024 };
const ACCELERATOR_LU: PanelRule = PanelRule { columns_per_root: 5.5, multiple: 128, min: 128, max: 768 };
const ACCELERATOR_QR: PanelRule = PanelRule { max: 512, ..ACCELERATOR_LU };
/// Products of up to this many multiplications run without tasks, whatever the type.
pub(crate) const PRODUCT_SERIAL_MAX: usize = 160 * 160 * 160;

/// Largest edge of a product's tile that stays on a device. It bounds the scratch of packed factors.
const RESIDENT_EDGE_MAX: usize = 8192;

/// Returns the edge of square tiles for products of square matrices that stay on devices. A single device gets one
/// tile, because a kernel for all of it has the most groups; each device of a grid of p x q gets as many as the others.
pub(crate) fn resident_edge(len: usize, (p, q): (usize, usize)) -> usize {
    let parts = if (p, q) == (1, 1) { 1 } else { (2 * p).next_multiple_of(q) };
    EdgeRule { parts, multiple: ACCELERATOR_PRODUCT.multiple, min: 1, max: RESIDENT_EDGE_MAX }.of(len, 1)
}

impl EdgeRule {
    fn of(&self, len: usize, resources: usize) -> usize {
        let rounded = |edge: usize| edge.checked_next_multiple_of(self.multiple).unwrap_or(edge);
        let edge = rounded(len / (self.parts * resources.max(1))).clamp(self.min, self.max);
        // As many tiles of more equal edges, so that the last one is not much smaller.
        if len > edge { rounded(len.div_ceil(len.div_ceil(edge))).min(edge) } else { edge }
    }

    /// Returns the rule for edges that are longer by a factor of at least one. Two parts are left, so that some data is
    /// transferred while other data is used.
    fn wider(&self, factor: f64) -> Self {
        let wider = |edge: usize| (edge as f64 * factor) as usize / self.multiple * self.multiple;
        let parts = ((self.parts as f64 / factor).ceil() as usize).max(self.parts.min(2));
        Self { parts, min: wider(self.min), max: wider(self.max), ..*self }
    }
}

impl PanelRule {
    /// Returns the rule for edges that results in this width at order n.
    fn for_order(&self, n: usize) -> EdgeRule {
        let parts = ((n as f64).sqrt() / self.columns_per_root).round() as usize;
        EdgeRule { parts: parts.max(1), multiple: self.multiple, min: self.min, max: self.max }
    }
}

/// Returns the plan of a problem of products or panels on a machine with devices.
pub(super) fn plan(problem: Problem, machine: &Machine) -> Plan {
    let resources = machine.devices + 1;
    let panels = |(m, n): (usize, usize), fast: PanelRule, power: i32| {
        let order = m.min(n);
        let nb = match machine.edge_factor {
            Some(factor) => fast.for_order(order).wider(factor.powi(power).min(EDGE_FACTOR_MAX)).of(order, 1),
            None => PANELS.of(n, resources),
        };
        if m == 0 || m.max(n) <= PANELS_SERIAL_MAX || n <= nb { Plan::Serial } else { Plan::Blocks(nb) }
    };
    match problem {
        Problem::Cholesky { n } if n <= CHOLESKY_SERIAL_MAX => Plan::Serial,
        Problem::Cholesky { n } => Plan::Blocks(match machine.edge_factor {
            Some(factor) => ACCELERATOR_CHOLESKY.wider(factor).of(n, machine.devices),
            None => CHOLESKY.of(n, resources),
        }),
        // Interchanges and solves of each block also wait for kernels to start, so fewer blocks are better.
        Problem::Lu { m, n } => panels((m, n), ACCELERATOR_LU, 2),
        Problem::Qr { m, n } => panels((m, n), ACCELERATOR_QR, 1),
        _ => products(problem, machine),
    }
}

fn products(problem: Problem, machine: &Machine) -> Plan {
    let [m, n, k] = problem.product();
    if m.saturating_mul(n).saturating_mul(k) <= PRODUCT_SERIAL_MAX {
        return Plan::Serial;
    }
    let Tiles { mb, nb, kb } = if let Some(factor) = machine.edge_factor {
        // Long columns use the bus well, and few columns let the first tiles arrive and the last ones leave early.
        let edge = ACCELERATOR_PRODUCT.wider(factor).of(m.max(n).max(k), 1);
        Tiles { mb: edge.min(m), nb: (edge / 4).min(n), kb: edge.min(k) }
    } else {
        many_tiles([m, n, k], machine.devices + 1, PRODUCT_EDGES)
    };
    if !machine.has_accelerator() && [mb, nb, kb] == [m, n, k] {
        return Plan::Serial;
    }
    Plan::Tiles(match problem {
        Problem::Sided { side: Side::Left, .. } => Tiles { mb, nb, kb: mb },
        Problem::Sided { side: Side::Right, .. } => Tiles { mb, nb, kb: nb },
        Problem::Triangle { .. } => {
            // Tiles for accelerators are higher than wide. A square tile has the mean of both edges.
            let edge = nb.max(mb / 2);
            Tiles { mb: edge, nb: edge, kb }
        }
        _ => Tiles { mb, nb, kb },
    })
}
