//! What the tester knows about a routine, and the table of all of them.
//!
//! Adding a routine is one file in `routine/`, an implementation of [`Routine`], and one line in the table below.

use crate::case::{Case, Parameter};
use crate::drive::{self, Bench};
use crate::methods::Methods;
use crate::operand::{Maker, Operands};
use crate::peer::Call;
use crate::report::Row;
use crate::resident::{Cut, Timed};
use crate::sum::COLUMNS_MAX;
use crate::types::{Type, with_type};
use superscalar_dla::{Distribution, Options, Scalar};
use superscalar_kernels::Op;
use superscalar_runtime::Runtime;

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
    /// How matrices on devices are distributed, if that was said.
    pub distribution: Option<Distribution>,
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

/// A routine in the table.
pub struct Entry {
    pub name: &'static str,
    pub uses: &'static [Parameter],
    /// Runs a case in one type: a row without peers, or a row per peer.
    pub run: fn(&Bench<'_>, Type, &Case) -> Vec<Row>,
}

/// LAPACK's letter for what is done to a matrix, where it has only one for both transposes of a real one.
fn letter_of<T: Scalar>(op: Op) -> char {
    if T::COMPLEX || op == Op::None { op.letter() } else { Op::Trans.letter() }
}

pub use mixed::share_of_steps;

/// Lists the routines: each file and the types in it.
macro_rules! routines {
    ($($file:ident { $($routine:ident)+ })*) => {
        $(mod $file;)*

        /// Every routine that the tester knows.
        pub static TABLE: &[Entry] = &[$($(Entry {
            name: <$file::$routine as Routine>::NAME,
            uses: <$file::$routine as Routine>::USES,
            run: |bench, letter, case| with_type!(letter, T => {
                drive::run(&Methods::<T>::of::<$file::$routine>(), bench, letter, case)
            }),
        }),+),*];

        #[cfg(test)]
        mod tests {
            $($(
                #[allow(non_snake_case, reason = "named for the routine")]
                mod $routine {
                    use super::super::{$file::$routine as R, Methods, Type, with_type};

                    #[test]
                    fn its_checks_can_fail() {
                        for letter in Type::ALL {
                            with_type!(letter, T => crate::drive::tests::checks_can_fail(&Methods::<T>::of::<R>()));
                        }
                    }
                }
            )+)*
        }
    };
}

mod defect;
#[cfg(test)]
mod planted;

routines! {
    gemm { Gemm }
    gemmt { Gemmt }
    symm { Symm Hemm }
    syrk { Syrk Herk }
    syr2k { Syr2k Her2k }
    trmm { Trmm Trsm }
    potrf { Potrf }
    potrs { Potrs }
    posv { Posv }
    pocon { Pocon }
    potri { Potri }
    trtri { Trtri }
    lauum { Lauum }
    getrf { Getrf }
    getrs { Getrs }
    gesv { Gesv }
    getri { Getri }
    gecon { Gecon }
    geqrf { Geqrf Gelqf }
    tsqr { Tsqr }
    unmqr { Unmqr Unmlq }
    ungqr { Ungqr }
    gels { Gels }
    mixed { GesvMixed PosvMixed }
    lange { Lange Lansy Lanhe Lantr }
    lacpy { Lacpy }
    geadd { Geadd }
    laset { Laset }
    laswp { Laswp }
    swap { Swap }
}
