//! QR factorization and the routines based on it.
//!
//! The matrix lies in block columns ([`Tiled::columns`](crate::Tiled::columns)), as for LU. A panel becomes a block of
//! Householder reflectors, Q = I − V T Vᴴ (compact WY, Schreiber and Van Loan 1989). It is applied to the other block
//! columns by products only: the triangle of V is completed with ones and zeros, so that gemm replaces trmm
//! (task-superscalar paper, section 5.3).

pub(crate) mod gelqf;
pub(crate) mod gels;
pub(crate) mod geqrf;
pub(crate) mod tsqr;
pub(crate) mod unglq;
pub(crate) mod ungqr;
pub(crate) mod unmlq;
pub(crate) mod unmqr;

pub use gelqf::RowReflectors;
pub use geqrf::Reflectors;
pub use tsqr::TsqrFactors;

use superscalar_macros::each_type;

/// The QR routines that are compiled for each element type.
#[each_type]
pub trait Qr:
    gelqf::HasSpawn
    + gelqf::HasGelqf
    + gelqf::HasSerial
    + gels::HasSpawn
    + gels::HasGels
    + gels::HasSerial
    + geqrf::HasSpawn
    + geqrf::HasGeqrf
    + geqrf::HasSerial
    + tsqr::HasSpawn
    + tsqr::HasTsqr
    + tsqr::HasNewTree
    + tsqr::HasApplyTree
    + unglq::HasSpawn
    + unglq::HasUnglq
    + unglq::HasSerial
    + ungqr::HasSpawn
    + ungqr::HasUngqr
    + ungqr::HasSerial
    + unmlq::HasRowReflectors
    + unmlq::HasSpawn
    + unmlq::HasUnmlq
    + unmlq::HasSerial
    + unmqr::HasReflectors
    + unmqr::HasSpawn
    + unmqr::HasUnmqr
    + unmqr::HasSerial
{
}
