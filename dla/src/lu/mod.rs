//! LU factorization with partial pivoting and the routines based on it.
//!
//! The matrix lies in block columns ([`Tiled::columns`](crate::Tiled::columns)), because a panel needs whole columns to
//! choose its pivots. The panels, and the interchanges, triangular solve and update of each block column, are tasks
//! (task-superscalar paper, section 3). The column that becomes the next panel goes first (lookahead).

pub(crate) mod gesv;
pub(crate) mod getrf;
pub(crate) mod getri;
pub(crate) mod getrs;

pub use getrf::Pivots;

use superscalar_macros::each_type;

/// The LU routines that are compiled for each element type.
#[each_type]
pub trait Lu:
    gesv::HasSpawn
    + gesv::HasGesv
    + gesv::HasSerial
    + getrf::HasSpawn
    + getrf::HasGetrf
    + getri::HasSpawn
    + getri::HasGetri
    + getri::HasSerial
    + getrs::HasSpawn
    + getrs::HasGetrs
    + getrs::HasSerial
{
}
