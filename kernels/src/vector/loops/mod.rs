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
//!
//! In come addresses. What each part asks for: `n` elements, or so many reals, at each vector that it names, an
//! increment apart where it has one; of a matrix all elements of its shape, or of its triangle; and that nothing that
//! is written overlaps anything else. The routines of [`cpu::level1`](crate::cpu) and `level2`, which have views, see
//! to that.

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

/// The parts for this processor, which whoever has the table may enter. Each is `unsafe` as its
/// [`Part`](crate::simd::Part) is: it trusts the addresses that it is given.
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
    /// Private, so that no table is made but by [`ChooseVectors`], for the processor at hand.
    _chosen: (),
}

/// Chooses them.
pub struct ChooseVectors;

impl<T: Scalar> Kernel<T> for ChooseVectors {
    type Output = &'static VectorParts<T>;

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, _isa: V::Isa) -> &'static VectorParts<T> {
        const {
            &VectorParts {
                scale: V::enter::<Scale<T>>,
                scale_reals: V::enter::<Scale<T::Real>>,
                swap: V::enter::<Swap<T::Real>>,
                rotate: V::enter::<Rotate<T::Real>>,
                add: V::enter::<Add<T, 1>>,
                add_two: V::enter::<Add<T, 2>>,
                dot: V::enter::<Dot<T>>,
                dot_reals: V::enter::<Dot<T::Real>>,
                abs_sum: V::enter::<AbsSum<T::Real>>,
                largest: V::enter::<Largest<T>>,
                multiply: V::enter::<Multiply<T>>,
                multiply_trans: V::enter::<MultiplyTrans<T>>,
                multiply_symmetric: V::enter::<MultiplySymmetric<T>>,
                update: V::enter::<Update<T>>,
                _chosen: (),
            }
        }
    }
}
