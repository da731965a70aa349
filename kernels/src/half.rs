//! Half precision: [`struct@f16`] and [`bf16`], the 16-bit numbers of matrices that are multiplied in single precision.
//!
//! They are no [`Scalar`](crate::Scalar): matrices store them, but products convert them to `f32`, in which they also
//! sum. What is computed with them is in [`cpu::gemm_half`](crate::cpu::gemm_half) and
//! [`HalfCall`](crate::device::HalfCall).

pub use ::half::{bf16, f16};
use bytemuck::Pod;
use std::fmt::{Debug, Display};

/// A number of 16 bits: [`struct@f16`] or [`bf16`]. Sealed.
///
/// ```
/// use superscalar::kernels::{Half, bf16, f16};
/// assert_eq!(f16::from_single(1.0 + f16::ROUNDOFF).to_single(), 1.0);
/// assert_eq!(f16::from_single(70000.0).to_single(), f32::INFINITY);
/// assert!((bf16::from_single(70000.0).to_single() - 70000.0).abs() <= bf16::ROUNDOFF * 70000.0);
/// ```
pub trait Half: sealed::Sealed + Pod + Send + Sync + Debug + Display + PartialEq + HalfResult<Self> {
    /// The name of the type.
    const NAME: &'static str;
    /// The unit roundoff: half the distance from 1 to the next number.
    const ROUNDOFF: f32;

    /// Returns the number in single precision, which has all of them.
    fn to_single(self) -> f32;

    /// Returns the nearest number; of two, the one whose last bit is zero. Too large numbers become infinite.
    fn from_single(x: f32) -> Self;

    /// Converts numbers to single precision.
    ///
    /// # Panics
    /// If the slices differ in length.
    fn widen(from: &[Self], to: &mut [f32]);
}

/// The element of a product of matrices of `H`: `H` itself, or `f32`. Sealed.
pub trait HalfResult<H>: sealed::Sealed + Pod + Send + Sync {
    /// Whether sums are stored without rounding.
    const IS_SINGLE: bool;

    /// Returns the number in single precision.
    fn widened(self) -> f32;

    /// Returns the nearest number of this type.
    fn rounded(x: f32) -> Self;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
}

impl<H: Half> HalfResult<H> for f32 {
    const IS_SINGLE: bool = true;

    fn widened(self) -> f32 {
        self
    }

    fn rounded(x: f32) -> Self {
        x
    }
}

macro_rules! half {
    ($t:ident, $roundoff:literal) => {
        impl sealed::Sealed for $t {}

        impl Half for $t {
            const NAME: &'static str = stringify!($t);
            const ROUNDOFF: f32 = $roundoff;

            fn to_single(self) -> f32 {
                self.to_f32()
            }

            fn from_single(x: f32) -> Self {
                Self::from_f32(x)
            }

            fn widen(from: &[Self], to: &mut [f32]) {
                ::half::slice::HalfFloatSliceExt::convert_to_f32_slice(from, to);
            }
        }

        impl HalfResult<$t> for $t {
            const IS_SINGLE: bool = false;

            fn widened(self) -> f32 {
                self.to_f32()
            }

            fn rounded(x: f32) -> Self {
                Self::from_f32(x)
            }
        }
    };
}

half!(f16, 4.8828125e-4);
half!(bf16, 3.90625e-3);
