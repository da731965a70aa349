//! trmm: products with a triangular matrix.

use super::{
    Sweep,
    areas::side_areas,
    scale,
    spread::{Dealt, spread},
};
use crate::{
    Scalar,
    codelets::{Gemm, Triangle, TriangleForm, triangular_operation},
    error::Error,
    options::Options,
    plan::Problem,
    tiled::{TileView, Tiled},
};
use superscalar_kernels::{Diag, MatMut, MatRef, Op, Side, Uplo, cpu, operations::TriangularAction};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks of B := alpha op(A) B (left) or B := alpha B op(A) (right), where A is triangular and B is m x n.
///
/// # Panics
/// If the tiles do not match, or A's tiles are not square.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    side: Side,
    uplo: Uplo,
    op: Op,
    diag: Diag,
    alpha: T,
    a: &Tiled<'s, V>,
    b: &Tiled<'s, MatMut<'s, T>>,
) {
    let ([n_a, k_a], [m, n]) = (a.partition(Op::None), b.partition(Op::None));
    let order = if side == Side::Left { m } else { n };
    assert!(n_a == k_a && n_a == order, "trmm: A is {n_a} x {k_a}, B is {m} x {n}, side {side}");
    if alpha == T::ZERO {
        return scale(s, None, alpha, b);
    }
    let (trmm, ab, ba) = (Triangle::new("trmm"), Gemm::new(), Gemm::new());
    let triangle = |i, j| {
        triangular_operation(
            TriangularAction::Multiply,
            side,
            TriangleForm { uplo, op, diag },
            alpha,
            (b.rows_of(i), b.cols_of(j)),
        )
    };
    let sweep = Sweep::new(side, uplo, op, a.nt());
    let areas = side_areas::<T, _>(s, b, side);
    for (at, k) in areas.iter().flat_map(|at| sweep.multiply_order().map(move |k| (at, k))) {
        match side {
            Side::Left => {
                for (j, i) in at.cols.clone().flat_map(|j| sweep.others(k).map(move |i| (j, i))) {
                    // B[i][j] := B[i][j] + alpha op(A)[i][k] B[k][j]
                    let (a, b_kj) = (a.factor(op, i, k), b.factor(Op::None, k, j));
                    ab.spawn(s, at.task("gemm", i, j, k), alpha, a, b_kj, T::ONE, b.at(i, j));
                }
                for j in at.cols.clone() {
                    // B[k][j] := alpha op(A)[k][k] B[k][j]
                    trmm.spawn(s, at.task("trmm", k, j, k), triangle(k, j), a.at(k, k), b.at(k, j));
                }
            }
            Side::Right => {
                for (j, i) in sweep.others(k).flat_map(|j| at.rows.clone().map(move |i| (j, i))) {
                    // B[i][j] := B[i][j] + alpha B[i][k] op(A)[k][j]
                    let (b_ik, a) = (b.factor(Op::None, i, k), a.factor(op, k, j));
                    ba.spawn(s, at.task("gemm", i, j, k), alpha, b_ik, a, T::ONE, b.at(i, j));
                }
                for i in at.rows.clone() {
                    // B[i][k] := alpha B[i][k] op(A)[k][k]
                    trmm.spawn(s, at.task("trmm", i, k, k), triangle(i, k), a.at(k, k), b.at(i, k));
                }
            }
        }
    }
}

/// Computes B = alpha op(A) B (left, A is m x m) or B = alpha B op(A) (right, A is n x n), where A is triangular and B
/// is m x n.
///
/// Only the triangle `uplo` of A is read; its diagonal is not read if `diag` is [`Diag::Unit`]. If alpha = 0, B is set
/// to zero and A is not read.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes do not match.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Diag, Matrix, Op, Options, Side, Uplo, trmm};
///
/// let rt = Runtime::new()?;
/// let a = Matrix::from_fn(200, 200, |i, j| if i >= j { 1.0 } else { f64::NAN });
/// let mut b = Matrix::from_fn(200, 3, |_, _| 1.0);
/// let (left, none, all) = (Side::Left, Op::None, Diag::NonUnit);
/// trmm(&rt, left, Uplo::Lower, none, all, 1.0, a.as_ref(), b.as_mut(), &Options::default())?;
/// assert_eq!((b.at(0, 0), b.at(199, 2)), (1.0, 200.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn trmm<T: Scalar>(
    rt: &Runtime,
    side: Side,
    uplo: Uplo,
    op: Op,
    diag: Diag,
    alpha: T,
    a: MatRef<'_, T>,
    mut b: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let (m, n) = b.shape();
    let order = if side == Side::Left { m } else { n };
    if a.shape() != (order, order) {
        return Err(Error::shape(format!("trmm: A is {:?}, B is {m} x {n}, side {side}", a.shape())));
    }
    let Some(tiles) = options.plan::<T>(rt, Problem::Sided { side, m, n })?.tiles() else {
        cpu::trmm(side, uplo, op, diag, alpha, a, b);
        return Ok(());
    };
    let distribution = options.distribution_of_product(rt)?;
    Ok(rt.scope(|s| {
        let a = Tiled::factor_of_product(s, a, (tiles.kb, tiles.kb), tiles.kb);
        let b = Tiled::target_of_product(s, b.rb_mut(), (tiles.mb, tiles.nb), tiles.kb);
        let b = spread(s, distribution, [&a], Dealt::BySide(side), b);
        spawn(s, side, uplo, op, diag, alpha, &a, &b);
    })?)
}
