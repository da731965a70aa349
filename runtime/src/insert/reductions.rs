//! The reductions that programs ask for most: sums, minima and maxima.

use super::Reduction;
use std::ops::AddAssign;

/// Adds the contributions. The identity is the type's default value, zero for numbers.
///
/// Floating-point sums differ in their last digits from run to run, because contributions are added in any order.
///
/// ```
/// # extern crate superscalar_runtime as superscalar;
/// use superscalar::{Runtime, reductions::Sum};
///
/// let rt = Runtime::new()?;
/// let mut total = 0.0;
/// let parts = [vec![1.0; 1000], vec![2.0; 1000]];
/// rt.scope(|s| {
///     let total = s.lend(&mut total);
///     for part in &parts {
///         s.spawn("sum", total.reduce(Sum), |total| *total += part.iter().sum::<f64>());
///     }
/// })?;
/// assert_eq!(total, 3000.0);
/// # Ok::<(), superscalar::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sum;

impl<T: Default + AddAssign> Reduction<T> for Sum {
    fn identity() -> T {
        T::default()
    }

    fn combine(into: &mut T, part: T) {
        *into += part;
    }
}

/// Keeps the smallest contribution. The identity is the type's largest value, infinity for floating-point numbers.
/// `combine` keeps NaN, unlike `f64::min`: use it in the body, too.
///
/// ```
/// # extern crate superscalar_runtime as superscalar;
/// use superscalar::{Reduction, Runtime, reductions::{Max, Min}};
///
/// let rt = Runtime::new()?;
/// let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
/// rt.scope(|s| {
///     let (least, most) = (s.lend(&mut least), s.lend(&mut most));
///     for x in [3.0, -1.0, 2.0] {
///         s.spawn("bounds", (least.reduce(Min), most.reduce(Max)), move |(least, most)| {
///             Min::combine(least, x);
///             Max::combine(most, x);
///         });
///     }
/// })?;
/// assert_eq!((least, most), (-1.0, 3.0));
/// # Ok::<(), superscalar::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Min;

/// Keeps the largest contribution. The identity is the type's smallest value, minus infinity for floating-point
/// numbers. `combine` keeps NaN. [`Min`] has an example.
#[derive(Clone, Copy, Debug)]
pub struct Max;

macro_rules! extremes {
    ($($type:ty: $largest:expr, $smallest:expr, $is_unordered:expr;)*) => {$(
        impl Reduction<$type> for Min {
            fn identity() -> $type {
                $largest
            }

            fn combine(into: &mut $type, part: $type) {
                if part < *into || $is_unordered(part) {
                    *into = part;
                }
            }
        }

        impl Reduction<$type> for Max {
            fn identity() -> $type {
                $smallest
            }

            fn combine(into: &mut $type, part: $type) {
                if part > *into || $is_unordered(part) {
                    *into = part;
                }
            }
        }
    )*};
}

macro_rules! extremes_of_integers {
    ($($type:ident)*) => {
        extremes! { $($type: $type::MAX, $type::MIN, |_| false;)* }
    };
}

extremes! {
    f32: f32::INFINITY, f32::NEG_INFINITY, f32::is_nan;
    f64: f64::INFINITY, f64::NEG_INFINITY, f64::is_nan;
}
extremes_of_integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

#[cfg(test)]
mod tests {
    use super::*;

    fn folded<T, R: Reduction<T>>(_: R, parts: impl IntoIterator<Item = T>) -> T {
        let mut value = R::identity();
        parts.into_iter().for_each(|part| R::combine(&mut value, part));
        value
    }

    #[test]
    fn sums_and_extremes() {
        assert_eq!(folded(Sum, [1.5, 2.5]), 4.0);
        assert_eq!((folded(Min, [3, -1, 2_i64]), folded(Max, [3, -1, 2_i64])), (-1, 3));
        assert_eq!((folded(Min, [3.0, -1.0]), folded(Max, [3.0_f32, -1.0])), (-1.0, 3.0));
        assert_eq!((folded::<u8, _>(Min, []), folded::<u8, _>(Max, [])), (255, 0));
    }

    #[test]
    fn nan_stays() {
        for parts in [[f64::NAN, 1.0, 2.0], [1.0, f64::NAN, 2.0], [1.0, 2.0, f64::NAN]] {
            assert!(folded(Min, parts).is_nan() && folded(Max, parts).is_nan() && folded(Sum, parts).is_nan());
        }
    }
}
