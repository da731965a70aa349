//! Choice of tile sizes.

use crate::{
    block_table::{self, BlockKind},
    error::Error,
    plan::{self, Machine, Plan, Problem},
};
use superscalar_kernels::Scalar;

/// The size of a routine's tiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockSize {
    /// The size is chosen from the problem's size and type, the workers and the devices: from this machine's table of
    /// measured block sizes if there is one (see [`tuning`](crate::tuning)), otherwise by a cost model.
    #[default]
    Auto,
    /// All tiles have this size.
    Fixed(usize),
}

impl BlockSize {
    /// Returns the plan of a problem with elements of type `T`.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if the size is zero, [`Argument`](crate::ErrorKind::Argument) if this
    /// machine's table cannot be read.
    pub(crate) fn plan<T: Scalar>(self, problem: Problem, machine: &Machine) -> Result<Plan, Error> {
        match self {
            Self::Fixed(0) => Err(Error::shape("the block size is zero, expected a positive number")),
            Self::Fixed(nb) => Ok(plan::fixed(problem, nb)),
            Self::Auto => match measured::<T>(problem, machine)? {
                Some(nb) => Ok(plan::fixed(problem, nb)),
                None => Ok(plan::plan(problem, machine)),
            },
        }
    }

    /// Returns the number of reflectors per triangular factor when an m x n matrix is factored without tasks.
    pub(crate) fn reflectors<T: Scalar>(self, (m, n): (usize, usize), workers: usize) -> Result<usize, Error> {
        let measured = match self {
            Self::Fixed(_) => None,
            Self::Auto => block_table::block_size::<T>(BlockKind::QrInner, workers, order_like((m, n)))?,
        };
        Ok(measured.unwrap_or(plan::INNER_BLOCK).min(m.min(n)))
    }
}

/// Returns the block size measured on this machine, if there is one.
fn measured<T: Scalar>(problem: Problem, machine: &Machine) -> Result<Option<usize>, Error> {
    let (blocks, order) = match problem {
        Problem::Cholesky { n } => (BlockKind::Cholesky, n),
        Problem::Lu { m, n } => (BlockKind::Lu, order_like((m, n))),
        Problem::Qr { m, n } => (BlockKind::Qr, order_like((m, n))),
        _ => return Ok(None),
    };
    if machine.devices > 0 { Ok(None) } else { block_table::block_size::<T>(blocks, machine.workers, order) }
}

/// Returns the order of a square matrix with the same number of elements.
fn order_like((m, n): (usize, usize)) -> usize {
    m.saturating_mul(n).isqrt()
}
