//! geqrf, ungqr and unmqr for a batch.

use super::{Members, check_column, check_counts, run, small, with_column, with_column_of};
use crate::backend::backend;
use crate::cpu::BlockReflector;
use crate::vector::{Form, InterleavedQ, InterleavedQProduct, InterleavedQr, Progress, Workspace};
use crate::{MatMut, MatRef, Op, Scalar, Side, cpu};
use std::ops::Range;

/// Up to this many elements matrices are factored, and products computed, by groups.
const ELEMENTS_MAX: usize = 40 * 40;
/// Up to this many reflectors have one triangular factor T; more have one for every [`INNER_BLOCK`] of them.
const ONE_FACTOR_MAX: usize = 64;
const INNER_BLOCK: usize = 32;

/// Computes the QR factorization of each m x n member, with the conventions of LAPACK and of [`cpu::geqrf`]. Each
/// member of `tau` is a column of min(m, n) rows. The triangular factors T of the block reflectors are not returned.
///
/// # Panics
/// If the batches have different lengths, or a column of `tau` has another length.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, cpu::batch};
///
/// let (mut a, mut tau) = ([3.0, 4.0], [0.0]);
/// let factor = MatMut::from_col_major(&mut tau, 1, 1, 1)?;
/// batch::geqrf(&mut [MatMut::from_col_major(&mut a, 2, 1, 2)?], &mut [factor]);
/// assert_eq!((a, tau), ([-5.0, 0.5], [1.6]));
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn geqrf<T: Scalar>(a: &mut [MatMut<'_, T>], tau: &mut [MatMut<'_, T>]) {
    check_counts("geqrf", &[a.len(), tau.len()]);
    for (a, tau) in a.iter().zip(tau.iter()) {
        check_column("geqrf", "a member of tau", tau.as_ref(), a.nrows().min(a.ncols()));
    }
    let count = a.len();
    run(GeqrfMembers { a, tau }, count);
}

/// Replaces each m x n member by the first n columns of its Q. The first k columns of the member hold the reflectors
/// below the diagonal, as [`geqrf`] leaves them, and the column of k rows in `tau` their factors; k <= n <= m. For real
/// types this is LAPACK's orgqr.
///
/// # Panics
/// If the batches have different lengths, or the shapes of a member do not agree.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, MatRef, cpu::batch};
///
/// let (mut a, tau) = ([-5.0, 0.5], [1.6]); // of the column (3, 4)
/// let factor = MatRef::from_col_major(&tau, 1, 1, 1)?;
/// batch::ungqr(&mut [MatMut::from_col_major(&mut a, 2, 1, 2)?], &[factor]);
/// assert!((a[0] + 0.6_f64).abs() < 1e-15 && (a[1] + 0.8).abs() < 1e-15);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn ungqr<T: Scalar>(a: &mut [MatMut<'_, T>], tau: &[MatRef<'_, T>]) {
    check_counts("ungqr", &[a.len(), tau.len()]);
    for (a, tau) in a.iter().zip(tau) {
        let ((m, n), k) = (a.shape(), reflectors(*tau));
        check_column("ungqr", "a member of tau", *tau, k);
        assert!(k <= n && n <= m, "ungqr: {k} reflectors in a member of {m} x {n}");
    }
    let count = a.len();
    run(UngqrMembers { a, tau }, count);
}

/// Computes C = op(Q) C for each member, for op(Q) = Q or Qᴴ; for real types [`Op::Trans`] is Qᴴ. The first k columns
/// of A hold the reflectors of Q below the diagonal, as [`geqrf`] leaves them, and the column of k rows in `tau` their
/// factors.
///
/// # Panics
/// If the batches have different lengths, the shapes of a member do not agree, or for [`Op::Trans`] of a complex type.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, MatRef, Op, cpu::batch};
///
/// let (a, tau, mut c) = ([-5.0, 0.5], [1.6], [3.0_f64, 4.0]);
/// let (a, tau) = (MatRef::from_col_major(&a, 2, 1, 2)?, MatRef::from_col_major(&tau, 1, 1, 1)?);
/// batch::unmqr(Op::Trans, &[a], &[tau], &mut [MatMut::from_col_major(&mut c, 2, 1, 2)?]);
/// assert!((c[0] + 5.0).abs() < 1e-15 && c[1].abs() < 1e-15);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn unmqr<T: Scalar>(op: Op, a: &[MatRef<'_, T>], tau: &[MatRef<'_, T>], c: &mut [MatMut<'_, T>]) {
    assert!(!T::COMPLEX || op != Op::Trans, "unmqr: complex matrices take no plain transpose");
    check_counts("unmqr", &[a.len(), tau.len(), c.len()]);
    for ((a, tau), c) in a.iter().zip(tau).zip(c.iter()) {
        let k = reflectors(*tau);
        check_column("unmqr", "a member of tau", *tau, k);
        let fits = a.nrows() == c.nrows() && k <= a.nrows().min(a.ncols());
        assert!(fits, "unmqr: {k} reflectors in A {:?} for C {:?}", a.shape(), c.shape());
    }
    let count = c.len();
    run(UnmqrMembers { op, a, tau, c }, count);
}

