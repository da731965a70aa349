//! The table of routines, with a file for each.
//!
//! To add a routine, add one file here with an implementation of [`Routine`], and one line in the table below. The
//! imports that all implementations need are here.

use crate::batch;
use crate::bench::Bench;
use crate::case::{Case, Coefficient, Parameter};
use crate::drive;
use crate::methods::Methods;
use crate::operand::{Keeps, Maker, Operand, Operands, slice};
use crate::ours::Ours;
use crate::peer::FortranCall;
use crate::range::Dim;
use crate::report::Row;
use crate::resident::{self, DeviceTiling, Timed};
use crate::routine::{Defect, Expected, Operations, Routine};
use crate::types::{Type, with_type};
use superscalar_dla::{Scalar, spawn};
use superscalar_kernels::Op;
use superscalar_kernels::operations::BatchOperation;

/// A routine in the table.
pub struct RoutineEntry {
    pub name: &'static str,
    pub uses: &'static [Parameter],
    pub has_batch_form: bool,
    /// Runs a case in one type. Returns one row, or with peers one row for each peer.
    pub run: fn(&Bench<'_>, Type, &Case) -> Vec<Row>,
}

/// Returns LAPACK's letter for an operation on a matrix. For real matrices, both transposes have the letter T.
fn letter_of<T: Scalar>(op: Op) -> char {
    if T::COMPLEX || op == Op::None { op.letter() } else { Op::Trans.letter() }
}

/// Lists the files and the routines in them.
macro_rules! routines {
    ($($file:ident { $($routine:ident)+ })*) => {
        $(mod $file;)*

        /// All routines of the tester.
        pub static TABLE: &[RoutineEntry] = &[$($(RoutineEntry {
            name: <$file::$routine as Routine>::NAME,
            uses: <$file::$routine as Routine>::USES,
            has_batch_form: <$file::$routine as Routine>::HAS_BATCH_FORM,
            run: |bench, letter, case| with_type!(letter, T => {
                let methods = Methods::<T>::of::<$file::$routine>();
                match bench.setting.batch {
                    None => drive::run(&methods, bench, letter, case),
                    Some(batch) => batch::run(&methods, bench, letter, case, batch),
                }
            }),
        }),+),*];

        #[cfg(test)]
        mod tests {
            $($(
                #[allow(non_snake_case, reason = "named for the routine")]
                mod $routine {
                    use super::super::{$file::$routine as R, Methods, Type, with_type};

                    #[test]
                    fn checks_can_fail() {
                        for letter in Type::ALL {
                            with_type!(letter, T => crate::drive::tests::checks_can_fail(&Methods::<T>::of::<R>()));
                        }
                    }

                    #[test]
                    fn batch_checks_can_fail() {
                        let has_batch_form = <R as super::super::Routine>::HAS_BATCH_FORM;
                        for letter in Type::ALL {
                            with_type!(letter, T => {
                                crate::batch::tests::checks_can_fail(&Methods::<T>::of::<R>(), has_batch_form);
                            });
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
    gemv { Gemv }
    gemmt { Gemmt }
    symm { Symm Hemm }
    syrk { Syrk Herk }
    syr2k { Syr2k Her2k }
    trmm { Trmm Trsm }
    trsv { Trsv }
    potrf { Potrf }
    potrs { Potrs }
    posv { Posv }
    pocon { Pocon }
    potri { Potri }
    trtri { Trtri }
    trtrs { Trtrs }
    lauum { Lauum }
    getrf { Getrf }
    getrf_nopiv { GetrfNopiv }
    getrs { Getrs }
    gesv { Gesv }
    getri { Getri }
    gecon { Gecon }
    geqrf { Geqrf Gelqf }
    gebrd { Gebrd }
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
