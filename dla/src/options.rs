//! What a caller may choose; everything has a default that comes from measurement.

use crate::{
    block_size::BlockSize,
    error::Error,
    plan::{Machine, Plan, Problem},
};
use std::{fmt, str::FromStr};
use superscalar_kernels::Scalar;
use superscalar_runtime::Runtime;

/// Options of the blocking routines.
///
/// ```
/// use superscalar::dla::Options;
/// let options = Options::default().nb(128);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub(crate) block_size: BlockSize,
    pub(crate) distribution: Option<Distribution>,
}

impl Options {
    /// Tiles of `nb` x `nb` instead of [`BlockSize::Auto`].
    #[must_use]
    pub fn nb(self, nb: usize) -> Self {
        self.block_size(BlockSize::Fixed(nb))
    }

    /// The tile size that a Cholesky factorization of order n takes with so many workers.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) for tiles of zero; [`Argument`](crate::ErrorKind::Argument) if this machine's
    /// [table](crate::tuning) can not be read.
    pub fn factorization_nb<T: Scalar>(&self, n: usize, workers: usize) -> Result<usize, Error> {
        Ok(self.block_size.plan::<T>(Problem::Cholesky { n }, &Machine::of_workers::<T>(workers))?.blocks_of(n))
    }

    /// How a problem is cut for a runtime.
    ///
    /// # Errors
    /// As for [`factorization_nb`](Self::factorization_nb).
    pub(crate) fn plan<T: Scalar>(&self, rt: &Runtime, problem: Problem) -> Result<Plan, Error> {
        let machine = match problem {
            // Devices have no part in these.
            Problem::Elements { .. } | Problem::Tree { .. } => Machine::of_workers::<T>(rt.workers()),
            _ => Machine::of::<T>(rt),
        };
        self.block_size.plan::<T>(problem, &machine)
    }

    /// Columns of the blocks in which the reflectors of an m x k matrix are applied, by any number of workers.
    pub(crate) fn reflector_columns<T: Scalar>(&self, (m, k): (usize, usize)) -> Result<usize, Error> {
        let plan = self.block_size.plan::<T>(Problem::Qr { m, n: k }, &Machine::of_workers::<T>(2))?;
        Ok(plan.blocks_of(k).clamp(1, 256))
    }

    /// How many of nrhs right-hand sides go into a block, if each is solved for on its own.
    pub(crate) fn right_hand_sides<T: Scalar>(&self, rt: &Runtime, n: usize, nrhs: usize) -> Result<usize, Error> {
        // With tiles that were named, results do not depend on the workers.
        if let BlockSize::Fixed(nb @ 1..) = self.block_size {
            return Ok(nb.min(nrhs).max(1));
        }
        let machine = Machine::of::<T>(rt);
        let tiles = self.block_size.plan::<T>(Problem::Product { m: n, n: nrhs, k: n }, &machine)?.tiles();
        Ok(tiles.map_or(nrhs, |tiles| tiles.nb.min(nrhs.div_ceil(machine.workers + machine.devices))).max(1))
    }

    /// How large the tiles are.
    #[must_use]
    pub fn block_size(self, block_size: BlockSize) -> Self {
        Self { block_size, ..self }
    }

    /// How the matrix that a routine changes is distributed over the runtime's devices. What is not said here is read from the environment
    /// (`SUPERSCALAR_DISTRIBUTION`). What is not said there is [`Distribution::None`], but for a matrix that is factored on accelerators: these
    /// have its block columns, in turns where they are alike, and else by what they are capable of.
    #[must_use]
    pub fn distribution(self, distribution: Distribution) -> Self {
        Self { distribution: Some(distribution), ..self }
    }
}

/// How a matrix that is changed is distributed over the devices of a runtime. Without devices there is nothing to distribute.
///
/// ```
/// use superscalar::dla::Distribution;
/// assert_eq!("guided".parse(), Ok(Distribution::Guided));
/// assert!("fair".parse::<Distribution>().unwrap_err().to_string().contains("block-column-cyclic"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// Not at all: the policy decides for each task.
    #[default]
    None,
    /// Block columns in turns, each device as many.
    BlockColumnCyclic,
    /// Tiles by rows and columns of a grid of devices, as square as their number allows. A matrix in block columns has one row of
    /// tiles, and its columns are dealt in turns.
    TwoDimensionalCyclic,
    /// Block columns in proportion to what the devices are capable of (10 : 8 : 5), by measurement where there is one and by
    /// the devices' own account before; dealt anew while a factorization runs, when the measured weights have moved.
    Guided,
}

impl Distribution {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::None, Self::BlockColumnCyclic, Self::TwoDimensionalCyclic, Self::Guided];

    /// The name as options and the environment spell it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::BlockColumnCyclic => "block-column-cyclic",
            Self::TwoDimensionalCyclic => "2d-cyclic",
            Self::Guided => "guided",
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// Not the name of a distribution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no distribution is called `{0}`; there are {names}", names = Distribution::ALL.map(Distribution::as_str).join(", "))]
pub struct UnknownDistribution(String);

impl FromStr for Distribution {
    type Err = UnknownDistribution;

    fn from_str(name: &str) -> Result<Self, UnknownDistribution> {
        let found = Self::ALL.into_iter().find(|distribution| distribution.as_str() == name);
        found.ok_or_else(|| UnknownDistribution(name.to_owned()))
    }
}
