//! How a problem is cut into tasks: one function from the problem and the machine to a [`Plan`].
//!
//! On workers alone the plan is the one that takes the least time by a cost model. For each of a handful of cuts that suit the operation the model
//! estimates when the last task is done: the work of a task by the rate of a kernel, what is packed by the rate of caches, rounds of tasks over the
//! workers, the chain of tasks that wait for each other, and how late the last task is. [`machine`] has the rates, [`product`] and [`factorization`] the
//! cuts and their estimates. Where the model lost against a measurement [`EXCEPTIONS`] says what holds instead. Devices go by a table of their own
//! ([`devices`]).
//!
//! The module knows numbers only. [`BlockSize`](crate::BlockSize) calls it, after a size that the caller named and this machine's own measurements
//! ([`block_table`](crate::block_table)). Which device has which tile is not its affair (`distribution/`).

mod devices;
mod factorization;
mod machine;
mod product;

pub(crate) use machine::{Machine, PART, REFLECTORS, TEAM, has_accelerator};
pub(crate) use product::STEP;

use superscalar_kernels::Side;

/// An operation and its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// m x k by k x n.
    Product { m: usize, n: usize, k: usize },
    /// An m x n matrix that is multiplied with a square matrix on this side, or solved for.
    Sided { side: Side, m: usize, n: usize },
    /// A triangle of n x k by k x n.
    Triangle { n: usize, k: usize },
    /// A Cholesky factorization of order n, and what is built like it.
    Cholesky { n: usize },
    /// An LU factorization, m x n.
    Lu { m: usize, n: usize },
    /// A QR factorization, m x n.
    Qr { m: usize, n: usize },
    /// The QR factorization of a tall matrix of n columns by a tree.
    Tree { n: usize },
    /// m x n elements, each of which is touched once.
    Elements { m: usize, n: usize },
}

/// Tiles of a product: C's are mb x nb, the left factor's mb x kb, the right one's kb x nb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tiles {
    pub(crate) mb: usize,
    pub(crate) nb: usize,
    pub(crate) kb: usize,
}

/// How a problem is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Not at all: it is done where it was called, without tasks.
    AtOnce,
    /// Into tiles.
    Tiles(Tiles),
    /// A triangle, into so many strips of full depth and equal work.
    Strips(usize),
    /// Into blocks of so many columns (square ones for Cholesky, blocks of rows for a tree).
    Blocks(usize),
}

impl Plan {
    /// The tiles, unless the problem is done at once.
    pub(crate) fn tiles(self) -> Option<Tiles> {
        if let Self::Tiles(tiles) = self { Some(tiles) } else { None }
    }

    /// The same for the transposed matrix.
    fn transposed(self) -> Self {
        match self {
            Self::Tiles(Tiles { mb, nb, kb }) => Self::Tiles(Tiles { mb: nb, nb: mb, kb }),
            plan => plan,
        }
    }

    /// Columns of a block, unless the problem is done at once.
    pub(crate) fn blocks(self) -> Option<usize> {
        if let Self::Blocks(nb) = self { Some(nb) } else { None }
    }

    /// Columns of a block of n columns in all.
    pub(crate) fn blocks_of(self, n: usize) -> usize {
        self.blocks().unwrap_or(n).max(1)
    }

    /// How many strips a triangle has.
    pub(crate) fn strips(self) -> usize {
        if let Self::Strips(count) = self { count } else { 1 }
    }
}

impl Problem {
    /// The elements of a matrix.
    pub(crate) fn elements((m, n): (usize, usize)) -> Self {
        Self::Elements { m, n }
    }

    /// Rows, columns and depth of the product that it is, or would be if its triangles were whole.
    fn product(self) -> [usize; 3] {
        match self {
            Self::Product { m, n, k } => [m, n, k],
            Self::Sided { side, m, n } => [m, n, if side == Side::Left { m } else { n }],
            Self::Triangle { n, k } => [n, n, k],
            Self::Cholesky { n } => [n; 3],
            Self::Lu { m, n } | Self::Qr { m, n } | Self::Elements { m, n } => [m, n, m.min(n)],
            Self::Tree { n } => [n; 3],
        }
    }
}

/// The plan of a problem on a machine.
pub(crate) fn plan(problem: Problem, machine: &Machine) -> Plan {
    match problem {
        Problem::Elements { m, n } if n <= 1 || machine.are_few((m, n)) => Plan::AtOnce,
        // Some for each worker, for those that are late.
        Problem::Elements { n, .. } => Plan::Blocks(n.div_ceil(4 * machine.workers)),
        Problem::Tree { n } => Plan::Blocks(machine.rows_in_cache(n).max(n.saturating_mul(4))),
        // What is small has no time for a model.
        _ if machine.is_little(problem.product()) => Plan::AtOnce,
        _ if machine.devices > 0 => devices::plan(problem, machine),
        Problem::Product { m, n, k } => product::whole([m, n, k], machine),
        Problem::Sided { side: Side::Left, m, n } => product::sided((m, n), machine),
        Problem::Sided { side: Side::Right, m, n } => product::sided((n, m), machine).transposed(),
        Problem::Triangle { n, k } => product::triangle((n, k), machine),
        Problem::Cholesky { n } => factorization::cholesky(n, machine),
        Problem::Lu { m, n } => factorization::lu((m, n), machine),
        Problem::Qr { m, n } => factorization::qr((m, n), machine),
    }
}

/// The plan with tiles of nb x nb, which the caller named.
pub(crate) fn fixed(problem: Problem, nb: usize) -> Plan {
    match problem {
        Problem::Product { .. } | Problem::Sided { .. } | Problem::Triangle { .. } => {
            let is_one = problem.product().into_iter().all(|len| len <= nb);
            if is_one { Plan::AtOnce } else { Plan::Tiles(Tiles { mb: nb, nb, kb: nb }) }
        }
        Problem::Lu { m, n } | Problem::Qr { m, n } | Problem::Elements { m, n } if m == 0 || n <= nb => Plan::AtOnce,
        _ => Plan::Blocks(nb),
    }
}
