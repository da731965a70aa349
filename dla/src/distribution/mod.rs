//! Distributions of tiles over the devices of a runtime.
//!
//! A tile that was dealt to a device is updated there, so it stays in that device's memory from one update to the next.
//! The [home](superscalar_runtime::Home) is a hint that device-aware policies follow. Without homes, each update may
//! have to fetch its tile first.
//!
//! | file | contents |
//! |---|---|
//! | `deal.rs` | how columns are dealt in proportion to rates |
//! | `weights.rs` | capability weights of the devices |
//! | `columns.rs` | homes of a factorization's block columns, and redistribution while it runs |
//!
//! (task-superscalar paper, section 5.2: 1-D block-column cyclic distribution, and hardware-guided data distribution.)

mod columns;
mod deal;
mod weights;

pub(crate) use columns::ColumnDistributor;
pub(crate) use deal::Grid;

use crate::{
    codelets::cost_of_product,
    error::Error,
    options::{Distribution, Options},
    plan::{self, Machine},
    tiled::Tiled,
};
use std::ffi::OsStr;
use superscalar_kernels::{MatMut, Scalar};
use superscalar_runtime::{Cost, Nesting, Resource, Runtime, Scope, environment};

/// Environment variable that names a distribution.
const VARIABLE: &str = "SUPERSCALAR_DISTRIBUTION";

impl Distribution {
    /// Returns whether a matrix for a Cholesky factorization should lie in block columns. It should if columns have
    /// homes, and on accelerators, for which square tiles are too many small tasks, unless a 2-D grid of several
    /// accelerators was requested.
    pub(crate) fn is_by_columns(self, machine: &Machine) -> bool {
        match self {
            Self::BlockColumnCyclic | Self::Guided => true,
            Self::None | Self::Planned => machine.has_accelerator(),
            Self::TwoDimensionalCyclic => machine.has_accelerator() && machine.devices == 1,
        }
    }

    /// Parses the value of the environment variable.
    fn from_environment(text: Option<&OsStr>) -> Result<Option<Self>, Error> {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
        let name = text.to_str().ok_or_else(|| Error::argument(format!("{VARIABLE} is not UTF-8")))?;
        name.parse().map(Some).map_err(|error| Error::argument(format!("{VARIABLE}={name}: {error}")))
    }
}

impl Options {
    /// Returns the distribution of a matrix over this runtime's devices: from these options, or else from the
    /// environment.
    ///
    /// # Errors
    /// If the environment names an unknown distribution.
    pub(crate) fn distribution_over(&self, rt: &Runtime) -> Result<Distribution, Error> {
        self.distribution_or(rt, || Distribution::None)
    }

    /// Returns the distribution of the result of a product. The default on several accelerators is a plan.
    ///
    /// # Errors
    /// If the environment names an unknown distribution.
    pub(crate) fn distribution_of_product(&self, rt: &Runtime) -> Result<Distribution, Error> {
        self.distribution_or(rt, || {
            let devices = rt.devices();
            let is_planned = devices.len() > 1 && plan::are_accelerators(&devices);
            if is_planned { Distribution::Planned } else { Distribution::None }
        })
    }

    /// Returns the distribution of a matrix that is factored. The default on accelerators is by block columns: the
    /// panels and their updates are then few and large, and a column stays on its device.
    ///
    /// # Errors
    /// If the environment names an unknown distribution.
    pub(crate) fn distribution_of_factorization(&self, rt: &Runtime) -> Result<Distribution, Error> {
        self.distribution_or(rt, || {
            let devices = rt.devices();
            let are_alike = devices.windows(2).all(|pair| pair[0].speed.flops_per_s == pair[1].speed.flops_per_s);
            match (plan::has_accelerator(&devices), are_alike) {
                (false, _) => Distribution::None,
                (true, true) => Distribution::BlockColumnCyclic,
                (true, false) => Distribution::Guided,
            }
        })
    }

