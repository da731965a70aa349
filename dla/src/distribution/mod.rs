//! Whose work which part of a matrix is: distributions of tiles over the devices of a runtime.
//!
//! A tile that was dealt to a device is updated there, and so stays in its memory from one update to the next; its
//! [home](superscalar_runtime::Home) is a hint, which the policies that know of devices follow. What it is worth to know beforehand:
//! with tiles that wander, each update may have to fetch its tile first.
//!
//! | file | what is in it |
//! |---|---|
//! | `deal.rs` | how columns are dealt: arithmetic alone |
//! | `weights.rs` | what the devices are capable of |
//! | `columns.rs` | the homes of a factorization's block columns, and dealing them anew while it runs |
//!
//! (task-superscalar paper, section 5.2: 1-D block-column cyclic distribution, and hardware-guided data distribution.)

mod columns;
mod deal;
mod weights;

pub(crate) use columns::Dealer;

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

/// The environment variable that names a distribution.
const VARIABLE: &str = "SUPERSCALAR_DISTRIBUTION";

impl Distribution {
    /// Whether a matrix that is factored by Cholesky's lies in block columns: where whole columns have a home, and on accelerators, to which
    /// square tiles are too many small tasks, unless a grid of several of them is asked for.
    pub(crate) fn is_by_columns(self, machine: &Machine) -> bool {
        match self {
            Self::BlockColumnCyclic | Self::Guided => true,
            Self::None => machine.has_accelerator,
            Self::TwoDimensionalCyclic => machine.has_accelerator && machine.devices == 1,
        }
    }

    /// What the environment says.
    fn from_environment(text: Option<&OsStr>) -> Result<Option<Self>, Error> {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
        let name = text.to_str().ok_or_else(|| Error::argument(format!("{VARIABLE} is not UTF-8")))?;
        name.parse().map(Some).map_err(|error| Error::argument(format!("{VARIABLE}={name}: {error}")))
    }
}

impl Options {
    /// How the matrix is distributed over this runtime's devices: as was chosen here, or else in the environment.
    ///
    /// # Errors
    /// If the environment names a distribution that there is not.
    pub(crate) fn distribution_over(&self, rt: &Runtime) -> Result<Distribution, Error> {
        self.distribution_or(rt, || Distribution::None)
    }

    /// The same for a matrix that is factored: where nothing was chosen, accelerators have its block columns. A panel and all updates by it are
    /// then few and large, and a column stays where it is.
    ///
    /// # Errors
    /// As above.
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

    /// What was chosen here, or else in the environment, or else by default; nothing without devices.
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

/// A kernel, and what one call of it costs, by which weights are told from each other.
pub(crate) type Update = (&'static str, Cost);

/// The product of m x k by k x n that most updates are.
pub(crate) fn update_by_gemm<T: Scalar>((m, n, k): (usize, usize, usize)) -> Update {
    ("gemm", cost_of_product::<T>(m, n, k))
}

impl<'s, T: Scalar> Tiled<'s, MatMut<'s, T>> {
    /// Deals the tiles to the devices of the scope's runtime. Routines that are given the matrix follow it: those that can deal
    /// their columns [anew](Distribution::Guided) while they run do.
    ///
    /// ```
    /// use superscalar::dla::{Distribution, Matrix, Tiled, spawn};
    /// use superscalar::Runtime;
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
        self.deal(s.nesting(), distribution, update_by_gemm::<T>((mb.min(m), nb.min(n), nb.min(n))));
        self.with_distribution(distribution)
    }

    /// Sets the tiles' homes, by what the devices can do with such updates.
    fn deal(&self, nesting: Nesting<'_>, distribution: Distribution, update: Update) {
        let homes = homes(nesting, distribution, (self.mt(), self.nt()), update);
        self.tiles().iter().zip(homes).for_each(|(tile, home)| tile.deal_to(Some(home)));
    }
}

/// The homes of mt x nt tiles, by columns, by what the devices can do with such updates; none if nothing is dealt.
pub(crate) fn homes(
    nesting: Nesting<'_>,
    distribution: Distribution,
    (mt, nt): (usize, usize),
    update: Update,
) -> Vec<Resource> {
    let devices = nesting.devices().len();
    if distribution == Distribution::None || devices == 0 {
        return Vec::new();
    }
    let places = (0..nt).flat_map(|j| (0..mt).map(move |i| (i, j)));
    if distribution == Distribution::TwoDimensionalCyclic && mt > 1 {
        let grid = deal::Grid::of(devices);
        return places.map(|(i, j)| Resource::device(grid.at(i, j) as u16)).collect();
    }
    let weights = weights::of(nesting, distribution, update);
    let homes = deal::columns(&weights.rates(), nt);
    places.map(|(_, j)| weights.resource(homes[j])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_a_distribution_or_is_told_which_there_are() {
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
