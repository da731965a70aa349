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
    geadd::HasSpawn
    + geadd::HasGeadd
    + lacpy::HasSpawn
    + lacpy::HasLacpy
    + lange::HasSpawnLange
    + lange::HasSpawnLansy
    + lange::HasSpawnLanhe
    + lange::HasSpawnLantr
    + lange::HasLange
    + lange::HasLansy
    + lange::HasLanhe
    + lange::HasLantr
    + lange::HasSerialLange
    + lange::HasSerialLansy
    + lange::HasSerialLanhe
    + lange::HasSerialLantr
    + laset::HasSpawn
    + laset::HasLaset
    + laswp::HasSpawn
    + laswp::HasLaswp
    + swap::HasSpawn
    + swap::HasSwap
{
}

/// The part that is this triangle.
pub(crate) fn part_of(uplo: Uplo) -> Part {
    if uplo == Uplo::Lower { Part::Lower } else { Part::Upper }
}
