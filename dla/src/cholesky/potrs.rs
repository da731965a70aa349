//! Solution of A X = B by a Cholesky factorization.

use crate::{
    Scalar,
    codelets::TriangleForm,
    columns,
    error::{Error, system_of},
    level3::trsm,
    options::Options,
    plan::Problem,
    tiled::{TileView, Tiled},
};
use superscalar_kernels::{Diag, MatMut, MatRef, Op, Side, Uplo, cpu};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks that solve A X = B, where the triangle `uplo` of A holds L or U, as computed by
/// [`potrf`](fn@crate::spawn::potrf). X overwrites B, which is n x nrhs.
///
/// # Panics
/// If the tiles of A and B do not match. Either A's tiles are square and B's tiles have the same number of rows, or
/// both matrices lie in block columns.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    uplo: Uplo,
    a: &Tiled<'s, V>,
    b: &Tiled<'s, MatMut<'s, T>>,
) {
    // L Y = B, then Lᴴ X = Y; or with Uᴴ and U.
    for op in order(uplo) {
        if a.is_in_columns() {
            columns::trsm(s, TriangleForm { uplo, op, diag: Diag::NonUnit }, a, b);
        } else {
            trsm::spawn(s, Side::Left, uplo, op, Diag::NonUnit, T::ONE, a, b);
        }
    }
}

/// Returns the op on the stored triangle in the first and in the second solve.
pub(crate) fn order(uplo: Uplo) -> [Op; 2] {
    if uplo == Uplo::Lower { [Op::None, Op::ConjTrans] } else { [Op::ConjTrans, Op::None] }
}

/// Solves A X = B, where the triangle `uplo` of A holds L or U, as computed by [`potrf`](fn@crate::potrf). X overwrites
/// B, which is n x nrhs.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if A is not n x n.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, Uplo, potrf, potrs};
///
/// let (rt, o) = (Runtime::new()?, Options::default());
/// let mut a = Matrix::from_fn(2, 2, |i, j| [[4.0, 2.0], [2.0, 5.0]][i][j]);
/// potrf(&rt, Uplo::Lower, a.as_mut(), &o)?;
/// let mut b = Matrix::from_fn(2, 1, |i, _| [6.0, 7.0][i]);
/// potrs(&rt, Uplo::Lower, a.as_ref(), b.as_mut(), &o)?;
/// assert_eq!(b.into_vec(), [1.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn potrs<T: Scalar>(
    rt: &Runtime,
    uplo: Uplo,
    a: MatRef<'_, T>,
    mut b: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let (n, nrhs) = system_of(a.shape(), b.shape())?;
    let nb = options.plan::<T>(rt, Problem::Cholesky { n })?.blocks_of(n);
    if n <= nb || nrhs == 0 {
        serial(uplo, a, b);
        return Ok(());
    }
    let distribution = options.distribution_over(rt)?;
    Ok(rt.scope(|s| {
        let b = Tiled::new(s, b.rb_mut(), nb, nb).distributed(s, distribution);
        spawn(s, uplo, &Tiled::read_only(s, a, nb, nb), &b);
    })?)
}

/// Solves A X = B by the factor in A on the calling thread, like [`potrs`](fn@crate::potrs).
///
/// # Panics
/// If the shapes do not match.
///
/// ```
/// use superscalar::dla::{Matrix, Uplo, serial};
///
/// let (a, mut b) = (Matrix::from_fn(1, 1, |_, _| 2.0), Matrix::from_fn(1, 1, |_, _| 8.0));
/// serial::potrs(Uplo::Lower, a.as_ref(), b.as_mut());
/// assert_eq!(b.at(0, 0), 2.0);
/// ```
#[each_type]
pub fn serial<T: Scalar>(uplo: Uplo, a: MatRef<'_, T>, mut b: MatMut<'_, T>) {
    for op in order(uplo) {
        cpu::trsm(Side::Left, uplo, op, Diag::NonUnit, T::ONE, a, b.rb_mut());
    }
}
