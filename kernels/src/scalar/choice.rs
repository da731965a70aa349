//! Selects what was compiled for one of the four element types, from code that is generic over the type.
//!
//! Kernels are compiled once for each element type, above this module, and are called by code that is generic over
//! [`Scalar`]. A table with a column for each type ([`ByType`]) connects the two: [`Choose::choose`] selects the column
//! of its type. The compiler knows which one that is, so a call through a table is a direct call.

use super::{Scalar, c32, c64};

/// A table with one entry for each element type, under LAPACK's letters.
pub trait ByType {
    /// The type of the entry for `T`.
    type Of<T: Scalar>: ?Sized + 'static;

    /// Returns the entry for `f32`.
    fn s() -> &'static Self::Of<f32>;
    /// Returns the entry for `f64`.
    fn d() -> &'static Self::Of<f64>;
    /// Returns the entry for [`c32`].
    fn c() -> &'static Self::Of<c32>;
    /// Returns the entry for [`c64`].
    fn z() -> &'static Self::Of<c64>;
}

/// A type with a column in every table. The trait is private, so [`Scalar`] is sealed.
pub trait Choose {
    /// Returns the type's entry of the table.
    fn choose<B: ByType>() -> &'static B::Of<Self>
    where
        Self: Scalar;
}

macro_rules! choices {
    ($($t:ty, $letter:ident;)*) => {$(
        impl Choose for $t {
            #[inline(always)]
            fn choose<B: ByType>() -> &'static B::Of<$t> {
                B::$letter()
            }
        }
    )*};
}

choices! {
    f32, s;
    f64, d;
    c32, c;
    c64, z;
}
