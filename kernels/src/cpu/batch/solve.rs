//! trsm, potrs and getrs for a batch.

use super::{Members, check_column, check_counts, run, small, with_column_of};
use crate::backend::backend;
use crate::vector::{Form, GroupTriangle, InterleavedSolve, Progress};
use crate::{Diag, Direction, MatMut, MatRef, Op, Scalar, Side, Uplo, cpu};
use std::ops::Range;

/// Up to this many elements of A, and of B, systems are solved by groups.
const ELEMENTS_MAX: usize = 40 * 40;

/// Solves op(A) X = alpha B ([`Side::Left`]) or X op(A) = alpha B ([`Side::Right`]) for each member, as [`cpu::trsm`]
/// does; X overwrites B. The right-hand sides of one member may be a single column.
///
/// # Panics
/// If the batches have different lengths, or the shapes of a member do not agree.
///
/// # Example
/// ```
/// use superscalar::kernels::{Diag, MatMut, MatRef, Op, Side, Uplo, cpu::batch};
///
/// let (a, mut b) = ([2.0, 3.0, f64::NAN, 4.0], [2.0, 7.0]);
/// let a = MatRef::from_col_major(&a, 2, 2, 2)?;
/// let x = MatMut::from_col_major(&mut b, 2, 1, 2)?;
/// batch::trsm(Side::Left, Uplo::Lower, Op::None, Diag::NonUnit, 1.0, &[a], &mut [x]);
/// assert_eq!(b, [1.0, 1.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn trsm<T: Scalar>(
    side: Side,
    uplo: Uplo,
    op: Op,
    diag: Diag,
    alpha: T,
    a: &[MatRef<'_, T>],
    b: &mut [MatMut<'_, T>],
) {
    check("trsm", side, a, b);
    let triangles = &[GroupTriangle { uplo, op, diag }];
    let count = b.len();
    run(SolveMembers { side, triangles, alpha, a, interchanges: None, b }, count);
}

/// Solves A X = B for each member, with the Cholesky factors that [`potrf`](super::potrf) left in the triangle `uplo`
/// of A; X overwrites B.
///
/// # Panics
/// If the batches have different lengths, or the shapes of a member do not agree.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, MatRef, Uplo, cpu::batch};
///
/// let (a, mut b) = ([2.0], [12.0]); // the factor of 4
/// let (a, x) = (MatRef::from_col_major(&a, 1, 1, 1)?, MatMut::from_col_major(&mut b, 1, 1, 1)?);
/// batch::potrs(Uplo::Lower, &[a], &mut [x]);
/// assert_eq!(b, [3.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn potrs<T: Scalar>(uplo: Uplo, a: &[MatRef<'_, T>], b: &mut [MatMut<'_, T>]) {
    check("potrs", Side::Left, a, b);
    let (first, second) = if uplo == Uplo::Lower { (Op::None, Op::ConjTrans) } else { (Op::ConjTrans, Op::None) };
    let triangles = &[first, second].map(|op| GroupTriangle { uplo, op, diag: Diag::NonUnit });
    let count = b.len();
    run(SolveMembers { side: Side::Left, triangles, alpha: T::ONE, a, interchanges: None, b }, count);
}

/// Solves op(A) X = B for each member, with the factors and the interchanges that [`getrf`](super::getrf) left in A and
/// `ipiv`; X overwrites B.
///
/// # Panics
/// If the batches have different lengths, the shapes of a member do not agree, or an interchange is not in 1 ..= m.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, MatRef, Op, cpu::batch};
///
/// let (a, ipiv, mut b) = ([2.0, 0.5, 4.0, 1.0], [2, 2], [4.0, 6.0]); // the factors of [1 3; 2 4]
/// let (a, ipiv) = (MatRef::from_col_major(&a, 2, 2, 2)?, MatRef::from_col_major(&ipiv, 2, 1, 2)?);
/// batch::getrs(Op::None, &[a], &[ipiv], &mut [MatMut::from_col_major(&mut b, 2, 1, 2)?]);
/// assert_eq!(b, [1.0, 1.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn getrs<T: Scalar>(op: Op, a: &[MatRef<'_, T>], ipiv: &[MatRef<'_, i32>], b: &mut [MatMut<'_, T>]) {
    check("getrs", Side::Left, a, b);
    check_counts("getrs", &[a.len(), ipiv.len()]);
    for (a, ipiv) in a.iter().zip(ipiv) {
        let n = a.nrows();
        check_column("getrs", "a member of ipiv", *ipiv, n);
        let is_inside = (0..n).all(|i| (1..=n as i32).contains(&ipiv.at(i, 0)));
        assert!(is_inside, "getrs: an interchange is outside of {n} rows");
    }
    let lower = GroupTriangle { uplo: Uplo::Lower, op, diag: Diag::Unit };
    let upper = GroupTriangle { uplo: Uplo::Upper, op, diag: Diag::NonUnit };
    let (triangles, direction) =
        if op == Op::None { ([lower, upper], Direction::Forward) } else { ([upper, lower], Direction::Backward) };
    let (triangles, interchanges, count) = (&triangles, Some((direction, ipiv)), b.len());
    run(SolveMembers { side: Side::Left, triangles, alpha: T::ONE, a, interchanges, b }, count);
}

#[track_caller]
fn check<T: Scalar>(routine: &str, side: Side, a: &[MatRef<'_, T>], b: &[MatMut<'_, T>]) {
    check_counts(routine, &[a.len(), b.len()]);
    for (a, b) in a.iter().zip(b) {
        let n = side.order(b.shape());
        assert!(a.shape() == (n, n), "{routine}: shapes do not agree: A {:?}, B {:?}", a.shape(), b.shape());
    }
}

struct SolveMembers<'a, 'b, T> {
    side: Side,
    triangles: &'a [GroupTriangle],
    alpha: T,
    a: &'a [MatRef<'a, T>],
    interchanges: Option<(Direction, &'a [MatRef<'a, i32>])>,
    b: &'a mut [MatMut<'b, T>],
}

impl<T: Scalar> Members for SolveMembers<'_, '_, T> {
    type Kind = [Form; 2];

    fn kind(&self, i: usize) -> Option<[Form; 2]> {
        if self.alpha == T::ZERO {
            return None;
        }
        let form = |view| small(view, ELEMENTS_MAX);
        Some([form(self.a[i])?, form(self.b[i].as_ref())?])
    }

    fn groups(&mut self, forms: [Form; 2], members: Range<usize>) -> Progress {
        let Self { side, triangles, alpha, .. } = *self;
        let interchanges = self.interchanges.map(|(direction, ipiv)| (direction, &ipiv[members.clone()]));
        let (a, b) = (&self.a[members.clone()], &mut self.b[members]);
        backend::<T>().group_solve(InterleavedSolve { side, alpha, triangles, a, interchanges, b, forms })
    }

    fn one(&mut self, i: usize) {
        let (a, mut b) = (self.a[i], self.b[i].rb_mut());
        let exchange = |b: MatMut<'_, T>, when: Direction| {
            if let Some((direction, ipiv)) = self.interchanges.filter(|(direction, _)| *direction == when) {
                with_column_of(ipiv[i], |ipiv| cpu::laswp(b, 0, ipiv, direction));
            }
        };
        exchange(b.rb_mut(), Direction::Forward);
        let mut alpha = self.alpha;
        for &GroupTriangle { uplo, op, diag } in self.triangles {
            cpu::trsm(self.side, uplo, op, diag, alpha, a, b.rb_mut());
            alpha = T::ONE;
        }
        exchange(b, Direction::Backward);
    }
}
