//! The description of a routine.

use crate::case::{Case, Parameter};
use crate::operand::{Maker, Operands};
use crate::ours::Ours;
use crate::peer::FortranCall;
use crate::resident::{DeviceTiling, Timed};
use superscalar_dla::Scalar;
use superscalar_kernels::operations::BatchOperation;
use superscalar_oracle::COLUMNS_MAX;

/// A BLAS or LAPACK routine: makes its operands, calls it, calls a peer's, and computes the residual.
pub trait Routine {
    /// Its name without the type's letter.
    const NAME: &'static str;
    /// The parameters that it takes.
    const USES: &'static [Parameter];
    /// Up to this size every element of the residual is evaluated; above, it is probed.
    const PRODUCTS_MAX: usize = COLUMNS_MAX;
    /// The layout of matrices on devices; `None` if the routine is not called with such matrices.
    const DEVICE_TILING: Option<DeviceTiling> = None;

    /// Returns the reason if there is no such routine in this type.
    fn absent<T: Scalar>() -> Option<&'static str> {
        None
    }

    /// Returns whether the routine takes the case's letters in this type. For example, a complex herk does not take the
    /// plain transpose. Such cases are left out.
    fn admits<T: Scalar>(_case: &Case) -> bool {
        true
    }

    /// Returns the number of multiplications and additions, from LAPACK Working Note 41. If nothing is multiplied, each
    /// accessed element counts as an addition.
    fn operations(case: &Case) -> Operations;

    /// Makes random operands; `None` if there is not enough memory.
    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>>;

    /// Calls our library.
    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error>;

    /// Calls our library with the operands on devices. Copies to and from the devices are not timed. Only called if
    /// [`DEVICE_TILING`](Self::DEVICE_TILING) is set.
    fn resident<T: Scalar>(_ours: &Ours<'_>, _case: &Case, _operands: &mut Operands<T>) -> Timed {
        unreachable!("the routine has no layout for matrices on devices")
    }

    /// Returns the argument list of a peer's call with the same operands.
    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T>;

    /// Returns the scaled residual of the result `after` for the operands `before`, to be compared with
    /// [`ROUNDINGS_MAX`]. NaN fails. An implementation must not use the routine itself.
    ///
    /// [`ROUNDINGS_MAX`]: superscalar_oracle::ROUNDINGS_MAX
    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64;

    /// Whether there is a form for batches.
    const HAS_BATCH_FORM: bool = false;

    /// Returns the operation that computes every problem of a batch; `None` if the form for batches does not take the
    /// case's letters.
    fn batched<T: Scalar>(_case: &Case) -> Option<BatchOperation<T>> {
        None
    }

    /// Returns inputs with defects, derived from ordinary ones. Called for small cases only.
    fn defects<T: Scalar>(_case: &Case, _ordinary: &Operands<T>) -> Vec<Defect<T>> {
        Vec::new()
    }
}

/// The numbers of operations of a routine, in the element type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operations {
    pub multiplications: f64,
    pub additions: f64,
}

impl std::ops::Add for Operations {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            multiplications: self.multiplications + other.multiplications,
            additions: self.additions + other.additions,
        }
    }
}

impl Operations {
    /// Returns the number of real operations for elements of type `T`.
    pub fn flops<T: Scalar>(self) -> f64 {
        self.multiplications * f64::from(T::FLOPS_MUL) + self.additions * f64::from(T::FLOPS_ADD)
    }
}

impl Operations {
    /// Counts each accessed element as one addition.
    pub fn touching(elements: f64) -> Self {
        Self { multiplications: 0.0, additions: elements }
    }

    /// Counts as many additions as multiplications.
    pub fn pairs(count: f64) -> Self {
        Self { multiplications: count, additions: count }
    }
}

/// An input without an ordinary result, or to which a special rule applies.
pub struct Defect<T> {
    pub name: &'static str,
    /// The case, possibly with another alpha or beta.
    pub case: Case,
    pub operands: Operands<T>,
    pub expected: Expected,
}

/// The expected result for a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// This info, as LAPACK returns.
    Info(usize),
    /// This info, with a result that passes the check of an ordinary one.
    Completed(usize),
    /// An ordinary result: the value put into the operands must not affect it.
    Ordinary,
    /// An info, or NaN in the result.
    NotANumber,
}