    /// Returns the distribution from these options, the environment, or `default`; [`Distribution::None`] without
    /// devices.
    fn distribution_or(&self, rt: &Runtime, default: impl FnOnce() -> Distribution) -> Result<Distribution, Error> {
        match self.distribution {
            _ if !rt.has_devices() => Ok(Distribution::None),
            Some(distribution) => Ok(distribution),
            None => {
                let chosen = Distribution::from_environment(environment::variable(VARIABLE).as_deref())?;
                Ok(chosen.unwrap_or_else(default))
            }
        }
    }
}

/// Name and cost of the update kernel by which capability weights are compared.
pub(crate) type Update = (&'static str, Cost);

/// Returns the usual update: a product of m x k by k x n.
pub(crate) fn update_by_gemm<T: Scalar>(m: usize, n: usize, k: usize) -> Update {
    ("gemm", cost_of_product::<T>(m, n, k))
}

impl<'s, T: Scalar> Tiled<'s, MatMut<'s, T>> {
    /// Distributes the tiles over the devices of the scope's runtime. Routines respect the distribution; factorizations
    /// with a [guided](Distribution::Guided) distribution may change it while they run.
    ///
    /// ```
    /// use superscalar::Runtime;
    /// use superscalar::dla::{Distribution, Matrix, Tiled, spawn};
    ///
    /// let rt = Runtime::new()?;
    /// let (mut a, mut ipiv) = (Matrix::from_fn(300, 300, |i, j| if i == j { 9.0 } else { 0.01 }), [0; 300]);
    /// rt.scope(|s| {
    ///     let a = Tiled::columns(s, a.as_mut(), 64).distributed(s, Distribution::Guided);
    ///     spawn::getrf(s, &a, &mut ipiv);
    /// })?;
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    #[must_use]
    pub fn distributed(self, s: &'s Scope<'s, '_>, distribution: Distribution) -> Self {
        let ((m, n), (mb, nb)) = (self.shape(), self.tile_shape());
        self.deal(s.nesting(), distribution, update_by_gemm::<T>(mb.min(m), nb.min(n), nb.min(n)));
        self.with_distribution(distribution)
    }
}

impl<V> Tiled<'_, V> {
    /// Sets the homes of the tiles by the devices' rates for `update`.
    pub(crate) fn deal(&self, nesting: Nesting<'_>, distribution: Distribution, update: Update) {
        let homes = homes(nesting, distribution, (self.mt(), self.nt()), update);
        self.tiles().iter().zip(homes).for_each(|(tile, home)| tile.deal_to(Some(home)));
    }
}

/// Returns the homes of mt x nt tiles in column-major order, by the devices' rates for `update`; empty without a
/// distribution.
pub(crate) fn homes(
    nesting: Nesting<'_>,
    distribution: Distribution,
    (mt, nt): (usize, usize),
    update: Update,
) -> Vec<Resource> {
    let devices = nesting.devices().len();
    if matches!(distribution, Distribution::None | Distribution::Planned) || devices == 0 {
        return Vec::new();
    }
    let indices = (0..nt).flat_map(|j| (0..mt).map(move |i| (i, j)));
    if distribution == Distribution::TwoDimensionalCyclic && mt > 1 {
        let grid = deal::Grid::of(devices);
        return indices.map(|(i, j)| Resource::device(grid.at(i, j) as u16)).collect();
    }
    let weights = weights::for_distribution(nesting, distribution, update);
    let homes = deal::columns(&weights.rates(), nt);
    indices.map(|(_, j)| weights.resource(homes[j])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_names_a_distribution() {
        assert_eq!(Distribution::from_environment(None).ok(), Some(None));
        assert_eq!(Distribution::from_environment(Some(OsStr::new(""))).ok(), Some(None));
        for distribution in Distribution::ALL {
            let text = distribution.to_string();
            assert_eq!(Distribution::from_environment(Some(OsStr::new(&text))).ok(), Some(Some(distribution)));
        }
        let error = Distribution::from_environment(Some(OsStr::new("fair"))).expect_err("there is none").to_string();
        assert!(error.starts_with("SUPERSCALAR_DISTRIBUTION=fair") && error.contains("2d-cyclic"), "{error}");
    }
}
