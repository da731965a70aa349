//! The loops of the Level-1 and Level-2 BLAS over adjacent elements, compiled once for each type and instruction set.
//!
//! There are few of them: what adds columns to a vector, what multiplies columns by one, and the like. The routines are
//! loop nests around them, whose matrices may be dense, band or packed ([`Stored`]); they enter the loops through a
//! table of addresses ([`VectorParts`]), and so are compiled once for each type and not for each instruction set.
//!
//! Complex numbers lie as pairs. A vector of pairs is multiplied by a number, or by its conjugate, in two instructions:
//! one for the pairs as they are, and one for the pairs with their parts exchanged, each with factors whose signs
//! alternate ([`factor`](lanes::factor)). A sum of products, conjugated or not, is two vectors of sums, whose signs are
//! settled at the end.

mod blocks;
mod elementwise;
mod lanes;
mod reductions;
mod stored;
mod symmetric;

pub(crate) use blocks::{Multiply, MultiplyTrans, Update};
pub(crate) use elementwise::{Add, Rotate, Scale, Swap};
pub(crate) use reductions::{AbsSum, Dot, Largest, LargestOf};
pub(crate) use stored::Stored;
pub(crate) use symmetric::MultiplySymmetric;

use crate::Scalar;
use crate::simd::Vector;
use crate::vector::dispatch::Kernel;

/// The parts for this processor. Each is `unsafe` as its [`Part`](crate::simd::Part) is: it trusts the addresses that
/// it is given.
pub struct VectorParts<T: Scalar> {
    pub(crate) scale: unsafe fn(Scale<T>),
    pub(crate) scale_reals: unsafe fn(Scale<T::Real>),
    pub(crate) swap: unsafe fn(Swap<T::Real>),
    pub(crate) rotate: unsafe fn(Rotate<T::Real>),
    pub(crate) add: unsafe fn(Add<T, 1>),
    pub(crate) add_two: unsafe fn(Add<T, 2>),
    pub(crate) dot: unsafe fn(Dot<T>) -> T,
    pub(crate) dot_reals: unsafe fn(Dot<T::Real>) -> T::Real,
    pub(crate) abs_sum: unsafe fn(AbsSum<T::Real>) -> T::Real,
    pub(crate) largest: unsafe fn(Largest<T>) -> LargestOf<T::Real>,
    pub(crate) multiply: unsafe fn(Multiply<T>),
    pub(crate) multiply_trans: unsafe fn(MultiplyTrans<T>),
    pub(crate) multiply_symmetric: unsafe fn(MultiplySymmetric<T>),
    pub(crate) update: unsafe fn(Update<T>),
}

/// Chooses them.
pub struct ChooseVectors;

impl<T: Scalar> Kernel<T> for ChooseVectors {
    type Output = &'static VectorParts<T>;

    #[inline(always)]
    unsafe fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self) -> &'static VectorParts<T> {
        const {
            &VectorParts {
                scale: V::call::<Scale<T>>,
                scale_reals: V::call::<Scale<T::Real>>,
                swap: V::call::<Swap<T::Real>>,
                rotate: V::call::<Rotate<T::Real>>,
                add: V::call::<Add<T, 1>>,
                add_two: V::call::<Add<T, 2>>,
                dot: V::call::<Dot<T>>,
                dot_reals: V::call::<Dot<T::Real>>,
                abs_sum: V::call::<AbsSum<T::Real>>,
                largest: V::call::<Largest<T>>,
                multiply: V::call::<Multiply<T>>,
                multiply_trans: V::call::<MultiplyTrans<T>>,
                multiply_symmetric: V::call::<MultiplySymmetric<T>>,
                update: V::call::<Update<T>>,
            }
        }
    }
}
