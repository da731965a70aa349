//! symm and hemm: products with a symmetric or Hermitian matrix.

use super::{
    areas::{TileUpdate, tile_updates},
    mirrored, scale,
    spread::{Dealt, spread},
};
use crate::{
    Scalar,
    codelets::{Gemm, Symm, SymmForm},
    error::Error,
    options::Options,
    plan::Problem,
    tiled::{TileView, Tiled},
};
use superscalar_kernels::{MatMut, MatRef, Op, Side, Symmetry, Uplo, cpu};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks of C := alpha A B + beta C (left) or C := alpha B A + beta C (right), where A is symmetric with
/// one triangle stored and B and C are m x n.
///
/// # Panics
/// If the tiles do not match, or A's tiles are not square.
#[each_type]
#[track_caller]
pub fn spawn_symm<'s, T: Scalar, V: TileView<'s, Element = T>, W: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    side: Side,
    uplo: Uplo,
    alpha: T,
    a: &Tiled<'s, V>,
    b: &Tiled<'s, W>,
    beta: T,
    c: &Tiled<'s, MatMut<'s, T>>,
) {
    spawn(s, Symmetry::Symmetric, side, uplo, alpha, a, b, beta, c);
}

/// Inserts the tasks of C := alpha A B + beta C (left) or C := alpha B A + beta C (right), where A is Hermitian with
/// one triangle stored and B and C are m x n.
///
/// # Panics
/// If the tiles do not match, or A's tiles are not square.
#[each_type]
#[track_caller]
pub fn spawn_hemm<'s, T: Scalar, V: TileView<'s, Element = T>, W: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    side: Side,
    uplo: Uplo,
    alpha: T,
    a: &Tiled<'s, V>,
    b: &Tiled<'s, W>,
    beta: T,
    c: &Tiled<'s, MatMut<'s, T>>,
) {
    spawn(s, Symmetry::Hermitian, side, uplo, alpha, a, b, beta, c);
}

#[track_caller]
fn spawn<'s, T: Scalar, V: TileView<'s, Element = T>, W: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    symmetry: Symmetry,
    side: Side,
    uplo: Uplo,
    alpha: T,
    a: &Tiled<'s, V>,
    b: &Tiled<'s, W>,
    beta: T,
    c: &Tiled<'s, MatMut<'s, T>>,
) {
    let ([n_a, k_a], [m_c, n_c]) = (a.partition(Op::None), c.partition(Op::None));
    let order = if side == Side::Left { m_c } else { n_c };
    let fit = n_a == k_a && n_a == order && b.partition(Op::None) == [m_c, n_c];
    assert!(fit, "symm: A is {n_a} x {k_a}, B is {:?}, C is {m_c} x {n_c}, side {side}", b.shape());
    if alpha == T::ZERO {
        return scale(s, None, beta, c);
    }
    let (ab, ba, symm) = (Gemm::new(), Gemm::new(), Symm::named(symmetry.mm()));
    let form = SymmForm { symmetry, side, uplo };
    for update @ TileUpdate { i, j, k, .. } in tile_updates::<T, _>(s, c, k_a) {
        let (c, beta) = (c.at(i, j), if k == 0 { beta } else { T::ONE });
        match side {
            // C[i][j] := alpha A[i][k] B[k][j] + beta C[i][j]
            Side::Left => {
                let b = b.factor(Op::None, k, j);
                if i == k {
                    symm.spawn(s, update.task(symmetry.mm()), form, alpha, a.factor(Op::None, k, k), b, beta, c);
                } else {
                    ab.spawn(s, update.task("gemm"), alpha, mirrored(symmetry, uplo, a, i, k), b, beta, c);
                }
            }
            // C[i][j] := alpha B[i][k] A[k][j] + beta C[i][j]
            Side::Right => {
                let b = b.factor(Op::None, i, k);
                if j == k {
                    symm.spawn(s, update.task(symmetry.mm()), form, alpha, a.factor(Op::None, k, k), b, beta, c);
                } else {
                    ba.spawn(s, update.task("gemm"), alpha, b, mirrored(symmetry, uplo, a, k, j), beta, c);
                }
            }
        }
    }
}

/// Computes C = alpha A B + beta C (left, A is m x m) or C = alpha B A + beta C (right, A is n x n), where A is
/// symmetric and B and C are m x n. Only the triangle `uplo` of A is read.
///
/// If beta = 0, C is not read. If alpha = 0, A and B are not read.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes do not match.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, Side, Uplo, symm};
///
/// let rt = Runtime::new()?;
/// let a = Matrix::from_fn(200, 200, |i, j| if i >= j { 1.0 } else { f64::NAN });
/// let (b, mut c) = (Matrix::from_fn(200, 3, |_, _| 1.0), Matrix::zeros(200, 3));
/// symm(&rt, Side::Left, Uplo::Lower, 1.0, a.as_ref(), b.as_ref(), 0.0, c.as_mut(), &Options::default())?;
/// assert_eq!(c.at(0, 0), 200.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn symm<T: Scalar>(
    rt: &Runtime,
    side: Side,
    uplo: Uplo,
    alpha: T,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: T,
    c: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    symm_or_hemm(rt, (Symmetry::Symmetric, side), uplo, alpha, a, b, beta, c, options)
}

/// Computes C = alpha A B + beta C (left, A is m x m) or C = alpha B A + beta C (right, A is n x n), where A is
/// Hermitian and B and C are m x n. Only the triangle `uplo` of A is read; the imaginary part of its diagonal is
/// treated as zero. For real types this is [`symm`].
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes do not match.
#[each_type]
pub fn hemm<T: Scalar>(
    rt: &Runtime,
    side: Side,
    uplo: Uplo,
    alpha: T,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: T,
    c: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    symm_or_hemm(rt, (Symmetry::Hermitian, side), uplo, alpha, a, b, beta, c, options)
}

fn symm_or_hemm<T: Scalar>(
    rt: &Runtime,
    (symmetry, side): (Symmetry, Side),
    uplo: Uplo,
    alpha: T,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: T,
    mut c: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let (m, n) = c.shape();
    let order = if side == Side::Left { m } else { n };
    if a.shape() != (order, order) || b.shape() != (m, n) {
        let (name, a, b) = (symmetry.mm(), a.shape(), b.shape());
        return Err(Error::shape(format!("{name}: A is {a:?}, B is {b:?}, C is {m} x {n}, side {side}")));
    }
    let Some(tiles) = options.plan::<T>(rt, Problem::Sided { side, m, n })?.tiles() else {
        match symmetry {
            Symmetry::Symmetric => cpu::symm(side, uplo, alpha, a, b, beta, c),
            Symmetry::Hermitian => cpu::hemm(side, uplo, alpha, a, b, beta, c),
        }
        return Ok(());
    };
    let distribution = options.distribution_of_product(rt)?;
    Ok(rt.scope(|s| {
        let a = Tiled::factor_of_product(s, a, (tiles.kb, tiles.kb), tiles.kb);
        let b = Tiled::factor_of_product(s, b, (tiles.mb, tiles.nb), tiles.kb);
        let c = Tiled::new(s, c.rb_mut(), tiles.mb, tiles.nb);
        let c = spread(s, distribution, [&a, &b], Dealt::Tiles, c);
        spawn(s, symmetry, side, uplo, alpha, &a, &b, beta, &c);
    })?)
}
