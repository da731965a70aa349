//! Factorizations: a chain of panels, and the updates by them.

use super::{Machine, Plan};

/// What a factorization costs beside the multiplications of its updates. The numbers are fitted: with them the model
/// chooses blocks near those that were measured as best (`tests.rs` has them). Its times are not those of a clock.
pub(super) struct Costs {
    /// The time of a panel divided by its rows and the square of its columns, in multiplications of a product.
    panel: f64,
    /// Multiplications of an update for each of its elements and each column of the panel.
    update: f64,
    /// Columns of a panel whose updates take twice the time of their multiplications. Tiles of a type of which more
    /// numbers fit into a register need as many times more; panels of singles were not measured.
    narrow: f64,
    /// A task of an update, with the waiting for others.
    task_ns: f64,
    /// The part by which updates by a panel of all columns would take longer, for what is done twice.
    wide: f64,
    /// Blocks are square tiles: only the one on the diagonal is waited for.
    is_tiled: bool,
    /// What a block's columns are a multiple of, and its limits: narrower ones cost kernels their rate, wider ones were
    /// never better.
    columns: (usize, usize, usize),
}

const CHOLESKY: Costs =
    Costs { panel: 1.85, update: 0.5, narrow: 33.0, task_ns: 16e3, wide: 0.25, is_tiled: true, columns: (24, 72, 480) };
pub(super) const LU: Costs =
    Costs { panel: 3.2, update: 1.0, narrow: 105.0, task_ns: 1e3, wide: 0.3, is_tiled: false, columns: (16, 64, 256) };
pub(super) const QR: Costs =
    Costs { panel: 0.2, update: 2.0, narrow: 17.0, task_ns: 1e3, wide: 3.0, is_tiled: false, columns: (16, 64, 128) };

/// Up to so many columns a matrix is one panel; with as few rows an update takes no longer than what a task costs.
const NARROW: usize = 32;
/// Orders up to which a Cholesky factorization, and rows and columns up to which one by panels, is done at once by any
/// number of workers.
pub(super) const CHOLESKY_AT_ONCE: usize = 256;
pub(super) const PANELS_AT_ONCE: usize = 192;
/// Rows and columns up to which one worker factors by panels at once: LU of order 1024 took as long in both ways, of 256
/// and 512 1.08 times as long in panels (a Xeon, f64, 2026-11-25).
const ALONE: usize = 1024;
/// Points of a factorization at which the model looks.
const POINTS: usize = 4;

impl Costs {
    /// Nanoseconds with blocks of nb columns.
    fn estimate(&self, (m, n): (f64, f64), nb: f64, machine: &Machine) -> f64 {
        let (order, workers) = (m.min(n), machine.workers as f64);
        let panel_ns = |rows: f64| self.panel * rows * nb * nb * machine.multiply_ns;
        let narrow = self.narrow * if self.is_tiled { machine.lanes } else { 1.0 };
        let update_ns = self.update * nb * (1.0 + narrow / nb + self.wide * nb / order) * machine.multiply_ns;
        let step = |point: usize| {
            let done = order * (point as f64 + 0.5) / POINTS as f64;
            let (rows, cols) = (m - done, n - done);
            let tasks = if self.is_tiled { self.update * rows * cols / (nb * nb) } else { cols / nb };
            let panel = panel_ns(if self.is_tiled { nb } else { rows });
            // A panel is factored while others still update by the one before.
            panel.max((panel + rows * cols * update_ns + tasks * self.task_ns) / workers)
        };
        let steps = (0..POINTS).map(step).sum::<f64>() * order / (nb * POINTS as f64);
        // During the first panel there is no other work.
        let first = panel_ns(if self.is_tiled { nb } else { m }) * (1.0 - 1.0 / workers);
        machine.wake_ns() + first + steps
    }

    /// The narrowest and the widest block of an m x n matrix. A narrow one has several all the same, for workers to
    /// share. None is wider than the matrix has rows.
    fn limits(&self, (m, n): (usize, usize)) -> (usize, usize) {
        let (step, least, most) = self.columns;
        let most = most.min(m.min(n));
        (least.min((n / 4).next_multiple_of(step)).max(step).min(most), most)
    }

    /// The blocks that take least.
    pub(super) fn plan(&self, (m, n): (usize, usize), machine: &Machine) -> Plan {
        if m.max(n) <= PANELS_AT_ONCE || m.min(n) <= NARROW {
            return Plan::AtOnce;
        }
        let (least, most) = self.limits((m, n));
        // A wide matrix has the panels of one twice as wide as high: what is beyond is work for all at any width.
        let shape = (m as f64, n.min(m.saturating_mul(2)) as f64);
        let mut best = (f64::INFINITY, Plan::AtOnce);
        for nb in (least..=most).step_by(self.columns.0).take_while(|&nb| nb < n) {
            let ns = self.estimate(shape, nb as f64, machine);
            if ns < best.0 {
                best = (ns, Plan::Blocks(nb));
            }
        }
        best.1
    }

    /// The blocks of one worker, which cuts a large matrix into so many.
    pub(super) fn alone(&self, (m, n): (usize, usize), blocks: usize) -> Plan {
        let (least, most) = self.limits((m, n));
        let nb = (m.min(n) / blocks).next_multiple_of(self.columns.0).clamp(least, most);
        if m.max(n) <= ALONE || m.min(n) <= NARROW || n <= nb { Plan::AtOnce } else { Plan::Blocks(nb) }
    }
}

pub(super) fn cholesky(n: usize, machine: &Machine) -> Plan {
    if n <= CHOLESKY_AT_ONCE {
        return Plan::AtOnce;
    }
    match CHOLESKY.plan((n, n), machine) {
        // Equal parts: a thin strip at the far edge would make tasks that cost more than they do.
        Plan::Blocks(nb) => Plan::Blocks(n.div_ceil(n.div_ceil(nb)).next_multiple_of(CHOLESKY.columns.0)),
        plan => plan,
    }
}
