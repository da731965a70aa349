//! LU factorization with partial pivoting: A = P L U.

use crate::{
    Scalar,
    codelets::{
        Getrf, Laswp, RowInterchanges, TriangleForm, TwoTileCodelet, elimination, plan_critical, plan_operation, task,
        triangular_solve,
    },
    columns::check_diagonal,
    distribution::{ColumnDistributor, update_by_gemm},
    error::Error,
    factorization_steps::{FactorizationStep, factorization_steps},
    options::Options,
    plan::Problem,
    tiled::Tiled,
};
use superscalar_kernels::{Diag, Direction, MatMut, Op, Uplo, cpu};
use superscalar_macros::each_type;
use superscalar_runtime::{Lent, Runtime, Scope};

/// The interchanges of a factorization whose tasks are inserted: besides the factors, the data that solves need.
pub struct Pivots<'s> {
    /// The interchanges of each panel, counted from one, relative to the first row of the matrix.
    pub(crate) blocks: Vec<Lent<'s, [i32]>>,
    /// Written when the diagonal of U is known to have no zeros. Otherwise the tasks that read it are cancelled.
    pub(crate) diagonal_check: Lent<'s, [i32]>,
}

/// Returns the priority of the update of block column j by block column k < j. Updates of the next panel's column come
/// first, then those of the two columns after it, so that panels that run ahead find their columns ready. Determined by
/// replaying recordings with other priorities; measured: docs/measurements/2026-11-28-constants.md.
fn lookahead(k: usize, j: usize) -> i32 {
    match j - k {
        1 => 2,
        2 | 3 => 1,
        _ => 0,
    }
}

/// Inserts the tasks of the factorization A = P L U of an m x n matrix in block columns. L, unit lower trapezoidal, and
/// U, upper trapezoidal, replace A. `ipiv` receives the min(m, n) interchanges: row i was exchanged with row
/// `ipiv[i] - 1`.
///
/// A pivot that is exactly zero does not stop the factorization. The last task then fails with
/// [`Singular`](superscalar_kernels::Singular). That cancels the solves that follow, and the scope returns the error.
///
/// # Panics
/// If A is not in block columns, `ipiv` does not have min(m, n) elements, or m is larger than `i32::MAX`.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar>(s: &'s Scope<'s, '_>, a: &Tiled<'s, MatMut<'s, T>>, ipiv: &'s mut [i32]) -> Pivots<'s> {
    let ((m, n), nb) = (a.shape(), a.tile_shape().1);
    assert!(a.mt() <= 1, "getrf: A must be in block columns, not in {} block rows", a.mt());
    assert_eq!(ipiv.len(), m.min(n), "getrf: ipiv must have min(m, n) elements");
    assert!(i32::try_from(m).is_ok(), "getrf: A has {m} rows, more than an i32 can count");
    let (getrf, laswp, trsm, gemm) =
        (Getrf::new(), Laswp::new(), TwoTileCodelet::new("trsm"), TwoTileCodelet::new("gemm"));
    let blocks = s.lend_chunks(ipiv, nb);
    let distributor = ColumnDistributor::new(s, a, update_by_gemm::<T>(m / 2, nb, nb));
    // With few columns per worker, all workers wait for the next panel, and so for the update of its column.
    let is_awaited = |k: usize, j: usize| j == k + 1 && a.nt() - k <= 2 * s.nesting().workers();
    for step in factorization_steps(blocks.len(), a.nt(), s.nesting().has_devices()) {
        let (FactorizationStep::Panel(k) | FactorizationStep::Update(k, _)) = step;
        let (start, ipiv) = (k * nb, blocks[k]);
        let end = m.min(start + a.cols_of(k));
        let FactorizationStep::Update(_, j) = step else {
            // P[k] L[k] U[k] = A[k..m][k]
            getrf.spawn(s, task("getrf", k, k, k).priority(4), (start..m, a.cols_of(k)), a.at(0, k), ipiv);
            distributor.redistribute_after(s, k, a.at(0, k));
            continue;
        };
        let spec = |name| task(name, k, j, k).priority(lookahead(k, j));
        // A[k..m][j] := P[k]ᵀ A[k..m][j]
        let (count, direction, n) = (end - start, Direction::Forward, a.cols_of(j));
        laswp.spawn(s, spec("laswp"), RowInterchanges { first: start, count, direction, n }, &[ipiv], a.at(0, j));
        // A[k][j] := L[k][k]⁻¹ A[k][j]
        let form = TriangleForm { uplo: Uplo::Lower, op: Op::None, diag: Diag::Unit };
        let solve = triangular_solve(start..end, form, n);
        trsm.spawn(s, spec("trsm"), solve, a.at(0, k), a.at(0, j));
        if end < m {
            // A[k+1..m][j] := A[k+1..m][j] − L[k+1..m][k] A[k][j]
            let update = elimination(Op::None, (end..m, end - start), start..end, end..m, a.cols_of(j));
            let planned = if is_awaited(k, j) { plan_critical(s, update) } else { plan_operation(s, update) };
            gemm.spawn_planned(s, spec("gemm"), planned, a.at(0, k), a.at(0, j));
        }
    }
    for j in 1..blocks.len() {
        // L[j..m][j-1] := (P[j] P[j+1] …)ᵀ L[j..m][j-1], in one task per column
        let (first, direction) = (j * nb, Direction::Forward);
        let interchanges = RowInterchanges { first, count: m.min(n) - first, direction, n: a.cols_of(j - 1) };
        laswp.spawn(s, task("laswp", j, j - 1, j), interchanges, &blocks[j..], a.at(0, j - 1));
    }
    Pivots { blocks, diagonal_check: check_diagonal(s, a) }
}

