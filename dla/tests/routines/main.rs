//! LU, QR, inverses, condition numbers, mixed precision and the auxiliary routines as a user calls them, in all four types.
//!
//! Residuals are computed from the definitions in double precision complex, by textbook loops: nothing is shared with the
//! kernels. Every matrix lies in memory that is larger than it; what surrounds it must stay as it is, bit by bit. A task that
//! changes a tile waits for the one before, so a result depends on the tiles alone, not on the workers or the policy: the first
//! result with some tiles is checked, and the others must equal it.

mod auxiliary;
mod capacity;
mod cholesky_columns;
mod composition;
mod condition;
mod exact;
mod inverses;
mod least_squares;
mod lu;
mod mixed;
mod norms;
mod powers;
mod qr;
mod runs;
mod scales;
mod threads;
mod tsqr;

/// A test for each of the four types.
macro_rules! four_types {
    ($($name:ident)*) => {$(
        mod $name {
            #[test]
            fn s() { super::$name::<f32>(); }
            #[test]
            fn d() { super::$name::<f64>(); }
            #[test]
            fn c() { super::$name::<superscalar_kernels::c32>(); }
            #[test]
            fn z() { super::$name::<superscalar_kernels::c64>(); }
        }
    )*};
}
pub(crate) use four_types;
