//! Norms, copies, sums and interchanges of matrices: LAPACK's auxiliary routines, on block columns.
//!
//! They touch each element once or twice, so that memory is their limit, and block columns are all the tasks they need.

pub(crate) mod geadd;
pub(crate) mod lacpy;
pub(crate) mod lange;
pub(crate) mod laset;
pub(crate) mod laswp;
pub(crate) mod swap;

use superscalar_kernels::{Part, Uplo};
use superscalar_macros::each_type;

/// These routines, for one type of element.
#[each_type]
pub trait Auxiliary:
    geadd::HasSubmit
    + geadd::HasGeadd
    + lacpy::HasSubmit
    + lacpy::HasLacpy
    + lange::HasSubmitLange
    + lange::HasSubmitLansy
    + lange::HasSubmitLanhe
    + lange::HasSubmitLantr
    + lange::HasLange
    + lange::HasLansy
    + lange::HasLanhe
    + lange::HasLantr
    + lange::HasSerialLange
    + lange::HasSerialLansy
    + lange::HasSerialLanhe
    + lange::HasSerialLantr
    + laset::HasSubmit
    + laset::HasLaset
    + laswp::HasSubmit
    + laswp::HasLaswp
    + swap::HasSubmit
    + swap::HasSwap
{
}

/// The part that is this triangle.
pub(crate) fn part_of(uplo: Uplo) -> Part {
    if uplo == Uplo::Lower { Part::Lower } else { Part::Upper }
}
