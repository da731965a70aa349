//! QR factorization of tall matrices by a tree.
//!
//! (Demmel, Grigori, Hoemmen and Langou, "Communication-optimal parallel and sequential QR and LU factorizations", SIAM
//! J. Sci. Comput. 34, 2012.) The matrix lies in blocks of rows, which are factored independently. Their triangular
//! factors are stacked into a much shorter matrix, which is factored in the same way, until one block is left. Every
//! block is read from memory once, and no panel waits for another.

use crate::{
    Scalar,
    codelets::{apply_block, factor_block, gather, scatter, task},
    error::Error,
    matrix::Matrix,
    options::Options,
    plan::Problem,
    tiled::{Tile, TileView, Tiled},
};
use superscalar_kernels::{MatMut, MatRef, Op, Part};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Reflectors per triangular factor. Few, because larger triangular factors would take half as long as the rest.
const INNER_BLOCK: usize = 16;

/// The data needed to apply the Q of a tree factorization, besides the matrix that holds the reflectors of the leaves:
/// the reflectors of the other levels, and all triangular factors.
#[derive(Clone, Debug)]
pub struct TsqrFactors<T> {
    /// One matrix per level, from the leaves. The triangular factors of block i are the n columns from i n on.
    factors: Vec<Matrix<T>>,
    /// One matrix per level above the leaves: the stacked triangular factors of the level below, replaced by
    /// reflectors.
    stacks: Vec<Matrix<T>>,
    /// Rows and columns of the factored matrix.
    shape: (usize, usize),
    /// Rows of a block.
    mb: usize,
}

impl<T: Scalar> TsqrFactors<T> {
    /// Allocates the tree for an m x n matrix in blocks of `mb` rows. `mb` is rounded up to a multiple of n and to at
    /// least 2 n. The tree takes about 2 n / mb of the matrix's memory; the leaves stay in the matrix.
    ///
    /// # Panics
    /// If `mb` is zero, or the allocation fails.
    #[must_use]
    pub fn new(shape: (usize, usize), mb: usize) -> Self {
        new_tree(shape, mb)
    }

    /// Returns the rows of a block, which is how the matrix must be cut.
    #[must_use]
    pub fn mb(&self) -> usize {
        self.mb
    }

    /// Computes C = op(Q) C, where op(Q) is Q or Qᴴ, for the matrix A that [`tsqr`] has factored with this tree. The
    /// first n rows of Qᴴ C correspond to R.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if A does not have the shape of the factored matrix, or C has a different
    /// number of rows; [`Argument`](crate::ErrorKind::Argument) for [`Op::Trans`] of a complex type.
    ///
    /// ```
    /// use superscalar::Runtime;
    /// use superscalar::dla::{Matrix, Op, Options, tsqr};
    ///
    /// let (rt, o) = (Runtime::new()?, Options::default());
    /// let mut a = Matrix::from_fn(2, 1, |i, _| [3.0, 4.0][i]);
    /// let tree = tsqr(&rt, a.as_mut(), &o)?;
    /// let mut c = Matrix::from_fn(2, 1, |i, _| [3.0f64, 4.0][i]);
    /// tree.apply(&rt, Op::ConjTrans, a.as_ref(), c.as_mut(), &o)?;
    /// assert!((c.at(0, 0) + 5.0).abs() < 1e-14 && c.at(1, 0).abs() < 1e-14);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn apply(
        &self,
        rt: &Runtime,
        op: Op,
        a: MatRef<'_, T>,
        c: MatMut<'_, T>,
        options: &Options,
    ) -> Result<(), Error> {
        apply_tree(self, rt, op, a, c, options)
    }
}

#[each_type]
fn new_tree<T: Scalar>(shape: (usize, usize), mb: usize) -> TsqrFactors<T> {
    let (m, n) = shape;
    assert!(mb > 0, "tsqr: the block size must be positive");
    // If the size overflows, there is only one block.
    let mb = mb.checked_next_multiple_of(n.max(1)).unwrap_or(usize::MAX).max(n.saturating_mul(2));
    let (mut factors, mut stacks, mut rows) = (Vec::new(), Vec::new(), m);
    loop {
        let blocks = rows.div_ceil(mb);
        // Every block leaves n rows; the last one may leave fewer.
        let left = blocks.saturating_sub(1) * n + n.min(rows - blocks.saturating_sub(1) * mb);
        factors.push(Matrix::zeros(INNER_BLOCK.min(n), left));
        if blocks <= 1 {
            return TsqrFactors { factors, stacks, shape: (m, n), mb };
        }
        stacks.push(Matrix::zeros(left, n));
        rows = left;
    }
}

#[each_type]
fn apply_tree<T: Scalar>(
    tree: &TsqrFactors<T>,
    rt: &Runtime,
    op: Op,
    a: MatRef<'_, T>,
    mut c: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    if a.shape() != tree.shape || c.nrows() != tree.shape.0 {
        let why = format!("tsqr: A is {:?}, the factored matrix was {:?}, C is {:?}", a.shape(), tree.shape, c.shape());
        return Err(Error::shape(why));
    }
    super::unmqr::check_op::<T>("tsqr", op)?;
    if c.is_empty() || tree.shape.1 == 0 {
        return Ok(());
    }
    let columns = options.right_hand_sides::<T>(rt, tree.mb, c.ncols())?;
    let mut stacks: Vec<_> = tree.stacks.iter().map(|stack| Matrix::zeros(stack.nrows(), c.ncols())).collect();
    Ok(rt.scope(|s| {
        let n = tree.shape.1;
        let mut v = vec![Tiled::read_only(s, a, tree.mb, n)];
        v.extend(tree.stacks.iter().map(|stack| Tiled::read_only(s, stack.as_ref(), tree.mb, n)));
        let factors: Vec<_> =
            tree.factors.iter().map(|t| Tiled::read_only(s, t.as_ref(), t.nrows().max(1), n)).collect();
        let mut levels = vec![Tiled::new(s, c.rb_mut(), tree.mb, columns)];
        levels.extend(stacks.iter_mut().map(|stack| Tiled::new(s, stack.as_mut(), tree.mb, columns)));
        apply(s, op, &v, &factors, &levels);
    })?)
}

