//! What the tester knows about a routine, and the table of all of them.
//!
//! Adding a routine is one file in `routine/`, an implementation of [`Routine`], and one line in the table below.

use crate::case::{Case, Parameter};
use crate::drive::{self, Bench};
use crate::operand::{Maker, Operands};
use crate::peer::Call;
use crate::report::Row;
use crate::types::{Type, with_type};
use superscalar_dla::Options;
use superscalar_kernels::Scalar;
use superscalar_runtime::Runtime;

/// A BLAS or LAPACK routine: how to make its operands, call it, call a peer's, and judge the result.
pub trait Routine {
    /// Its name without the type's letter.
    const NAME: &'static str;
    /// The parameters that it takes.
    const USES: &'static [Parameter];

    /// Multiplications and additions, from LAPACK Working Note 41.
    fn operations(case: &Case) -> Operations;

    /// Random operands; `None` when there is no memory for them.
    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>>;

    /// Our call.
    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error>;

    /// A peer's call with the same operands.
    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> Call<'a, T>;

    /// The scaled residual of the result `after` for the operands `before`, to be compared with [`check::BOUND`]. NaN
    /// fails. It may not use the routine itself.
    ///
    /// [`check::BOUND`]: crate::check::BOUND
    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64;

    /// Inputs without an ordinary result, derived from ordinary ones. Called for small cases only.
    fn defects<T: Scalar>(_case: &Case, _ordinary: &Operands<T>) -> Vec<Defect<T>> {
        Vec::new()
    }
}

/// How our library is called.
pub struct Ours<'a> {
    pub runtime: &'a Runtime,
    pub options: Options,
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

/// An input without an ordinary result.
pub struct Defect<T> {
    pub name: &'static str,
    pub operands: Operands<T>,
    pub expected: Expected,
}

/// What a routine must do with a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Return this info, as LAPACK does.
    Info(usize),
    /// Return, with an info or with NaN in the result.
    NotANumber,
}

/// A routine in the table.
pub struct Entry {
    pub name: &'static str,
    pub uses: &'static [Parameter],
    /// Runs a case in one type: a row without peers, or a row per peer.
    pub run: fn(&Bench<'_>, Type, &Case) -> Vec<Row>,
}

/// Lists the routines: the file and the type in it.
macro_rules! routines {
    ($($file:ident::$routine:ident),* $(,)?) => {
        $(mod $file;)*

        /// Every routine that the tester knows.
        pub static TABLE: &[Entry] = &[$(Entry {
            name: <$file::$routine as Routine>::NAME,
            uses: <$file::$routine as Routine>::USES,
            run: |bench, letter, case| with_type!(letter, T => drive::run::<$file::$routine, T>(bench, letter, case)),
        }),*];

        #[cfg(test)]
        mod tests {
            $(mod $file {
                use super::super::{$file::$routine as R, Type, with_type};

                #[test]
                fn its_checks_can_fail() {
                    for letter in Type::ALL {
                        with_type!(letter, T => crate::drive::tests::checks_can_fail::<R, T>());
                    }
                }
            })*
        }
    };
}

routines! {
    potrf::Potrf,
    potrs::Potrs,
    posv::Posv,
}
