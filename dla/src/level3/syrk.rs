//! syrk and herk: rank-k updates of a symmetric or Hermitian matrix.

use super::{
    areas::{TileUpdate, tile_updates},
    check_op, in_triangle, scale,
    spread::{Dealt, spread},
    strips::in_strips,
};
use crate::{
    Scalar,
    codelets::{Gemm, RankK},
    error::Error,
    options::Options,
    plan::{Plan, Problem},
    subtasks::rows_of_op,
    tiled::{TileView, Tiled},
};
use superscalar_kernels::{MatMut, MatRef, Op, Symmetry, Uplo, cpu};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks of C := alpha op(A) op(A)ᵀ + beta C for one triangle of the n x n matrix C, where op(A) is n x k.
///
/// # Panics
/// If the tiles do not match, C's tiles are not square, or for [`Op::ConjTrans`] of a complex type.
#[each_type]
#[track_caller]
pub fn spawn_syrk<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    uplo: Uplo,
    op: Op,
    alpha: T,
    a: &Tiled<'s, V>,
    beta: T,
    c: &Tiled<'s, MatMut<'s, T>>,
) {
    spawn(s, Symmetry::Symmetric, uplo, op, alpha, a, beta, c);
}

/// Inserts the tasks of C := alpha op(A) op(A)ᴴ + beta C for one triangle of the n x n matrix C, where op(A) is n x k.
///
/// # Panics
/// If the tiles do not match, C's tiles are not square, or for [`Op::Trans`] of a complex type.
#[each_type]
#[track_caller]
pub fn spawn_herk<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    uplo: Uplo,
    op: Op,
    alpha: T::Real,
    a: &Tiled<'s, V>,
    beta: T::Real,
    c: &Tiled<'s, MatMut<'s, T>>,
) {
    spawn(s, Symmetry::Hermitian, uplo, op, T::from_real(alpha), a, T::from_real(beta), c);
}

#[track_caller]
fn spawn<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    symmetry: Symmetry,
    uplo: Uplo,
    op: Op,
    alpha: T,
    a: &Tiled<'s, V>,
    beta: T,
    c: &Tiled<'s, MatMut<'s, T>>,
) {
    let ([n_a, k_a], [m_c, n_c]) = (a.partition(op), c.partition(Op::None));
    assert!(n_a == m_c && m_c == n_c, "rank-k update: op(A) is {n_a} x {k_a}, C is {m_c} x {n_c}");
    if let Err(error) = check_op::<T>("rank-k update", symmetry, op) {
        panic!("{error}");
    }
    if alpha == T::ZERO || k_a.count() == 0 {
        return scale(s, Some((symmetry, uplo)), beta, c);
    }
    let (gemm, rank_k) = (Gemm::new(), RankK::new(symmetry.rank_k()));
    for update @ TileUpdate { i, j, k, .. } in
        tile_updates::<T, _>(s, c, k_a).filter(|at| in_triangle(uplo, at.i, at.j))
    {
        // C[i][j] := alpha op(A)[i][k] op(A)[j][k]* + beta C[i][j]
        let (left, right) = (a.factor(op, i, k), a.factor(op, j, k).mirrored(symmetry));
        let (c, beta) = (c.at(i, j), if k == 0 { beta } else { T::ONE });
        if i == j {
            rank_k.update(s, update.task(symmetry.rank_k()), (symmetry, uplo), alpha, left, beta, c);
        } else {
            gemm.spawn(s, update.task("gemm"), alpha, left, right, beta, c);
        }
    }
}

/// Computes one triangle of C = alpha op(A) op(A)ᵀ + beta C, where op(A) is n x k and C is n x n and symmetric. The
/// other triangle is neither read nor changed.
///
/// If beta = 0, C is not read. If alpha = 0 or k = 0, A is not read.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes do not match; [`Argument`](crate::ErrorKind::Argument) for
/// [`Op::ConjTrans`] of a complex type (see [`herk`]).
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Op, Options, Uplo, syrk};
///
/// let rt = Runtime::new()?;
/// let a = Matrix::from_fn(10, 200, |_, j| j as f64);
/// let mut c = Matrix::zeros(200, 200);
/// syrk(&rt, Uplo::Upper, Op::Trans, 1.0, a.as_ref(), 0.0, c.as_mut(), &Options::default())?;
/// assert_eq!((c.at(2, 100), c.at(100, 2)), (2000.0, 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn syrk<T: Scalar>(
    rt: &Runtime,
    uplo: Uplo,
    op: Op,
    alpha: T,
    a: MatRef<'_, T>,
    beta: T,
    c: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    rank_k(rt, Symmetry::Symmetric, uplo, op, alpha, a, beta, c, options)
}

/// Computes one triangle of C = alpha op(A) op(A)ᴴ + beta C, where op(A) is n x k and C is n x n and Hermitian. alpha
/// and beta are real. The imaginary part of C's diagonal is treated as zero and set to zero. For real types this is
/// [`syrk`].
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes do not match; [`Argument`](crate::ErrorKind::Argument) for
/// [`Op::Trans`] of a complex type (see [`syrk`]).
#[each_type]
pub fn herk<T: Scalar>(
    rt: &Runtime,
    uplo: Uplo,
    op: Op,
    alpha: T::Real,
    a: MatRef<'_, T>,
    beta: T::Real,
    c: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    rank_k(rt, Symmetry::Hermitian, uplo, op, T::from_real(alpha), a, T::from_real(beta), c, options)
}

fn rank_k<T: Scalar>(
    rt: &Runtime,
    symmetry: Symmetry,
    uplo: Uplo,
    op: Op,
    alpha: T,
    a: MatRef<'_, T>,
    beta: T,
    mut c: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let (name, (n, k)) = (symmetry.rank_k(), op.shape(a.shape()));
    check_op::<T>(name, symmetry, op)?;
    if c.shape() != (n, n) {
        return Err(Error::shape(format!("{name}: op(A) is {n} x {k}, C is {} x {}", c.nrows(), c.ncols())));
    }
    let tiles = match options.plan::<T>(rt, Problem::Triangle { n, k })? {
        Plan::Tiles(tiles) => tiles,
        plan => {
            return Ok(in_strips(rt, name, uplo, plan.strips(), c, |here, c| {
                let a = rows_of_op(op, a, here.start..n);
                match symmetry {
                    Symmetry::Symmetric => cpu::syrk(uplo, op, alpha, a, beta, c),
                    Symmetry::Hermitian => cpu::herk(uplo, op, alpha.re(), a, beta.re(), c),
                }
            })?);
        }
    };
    let distribution = options.distribution_of_product(rt)?;
    Ok(rt.scope(|s| {
        let a = Tiled::factor_of_product(s, a, op.shape((tiles.nb, tiles.kb)), tiles.kb);
        let c = Tiled::new(s, c.rb_mut(), tiles.nb, tiles.nb);
        let c = spread(s, distribution, [&a], Dealt::Triangle(uplo), c);
        spawn(s, symmetry, uplo, op, alpha, &a, beta, &c);
    })?)
}
