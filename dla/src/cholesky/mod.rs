//! Cholesky factorization and the routines based on it.

pub(crate) mod lauum;
pub(crate) mod posv;
pub(crate) mod potrf;
mod potrf_columns;
pub(crate) mod potri;
pub(crate) mod potrs;
pub(crate) mod trtri;
pub(crate) mod trtrs;

use superscalar_macros::each_type;

/// The Cholesky routines that are compiled for each element type.
#[each_type]
pub trait Cholesky:
    lauum::HasSpawn
    + lauum::HasLauum
    + posv::HasSpawn
    + posv::HasPosv
    + posv::HasSerial
    + potrf::HasSpawn
    + potrf::HasPotrf
    + potri::HasSpawn
    + potri::HasPotri
    + potri::HasSerial
    + potrs::HasSpawn
    + potrs::HasPotrs
    + potrs::HasSerial
    + trtri::HasSpawn
    + trtri::HasTrtri
    + trtrs::HasTrtrs
{
}
