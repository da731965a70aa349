//! potrf for a batch.

use super::{Members, check_counts, run, small};
use crate::backend::backend;
use crate::vector::{Form, InterleavedCholesky, Progress};
use crate::{MatMut, Scalar, Uplo, cpu};
use std::ops::Range;

/// Up to this many elements matrices are factored by groups.
const ELEMENTS_MAX: usize = 40 * 40;

/// Computes the Cholesky factorization of each member, as [`cpu::potrf`] does. `info` receives zero, or the order of
/// the first leading minor that is not positive definite.
///
/// # Panics
/// If the lengths differ, or a member is not square.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, Uplo, cpu::batch};
///
/// let (mut a, mut b, mut info) = ([4.0], [-4.0], [-1; 2]);
/// let mut members = [MatMut::from_col_major(&mut a, 1, 1, 1)?, MatMut::from_col_major(&mut b, 1, 1, 1)?];
/// batch::potrf(Uplo::Lower, &mut members, &mut info);
/// assert_eq!((a, info), ([2.0], [0, 1]));
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn potrf<T: Scalar>(uplo: Uplo, a: &mut [MatMut<'_, T>], info: &mut [i32]) {
    check_counts("potrf", &[a.len(), info.len()]);
    for a in a.iter() {
        assert_eq!(a.nrows(), a.ncols(), "potrf: a member is not square");
    }
    info.fill(0);
    let count = a.len();
    run(PotrfMembers { uplo, a, info }, count);
}

struct PotrfMembers<'a, 'b, T> {
    uplo: Uplo,
    a: &'a mut [MatMut<'b, T>],
    info: &'a mut [i32],
}

impl<T: Scalar> Members for PotrfMembers<'_, '_, T> {
    type Kind = Form;

    fn kind(&self, i: usize) -> Option<Form> {
        small(self.a[i].as_ref(), ELEMENTS_MAX)
    }

    fn groups(&mut self, form: Form, members: Range<usize>) -> Progress {
        let batch = &mut self.a[members];
        backend::<T>().group_cholesky(InterleavedCholesky { uplo: self.uplo, form, batch })
    }

    fn one(&mut self, i: usize) {
        let outcome = cpu::potrf(self.uplo, self.a[i].rb_mut());
        self.info[i] = outcome.map_or_else(|error| error.minor as i32, |()| 0);
    }
}
