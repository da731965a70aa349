//! How large tiles are.

use crate::{
    block_table::{self, Blocks},
    error::Error,
    plan::{self, Machine, Plan, Problem},
};
use superscalar_kernels::Scalar;

/// The size of a routine's tiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockSize {
    /// From the size of the problem, its type and the workers and devices: by measurement where this machine has a table
    /// (see [`tuning`](crate::tuning)), and else by a cost model.
    #[default]
    Auto,
    /// Tiles of this size.
    Fixed(usize),
}

impl BlockSize {
    /// How a problem is cut, of elements of type T.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) for a size of zero, [`Argument`](crate::ErrorKind::Argument) if the table of
    /// this machine can not be read.
    pub(crate) fn plan<T: Scalar>(self, problem: Problem, machine: &Machine) -> Result<Plan, Error> {
        match self {
            Self::Fixed(0) => Err(Error::shape("a block size of zero")),
            Self::Fixed(nb) => Ok(plan::fixed(problem, nb)),
            Self::Auto => match measured::<T>(problem, machine)? {
                Some(nb) => Ok(plan::fixed(problem, nb)),
                None => Ok(plan::plan(problem, machine)),
            },
        }
    }

    /// Reflectors that share a triangular factor where an m x n matrix is factored at once.
    pub(crate) fn reflectors<T: Scalar>(self, (m, n): (usize, usize), workers: usize) -> Result<usize, Error> {
        let measured = match self {
            Self::Fixed(_) => None,
            Self::Auto => block_table::block_size::<T>(Blocks::QrInner, workers, order_like((m, n)))?,
        };
        Ok(measured.unwrap_or(plan::REFLECTORS).min(m.min(n)))
    }
}

/// The block size that was measured on this machine, if one was.
fn measured<T: Scalar>(problem: Problem, machine: &Machine) -> Result<Option<usize>, Error> {
    let (blocks, order) = match problem {
        Problem::Cholesky { n } => (Blocks::Cholesky, n),
        Problem::Lu { m, n } => (Blocks::Lu, order_like((m, n))),
        Problem::Qr { m, n } => (Blocks::Qr, order_like((m, n))),
        _ => return Ok(None),
    };
    if machine.devices > 0 { Ok(None) } else { block_table::block_size::<T>(blocks, machine.workers, order) }
}

/// The order of a square matrix with as many elements.
fn order_like((m, n): (usize, usize)) -> usize {
    m.saturating_mul(n).isqrt()
}
