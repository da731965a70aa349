//! syr2k and her2k: rank-2k updates of a symmetric or Hermitian matrix.

use super::{
    areas::{TileUpdate, tile_updates},
    check_op, in_triangle, scale,
    spread::{Dealt, spread},
    strips::in_strips,
};
use crate::{
    Scalar,
    codelets::{Gemm, Rank2k},
    error::Error,
    options::Options,
    plan::{Plan, Problem},
    subtasks::rows_of_op,
    tiled::{TileView, Tiled},
};
use superscalar_kernels::{MatMut, MatRef, Op, Symmetry, Uplo, cpu};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks of C := alpha op(A) op(B)ᵀ + alpha op(B) op(A)ᵀ + beta C for one triangle of the n x n matrix C,
/// where op(A) and op(B) are n x k.
///
/// # Panics
/// If the tiles do not match, C's tiles are not square, or for [`Op::ConjTrans`] of a complex type.
#[each_type]
#[track_caller]
pub fn spawn_syr2k<'s, T: Scalar, V: TileView<'s, Element = T>, W: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    uplo: Uplo,
    op: Op,
    alpha: T,
    a: &Tiled<'s, V>,
    b: &Tiled<'s, W>,
    beta: T,
    c: &Tiled<'s, MatMut<'s, T>>,
) {
    spawn(s, Symmetry::Symmetric, uplo, op, alpha, a, b, beta, c);
}

/// Inserts the tasks of C := alpha op(A) op(B)ᴴ + conj(alpha) op(B) op(A)ᴴ + beta C for one triangle of the n x n
/// matrix C, where op(A) and op(B) are n x k.
///
/// # Panics
/// If the tiles do not match, C's tiles are not square, or for [`Op::Trans`] of a complex type.
#[each_type]
#[track_caller]
pub fn spawn_her2k<'s, T: Scalar, V: TileView<'s, Element = T>, W: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    uplo: Uplo,
    op: Op,
    alpha: T,
    a: &Tiled<'s, V>,
    b: &Tiled<'s, W>,
    beta: T::Real,
    c: &Tiled<'s, MatMut<'s, T>>,
) {
    spawn(s, Symmetry::Hermitian, uplo, op, alpha, a, b, T::from_real(beta), c);
}

#[track_caller]
fn spawn<'s, T: Scalar, V: TileView<'s, Element = T>, W: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    symmetry: Symmetry,
    uplo: Uplo,
    op: Op,
    alpha: T,
    a: &Tiled<'s, V>,
    b: &Tiled<'s, W>,
    beta: T,
    c: &Tiled<'s, MatMut<'s, T>>,
) {
    let ([n_a, k_a], [n_b, k_b], [m_c, n_c]) = (a.partition(op), b.partition(op), c.partition(Op::None));
    let fit = n_a == m_c && n_b == m_c && m_c == n_c && k_a == k_b;
    assert!(fit, "rank-2k update: op(A) is {n_a} x {k_a}, op(B) is {n_b} x {k_b}, C is {m_c} x {n_c}");
    if let Err(error) = check_op::<T>("rank-2k update", symmetry, op) {
        panic!("{error}");
    }
    if alpha == T::ZERO || k_a.count() == 0 {
        return scale(s, Some((symmetry, uplo)), beta, c);
    }
    let (ab, ba, rank_2k) = (Gemm::new(), Gemm::new(), Rank2k::named(symmetry.rank_2k()));
    let mut updates = tile_updates::<T, _>(s, c, k_a).filter(|at| in_triangle(uplo, at.i, at.j)).peekable();
    let mut column: Vec<TileUpdate> = Vec::new();
    while let Some(first) = updates.next() {
        // Consecutive tiles share the right factor: first insert all first products, then all second products.
        column.clear();
        column.push(first);
        column.extend(std::iter::from_fn(|| updates.next_if(|next| (next.j, next.k) == (first.j, first.k))));
        for update @ &TileUpdate { i, j, k, .. } in &column {
            let (c, beta) = (c.at(i, j), if k == 0 { beta } else { T::ONE });
            let (a_i, b_j) = (a.factor(op, i, k), b.factor(op, j, k));
            if i == j {
                // C[j][j] := alpha op(A)[j][k] op(B)[j][k]* + alpha* op(B)[j][k] op(A)[j][k]* + beta C[j][j]
                rank_2k.spawn(s, update.task(symmetry.rank_2k()), (symmetry, uplo), alpha, a_i, b_j, beta, c);
            } else {
                // C[i][j] := alpha op(A)[i][k] op(B)[j][k]* + beta C[i][j]
                ab.spawn(s, update.task("gemm"), alpha, a_i, b_j.mirrored(symmetry), beta, c);
            }
        }
        for update @ &TileUpdate { i, j, k, .. } in column.iter().filter(|at| at.i != at.j) {
            // C[i][j] := alpha* op(B)[i][k] op(A)[j][k]* + C[i][j]
            let (b_i, a_j) = (b.factor(op, i, k), a.factor(op, j, k).mirrored(symmetry));
            ba.spawn(s, update.task("gemm"), symmetry.conj(alpha), b_i, a_j, T::ONE, c.at(i, j));
        }
    }
}

