//! Sums of matrices.

use crate::{
    Scalar,
    codelets::task,
    error::Error,
    options::Options,
    plan::Problem,
    tiled::{Tile, TileView, Tiled},
};
use superscalar_kernels::{MatMut, MatRef, Op};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Edge of the blocks in which a transposed matrix is traversed, so that cache lines of both matrices are reused.
const BLOCK_EDGE: usize = 16;

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
    for (i, j) in b.tile_indices() {
        s.spawn(
            task("geadd", i, j, 0),
            (a.factor(op, i, j).tile.read(), b.at(i, j).read_write()),
            move |(a, b): (&Tile<V>, &mut Tile<MatMut<'s, T>>)| add(op, alpha, a.view(), beta, b.view_mut()),
        );
    }
}

fn add<T: Scalar>(op: Op, alpha: T, a: MatRef<'_, T>, beta: T, mut b: MatMut<'_, T>) {
    let a = if op == Op::None { a } else { a.transpose() };
    let (m, n) = b.shape();
    let conj = |x: T| if op == Op::ConjTrans { x.conj() } else { x };
    // An operand that is multiplied by zero must not be read.
    let element = |x: T| if alpha == T::ZERO { T::ZERO } else { alpha * conj(x) };
    let kept = |x: T| if beta == T::ZERO { T::ZERO } else { beta * x };
    for cols in (0..n).step_by(BLOCK_EDGE).map(|j| j..n.min(j + BLOCK_EDGE)) {
        for rows in (0..m).step_by(BLOCK_EDGE).map(|i| i..m.min(i + BLOCK_EDGE)) {
            for j in cols.clone() {
                for i in rows.clone() {
                    b[(i, j)] = element(a.at(i, j)) + kept(b[(i, j)]);
                }
            }
        }
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
        add(op, alpha, a, beta, b);
        return Ok(());
    };
    Ok(rt.scope(|s| {
        let (rows, cols) = op.shape((m, nb));
        spawn(s, op, alpha, &Tiled::read_only(s, a, rows, cols), beta, &Tiled::columns(s, b.rb_mut(), nb));
    })?)
}
