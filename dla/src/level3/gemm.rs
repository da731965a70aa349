//! gemm: C = alpha op(A) op(B) + beta C.

use super::{
    areas::{TileUpdate, tile_updates},
    scale,
};
use crate::{
    Scalar,
    codelets::Gemm,
    device_matrix::{DeviceMatrix, Layout},
    error::Error,
    options::{Distribution, Options},
    plan::Problem,
    product_plan::{ProductElements, ProductSums, ScalarTasks, plan_of_host_matrices, plan_of_tiles, spawn_planned},
    tiled::{TileView, Tiled},
};
use superscalar_kernels::{MatMut, MatRef, Op, cpu};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks of C := alpha op(A) op(B) + beta C, where op(A) is m x k, op(B) is k x n and C is m x n.
///
/// # Panics
/// If the tiles of A, B and C do not match.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar, V: TileView<'s, Element = T>, W: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    alpha: T,
    op_a: Op,
    a: &Tiled<'s, V>,
    op_b: Op,
    b: &Tiled<'s, W>,
    beta: T,
    c: &Tiled<'s, MatMut<'s, T>>,
) {
    let ([m_a, k_a], [k_b, n_b], [m_c, n_c]) = (a.partition(op_a), b.partition(op_b), c.partition(Op::None));
    assert!(
        m_a == m_c && k_a == k_b && n_b == n_c,
        "gemm: op(A) is {m_a} x {k_a}, op(B) is {k_b} x {n_b}, C is {m_c} x {n_c}"
    );
    if alpha == T::ZERO || k_a.count() == 0 {
        return scale(s, None, beta, c);
    }
    if c.distribution() == Distribution::Planned
        && let Some(plan) = plan_of_tiles(s, (op_a, a), (op_b, b), (beta != T::ZERO, c))
    {
        let tasks = ScalarTasks::new(s, alpha, (op_a, a), (op_b, b), beta, c, None);
        return spawn_planned(s, &plan, &tasks);
    }
    let gemm = Gemm::new();
    for update @ TileUpdate { i, j, k, .. } in tile_updates::<T, _>(s, c, k_a) {
        // C[i][j] := alpha op(A)[i][k] op(B)[k][j] + beta C[i][j]
        let (a, b, beta) = (a.factor(op_a, i, k), b.factor(op_b, k, j), if k == 0 { beta } else { T::ONE });
        gemm.spawn(s, update.task("gemm"), alpha, a, b, beta, c.at(i, j));
    }
}

/// Computes C = alpha op(A) op(B) + beta C, where op(A) is m x k, op(B) is k x n and C is m x n.
///
/// If beta = 0, C is not read and may hold NaN. If alpha = 0 or k = 0, A and B are not read.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes do not match.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Op, Options, gemm};
///
/// let rt = Runtime::new()?;
/// let a = Matrix::from_fn(300, 200, |i, _| i as f64);
/// let b = Matrix::from_fn(100, 200, |_, _| 0.5);
/// let mut c = Matrix::from_fn(300, 100, |_, _| f64::NAN);
/// gemm(&rt, 1.0, Op::None, a.as_ref(), Op::Trans, b.as_ref(), 0.0, c.as_mut(), &Options::default())?;
/// assert_eq!(c.at(7, 99), 700.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn gemm<T: Scalar>(
    rt: &Runtime,
    alpha: T,
    op_a: Op,
    a: MatRef<'_, T>,
    op_b: Op,
    b: MatRef<'_, T>,
    beta: T,
    mut c: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let ((m, k), (rows, n)) = (op_a.shape(a.shape()), op_b.shape(b.shape()));
    if rows != k || c.shape() != (m, n) {
        let (c_m, c_n) = c.shape();
        return Err(Error::shape(format!("gemm: op(A) is {m} x {k}, op(B) is {rows} x {n}, C is {c_m} x {c_n}")));
    }
    let elements = ProductElements::of::<T>(ProductSums::IfLate);
    let plan = (alpha != T::ZERO)
        .then(|| plan_of_host_matrices(rt, &elements, (op_a, op_b), [m, n, k], beta != T::ZERO, options));
    let plan = plan.transpose()?.flatten();
    let tiles = match &plan {
        Some(plan) => Some(plan.tiles()),
        None => options.plan::<T>(rt, Problem::Product { m, n, k })?.tiles(),
    };
    let Some(tiles) = tiles else {
        cpu::gemm(alpha, op_a, a, op_b, b, beta, c);
        return Ok(());
    };
    // It is planned, or cannot be.
    let distribution = options.distribution_over(rt)?;
    let distribution = if distribution == Distribution::Planned { Distribution::None } else { distribution };
    // If there are no addresses for sums, C's tiles are updated as soon as they have arrived.
    let mut sums = plan.as_ref().filter(|plan| !plan.tiles_apart().is_empty()).and_then(|_| {
        let layout = Layout::rectangles(tiles.mb, tiles.nb).distributed(Distribution::None);
        DeviceMatrix::zeros(rt, (m, n), layout).ok()
    });
    Ok(rt.scope(|s| {
        let sums = sums.as_mut().map(|sums| sums.lend(s));
        let a = Tiled::factor_of_product(s, a, op_a.shape((tiles.mb, tiles.kb)), tiles.kb);
        let b = Tiled::factor_of_product(s, b, op_b.shape((tiles.kb, tiles.nb)), tiles.kb);
        let c = Tiled::new(s, c.rb_mut(), tiles.mb, tiles.nb).distributed(s, distribution);
        match plan {
            Some(plan) => {
                let tasks = ScalarTasks::new(s, alpha, (op_a, &a), (op_b, &b), beta, &c, sums.as_ref());
                spawn_planned(s, &plan, &tasks);
            }
            None => spawn(s, alpha, op_a, &a, op_b, &b, beta, &c),
        }
    })?)
}
