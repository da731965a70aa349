//! Sums of matrices.

use crate::{
    Scalar,
    codelets::{TileSum, task},
    error::Error,
    options::Options,
    plan::Problem,
    tiled::{TileView, Tiled},
};
use superscalar_kernels::{MatMut, MatRef, Op, cpu};
use superscalar_macros::each_type;
use superscalar_runtime::{Lock, Runtime, Scope};

/// Inserts the tasks of B := alpha op(A) + beta B, where the tiles of B are those of op(A).
///
/// # Panics
/// If the tiles differ.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    op: Op,
    alpha: T,
    a: &Tiled<'s, V>,
    beta: T,
    b: &Tiled<'s, MatMut<'s, T>>,
) {
    let fit = a.partition(op) == b.partition(Op::None);
    assert!(
        fit,
        "geadd: A is {:?} in tiles of {:?}, B is {:?} in tiles of {:?}, trans = {op}",
        a.shape(),
        a.tile_shape(),
        b.shape(),
        b.tile_shape()
    );
    let sum = TileSum::new("geadd");
    for (i, j) in b.tile_indices() {
        let (a, b) = (a.factor(op, i, j), b.at(i, j));
        // A sum of host matrices is done before they could be copied to a device.
        let is_of_host = !a.tile.is_resident() && !b.is_resident();
        let spec = task("geadd", i, j, 0);
        let spec = if is_of_host { spec.lock(Lock::Host) } else { spec };
        sum.spawn_sum(s, spec, alpha, a, beta, b);
    }
}

/// Computes B = alpha op(A) + beta B, where op(A) and B are m x n.
///
/// If beta = 0, B is not read. If alpha = 0, A is not read.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes do not match.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Op, Options, geadd};
///
/// let rt = Runtime::new()?;
/// let (a, mut b) = (Matrix::from_fn(1, 2, |_, j| j as f64), Matrix::from_fn(2, 1, |_, _| 1.0));
/// geadd(&rt, Op::Trans, 2.0, a.as_ref(), 3.0, b.as_mut(), &Options::default())?;
/// assert_eq!(b.into_vec(), [3.0, 5.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn geadd<T: Scalar>(
    rt: &Runtime,
    op: Op,
    alpha: T,
    a: MatRef<'_, T>,
    beta: T,
    mut b: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let (m, n) = b.shape();
    if op.shape(a.shape()) != (m, n) {
        return Err(Error::shape(format!("geadd: A is {:?}, B is {m} x {n}, trans = {op}", a.shape())));
    }
    let Some(nb) = options.plan::<T>(rt, Problem::Elements { m, n })?.blocks() else {
        cpu::geadd(op, alpha, a, beta, b);
        return Ok(());
    };
    Ok(rt.scope(|s| {
        let (rows, cols) = op.shape((m, nb));
        spawn(s, op, alpha, &Tiled::read_only(s, a, rows, cols), beta, &Tiled::columns(s, b.rb_mut(), nb));
    })?)
}
