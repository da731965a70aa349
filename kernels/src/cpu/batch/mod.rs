//! Routines on batches of small matrices, on one core.
//!
//! A batch is a slice of views. Its members may have different shapes and leading dimensions. Neighbours of equal shape
//! are computed together, one matrix per vector lane (`vector::interleaved`), so a batch should be
//! sorted by shape. Large matrices, and members without enough neighbours, are computed one after the other with the
//! kernels of [`cpu`](crate::cpu). In the steady state nothing is allocated, apart from lists of views in [`gels`], and
//! no lock is taken.
//!
//! Each member gets the result of the routine for one matrix: the same `info` and the same pivots; the other numbers
//! agree within a few roundings. A member that is singular, not positive definite, not finite, or near the ends of the
//! exponent range is computed by that routine, and does not influence its neighbours.
//!
//! | routine | what it does to each member |
//! |---|---|
//! | [`gemm`], [`gemv`] | products |
//! | [`trsm`] | solves with a triangle |
//! | [`potrf`], [`potrs`] | Cholesky factorization, and solves with it |
//! | [`getrf`], [`getrf_nopiv`], [`getrs`] | LU factorization with and without pivoting, and solves with it |
//! | [`geqrf`], [`ungqr`], [`unmqr`] | QR factorization, its Q, and products with its Q |
//! | [`gels`] | least-squares solutions, and those of least norm |
//! | [`gebrd`] | reduction to bidiagonal form |

mod gebrd;
mod gels;
mod gemm;
mod getrf;
mod getrf_nopiv;
mod potrf;
mod qr;
mod solve;

use crate::vector::Progress;
use crate::{MatMut, MatRef, Scalar, vector::Form};
use std::ops::Range;

pub use gebrd::gebrd;
pub use gels::gels;
pub use gemm::{gemm, gemv};
pub use getrf::getrf;
pub use getrf_nopiv::getrf_nopiv;
pub use potrf::potrf;
pub use qr::{geqrf, ungqr, unmqr};
pub use solve::{getrs, potrs, trsm};

/// A routine on the members of a batch: some at once, by groups of one shape, or one of them.
trait Members {
    /// What the members of a group have in common.
    type Kind: Copy + PartialEq;

    /// Returns the kind of a member, or None if it is computed alone.
    fn kind(&self, i: usize) -> Option<Self::Kind>;
    /// Computes members of this kind.
    fn groups(&mut self, kind: Self::Kind, members: Range<usize>) -> Progress;
    /// Computes a member.
    fn one(&mut self, i: usize);
}

/// The most members that are compared before they are computed, so that their views stay in the first-level cache: a
/// multiple of the lanes.
const RUN_MAX: usize = 128;

/// Computes all members.
fn run<M: Members>(mut members: M, count: usize) {
    let mut i = 0;
    while i < count {
        let Some(kind) = members.kind(i) else {
            members.one(i);
            i += 1;
            continue;
        };
        let limit = count.min(i + RUN_MAX);
        let end = (i + 1..limit).find(|&j| members.kind(j) != Some(kind)).unwrap_or(limit);
        while end - i >= 2 {
            let progress = members.groups(kind, i..end);
            let first = i + progress.first;
            (0..u32::BITS as usize)
                .filter(|lane| progress.left >> lane & 1 == 1)
                .for_each(|lane| members.one(first + lane));
            if progress.done == 0 {
                break;
            }
            i += progress.done;
        }
        (i..end).for_each(|i| members.one(i));
        i = end;
    }
}

/// Returns the form of a matrix if it is not empty and has at most this many elements.
#[inline]
fn small<T: Scalar>(view: MatRef<'_, T>, elements_max: usize) -> Option<Form> {
    let (m, n) = view.shape();
    if m * n <= elements_max && m * n > 0 { Form::of(view) } else { None }
}

/// Panics unless all batches have as many members as the first one.
#[track_caller]
fn check_counts(routine: &str, counts: &[usize]) {
    assert!(counts.iter().all(|count| *count == counts[0]), "{routine}: batches of {counts:?} members");
}

/// Panics unless `part` is a column of k elements.
#[track_caller]
fn check_column<T>(routine: &str, name: &str, part: MatRef<'_, T>, k: usize) {
    let fits = part.shape() == (k, 1) || (k == 0 && part.is_empty());
    assert!(fits, "{routine}: {name} is {:?}: expected {k} x 1", part.shape());
}

/// Calls `body` with the elements of a column, as a slice.
fn with_column<T: Copy + Default, O>(mut column: MatMut<'_, T>, body: impl FnOnce(&mut [T]) -> O) -> O {
    if column.is_empty() {
        return body(&mut []);
    }
    if let Some(slice) = column.col_as_slice_mut(0) {
        return body(slice);
    }
    let mut copy: Vec<T> = (0..column.nrows()).map(|i| column.at(i, 0)).collect();
    let output = body(&mut copy);
    copy.into_iter().enumerate().for_each(|(i, x)| column[(i, 0)] = x);
    output
}

/// Calls `body` with the elements of a column that is only read, as a slice.
fn with_column_of<T: Copy, O>(column: MatRef<'_, T>, body: impl FnOnce(&[T]) -> O) -> O {
    if column.is_empty() {
        return body(&[]);
    }
    match column.col_as_slice(0) {
        Some(slice) => body(slice),
        None => body(&(0..column.nrows()).map(|i| column.at(i, 0)).collect::<Vec<_>>()),
    }
}
