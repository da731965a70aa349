//! gebrd for a batch: one matrix after the other, one reflector after the other (LAPACK's gebd2).

use super::{check_column, check_counts};
use crate::vector::Workspace;
use crate::{MatMut, Op, Real, Scalar, VecMut, VecRef, cpu};

/// Reduces each m x n member to bidiagonal form: A = Q B Pᴴ. B is real; it is upper bidiagonal if m >= n, and lower
/// bidiagonal otherwise. With k = min(m, n), the columns in `d` receive its k diagonal elements, and those in `e` the
/// k - 1 elements beside them.
///
/// As in LAPACK, Q and P are products of reflectors with the factors in the columns of `tauq` and `taup`, of k rows
/// each. Their vectors overwrite A: those of Q below the diagonal (or below the subdiagonal if m < n), those of P, by
/// rows, at the right of the superdiagonal (or of the diagonal). B overwrites the elements between.
///
/// # Panics
/// If the batches have different lengths, or a column of a member has another length.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, cpu::batch};
///
/// let (mut a, mut d, mut e, mut q, mut p) = ([3.0, 4.0], [0.0], [0.0; 0], [0.0], [7.0]);
/// let [d1, q1, p1] = [&mut d, &mut q, &mut p].map(|x| MatMut::from_col_major(x, 1, 1, 1));
/// let (a1, e1) = (MatMut::from_col_major(&mut a, 2, 1, 2)?, MatMut::from_col_major(&mut e, 0, 1, 1)?);
/// batch::gebrd(&mut [a1], &mut [d1?], &mut [e1], &mut [q1?], &mut [p1?]);
/// assert_eq!((a, d, q, p), ([-5.0, 0.5], [-5.0], [1.6], [0.0]));
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn gebrd<T: Scalar>(
    a: &mut [MatMut<'_, T>],
    d: &mut [MatMut<'_, T::Real>],
    e: &mut [MatMut<'_, T::Real>],
    tauq: &mut [MatMut<'_, T>],
    taup: &mut [MatMut<'_, T>],
) {
    check_counts("gebrd", &[a.len(), d.len(), e.len(), tauq.len(), taup.len()]);
    for (i, a) in a.iter().enumerate() {
        let k = a.nrows().min(a.ncols());
        check_column("gebrd", "a member of d", d[i].as_ref(), k);
        check_column("gebrd", "a member of e", e[i].as_ref(), k.saturating_sub(1));
        check_column("gebrd", "a member of tauq", tauq[i].as_ref(), k);
        check_column("gebrd", "a member of taup", taup[i].as_ref(), k);
    }
    for (i, a) in a.iter_mut().enumerate() {
        let (d, e) = (d[i].rb_mut(), e[i].rb_mut());
        let (tauq, taup) = (tauq[i].rb_mut(), taup[i].rb_mut());
        if a.nrows() >= a.ncols() {
            reduce(a.rb_mut(), false, Bidiagonal { d, e, tauq, taup });
        } else {
            // Aᴴ = P Bᴴ Qᴴ has an upper bidiagonal Bᴴ, and Q and P change places.
            reduce(a.rb_mut().transpose(), true, Bidiagonal { d, e, tauq: taup, taup: tauq });
        }
    }
}

/// The results beside A.
struct Bidiagonal<'a, T: Scalar> {
    d: MatMut<'a, T::Real>,
    e: MatMut<'a, T::Real>,
    tauq: MatMut<'a, T>,
    taup: MatMut<'a, T>,
}

/// Reduces A, or, if `conj`, the conjugate of A, with at least as many rows as columns, on a copy without gaps.
fn reduce<T: Scalar>(mut a: MatMut<'_, T>, conj: bool, mut to: Bidiagonal<'_, T>) {
    let (m, n) = a.shape();
    if n == 0 {
        return;
    }
    let mut scratch = Workspace::<T>::take(m * n + 2 * m);
    let (copy, rest) = scratch.elements().split_at_mut(m * n);
    let (row, product) = rest.split_at_mut(m);
    let mut work = MatMut::from_col_major(copy, m, n, m).expect("the scratch has these elements");
    work.copy_from(a.as_ref());
    conjugate(&mut work, conj);
    for j in 0..n {
        let (_, mut below) = work.rb_mut().split_at_row(j);
        let (left, mut right) = below.rb_mut().split_at_col(j + 1);
        let mut column = left.col(j);
        let v = column.col_as_slice_mut(0).expect("columns are without gaps");
        let (beta, tau) = reflector(v);
        (to.d[(j, 0)], to.tauq[(j, 0)]) = (beta, tau);
        v[0] = T::ONE;
        let rest = n - j - 1;
        if rest > 0 {
            // Hᴴ C = C - conj(tau) v (Cᴴ v)ᴴ.
            let (v, y) = (VecRef::from_slice(v), &mut product[..rest]);
            cpu::gemv(Op::ConjTrans, T::ONE, right.as_ref(), v, T::ZERO, VecMut::from_slice(y));
            cpu::gerc(-tau.conj(), v, VecRef::from_slice(y), right.rb_mut());
        }
        column[(0, 0)] = T::from_real(beta);
        if rest == 0 {
            to.taup[(j, 0)] = T::ZERO;
            continue;
        }
        let u = &mut row[..rest];
        u.iter_mut().enumerate().for_each(|(c, u)| *u = right.at(0, c).conj());
        let (beta, tau) = reflector(u);
        (to.e[(j, 0)], to.taup[(j, 0)]) = (beta, tau);
        u[0] = T::ONE;
        let (mut top, mut c) = right.split_at_row(1);
        if c.nrows() > 0 {
            // C G = C - tau (C u) uᴴ.
            let (u, y) = (VecRef::from_slice(u), &mut product[..c.nrows()]);
            cpu::gemv(Op::None, T::ONE, c.as_ref(), u, T::ZERO, VecMut::from_slice(y));
            cpu::gerc(-tau, VecRef::from_slice(y), u, c.rb_mut());
        }
        u[0] = T::from_real(beta);
        (0..rest).for_each(|c| top[(0, c)] = u[c].conj());
    }
    conjugate(&mut work, conj);
    a.copy_from(work.as_ref());
}

/// Conjugates all elements of a complex matrix without gaps, if asked.
fn conjugate<T: Scalar>(a: &mut MatMut<'_, T>, conj: bool) {
    if conj && T::COMPLEX {
        for j in 0..a.ncols() {
            a.col_as_slice_mut(j).expect("columns are without gaps").iter_mut().for_each(|x| *x = x.conj());
        }
    }
}

/// Makes the reflector H with Hᴴ x = beta e1. Stores its vector over x, except for its first element, and returns beta
/// and tau (LAPACK's larfg).
fn reflector<T: Scalar>(x: &mut [T]) -> (T::Real, T) {
    let (alpha, rest) = (x[0], &mut x[1..]);
    let below = cpu::nrm2(VecRef::from_slice(rest));
    if below == T::Real::ZERO && alpha.im() == T::Real::ZERO {
        return (alpha.re(), T::ZERO);
    }
    let norm = cpu::nrm2(VecRef::from_slice(&[alpha, T::from_real(below)]));
    let beta = if alpha.re() < T::Real::ZERO { norm } else { -norm };
    let tau = T::from_parts((beta - alpha.re()) / beta, -alpha.im() / beta);
    // Quotients by beta are near one, so they neither overflow nor vanish.
    let over = |x: T| T::from_parts(x.re() / beta, x.im() / beta);
    let least = T::Real::MIN_POSITIVE / (T::EPSILON * T::EPSILON);
    let divisor = over(alpha) - T::ONE;
    if norm > least && norm < T::Real::ONE / least {
        let inverse = T::from_real(T::Real::ONE / beta) * T::ONE.quotient(divisor);
        cpu::scal(inverse, VecMut::from_slice(rest));
    } else {
        rest.iter_mut().for_each(|x| *x = over(*x).quotient(divisor));
    }
    (beta, tau)
}
