//! Options that callers may set. Every option has a default, based on measurements.

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
    pub(crate) plan_features: PlanFeatures,
}

impl Options {
    /// Returns the edge of tiles, if the caller gave it.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if it is zero.
    pub(crate) fn fixed_tile(&self) -> Result<Option<usize>, Error> {
        match self.block_size {
            BlockSize::Fixed(0) => Err(Error::shape("the block size is zero, expected a positive number")),
            BlockSize::Fixed(nb) => Ok(Some(nb)),
            BlockSize::Auto => Ok(None),
        }
    }

    /// Uses tiles of `nb` x `nb` instead of [`BlockSize::Auto`].
    #[must_use]
    pub fn nb(self, nb: usize) -> Self {
        self.block_size(BlockSize::Fixed(nb))
    }

    /// Returns the tile size that a Cholesky factorization of order n uses with this number of workers.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if the block size is zero; [`Argument`](crate::ErrorKind::Argument) if this
    /// machine's [tuning table](crate::tuning) cannot be read.
    pub fn factorization_nb<T: Scalar>(&self, n: usize, workers: usize) -> Result<usize, Error> {
        Ok(self.block_size.plan::<T>(Problem::Cholesky { n }, &Machine::of_workers::<T>(workers))?.blocks_of(n))
    }

    /// Returns the plan of a problem on a runtime's workers and devices.
    ///
    /// # Errors
    /// See [`factorization_nb`](Self::factorization_nb).
    pub(crate) fn plan<T: Scalar>(&self, rt: &Runtime, problem: Problem) -> Result<Plan, Error> {
        let machine = match problem {
            // These problems never run on devices.
            Problem::Elements { .. } | Problem::TsqrFactors { .. } => Machine::of_workers::<T>(rt.workers()),
            _ => Machine::of::<T>(rt),
        };
        self.block_size.plan::<T>(problem, &machine)
    }

    /// Returns the block width for applying the reflectors of an m x k matrix, for any number of workers.
    pub(crate) fn reflector_columns<T: Scalar>(&self, (m, k): (usize, usize)) -> Result<usize, Error> {
        let plan = self.block_size.plan::<T>(Problem::Qr { m, n: k }, &Machine::of_workers::<T>(2))?;
        Ok(plan.blocks_of(k).clamp(1, 256))
    }

    /// Returns the number of right-hand sides per block when the blocks are solved independently.
    pub(crate) fn right_hand_sides<T: Scalar>(&self, rt: &Runtime, n: usize, nrhs: usize) -> Result<usize, Error> {
        // A fixed block size keeps results independent of the number of workers.
        if let BlockSize::Fixed(nb @ 1..) = self.block_size {
            return Ok(nb.min(nrhs).max(1));
        }
        let machine = Machine::of::<T>(rt);
        let tiles = self.block_size.plan::<T>(Problem::Product { m: n, n: nrhs, k: n }, &machine)?.tiles();
        Ok(tiles.map_or(nrhs, |tiles| tiles.nb.min(nrhs.div_ceil(machine.workers + machine.devices))).max(1))
    }

    /// Sets the tile size.
    #[must_use]
    pub fn block_size(self, block_size: BlockSize) -> Self {
        Self { block_size, ..self }
    }

    /// Sets how the matrix that a routine changes is distributed over the runtime's devices. By default, the
    /// environment variable `SUPERSCALAR_DISTRIBUTION` is used. If it is not set either, the distribution is
    /// [`Distribution::None`], with two exceptions on accelerators. A matrix that is factored is distributed by block
    /// columns: cyclically if the accelerators are equally fast, otherwise in proportion to their capability weights. A
    /// Level-3 routine on several accelerators is [planned](Distribution::Planned).
    #[must_use]
    pub fn distribution(self, distribution: Distribution) -> Self {
        Self { distribution: Some(distribution), ..self }
    }

