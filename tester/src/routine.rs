//! What the tester knows about a routine.

use crate::case::{Case, Parameter};
use crate::operand::{Maker, Operands};
use crate::ours::Ours;
use crate::peer::Call;
use crate::resident::{Cut, Timed};
use superscalar_dla::Scalar;
use superscalar_oracle::COLUMNS_MAX;

/// A BLAS or LAPACK routine: how to make its operands, call it, call a peer's, and judge the result.
pub trait Routine {
    /// Its name without the type's letter.
    const NAME: &'static str;
    /// The parameters that it takes.
    const USES: &'static [Parameter];
    /// Up to this size every element of the residual is looked at, above it is probed.
    const PRODUCTS_MAX: usize = COLUMNS_MAX;
    /// How matrices on devices are cut for it; none if it is not called with such.
    const CUT: Option<Cut> = None;

    /// Why there is no such routine in this type, if there is none.
    fn absent<T: Scalar>() -> Option<&'static str> {
        None
    }

    /// Whether the routine takes the letters of the case in this type; the plain transpose of a complex herk, for one, is
    /// nothing that it takes. Such cases are left out.
    fn admits<T: Scalar>(_case: &Case) -> bool {
        true
    }

    /// Multiplications and additions, from LAPACK Working Note 41. Where nothing is multiplied, each element that is
    /// touched counts as an addition.
    fn operations(case: &Case) -> Operations;

    /// Random operands; `None` when there is no memory for them.
    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>>;

    /// Our call.
    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error>;

    /// Our call with the operands on devices, timed without the copies there and back. Called where [`CUT`](Self::CUT) says how.
    fn resident<T: Scalar>(_ours: &Ours<'_>, _case: &Case, _operands: &mut Operands<T>) -> Timed {
        unreachable!("there is no cut for matrices on devices")
    }

    /// A peer's call with the same operands.
    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> Call<'a, T>;

    /// The scaled residual of the result `after` for the operands `before`, to be compared with [`ROUNDINGS_MAX`]. NaN
    /// fails. It may not use the routine itself.
    ///
    /// [`ROUNDINGS_MAX`]: superscalar_oracle::ROUNDINGS_MAX
    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64;

    /// Inputs without an ordinary result, derived from ordinary ones. Called for small cases only.
    fn defects<T: Scalar>(_case: &Case, _ordinary: &Operands<T>) -> Vec<Defect<T>> {
        Vec::new()
    }
}

/// Numbers of operations of a routine, in its own type.
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
    /// Real operations, if the elements are `T`.
    pub fn flops<T: Scalar>(self) -> f64 {
        self.multiplications * f64::from(T::FLOPS_MUL) + self.additions * f64::from(T::FLOPS_ADD)
    }
}

impl Operations {
    /// So many elements that are touched, each counted as one addition.
    pub fn touching(elements: f64) -> Self {
        Self { multiplications: 0.0, additions: elements }
    }

    /// As many additions as multiplications.
    pub fn pairs(count: f64) -> Self {
        Self { multiplications: count, additions: count }
    }
}

/// An input without an ordinary result, or with a rule of its own.
pub struct Defect<T> {
    pub name: &'static str,
    /// The case, of which alpha or beta may differ.
    pub case: Case,
    pub operands: Operands<T>,
    pub expected: Expected,
}

/// What a routine must do with a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Return this info, as LAPACK does.
    Info(usize),
    /// Return this info, with a result that passes the check of an ordinary one.
    Completed(usize),
    /// Return an ordinary result: what was put into the operands must not show.
    Ordinary,
    /// Return, with an info or with NaN in the result.
    NotANumber,
}