/// Computes the LU factorization with partial pivoting A = P L U of an m x n matrix. L, unit lower trapezoidal, and U,
/// upper trapezoidal, overwrite A. `ipiv` receives the min(m, n) interchanges in LAPACK's form: row i was exchanged
/// with row `ipiv[i] - 1`, in this order.
///
/// The pivot of a column is its first element with the largest |re| + |im|.
///
/// # Errors
/// [`Singular`](crate::ErrorKind::Singular), with LAPACK's `info`, if a pivot is exactly zero; the factorization is
/// complete. [`Shape`](crate::ErrorKind::Shape) if `ipiv` does not have min(m, n) elements, or m is larger than
/// `i32::MAX`.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, getrf};
///
/// let rt = Runtime::new()?;
/// let mut a = Matrix::from_fn(2, 2, |i, j| [[1.0, 3.0], [2.0, 4.0]][i][j]);
/// let mut ipiv = [0; 2];
/// getrf(&rt, a.as_mut(), &mut ipiv, &Options::default())?;
/// assert_eq!((ipiv, a.into_vec()), ([2, 2], vec![2.0, 0.5, 4.0, 1.0]));
///
/// let mut singular = Matrix::from_fn(2, 2, |_, _| 1.0);
/// let error = getrf(&rt, singular.as_mut(), &mut ipiv, &Options::default()).unwrap_err();
/// assert_eq!(error.info(), Some(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn getrf<T: Scalar>(rt: &Runtime, mut a: MatMut<'_, T>, ipiv: &mut [i32], options: &Options) -> Result<(), Error> {
    let (m, n) = a.shape();
    check_ipiv("getrf", (m, n), ipiv)?;
    let Some(nb) = options.plan::<T>(rt, Problem::Lu { m, n })?.blocks() else {
        return Ok(cpu::getrf(a, ipiv)?);
    };
    let distribution = options.distribution_of_factorization(rt)?;
    Ok(rt.scope(|s| drop(spawn(s, &Tiled::columns(s, a.rb_mut(), nb).distributed(s, distribution), ipiv)))?)
}

/// Returns an error if `ipiv` does not have min(m, n) elements, or m does not fit into an `i32`.
pub(crate) fn check_ipiv(name: &str, (m, n): (usize, usize), ipiv: &[i32]) -> Result<(), Error> {
    if i32::try_from(m).is_err() {
        return Err(Error::shape(format!("{name}: A has {m} rows, more than an i32 can count")));
    }
    if ipiv.len() != m.min(n) {
        let why = format!("{name}: ipiv has {} elements, expected {}", ipiv.len(), m.min(n));
        return Err(Error::shape(why));
    }
    Ok(())
}
