//! How a problem is cut into tasks: one function from the problem and the machine to a [`Plan`].
//!
//! Without devices a cost model chooses. Of each cut out of a handful that suit the operation it estimates when the
//! last task is done. It adds the multiplications of a task at the rate of a kernel, what is packed and fetched at the
//! rate of caches, and the task's own cost; then it counts rounds of tasks over the workers, the longest chain of tasks
//! that wait for each other, and how late the last one is. The first cut of a product is what was measured, or what
//! stood here before the model; another one has to be clearly better. [`machine`] has the rates, [`product`] and
//! [`factorization`] have the cuts and their estimates, and [`plan`] lists where the model is not asked. With devices a
//! table of edges holds ([`devices`]).
//!
//! [`BlockSize`](crate::BlockSize) calls [`plan`], unless the caller named a size or this machine's own table
//! ([`block_table`](crate::block_table)) has one. Which device has which tile is decided elsewhere (`distribution/`).

mod devices;
mod factorization;
mod machine;
mod product;
#[cfg(test)]
mod tests;

use machine::ELEMENTS_AT_ONCE;
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

impl Problem {
    /// The elements of a matrix of this shape.
    pub(crate) fn elements((m, n): (usize, usize)) -> Self {
        Self::Elements { m, n }
    }

    /// Rows, columns and depth of the product that it is, or would be if its triangles were whole.
    fn product(self) -> [usize; 3] {
        match self {
            Self::Product { m, n, k } => [m, n, k],
            Self::Sided { side, m, n } => [m, n, if side == Side::Left { m } else { n }],
            Self::Triangle { n, k } => [n, n, k],
            Self::Cholesky { n } | Self::Tree { n } => [n; 3],
            Self::Lu { m, n } | Self::Qr { m, n } | Self::Elements { m, n } => [m, n, m.min(n)],
        }
    }
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

    /// Columns of a block, unless the problem is done at once.
    pub(crate) fn blocks(self) -> Option<usize> {
        if let Self::Blocks(nb) = self { Some(nb) } else { None }
    }

    /// Columns of a block, or all n in one.
    pub(crate) fn blocks_of(self, n: usize) -> usize {
        self.blocks().unwrap_or(n).max(1)
    }

    /// How many strips a triangle has.
    pub(crate) fn strips(self) -> usize {
        if let Self::Strips(count) = self { count } else { 1 }
    }

    /// The same for the transposed matrix.
    fn transposed(self) -> Self {
        match self {
            Self::Tiles(Tiles { mb, nb, kb }) => Self::Tiles(Tiles { mb: nb, nb: mb, kb }),
            plan => plan,
        }
    }
}

/// The plan of a problem on a machine. Where the model is not asked:
///
/// | problem | where | plan | why |
/// |---|---|---|---|
/// | any but a tree | multiplications of 75 µs; LU, QR up to 192 x 192; Cholesky up to 256 | at once | measured |
/// | products, Cholesky | one worker | at once | tiles of products gained nothing, those of Cholesky cost 3 % |
/// | LU | one worker, beyond 1024 | 5 blocks, of up to 256 columns | 256 was best for 2048, 4096 (f64, 2026-11-21) |
/// | QR | one worker, beyond 1024 | 22 blocks, of 64 to 128 columns | not measured; near to what was taken before |
pub(crate) fn plan(problem: Problem, machine: &Machine) -> Plan {
    let is_alone = machine.workers == 1;
    match problem {
        Problem::Elements { m, n } => elements((m, n), machine.workers),
        Problem::Tree { n } => Plan::Blocks(machine.rows_in_cache(n).max(n.saturating_mul(4))),
        _ if machine.devices > 0 => devices::plan(problem, machine),
        // What is small has no time for a model.
        _ if machine.is_little(problem.product()) => Plan::AtOnce,
        Problem::Lu { m, n } if is_alone => factorization::LU.alone((m, n), 5),
        Problem::Qr { m, n } if is_alone => factorization::QR.alone((m, n), 22),
        _ if is_alone => Plan::AtOnce,
        Problem::Product { m, n, k } => product::whole([m, n, k], machine).plan,
        Problem::Sided { side: Side::Left, m, n } => product::sided((m, n), machine).plan,
        Problem::Sided { side: Side::Right, m, n } => product::sided((n, m), machine).plan.transposed(),
        Problem::Triangle { n, k } => product::triangle((n, k), machine).plan,
        Problem::Cholesky { n } => factorization::cholesky(n, machine),
        Problem::Lu { m, n } => factorization::LU.plan((m, n), machine),
        Problem::Qr { m, n } => factorization::QR.plan((m, n), machine),
    }
}

/// Some block columns for each worker, so that one that is late has fewer.
fn elements((m, n): (usize, usize), workers: usize) -> Plan {
    let is_little = workers == 1 || n <= 1 || m.saturating_mul(n) <= ELEMENTS_AT_ONCE;
    if is_little { Plan::AtOnce } else { Plan::Blocks(n.div_ceil(4 * workers)) }
}

/// The plan with blocks of nb, which the caller named.
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
