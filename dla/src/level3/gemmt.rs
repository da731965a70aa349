//! gemmt: one triangle of C = alpha op(A) op(B) + beta C.

use super::{
    areas::{TileUpdate, tile_updates},
    in_triangle, scale,
    spread::{Dealt, spread},
    strips::in_strips,
};
use crate::{
    Scalar,
    codelets::Gemm,
    error::Error,
    options::Options,
    plan::{Plan, Problem},
    subtasks::{columns_of_op, rows_of_op},
    tiled::{TileView, Tiled},
};
use superscalar_kernels::{MatMut, MatRef, Op, Symmetry, Uplo, cpu};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks of C := alpha op(A) op(B) + beta C for one triangle of the n x n matrix C, where op(A) is n x k
/// and op(B) is k x n.
///
/// # Panics
/// If the tiles of A, B and C do not match, or C's tiles are not square.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar, V: TileView<'s, Element = T>, W: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    uplo: Uplo,
    alpha: T,
    op_a: Op,
    a: &Tiled<'s, V>,
    op_b: Op,
    b: &Tiled<'s, W>,
    beta: T,
    c: &Tiled<'s, MatMut<'s, T>>,
) {
    let ([m_a, k_a], [k_b, n_b], [m_c, n_c]) = (a.partition(op_a), b.partition(op_b), c.partition(Op::None));
    let fit = m_a == m_c && k_a == k_b && n_b == n_c && m_c == n_c;
    assert!(fit, "gemmt: op(A) is {m_a} x {k_a}, op(B) is {k_b} x {n_b}, C is {m_c} x {n_c}");
    if alpha == T::ZERO || k_a.count() == 0 {
        return scale(s, Some((Symmetry::Symmetric, uplo)), beta, c);
    }
    let (gemm, gemmt) = (Gemm::new(), Gemm::named("gemmt"));
    for update @ TileUpdate { i, j, k, .. } in
        tile_updates::<T, _>(s, c, k_a).filter(|at| in_triangle(uplo, at.i, at.j))
    {
        // C[i][j] := alpha op(A)[i][k] op(B)[k][j] + beta C[i][j]
        let (a, b, beta) = (a.factor(op_a, i, k), b.factor(op_b, k, j), if k == 0 { beta } else { T::ONE });
        if i == j {
            gemmt.spawn_part(s, update.task("gemmt"), (Some(uplo), alpha), a, b, beta, c.at(i, j));
        } else {
            gemm.spawn(s, update.task("gemm"), alpha, a, b, beta, c.at(i, j));
        }
    }
}

/// Computes one triangle of C = alpha op(A) op(B) + beta C, where op(A) is n x k, op(B) is k x n and C is n x n. The
/// other triangle is neither read nor changed.
///
/// If beta = 0, C is not read. If alpha = 0 or k = 0, A and B are not read. LAPACK's name is gemmtr.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes do not match.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Op, Options, Uplo, gemmt};
///
/// let rt = Runtime::new()?;
/// let a = Matrix::from_fn(200, 10, |_, _| 1.0);
/// let mut c = Matrix::zeros(200, 200);
/// let (n, t) = (Op::None, Op::Trans);
/// gemmt(&rt, Uplo::Lower, 1.0, n, a.as_ref(), t, a.as_ref(), 0.0, c.as_mut(), &Options::default())?;
/// assert_eq!((c.at(199, 0), c.at(0, 199)), (10.0, 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn gemmt<T: Scalar>(
    rt: &Runtime,
    uplo: Uplo,
    alpha: T,
    op_a: Op,
    a: MatRef<'_, T>,
    op_b: Op,
    b: MatRef<'_, T>,
    beta: T,
    mut c: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let ((n, k), other) = (op_a.shape(a.shape()), op_b.shape(b.shape()));
    if other != (k, n) || c.shape() != (n, n) {
        let why = format!("gemmt: op(A) is {n} x {k}, op(B) is {} x {}, C is {:?}", other.0, other.1, c.shape());
        return Err(Error::shape(why));
    }
    let tiles = match options.plan::<T>(rt, Problem::Triangle { n, k })? {
        Plan::Tiles(tiles) => tiles,
        plan => {
            return Ok(in_strips(rt, "gemmt", uplo, plan.strips(), c, |here, c| {
                let (in_rows, in_cols) = match uplo {
                    Uplo::Lower => (here.start..n, here),
                    Uplo::Upper => (here.clone(), here.start..n),
                };
                let (a, b) = (rows_of_op(op_a, a, in_rows), columns_of_op(op_b, b, in_cols));
                cpu::gemmt(uplo, alpha, op_a, a, op_b, b, beta, c);
            })?);
        }
    };
    let distribution = options.distribution_of_product(rt)?;
    Ok(rt.scope(|s| {
        let a = Tiled::factor_of_product(s, a, op_a.shape((tiles.nb, tiles.kb)), tiles.kb);
        let b = Tiled::factor_of_product(s, b, op_b.shape((tiles.kb, tiles.nb)), tiles.kb);
        let c = Tiled::new(s, c.rb_mut(), tiles.nb, tiles.nb);
        let c = spread(s, distribution, [&a, &b], Dealt::Triangle(uplo), c);
        spawn(s, uplo, alpha, op_a, &a, op_b, &b, beta, &c);
    })?)
}
