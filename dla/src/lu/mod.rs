//! LU factorization with partial pivoting, and what is built on it.
//!
//! The matrix lies in block columns ([`Tiled::columns`](crate::Tiled::columns)), because a panel needs its whole column to
//! choose pivots. A panel, the interchanges, the triangular solve and the update of each block column are tasks
//! (task-superscalar paper, section 3); the column that becomes the next panel goes first, which is the lookahead.

pub(crate) mod gesv;
pub(crate) mod getrf;
pub(crate) mod getri;
pub(crate) mod getrs;

pub use getrf::Pivots;

use superscalar_macros::each_type;

/// These routines, for one type of element.
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
