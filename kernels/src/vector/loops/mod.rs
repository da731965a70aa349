//! The loops of the Level-1 and Level-2 BLAS over adjacent elements, compiled once for each type and instruction set.
//!
//! There are few such loops: add columns to a vector, multiply columns by a vector, and the like. The routines are loop
//! nests around them for dense, band or packed matrices ([`Stored`]). They call the loops through a table of function
//! addresses ([`VectorParts`]), so each routine is compiled once per type and not once per instruction set.
//!
//! Complex numbers are stored as pairs. A vector of pairs is multiplied by a number, or by its conjugate, with two
//! instructions: one takes the pairs, the other the pairs with their parts exchanged, and each takes factors of
//! alternating sign ([`factor`](lanes::factor)). A sum of products, conjugated or not, is kept as two vectors of sums,
//! whose signs are applied at the end.
//!
//! The loops take addresses. Each one requires: `n` elements, or `reals` real numbers, at every vector that it names,
//! at its increment if it has one; all elements of a matrix's shape, or of its triangle; and no overlap of written
//! memory with anything else. The routines of [`cpu::level1`](crate::cpu) and `level2` hold views and guarantee this.

mod blocks;
mod elementwise;
mod lanes;
mod reductions;
mod stored;
mod symmetric;

pub(crate) use blocks::{Multiply, MultiplyTrans, Update};
pub(crate) use elementwise::{Add, Rotate, ScaleVector, Swap};
pub(crate) use reductions::{AbsSum, Dot, Largest, LargestBlock};
pub(crate) use stored::Stored;
pub(crate) use symmetric::MultiplySymmetric;

use crate::Scalar;
use crate::simd::Vector;
use crate::vector::dispatch::Kernel;

/// The loops for this processor. Each is `unsafe` because, like its [`Part`](crate::simd::Part), it trusts the
/// addresses that it is given.
pub struct VectorParts<T: Scalar> {
    pub(crate) scale: unsafe fn(ScaleVector<T>),
    pub(crate) scale_reals: unsafe fn(ScaleVector<T::Real>),
    pub(crate) swap: unsafe fn(Swap<T::Real>),
    pub(crate) rotate: unsafe fn(Rotate<T::Real>),
    pub(crate) add: unsafe fn(Add<T, 1>),
    pub(crate) add_two: unsafe fn(Add<T, 2>),
    pub(crate) dot: unsafe fn(Dot<T>) -> T,
    pub(crate) dot_reals: unsafe fn(Dot<T::Real>) -> T::Real,
    pub(crate) abs_sum: unsafe fn(AbsSum<T::Real>) -> T::Real,
    pub(crate) largest: unsafe fn(Largest<T>) -> LargestBlock<T::Real>,
    pub(crate) multiply: unsafe fn(Multiply<T>),
    pub(crate) multiply_trans: unsafe fn(MultiplyTrans<T>),
    pub(crate) multiply_symmetric: unsafe fn(MultiplySymmetric<T>),
    pub(crate) update: unsafe fn(Update<T>),
    /// Private, so that only [`ChooseVectors`] makes a table, for the current processor.
    _chosen: (),
}

/// The kernel that returns the table for the chosen instruction set.
pub struct ChooseVectors;

impl<T: Scalar> Kernel<T> for ChooseVectors {
    type Output = &'static VectorParts<T>;

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, _isa: V::Isa) -> &'static VectorParts<T> {
        const {
            &VectorParts {
                scale: V::enter::<ScaleVector<T>>,
                scale_reals: V::enter::<ScaleVector<T::Real>>,
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
