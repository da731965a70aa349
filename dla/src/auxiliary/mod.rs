//! LAPACK's auxiliary routines on block columns: norms, copies, sums and interchanges.
//!
//! They touch each element once or twice, so memory bandwidth limits them, and block columns provide enough
//! parallelism.

pub(crate) mod geadd;
pub(crate) mod lacpy;
pub(crate) mod lange;
pub(crate) mod laset;
pub(crate) mod laswp;
pub(crate) mod swap;

use superscalar_kernels::{Part, Uplo};
use superscalar_macros::each_type;

/// The auxiliary routines that are compiled for each element type.
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

/// Returns the part that is this triangle.
pub(crate) fn triangle_part(uplo: Uplo) -> Part {
    if uplo == Uplo::Lower { Part::Lower } else { Part::Upper }
}