    /// Sets what the plans of [planned](Distribution::Planned) products of host matrices use. It has no effect on other
    /// routines, and on functions that insert tasks.
    #[must_use]
    pub fn plan_features(self, plan_features: PlanFeatures) -> Self {
        Self { plan_features, ..self }
    }
}

/// Distribution of an updated matrix over the devices of a runtime. Without devices it has no effect.
///
/// ```
/// use superscalar::dla::Distribution;
/// assert_eq!("guided".parse(), Ok(Distribution::Guided));
/// assert!("fair".parse::<Distribution>().unwrap_err().to_string().contains("block-column-cyclic"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// No distribution: the scheduling policy chooses a device for each task.
    #[default]
    None,
    /// Block columns are dealt cyclically; each device gets the same number.
    BlockColumnCyclic,
    /// Tiles are dealt cyclically over a two-dimensional grid of devices, as square as their number allows. A matrix in
    /// block columns has one row of tiles, so its columns are dealt cyclically.
    TwoDimensionalCyclic,
    /// Block columns are dealt in proportion to the devices' capability weights (for example 10 : 8 : 5). Weights are
    /// measured, or taken from the driver's directives until measurements exist. If measured weights change while a
    /// factorization runs, the remaining columns are dealt again.
    Guided,
    /// A product is planned before it runs: each device gets a block of the result and an order of its tasks, and each
    /// tile a route through the memories that need it. The order follows measured rates, so the last bits of a result
    /// may differ from one call to the next. Tasks of the same scope with a priority of zero run behind the product's.
    ///
    /// A product is left to the scheduling policy if the devices are not equally fast, have no links to each other,
    /// cannot hold a small part of it, if a given block size makes thousands of products for each device, or if the
    /// policy does not [follow homes](superscalar_runtime::Policy::follows_homes).
    ///
    /// Of the other Level-3 routines, the result is dealt to the devices on the same conditions, in whole columns or
    /// rows where these depend on each other, and each tile of the other operands is copied from the host once, from
    /// one device to the next. For factorizations it means [`None`](Self::None).
    Planned,
}

/// What the plan of a [planned](Distribution::Planned) product uses: everything, unless a measurement is to show what
/// one of these gains.
///
/// ```
/// use superscalar::dla::{Options, PlanFeatures};
/// let options = Options::default().plan_features(PlanFeatures { late_result: false, ..PlanFeatures::default() });
/// ```
///
/// (P. Anastasiadis et al., "Uncut-GEMMs", sections III-D to III-G.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlanFeatures {
    /// Copies follow planned routes, to several devices in a chain. Otherwise the runtime chooses each source when the
    /// copy is issued.
    pub routes: bool,
    /// A device takes its products in the order in which their factors arrive. Otherwise it completes the tiles of C
    /// row by row.
    pub arrival_order: bool,
    /// If products would have to wait for a tile of C in host memory, they are summed apart from it, and it is fetched
    /// and added at the end. Otherwise it is fetched before the first product.
    pub late_result: bool,
}

impl Default for PlanFeatures {
    fn default() -> Self {
        Self { routes: true, arrival_order: true, late_result: true }
    }
}

impl Distribution {
    /// All distributions.
    pub const ALL: [Self; 5] =
        [Self::None, Self::BlockColumnCyclic, Self::TwoDimensionalCyclic, Self::Guided, Self::Planned];

    /// Returns the name that is used in options and in the environment.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::BlockColumnCyclic => "block-column-cyclic",
            Self::TwoDimensionalCyclic => "2d-cyclic",
            Self::Guided => "guided",
            Self::Planned => "planned",
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// Error returned when a text is not the name of a distribution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown distribution `{0}`; expected one of {names}",
    names = Distribution::ALL.map(Distribution::as_str).join(", ")
)]
pub struct UnknownDistribution(String);

impl FromStr for Distribution {
    type Err = UnknownDistribution;

    fn from_str(name: &str) -> Result<Self, UnknownDistribution> {
        let found = Self::ALL.into_iter().find(|distribution| distribution.as_str() == name);
        found.ok_or_else(|| UnknownDistribution(name.to_owned()))
    }
}
