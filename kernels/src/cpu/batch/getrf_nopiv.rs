//! getrf_nopiv for a batch: the LU factorization without interchanges.

use super::getrf::ELEMENTS_MAX;
use super::{Members, check_counts, run, small};
use crate::backend::backend;
use crate::vector::{Form, InterleavedLu, Progress};
use crate::{Diag, MatMut, Op, Scalar, Side, Uplo, cpu};
use std::ops::Range;

/// Up to this many columns the textbook loops factor; wider matrices are halved.
const TEXTBOOK_COLUMNS: usize = 16;

/// Computes the LU factorization without interchanges of each member: A = L U, with L, unit lower trapezoidal, and U,
/// upper trapezoidal, over A. `info` receives zero, or the first column whose pivot is zero; such a column is not
/// divided, and the factorization goes on with it.
///
/// The error of the factors may be large, unless, for example, A is diagonally dominant.
///
/// # Panics
/// If the lengths differ.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, cpu::batch};
///
/// let (mut a, mut info) = ([2.0, 1.0, 4.0, 3.0], [-1]);
/// batch::getrf_nopiv(&mut [MatMut::from_col_major(&mut a, 2, 2, 2)?], &mut info);
/// assert_eq!((a, info), ([2.0, 0.5, 4.0, 1.0], [0]));
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn getrf_nopiv<T: Scalar>(a: &mut [MatMut<'_, T>], info: &mut [i32]) {
    check_counts("getrf_nopiv", &[a.len(), info.len()]);
    info.fill(0);
    let count = a.len();
    run(NoPivMembers { a, info }, count);
}

struct NoPivMembers<'a, 'b, T> {
    a: &'a mut [MatMut<'b, T>],
    info: &'a mut [i32],
}

impl<T: Scalar> Members for NoPivMembers<'_, '_, T> {
    type Kind = Form;

    fn kind(&self, i: usize) -> Option<Form> {
        small(self.a[i].as_ref(), ELEMENTS_MAX)
    }

    fn groups(&mut self, form: Form, members: Range<usize>) -> Progress {
        let batch = &mut self.a[members];
        backend::<T>().group_lu(InterleavedLu { form, batch, ipiv: None })
    }

    fn one(&mut self, i: usize) {
        let a = self.a[i].rb_mut();
        let (m, n) = a.shape();
        let k = m.min(n);
        let (mut left, right) = a.split_at_col(k);
        let singular = factor(left.rb_mut());
        if k < n {
            cpu::trsm(Side::Left, Uplo::Lower, Op::None, Diag::Unit, T::ONE, left.as_ref(), right);
        }
        self.info[i] = singular.map_or(0, |column| column as i32 + 1);
    }
}

/// Factors a matrix with at least as many rows as columns, and returns the first column whose pivot is zero.
fn factor<T: Scalar>(mut a: MatMut<'_, T>) -> Option<usize> {
    let (m, n) = a.shape();
    if n <= TEXTBOOK_COLUMNS {
        return factor_by_elements(a);
    }
    let half = (n / 2).next_multiple_of(TEXTBOOK_COLUMNS);
    let (mut left, right) = a.rb_mut().split_at_col(half);
    let singular = factor(left.rb_mut());
    let (a11, a21) = left.as_ref().split_at_row(half);
    let (mut a12, mut a22) = right.split_at_row(half);
    cpu::trsm(Side::Left, Uplo::Lower, Op::None, Diag::Unit, T::ONE, a11, a12.rb_mut());
    cpu::gemm(-T::ONE, Op::None, a21, Op::None, a12.as_ref(), T::ONE, a22.rb_mut());
    debug_assert_eq!(a22.shape(), (m - half, n - half));
    singular.or(factor(a22).map(|column| half + column))
}

/// Factors by the textbook loops.
fn factor_by_elements<T: Scalar>(mut a: MatMut<'_, T>) -> Option<usize> {
    let (m, n) = a.shape();
    let mut singular = None;
    for j in 0..n {
        let pivot = a.at(j, j);
        if pivot == T::ZERO {
            singular = singular.or(Some(j));
        } else {
            (j + 1..m).for_each(|i| a[(i, j)] = a.at(i, j).quotient(pivot));
        }
        for c in j + 1..n {
            let u = a.at(j, c);
            for i in j + 1..m {
                let product = a.at(i, j) * u;
                a[(i, c)] -= product;
            }
        }
    }
    singular
}
