//! Plans: how a problem is cut into tasks, as a function of the problem and the machine.
//!
//! Without devices, a cost model chooses among a few candidate cuts. For each, it estimates when the last task
//! finishes: from the multiplications at the kernel's rate, the elements packed and fetched at cache rates, the
//! overhead per task, the number of rounds of tasks over the workers, the longest chain of tasks, and the delay of the
//! last task. The first candidate of a product has measurements behind it; another one is chosen only if it is clearly
//! better. [`machine`] has the rates, [`product`] and [`factorization`] have the candidates and their estimates, and
//! [`plan`] lists the exceptions. With devices, a table of edges is used ([`devices`]).
//!
//! [`BlockSize`](crate::BlockSize) calls [`plan`] unless the caller gave a size or this machine's tuning table
//! ([`block_table`](crate::block_table)) has one. The module `distribution` decides which device gets which tile.

mod devices;
mod factorization;
mod machine;
mod product;
#[cfg(test)]
mod tests;

pub(crate) use devices::{PRODUCT_SERIAL_MAX, resident_edge};
use machine::ELEMENTS_SERIAL_MAX;
pub(crate) use machine::{
    INNER_BLOCK, Machine, PART_MULTIPLICATIONS_MIN, TEAM_MULTIPLICATIONS_MIN, are_accelerators, has_accelerator,
};
pub(crate) use product::EDGE_MULTIPLE;

use superscalar_kernels::Side;

/// An operation and its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// A product of m x k by k x n.
    Product { m: usize, n: usize, k: usize },
    /// A product of an m x n matrix with a square matrix on one side, or the solution of such a system.
    Sided { side: Side, m: usize, n: usize },
    /// One triangle of a product of n x k by k x n.
    Triangle { n: usize, k: usize },
    /// A Cholesky factorization of order n, or a routine with the same structure.
    Cholesky { n: usize },
    /// An LU factorization, m x n.
    Lu { m: usize, n: usize },
    /// A QR factorization, m x n.
    Qr { m: usize, n: usize },
    /// A tree QR factorization of a tall matrix with n columns.
    TsqrFactors { n: usize },
    /// An operation that touches each of m x n elements once.
    Elements { m: usize, n: usize },
}

impl Problem {
    /// Returns the problem of traversing a matrix of this shape.
    pub(crate) fn elements((m, n): (usize, usize)) -> Self {
        Self::Elements { m, n }
    }

    /// Returns the rows, columns and depth of the corresponding full product.
    fn product(self) -> [usize; 3] {
        match self {
            Self::Product { m, n, k } => [m, n, k],
            Self::Sided { side, m, n } => [m, n, if side == Side::Left { m } else { n }],
            Self::Triangle { n, k } => [n, n, k],
            Self::Cholesky { n } | Self::TsqrFactors { n } => [n; 3],
            Self::Lu { m, n } | Self::Qr { m, n } | Self::Elements { m, n } => [m, n, m.min(n)],
        }
    }
}

/// Tile sizes of a product: C's tiles are mb x nb, those of the left factor mb x kb, of the right factor kb x nb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tiles {
    pub(crate) mb: usize,
    pub(crate) nb: usize,
    pub(crate) kb: usize,
}

/// How a problem is cut into tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Not cut: it runs on the calling thread without tasks.
    Serial,
    /// Cut into tiles.
    Tiles(Tiles),
    /// A triangle, cut into this many strips of full depth and equal work.
    Strips(usize),
    /// Cut into blocks of this many columns (square blocks for Cholesky, blocks of rows for a tree).
    Blocks(usize),
}

impl Plan {
    /// Returns the tile sizes, unless the problem runs without tasks.
    pub(crate) fn tiles(self) -> Option<Tiles> {
        if let Self::Tiles(tiles) = self { Some(tiles) } else { None }
    }

    /// Returns the width of a block, unless the problem runs without tasks.
    pub(crate) fn blocks(self) -> Option<usize> {
        if let Self::Blocks(nb) = self { Some(nb) } else { None }
    }

    /// Returns the width of a block; all n columns if the problem runs without tasks.
    pub(crate) fn blocks_of(self, n: usize) -> usize {
        self.blocks().unwrap_or(n).max(1)
    }

    /// Returns the number of strips of a triangle.
    pub(crate) fn strips(self) -> usize {
        if let Self::Strips(count) = self { count } else { 1 }
    }

    /// Returns the plan of the transposed matrix.
    fn transposed(self) -> Self {
        match self {
            Self::Tiles(Tiles { mb, nb, kb }) => Self::Tiles(Tiles { mb: nb, nb: mb, kb }),
            plan => plan,
        }
    }
}

/// Returns the plan of a problem on a machine. The model is not used in these cases:
///
/// | problem | case | plan | reason |
/// |---|---|---|---|
/// | any but a tree | up to 75 µs of multiplications; LU, QR up to 192 x 192; Cholesky up to 256 | serial | measured |
/// | products, Cholesky | one worker | serial | tiles gain nothing |
/// | LU | one worker, beyond 1024 | 5 blocks of up to 256 columns | measured |
/// | QR | one worker, beyond 1024 | 22 blocks of 64 to 128 columns | not measured; close to the previous rule |
pub(crate) fn plan(problem: Problem, machine: &Machine) -> Plan {
    let is_alone = machine.workers == 1;
    match problem {
        Problem::Elements { m, n } => elements((m, n), machine.workers),
        Problem::TsqrFactors { n } => Plan::Blocks(machine.rows_in_cache(n).max(n.saturating_mul(4))),
        _ if machine.devices > 0 => devices::plan(problem, machine),
        // Small problems must not pay for the evaluation of the model.
        _ if machine.is_small(problem.product()) => Plan::Serial,
        Problem::Lu { m, n } if is_alone => factorization::LU.plan_one_worker((m, n), 5),
        Problem::Qr { m, n } if is_alone => factorization::QR.plan_one_worker((m, n), 22),
        _ if is_alone => Plan::Serial,
        Problem::Product { m, n, k } => product::general([m, n, k], machine).plan,
        Problem::Sided { side: Side::Left, m, n } => product::sided((m, n), machine).plan,
        Problem::Sided { side: Side::Right, m, n } => product::sided((n, m), machine).plan.transposed(),
        Problem::Triangle { n, k } => product::triangle((n, k), machine).plan,
        Problem::Cholesky { n } => factorization::cholesky(n, machine),
        Problem::Lu { m, n } => factorization::LU.plan((m, n), machine),
        Problem::Qr { m, n } => factorization::QR.plan((m, n), machine),
    }
}

/// Returns a plan with several block columns per worker, so that a delayed worker gets fewer.
fn elements((m, n): (usize, usize), workers: usize) -> Plan {
    let is_small = workers == 1 || n <= 1 || m.saturating_mul(n) <= ELEMENTS_SERIAL_MAX;
    if is_small { Plan::Serial } else { Plan::Blocks(n.div_ceil(4 * workers)) }
}

/// Returns the plan with blocks of nb, a size that the caller gave.
pub(crate) fn fixed(problem: Problem, nb: usize) -> Plan {
    match problem {
        Problem::Product { .. } | Problem::Sided { .. } | Problem::Triangle { .. } => {
            let is_one = problem.product().into_iter().all(|len| len <= nb);
            if is_one { Plan::Serial } else { Plan::Tiles(Tiles { mb: nb, nb, kb: nb }) }
        }
        Problem::Lu { m, n } | Problem::Qr { m, n } | Problem::Elements { m, n } if m == 0 || n <= nb => Plan::Serial,
        _ => Plan::Blocks(nb),
    }
}
