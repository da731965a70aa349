//! Every routine for the four types of element.
//!
//! Nobody calls them here. They are compiled with this crate so that programs without optimisation, such as its tests, which share what the crates below
//! them have compiled, need not compile each of them once more: the tester took twice as long. Optimised programs share nothing.

use crate::{
    geadd, gecon, gelqf, gels, gemm, gemmt, geqrf, gesv, gesv_mixed, getrf, getri, getrs, hemm, her2k, herk, lacpy,
    lange, lanhe, lansy, lantr, laset, laswp, lauum, pocon, posv, posv_mixed, potrf, potri, potrs, swap, symm, syr2k,
    syrk, trmm, trsm, trtri, tsqr, ungqr, unmlq, unmqr,
};
use num_complex::{Complex32, Complex64};
use std::sync::atomic::AtomicPtr;

macro_rules! instances {
    ($element:ty: $($routine:ident)*) => { [$(AtomicPtr::new($routine::<$element> as *mut ())),*] };
    ($($element:ty),*) => {
        [$(instances![
            $element: geadd gecon gelqf gels gemm gemmt geqrf gesv getrf getri getrs hemm her2k herk lacpy lange lanhe lansy lantr laset
                laswp lauum pocon posv potrf potri potrs swap symm syr2k syrk trmm trsm trtri tsqr ungqr unmlq unmqr
        ]),*]
    };
}

#[used]
static ALL: [[AtomicPtr<()>; 38]; 4] = instances![f32, f64, Complex32, Complex64];

#[used]
static MIXED: [[AtomicPtr<()>; 2]; 2] =
    [instances![f64: gesv_mixed posv_mixed], instances![Complex64: gesv_mixed posv_mixed]];
