//! LU, QR, inverses, condition numbers, mixed precision and the auxiliary routines, called as by a user, in all four
//! types.
//!
//! Residuals are computed from their definitions in double precision complex, by textbook loops that share nothing with
//! the kernels. Every matrix lies in a larger memory block whose padding must not change. Updates of a tile run in
//! insertion order, so results depend only on the tiles, not on the workers or the policy: the first result for some
//! tiles is checked, and the others must equal it.

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

/// Defines a test for each of the four types.
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
