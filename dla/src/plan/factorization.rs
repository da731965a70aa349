//! Factorizations: a chain of panels and their updates.

use super::{Machine, Plan};

/// Cost model of a factorization. The coefficients are fitted so that the model chooses blocks near the measured
/// optimum (see `tests.rs`); its times are not wall-clock times.
pub(super) struct Costs {
    /// Time of a panel, in multiplications of a product, divided by its rows and the square of its columns.
    panel: f64,
    /// Multiplications of an update per element and per column of the panel.
    update: f64,
    /// Panel width at which updates take twice the time of their multiplications. For tiles it is multiplied by the
    /// number of elements per 8 bytes; for panels of singles it was not measured.
    half_rate_columns: f64,
    /// Overhead of an update task, including waiting.
    task_ns: f64,
    /// Relative extra time of updates if one panel had all columns, because of redundant work.
    redundancy: f64,
    /// Blocks are square tiles, so only the tile on the diagonal is on the critical path.
    is_tiled: bool,
    /// Allowed widths of a block.
    columns: BlockColumns,
}

/// Allowed numbers of columns of a block: multiples of `multiple` from `min` to `max`. Kernels are slower with narrower
/// blocks, and wider ones never helped.
struct BlockColumns {
    multiple: usize,
    min: usize,
    max: usize,
}

const CHOLESKY: Costs = Costs {
    panel: 1.85,
    update: 0.5,
    half_rate_columns: 33.0,
    task_ns: 16e3,
    redundancy: 0.25,
    is_tiled: true,
    columns: BlockColumns { multiple: 24, min: 72, max: 480 },
};
pub(super) const LU: Costs = Costs {
    panel: 3.2,
    update: 1.0,
    half_rate_columns: 105.0,
    task_ns: 1e3,
    redundancy: 0.3,
    is_tiled: false,
    columns: BlockColumns { multiple: 16, min: 64, max: 256 },
};
pub(super) const QR: Costs = Costs {
    panel: 0.2,
    update: 2.0,
    half_rate_columns: 17.0,
    task_ns: 1e3,
    redundancy: 3.0,
    is_tiled: false,
    columns: BlockColumns { multiple: 16, min: 64, max: 128 },
};

/// Matrices of up to this many rows or columns are factored as one panel.
const ONE_PANEL_MAX: usize = 32;
/// Cholesky factorizations up to this order run without tasks, for any number of workers.
pub(super) const CHOLESKY_SERIAL_MAX: usize = 256;
/// Factorizations by panels of up to this many rows and columns run without tasks, for any number of workers.
pub(super) const PANELS_SERIAL_MAX: usize = 192;
/// Largest number of rows and columns that one worker factors as a single panel. Measured:
/// docs/measurements/2026-11-28-constants.md.
const ONE_WORKER_SERIAL_MAX: usize = 1024;
/// Number of points of a factorization at which the model samples the cost of a step.
const SAMPLE_POINTS: usize = 4;

impl Costs {
    /// Returns the estimated time with blocks of nb columns, in nanoseconds.
    fn estimate(&self, (m, n): (f64, f64), nb: f64, machine: &Machine) -> f64 {
        let (order, workers) = (m.min(n), machine.workers as f64);
        let panel_ns = |rows: f64| self.panel * rows * nb * nb * machine.multiply_ns;
        let half_rate_columns = self.half_rate_columns * if self.is_tiled { machine.lanes } else { 1.0 };
        let update_ns =
            self.update * nb * (1.0 + half_rate_columns / nb + self.redundancy * nb / order) * machine.multiply_ns;
        let step = |point: usize| {
            let done = order * (point as f64 + 0.5) / SAMPLE_POINTS as f64;
            let (rows, cols) = (m - done, n - done);
            let tasks = if self.is_tiled { self.update * rows * cols / (nb * nb) } else { cols / nb };
            let panel = panel_ns(if self.is_tiled { nb } else { rows });
            // A panel is factored while other workers still run updates by the previous one.
            panel.max((panel + rows * cols * update_ns + tasks * self.task_ns) / workers)
        };
        let steps = (0..SAMPLE_POINTS).map(step).sum::<f64>() * order / (nb * SAMPLE_POINTS as f64);
        // During the first panel the other workers are idle.
        let first = panel_ns(if self.is_tiled { nb } else { m }) * (1.0 - 1.0 / workers);
        machine.wake_ns() + first + steps
    }

    /// Returns the smallest and largest block width for an m x n matrix. Narrow matrices still get several blocks, so
    /// that workers can share them. No block is wider than the matrix has rows.
    fn limits(&self, (m, n): (usize, usize)) -> (usize, usize) {
        let BlockColumns { multiple, min, max } = self.columns;
        let max = max.min(m.min(n));
        (min.min((n / 4).next_multiple_of(multiple)).max(multiple).min(max), max)
    }

    /// Returns the plan with the smallest estimate.
    pub(super) fn plan(&self, (m, n): (usize, usize), machine: &Machine) -> Plan {
        if m.max(n) <= PANELS_SERIAL_MAX || m.min(n) <= ONE_PANEL_MAX {
            return Plan::Serial;
        }
        let (min, max) = self.limits((m, n));
        // Columns beyond twice the rows only add parallel work, whatever the block width, so they are not counted.
        let shape = (m as f64, n.min(m.saturating_mul(2)) as f64);
        let mut best = (f64::INFINITY, Plan::Serial);
        for nb in (min..=max).step_by(self.columns.multiple).take_while(|&nb| nb < n) {
            let ns = self.estimate(shape, nb as f64, machine);
            if ns < best.0 {
                best = (ns, Plan::Blocks(nb));
            }
        }
        best.1
    }

    /// Returns the plan for one worker, which cuts a large matrix into about `blocks` blocks.
    pub(super) fn plan_one_worker(&self, (m, n): (usize, usize), blocks: usize) -> Plan {
        let (min, max) = self.limits((m, n));
        let nb = (m.min(n) / blocks).next_multiple_of(self.columns.multiple).clamp(min, max);
        if m.max(n) <= ONE_WORKER_SERIAL_MAX || m.min(n) <= ONE_PANEL_MAX || n <= nb {
            Plan::Serial
        } else {
            Plan::Blocks(nb)
        }
    }
}

pub(super) fn cholesky(n: usize, machine: &Machine) -> Plan {
    if n <= CHOLESKY_SERIAL_MAX {
        return Plan::Serial;
    }
    match CHOLESKY.plan((n, n), machine) {
        // Equal blocks: a thin strip at the edge would make tasks whose overhead exceeds their work.
        Plan::Blocks(nb) => Plan::Blocks(n.div_ceil(n.div_ceil(nb)).next_multiple_of(CHOLESKY.columns.multiple)),
        plan => plan,
    }
}