/// Inserts the tasks of the factorization A = Q R of a tall matrix, in tiles of [`TsqrFactors::mb`] rows and all
/// columns. R replaces the upper triangle of A. The rest of A holds the reflectors of the leaves, and `tree` receives
/// the others.
///
/// # Panics
/// If A has other tiles, or another shape than the tree was created for.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar>(s: &'s Scope<'s, '_>, a: &Tiled<'s, MatMut<'s, T>>, tree: &'s mut TsqrFactors<T>) {
    let ((m, n), mb) = (a.shape(), tree.mb);
    assert!(
        a.shape() == tree.shape && a.tile_shape() == (mb, n.max(1)),
        "tsqr: the shape and tiles of A must be those of the tree"
    );
    if m == 0 || n == 0 {
        return;
    }
    let stacks: Vec<_> = tree.stacks.iter_mut().map(|stack| Tiled::new(s, stack.as_mut(), mb, n)).collect();
    let levels: Vec<_> = std::iter::once(a).chain(&stacks).collect();
    for (l, (level, t)) in levels.iter().zip(&mut tree.factors).enumerate() {
        let inner = t.nrows();
        let t = Tiled::new(s, t.as_mut(), inner, n);
        for i in 0..level.mt() {
            // Q[i] R[i] = A[i]
            factor_block(s, task("geqrf", i, 0, l), (level.rows_of(i), n), level.at(i, 0), t.at(0, i));
        }
        if let Some(next) = levels.get(l + 1) {
            for i in 0..next.mt() {
                // The triangles R[c i], R[c i + 1], … stacked
                gather(s, task("lacpy", i, 0, l), Part::Upper, children(level, i, 0, n), n, next.at(i, 0));
            }
        }
    }
    if let Some(root) = stacks.last() {
        // R, to the triangle of the first leaf
        scatter(s, task("lacpy", 0, 0, levels.len()), Part::Upper, root.at(0, 0), n, vec![a.at(0, 0)]);
    }
}

/// Returns the tiles of block column j whose first n rows are stacked in block i of the next level.
fn children<'s, V>(level: &Tiled<'s, V>, i: usize, j: usize, n: usize) -> Vec<superscalar_runtime::Lent<'s, Tile<V>>> {
    let each = level.tile_shape().0 / n;
    (i * each..level.mt().min((i + 1) * each)).map(|child| level.at(child, j)).collect()
}

/// Inserts the tasks of C := op(Q) C. `levels` are C and its stacked parts, level by level.
fn apply<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    op: Op,
    v: &[Tiled<'s, V>],
    t: &[Tiled<'s, V>],
    levels: &[Tiled<'s, MatMut<'s, T>>],
) {
    let (n, root) = (v[0].shape().1, levels.len() - 1);
    let larfb = |l: usize| {
        for (i, j) in levels[l].tile_indices() {
            // C[i][j] := op(Q[i]) C[i][j]
            apply_block(s, task("larfb", i, j, l), op, v[l].at(i, 0), t[l].at(0, i), levels[l].at(i, j));
        }
    };
    // Qᴴ starts with the leaves, Q with the root.
    for l in 0..root {
        if op != Op::None {
            larfb(l);
        }
        for (i, j) in levels[l + 1].tile_indices() {
            let tiles = children(&levels[l], i, j, n);
            gather(s, task("lacpy", i, j, l), Part::All, tiles, n, levels[l + 1].at(i, j));
        }
    }
    larfb(root);
    for l in (0..root).rev() {
        for (i, j) in levels[l + 1].tile_indices() {
            let tiles = children(&levels[l], i, j, n);
            scatter(s, task("lacpy", i, j, l), Part::All, levels[l + 1].at(i, j), n, tiles);
        }
        if op == Op::None {
            larfb(l);
        }
    }
}

/// Computes the QR factorization A = Q R of a tall m x n matrix, m >= n, by a tree of blocks of rows. This is several
/// times as fast as [`geqrf`](fn@crate::geqrf) if m is a few hundred times n. R replaces the upper triangle of A. The
/// part below it holds part of Q, in a form that only the returned tree can apply; see [`TsqrFactors::apply`].
///
/// R equals that of geqrf up to the signs (phases) of its rows.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if m < n.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, tsqr};
///
/// let rt = Runtime::new()?;
/// let mut a = Matrix::from_fn(10_000, 2, |i, j| if i % 2 == j { 1.0f64 } else { 0.0 });
/// tsqr(&rt, a.as_mut(), &Options::default())?;
/// assert!((a.at(0, 0).abs() - 5000f64.sqrt()).abs() < 1e-11);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn tsqr<T: Scalar>(rt: &Runtime, mut a: MatMut<'_, T>, options: &Options) -> Result<TsqrFactors<T>, Error> {
    let (m, n) = a.shape();
    if m < n {
        return Err(Error::shape(format!("tsqr: A is {m} x {n}; expected m >= n")));
    }
    let mut tree = TsqrFactors::new((m, n), options.plan::<T>(rt, Problem::TsqrFactors { n })?.blocks_of(m));
    rt.scope(|s| spawn(s, &Tiled::new(s, a.rb_mut(), tree.mb, n.max(1)), &mut tree))?;
    Ok(tree)
}