/// Returns the number of reflectors, from their column of factors.
fn reflectors<T>(tau: MatRef<'_, T>) -> usize {
    if tau.is_empty() { 0 } else { tau.nrows() }
}

struct GeqrfMembers<'a, 'b, 't, T> {
    a: &'a mut [MatMut<'b, T>],
    tau: &'a mut [MatMut<'t, T>],
}

impl<T: Scalar> Members for GeqrfMembers<'_, '_, '_, T> {
    type Kind = Form;

    fn kind(&self, i: usize) -> Option<Form> {
        small(self.a[i].as_ref(), ELEMENTS_MAX)
    }

    fn groups(&mut self, form: Form, members: Range<usize>) -> Progress {
        let (batch, tau) = (&mut self.a[members.clone()], &mut self.tau[members]);
        backend::<T>().group_qr(InterleavedQr { form, batch, tau })
    }

    fn one(&mut self, i: usize) {
        let (a, tau) = (self.a[i].rb_mut(), self.tau[i].rb_mut());
        let k = a.nrows().min(a.ncols());
        let rows = if k <= ONE_FACTOR_MAX { k } else { INNER_BLOCK };
        let mut scratch = Workspace::<T>::take(rows * k);
        let t =
            MatMut::from_col_major(scratch.elements(), rows, k, rows.max(1)).expect("the scratch has these elements");
        with_column(tau, |tau| cpu::geqrf(a, tau, t));
    }
}

struct UngqrMembers<'a, 'b, T> {
    a: &'a mut [MatMut<'b, T>],
    tau: &'a [MatRef<'a, T>],
}

impl<T: Scalar> Members for UngqrMembers<'_, '_, T> {
    /// The form, and the number of reflectors.
    type Kind = (Form, usize);

    fn kind(&self, i: usize) -> Option<(Form, usize)> {
        let k = reflectors(self.tau[i]);
        if k == 0 { None } else { Some((small(self.a[i].as_ref(), ELEMENTS_MAX)?, k)) }
    }

    fn groups(&mut self, (form, _): (Form, usize), members: Range<usize>) -> Progress {
        let (batch, tau) = (&mut self.a[members.clone()], &self.tau[members]);
        backend::<T>().group_q(InterleavedQ { form, batch, tau })
    }

    fn one(&mut self, i: usize) {
        let (mut a, tau) = (self.a[i].rb_mut(), self.tau[i]);
        let (m, k) = (a.nrows(), reflectors(tau));
        let mut scratch = Workspace::<T>::take(m * k);
        let mut v = MatMut::from_col_major(scratch.elements(), m, k, m.max(1)).expect("the scratch has these elements");
        v.copy_from(a.as_ref().submatrix(0..m, 0..k));
        a.fill(T::ZERO);
        (0..a.ncols()).for_each(|j| a[(j, j)] = T::ONE);
        multiply(Op::None, v.as_ref(), tau, a);
    }
}

struct UnmqrMembers<'a, 'b, T> {
    op: Op,
    a: &'a [MatRef<'a, T>],
    tau: &'a [MatRef<'a, T>],
    c: &'a mut [MatMut<'b, T>],
}

impl<T: Scalar> Members for UnmqrMembers<'_, '_, T> {
    /// The forms of A and C, and the number of reflectors.
    type Kind = ([Form; 2], usize);

    fn kind(&self, i: usize) -> Option<([Form; 2], usize)> {
        let (form, k) = (|view| small(view, ELEMENTS_MAX), reflectors(self.tau[i]));
        if k == 0 { None } else { Some(([form(self.a[i])?, form(self.c[i].as_ref())?], k)) }
    }

    fn groups(&mut self, (forms, _): ([Form; 2], usize), members: Range<usize>) -> Progress {
        let (a, tau, c) = (&self.a[members.clone()], &self.tau[members.clone()], &mut self.c[members]);
        backend::<T>().group_q_product(InterleavedQProduct { op: self.op, a, tau, c, forms })
    }

    fn one(&mut self, i: usize) {
        let (a, tau) = (self.a[i], self.tau[i]);
        multiply(self.op, a.submatrix(0..a.nrows(), 0..reflectors(tau)), tau, self.c[i].rb_mut());
    }
}

/// Computes C = op(Q) C.
fn multiply<T: Scalar>(op: Op, v: MatRef<'_, T>, tau: MatRef<'_, T>, c: MatMut<'_, T>) {
    let k = v.ncols();
    if k == 0 {
        return;
    }
    let mut scratch = Workspace::<T>::take(k * k);
    let mut t = MatMut::from_col_major(scratch.elements(), k, k, k).expect("the scratch has these elements");
    with_column_of(tau, |tau| cpu::larft(v, tau, t.rb_mut()));
    cpu::larfb(Side::Left, op, BlockReflector::new(v, t.as_ref()), c);
}
