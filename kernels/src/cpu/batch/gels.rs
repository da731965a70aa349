//! gels for a batch: QR factorizations, products with Q and triangular solves, a piece of the batch at a time.

use super::{check_counts, geqrf, trsm, unmqr};
use crate::vector::Workspace;
use crate::{Diag, MatMut, MatRef, Op, Scalar, Side, Uplo};

/// The most members of a piece: a multiple of the lanes.
const MEMBERS_MAX: usize = 128;
/// The most elements in the matrices of a piece, if it has several: they stay in the second-level cache.
const ELEMENTS_MAX: usize = 1 << 15;

/// Solves A X = B for each m x n member, where A has full rank. B has max(m, n) rows. In `info`, each member gets zero,
/// or the number of the first diagonal element of R that is zero; X is not computed then.
///
/// - m >= n: computes the X that minimises ‖A X − B‖. With A = Q R it is R⁻¹ Qᴴ B. It overwrites the first n rows of
///   B, and the factorization overwrites A, as [`geqrf`] leaves it.
/// - m < n: computes the X with the least norm, where B is in the first m rows. With Aᴴ = Q R it is Q (R⁻ᴴ B, 0). It
///   overwrites all rows of B, and A keeps its values.
///
/// # Panics
/// If the batches have different lengths, or a member of B has another number of rows.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, cpu::batch};
///
/// // 3 x + 4 y = 25
/// let (mut a, mut b, mut info) = ([3.0, 4.0], [25.0, f64::NAN], [7]);
/// let (row, x) = (MatMut::from_col_major(&mut a, 1, 2, 1)?, MatMut::from_col_major(&mut b, 2, 1, 2)?);
/// batch::gels(&mut [row], &mut [x], &mut info);
/// assert!(info == [0] && (b[0] - 3.0).abs() < 1e-14 && (b[1] - 4.0).abs() < 1e-14);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn gels<T: Scalar>(a: &mut [MatMut<'_, T>], b: &mut [MatMut<'_, T>], info: &mut [i32]) {
    check_counts("gels", &[a.len(), b.len(), info.len()]);
    for (a, b) in a.iter().zip(b.iter()) {
        let rows = a.nrows().max(a.ncols());
        assert!(b.nrows() == rows, "gels: B has {} rows: expected {rows} with A {:?}", b.nrows(), a.shape());
    }
    let mut start = 0;
    while start < a.len() {
        let is_wide = |a: &MatMut<'_, T>| a.nrows() < a.ncols();
        let (limit, mut elements) = (a.len().min(start + MEMBERS_MAX), 0);
        let mut is_inside = |p: usize| {
            elements += a[p].nrows() * a[p].ncols();
            p == start || (is_wide(&a[p]) == is_wide(&a[start]) && elements <= ELEMENTS_MAX)
        };
        let end = (start..limit).find(|&p| !is_inside(p)).unwrap_or(limit);
        let (a, b, info) = (&mut a[start..end], &mut b[start..end], &mut info[start..end]);
        if is_wide(&a[0]) {
            minimum_norm(a, b, info)
        } else {
            least_squares(a, b, info)
        }
        start = end;
    }
}

/// Computes X = R⁻¹ Qᴴ B, where A = Q R.
fn least_squares<T: Scalar>(a: &mut [MatMut<'_, T>], b: &mut [MatMut<'_, T>], info: &mut [i32]) {
    let mut scratch = Workspace::<T>::take(a.iter().map(MatMut::ncols).sum());
    let mut tau = cut(scratch.elements(), a.iter().map(|a| (a.ncols(), 1)));
    geqrf(a, &mut tau);
    let mut problems = problems(a, &tau, b, info);
    unmqr(Op::ConjTrans, &problems.qr, &problems.tau, &mut problems.b);
    problems.solve(Op::None);
}

/// Computes X = Q (R⁻ᴴ B, 0), where Aᴴ = Q R.
fn minimum_norm<T: Scalar>(a: &[MatMut<'_, T>], b: &mut [MatMut<'_, T>], info: &mut [i32]) {
    let mut scratch = Workspace::<T>::take(a.iter().map(|a| a.nrows() * a.ncols()).sum());
    let mut adjoints = cut(scratch.elements(), a.iter().map(|a| (a.ncols(), a.nrows())));
    for (adjoint, a) in adjoints.iter_mut().zip(a) {
        let (m, n) = a.shape();
        (0..m).for_each(|i| (0..n).for_each(|j| adjoint[(j, i)] = a.at(i, j).conj()));
    }
    let mut factors = Workspace::<T>::take(a.iter().map(MatMut::nrows).sum());
    let mut tau = cut(factors.elements(), a.iter().map(|a| (a.nrows(), 1)));
    geqrf(&mut adjoints, &mut tau);
    let mut problems = problems(&adjoints, &tau, b, info);
    problems.solve(Op::ConjTrans);
    for (qr, b) in problems.qr.iter().zip(&mut problems.b) {
        b.rb_mut().split_at_row(qr.ncols()).1.fill(T::ZERO);
    }
    unmqr(Op::None, &problems.qr, &problems.tau, &mut problems.b);
}

/// Problems that can be solved: no diagonal element of R is zero.
struct Problems<'a, 'b, T> {
    qr: Vec<MatRef<'a, T>>,
    tau: Vec<MatRef<'a, T>>,
    b: Vec<MatMut<'b, T>>,
}

/// Finds the problems that can be solved, and says for each one in `info` whether it is one of them.
fn problems<'a, 'b, T: Scalar>(
    qr: &'a [MatMut<'_, T>],
    tau: &'a [MatMut<'_, T>],
    b: &'b mut [MatMut<'_, T>],
    info: &mut [i32],
) -> Problems<'a, 'b, T> {
    let count = qr.len();
    let mut found =
        Problems { qr: Vec::with_capacity(count), tau: Vec::with_capacity(count), b: Vec::with_capacity(count) };
    for (((qr, tau), b), info) in qr.iter().zip(tau).zip(b).zip(info) {
        let zero = (0..qr.ncols()).find(|&j| qr.at(j, j) == T::ZERO);
        *info = zero.map_or(0, |j| (j + 1) as i32);
        if zero.is_none() {
            found.qr.push(qr.as_ref());
            found.tau.push(tau.as_ref());
            found.b.push(b.rb_mut());
        }
    }
    found
}

impl<T: Scalar> Problems<'_, '_, T> {
    /// Solves with op(R). The right-hand sides are in the first rows of B.
    fn solve(&mut self, op: Op) {
        let r: Vec<_> = self.qr.iter().map(|qr| qr.submatrix(0..qr.ncols(), 0..qr.ncols())).collect();
        let sides = self.b.iter_mut().zip(&r).map(|(b, r)| b.rb_mut().split_at_row(r.nrows()).0);
        trsm(Side::Left, Uplo::Upper, op, Diag::NonUnit, T::ONE, &r, &mut sides.collect::<Vec<_>>());
    }
}

/// Cuts a slice into matrices, one behind the other.
fn cut<T>(mut elements: &mut [T], shapes: impl Iterator<Item = (usize, usize)>) -> Vec<MatMut<'_, T>> {
    let matrix = |(m, n): (usize, usize)| {
        let (first, others) = std::mem::take(&mut elements).split_at_mut(m * n);
        elements = others;
        MatMut::from_col_major(first, m, n, m.max(1)).expect("the slice has these elements")
    };
    shapes.map(matrix).collect()
}
