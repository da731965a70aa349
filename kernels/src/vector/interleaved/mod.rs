//! Kernels for many small matrices of one shape: one vector lane per matrix.
//!
//! A **group** is as many matrices of equal shape as a vector has lanes. They are copied into scratch in which the
//! elements (i, j) of all of them are adjacent, so that one vector holds one element of each, or, for complex types,
//! two vectors hold its real and its imaginary parts: `[column][row][plane][lane]` ([`Interleaved`]). The copies are
//! transposes of squares ([`copy`]). Between them every operation on elements is an operation on vectors, and all loops
//! are those of a textbook, without edges along the lanes.
//!
//! If fewer matrices remain than lanes, the last lanes compute the last matrix once more and store the same result.
//!
//! # Members that are not ordinary
//! The formulas here multiply by reciprocals and take plain sums of squares. They are right if no pivot and no sum is
//! near the ends of the exponent range. Each kernel keeps a vector that tells, lane by lane, whether all numbers were
//! ordinary. A lane that was not is never stored: its matrix in memory is unchanged, and [`Progress`] reports it to the
//! routine, which calls the kernel for one matrix. Lanes do not influence each other.
//!
//! | module | contents |
//! |---|---|
//! | [`form`] | shape and storage of the matrices of a group |
//! | [`copy`] | the copies between the matrices and scratch |
//! | [`number`] | arithmetic on one number of each matrix |
//! | [`multiply`], [`substitute`], [`reflect`] | products in register tiles; solves with a triangle; reflectors |
//! | [`gemm`], [`solve`], [`cholesky`], [`lu`], [`qr`] | the operations |

#![allow(clippy::needless_range_loop, reason = "loops over registers are unrolled, and name rows and columns")]

mod cholesky;
mod copy;
mod form;
mod gemm;
mod lu;
mod multiply;
mod number;
mod qr;
mod reflect;
mod solve;
mod substitute;

use crate::simd::Vector;
use crate::{Real, Scalar};

pub(crate) use cholesky::InterleavedCholesky;
pub(crate) use form::Form;
pub(crate) use gemm::InterleavedGemm;
pub(crate) use lu::InterleavedLu;
pub(crate) use qr::{InterleavedQ, InterleavedQProduct, InterleavedQr};
pub(crate) use solve::{GroupTriangle, InterleavedSolve};

/// The most lanes that a vector has.
const LANES_MAX: usize = 16;

/// A matrix of vectors: elements (i, j) of all matrices of a group. For complex types the imaginary parts are in the
/// vector after the real ones.
pub(crate) struct Interleaved<R> {
    pub first: *mut R,
    /// Reals from one row to the next, and from one column to the next.
    pub row: isize,
    pub column: isize,
}

impl<R> Clone for Interleaved<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Interleaved<R> {}

impl<R> Interleaved<R> {
    /// Returns the address of element (i, j).
    #[inline(always)]
    pub fn at(&self, i: usize, j: usize) -> *mut R {
        self.first.wrapping_offset(i as isize * self.row + j as isize * self.column)
    }

    /// Returns the part that begins at element (i, j).
    #[inline(always)]
    pub fn from(&self, i: usize, j: usize) -> Self {
        Self { first: self.at(i, j), ..*self }
    }

    /// Returns the transpose.
    #[inline(always)]
    pub fn transpose(&self) -> Self {
        Self { first: self.first, row: self.column, column: self.row }
    }

    /// Returns the matrix with its m rows in reverse order.
    #[inline(always)]
    pub fn rows_reversed(&self, m: usize) -> Self {
        Self { first: self.at(m - 1, 0), row: -self.row, column: self.column }
    }

    /// Returns the matrix of order n with its rows and columns in reverse order: an upper triangle becomes a lower one.
    #[inline(always)]
    pub fn reversed(&self, n: usize) -> Self {
        Self { first: self.at(n - 1, n - 1), row: -self.row, column: -self.column }
    }
}

/// How far a kernel came: members before `done` are computed, except those of the last group, which begins at `first`,
/// whose bits are set in `left`. They were not ordinary, and are unchanged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    pub done: usize,
    pub first: usize,
    pub left: u32,
}

impl Progress {
    /// Returns the progress after a group of `count` members that begins at `first`. Lanes from `count` on repeat the
    /// last member and are not reported.
    #[inline(always)]
    fn after(first: usize, count: usize, left: u32) -> Self {
        Self { done: first + count, first, left: left & ((1 << count) - 1) }
    }
}

/// Returns the members of the next group, or None if so few are left that one after the other is faster.
#[inline(always)]
fn next_group<V: Vector>(done: usize, total: usize) -> Option<usize> {
    let rest = total - done;
    (rest >= 2 && 4 * rest >= V::LANES).then_some(rest.min(V::LANES))
}

/// Returns a bit for each lane that is not positive.
#[inline(always)]
fn lanes_left<V: Vector>(ordinary: V) -> u32
where
    V::Real: Real,
{
    if ordinary.sum() == V::Real::from_f64(V::LANES as f64) {
        return 0;
    }
    let mut left = 0;
    for lane in 0..V::LANES {
        let is_ordinary = ordinary.lane(lane) > V::Real::ZERO;
        left |= u32::from(!is_ordinary) << lane;
    }
    left
}

/// The sizes between which pivots of a type are ordinary: their reciprocals are accurate, and, for complex types, so
/// are their squares.
#[inline(always)]
fn pivot_range<T: Scalar>() -> (T::Real, T::Real) {
    let four = T::Real::from_f64(4.0);
    let tiny = T::Real::MIN_POSITIVE;
    let least = if T::COMPLEX { tiny.sqrt() * T::Real::from_f64(1024.0) } else { tiny * four };
    (least, T::Real::ONE / least)
}
