//! From a generic element type to what is compiled for each of the four.
//!
//! Kernels are compiled once for each element type, above this module, and called by code that is generic over
//! [`Scalar`]. A table with a column for each type ([`ByType`]) leads from one to the other: [`Choose::choose`] picks
//! the column of its type. The compiler knows which one that is, so a call through a table is a direct one.

use super::{Scalar, c32, c64};

/// A table with one entry for each element type, under LAPACK's letters.
pub trait ByType {
    /// The entry for `T`.
    type Of<T: Scalar>: ?Sized + 'static;

    /// That for `f32`.
    fn s() -> &'static Self::Of<f32>;
    /// That for `f64`.
    fn d() -> &'static Self::Of<f64>;
    /// That for [`c32`].
    fn c() -> &'static Self::Of<c32>;
    /// That for [`c64`].
    fn z() -> &'static Self::Of<c64>;
}

/// A type with a column in every table: one of the four. Private, so [`Scalar`] is sealed.
pub trait Choose {
    /// The type's entry.
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