/// Computes one triangle of C = alpha op(A) op(B)ᵀ + alpha op(B) op(A)ᵀ + beta C, where op(A) and op(B) are n x k and C
/// is n x n and symmetric. The other triangle is neither read nor changed.
///
/// If beta = 0, C is not read. If alpha = 0 or k = 0, A and B are not read.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes do not match; [`Argument`](crate::ErrorKind::Argument) for
/// [`Op::ConjTrans`] of a complex type (see [`her2k`]).
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Op, Options, Uplo, syr2k};
///
/// let rt = Runtime::new()?;
/// let (a, b) = (Matrix::from_fn(200, 10, |i, _| i as f64), Matrix::from_fn(200, 10, |_, _| 1.0));
/// let mut c = Matrix::zeros(200, 200);
/// syr2k(&rt, Uplo::Lower, Op::None, 1.0, a.as_ref(), b.as_ref(), 0.0, c.as_mut(), &Options::default())?;
/// assert_eq!(c.at(100, 2), 1020.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn syr2k<T: Scalar>(
    rt: &Runtime,
    uplo: Uplo,
    op: Op,
    alpha: T,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: T,
    c: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    rank_2k(rt, (Symmetry::Symmetric, uplo), op, alpha, a, b, beta, c, options)
}

/// Computes one triangle of C = alpha op(A) op(B)ᴴ + conj(alpha) op(B) op(A)ᴴ + beta C, where op(A) and op(B) are n x k
/// and C is n x n and Hermitian. beta is real. The imaginary part of C's diagonal is treated as zero and set to zero.
/// For real types this is [`syr2k`].
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes do not match; [`Argument`](crate::ErrorKind::Argument) for
/// [`Op::Trans`] of a complex type (see [`syr2k`]).
#[each_type]
pub fn her2k<T: Scalar>(
    rt: &Runtime,
    uplo: Uplo,
    op: Op,
    alpha: T,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: T::Real,
    c: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    rank_2k(rt, (Symmetry::Hermitian, uplo), op, alpha, a, b, T::from_real(beta), c, options)
}

fn rank_2k<T: Scalar>(
    rt: &Runtime,
    (symmetry, uplo): (Symmetry, Uplo),
    op: Op,
    alpha: T,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: T,
    mut c: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let (name, (n, k)) = (symmetry.rank_2k(), op.shape(a.shape()));
    check_op::<T>(name, symmetry, op)?;
    if c.shape() != (n, n) || b.shape() != a.shape() {
        let why = format!("{name}: A is {:?}, B is {:?}, C is {:?}, trans = {op}", a.shape(), b.shape(), c.shape());
        return Err(Error::shape(why));
    }
    let tiles = match options.plan::<T>(rt, Problem::Triangle { n, k })? {
        Plan::Tiles(tiles) => tiles,
        plan => {
            return Ok(in_strips(rt, name, uplo, plan.strips(), c, |here, c| {
                let (a, b) = (rows_of_op(op, a, here.start..n), rows_of_op(op, b, here.start..n));
                match symmetry {
                    Symmetry::Symmetric => cpu::syr2k(uplo, op, alpha, a, b, beta, c),
                    Symmetry::Hermitian => cpu::her2k(uplo, op, alpha, a, b, beta.re(), c),
                }
            })?);
        }
    };
    let distribution = options.distribution_of_product(rt)?;
    Ok(rt.scope(|s| {
        let tile = op.shape((tiles.nb, tiles.kb));
        let a = Tiled::factor_of_product(s, a, tile, tiles.kb);
        let b = Tiled::factor_of_product(s, b, tile, tiles.kb);
        let c = Tiled::new(s, c.rb_mut(), tiles.nb, tiles.nb);
        let c = spread(s, distribution, [&a, &b], Dealt::Triangle(uplo), c);
        spawn(s, symmetry, uplo, op, alpha, &a, &b, beta, &c);
    })?)
}
