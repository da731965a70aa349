//! [`Methods`]: a routine in one type as a table of functions. The code that drives and checks routines uses this
//! table, so it is compiled once for each type and not for each routine, which would make up most of this program.

use crate::case::{Case, Parameter};
use crate::operand::{Maker, Operands};
use crate::ours::Ours;
use crate::peer::FortranCall;
use crate::range::Dim;
use crate::resident::{DeviceTiling, Timed};
use crate::routine::{Defect, Operations, Routine};
use superscalar_dla::{Error, Scalar};
use superscalar_kernels::operations::BatchOperation;

/// The items of [`Routine`] for one routine and one type.
pub struct Methods<T: Scalar> {
    pub name: &'static str,
    pub uses: &'static [Parameter],
    pub products_max: usize,
    pub tiling: Option<DeviceTiling>,
    pub absent: Option<&'static str>,
    pub admits: fn(&Case) -> bool,
    pub operations: fn(&Case) -> Operations,
    pub operands: fn(&Case, &mut Maker) -> Option<Operands<T>>,
    pub ours: fn(&Ours<'_>, &Case, &mut Operands<T>) -> Result<(), Error>,
    pub resident: fn(&Ours<'_>, &Case, &mut Operands<T>) -> Timed,
    pub peer: for<'a> fn(&Case, &'a mut Operands<T>) -> FortranCall<'a, T>,
    pub residual: fn(&Case, &Operands<T>, &Operands<T>) -> f64,
    pub defects: fn(&Case, &Operands<T>) -> Vec<Defect<T>>,
    pub batched: fn(&Case) -> Option<BatchOperation<T>>,
}

impl<T: Scalar> Methods<T> {
    /// Returns the table of a routine.
    pub fn of<R: Routine>() -> Self {
        Self {
            name: R::NAME,
            uses: R::USES,
            products_max: R::PRODUCTS_MAX,
            tiling: R::DEVICE_TILING,
            absent: R::absent::<T>(),
            admits: R::admits::<T>,
            operations: R::operations,
            operands: R::operands,
            ours: R::ours,
            resident: R::resident,
            peer: R::peer,
            residual: R::residual,
            defects: R::defects,
            batched: R::batched,
        }
    }

    /// Returns the largest of the sizes that the routine uses.
    pub fn largest_size(&self, case: &Case) -> usize {
        let sizes = self.uses.iter().filter(|parameter| parameter.is_size());
        sizes.filter_map(|&parameter| case.value(parameter).parse().ok()).max().unwrap_or(0)
    }

    /// Returns how the residual of a case is evaluated, for rows.
    pub fn method(&self, case: &Case) -> &'static str {
        let Dim { m, n, k } = case.dim;
        let used = |parameter, size| if self.uses.contains(&parameter) { size } else { 0 };
        let size = used(Parameter::M, m).max(used(Parameter::N, n)).max(used(Parameter::K, k));
        if size <= self.products_max { "products" } else { "probes" }
    }
}
