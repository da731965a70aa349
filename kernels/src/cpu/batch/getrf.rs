//! getrf for a batch.

use super::{Members, check_column, check_counts, run, small, with_column};
use crate::backend::backend;
use crate::vector::{Form, InterleavedLu, Progress};
use crate::{MatMut, Scalar, cpu};
use std::ops::Range;

/// Up to this many elements matrices are factored by groups.
pub(super) const ELEMENTS_MAX: usize = 40 * 40;

/// Computes the LU factorization with partial pivoting of each m x n member, as [`cpu::getrf`] does. Each member of
/// `ipiv` is a column of min(m, n) rows and receives the interchanges; `info` receives zero, or the first column whose
/// pivot is zero.
///
/// # Panics
/// If the lengths differ, or a column of `ipiv` has another length.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, cpu::batch};
///
/// let (mut a, mut ipiv, mut info) = ([1.0, 2.0, 3.0, 4.0], [0; 2], [-1]);
/// let pivots = MatMut::from_col_major(&mut ipiv, 2, 1, 2)?;
/// batch::getrf(&mut [MatMut::from_col_major(&mut a, 2, 2, 2)?], &mut [pivots], &mut info);
/// assert_eq!((a, ipiv, info), ([2.0, 0.5, 4.0, 1.0], [2, 2], [0]));
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn getrf<T: Scalar>(a: &mut [MatMut<'_, T>], ipiv: &mut [MatMut<'_, i32>], info: &mut [i32]) {
    check_counts("getrf", &[a.len(), ipiv.len(), info.len()]);
    for (a, ipiv) in a.iter().zip(ipiv.iter()) {
        check_column("getrf", "a member of ipiv", ipiv.as_ref(), a.nrows().min(a.ncols()));
    }
    info.fill(0);
    let count = a.len();
    run(GetrfMembers { a, ipiv, info }, count);
}

struct GetrfMembers<'a, 'b, 'p, T> {
    a: &'a mut [MatMut<'b, T>],
    ipiv: &'a mut [MatMut<'p, i32>],
    info: &'a mut [i32],
}

impl<T: Scalar> Members for GetrfMembers<'_, '_, '_, T> {
    type Kind = Form;

    fn kind(&self, i: usize) -> Option<Form> {
        small(self.a[i].as_ref(), ELEMENTS_MAX)
    }

    fn groups(&mut self, form: Form, members: Range<usize>) -> Progress {
        let (batch, ipiv) = (&mut self.a[members.clone()], Some(&mut self.ipiv[members]));
        backend::<T>().group_lu(InterleavedLu { form, batch, ipiv })
    }

    fn one(&mut self, i: usize) {
        let a = self.a[i].rb_mut();
        let outcome = with_column(self.ipiv[i].rb_mut(), |ipiv| cpu::getrf(a, ipiv));
        self.info[i] = outcome.map_or_else(|error| error.pivot as i32, |()| 0);
    }
}
