//! Products with the Q of a QR factorization.

use super::{
    Reflectors,
    geqrf::{check_tau, pack_store},
};
use crate::{
    Scalar,
    codelets::{Application, Larfb, task},
    error::Error,
    matrix::Matrix,
    options::Options,
    plan::{Plan, Problem},
    tiled::{Tile, TileView, Tiled},
};
use superscalar_kernels::{
    MatMut, MatRef, Op, Reflector, Side,
    cpu::{self, BlockReflector},
};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks that compute the triangular factors of the reflectors in A, as [`geqrf`](fn@crate::spawn::geqrf)
/// left them with `tau` in an earlier scope. (In the scope of the factorization, use what `geqrf` returns.)
///
/// # Panics
/// If A is not in block columns, or there are more reflectors than rows or columns.
#[each_type]
#[track_caller]
pub fn reflectors<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    a: &Tiled<'s, V>,
    tau: &'s mut [T],
) -> Reflectors<'s, T> {
    let ((m, n), nb, k_all) = (a.shape(), a.tile_shape().1, tau.len());
    assert!(a.mt() <= 1, "reflectors: A must be in block columns, not in {} block rows", a.mt());
    assert!(k_all <= m.min(n), "reflectors: {k_all} reflectors in a matrix of {m} x {n}");
    let store = pack_store::<T>(m, nb.min(n));
    let mut blocks = Vec::with_capacity(k_all.div_ceil(nb));
    for (k, tau) in s.lend_chunks(tau, nb).into_iter().enumerate() {
        let q = s.own(Reflector::new(nb.min(k_all - k * nb), &store));
        // Triangular factor of the reflectors that start in the first of these rows.
        let (rows, operands) = (k * nb..m, (a.at(0, k).read(), tau.read(), q.write()));
        let body = move |(v, tau, q): (&Tile<V>, &[T], &mut Reflector<T>)| {
            cpu::larft(v.view().submatrix(rows, 0..tau.len()), tau, q.t_mut());
        };
        s.spawn(task("larft", k, k, k).priority(1), operands, body);
        blocks.push(q);
    }
    Reflectors { blocks, k: k_all }
}

/// Inserts the tasks of C := op(Q) C (left) or C := C op(Q) (right). A, in block columns, holds the reflectors of Q. C
/// lies in block columns (left) or block rows (right).
///
/// # Panics
/// If A is not in block columns or C not in block columns (left) or block rows (right); if A does not have as many rows
/// as C has rows (left) or columns (right); or for [`Op::Trans`] of a complex type.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    side: Side,
    op: Op,
    a: &Tiled<'s, V>,
    q: &Reflectors<'s, T>,
    c: &Tiled<'s, MatMut<'s, T>>,
) {
    let ((m, _), nb, shape) = (a.shape(), a.tile_shape().1, c.shape());
    let (order, whole) = if side == Side::Left { (shape.0, c.mt() <= 1) } else { (shape.1, c.nt() <= 1) };
    assert!(a.mt() <= 1 && whole, "unmqr: A must be in block columns, C in block columns (left) or block rows (right)");
    assert!(order == m, "unmqr: the order of Q is {m}, C is {} x {}, side {side}", shape.0, shape.1);
    assert!(!T::COMPLEX || op != Op::Trans, "unmqr: trans = T is not supported for complex matrices");
    let larfb = Larfb::new();
    // Q = Q[0] Q[1] …
    let forward = (side == Side::Left) != (op == Op::None);
    for step in 0..q.blocks.len() {
        let k = if forward { step } else { q.blocks.len() - 1 - step };
        let (start, reflectors) = (k * nb, nb.min(q.k - k * nb));
        for (i, j) in c.tile_indices() {
            // C[k..m][j] := op(Q[k]) C[k..m][j], or C[i][k..m] := C[i][k..m] op(Q[k])
            let n = if side == Side::Left { c.cols_of(j) } else { c.rows_of(i) };
            let how = Application { side, op, rows: start..m, k: reflectors, n };
            larfb.spawn(s, task("larfb", i, j, k), how, a.at(0, k), q.blocks[k], c.at(i, j));
        }
    }
}

/// Computes C = op(Q) C (left) or C = C op(Q) (right). The first k columns of A hold the reflectors of Q below the
/// diagonal, as [`geqrf`](fn@crate::geqrf) leaves them, and `tau` their k scalar factors. A has as many rows as Q. For
/// real types this is LAPACK's ormqr, and [`Op::Trans`] is Qᵀ.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes do not match; [`Argument`](crate::ErrorKind::Argument) for
/// [`Op::Trans`] of a complex type.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Op, Options, Side, geqrf, unmqr};
///
/// let (rt, o) = (Runtime::new()?, Options::default());
/// let (mut a, mut tau) = (Matrix::from_fn(2, 1, |i, _| [3.0, 4.0][i]), [0.0]);
/// geqrf(&rt, a.as_mut(), &mut tau, &o)?;
/// let mut c = Matrix::from_fn(2, 1, |i, _| [3.0f64, 4.0][i]);
/// unmqr(&rt, Side::Left, Op::ConjTrans, a.as_ref(), &tau, c.as_mut(), &o)?;
/// assert!((c.at(0, 0) + 5.0).abs() < 1e-14 && c.at(1, 0).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn unmqr<T: Scalar>(
    rt: &Runtime,
    side: Side,
    op: Op,
    a: MatRef<'_, T>,
    tau: &[T],
    c: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let (shape, k) = (c.shape(), tau.len());
    let order = if side == Side::Left { shape.0 } else { shape.1 };
    if a.nrows() != order || k > a.ncols().min(order) {
        let why = format!("unmqr: A is {:?} with {k} reflectors, C is {shape:?}, side {side}", a.shape());
        return Err(Error::shape(why));
    }
    check_op::<T>("unmqr", op)?;
    apply(rt, side, op, a.submatrix(0..order, 0..k), tau, c, options)
}

/// Returns an error for [`Op::Trans`] of a complex type.
pub(crate) fn check_op<T: Scalar>(name: &str, op: Op) -> Result<(), Error> {
    if T::COMPLEX && op == Op::Trans {
        return Err(Error::argument(format!("{name}: trans = T is not supported for complex matrices")));
    }
    Ok(())
}

/// Computes the product; the arguments have been checked.
pub(crate) fn apply<T: Scalar>(
    rt: &Runtime,
    side: Side,
    op: Op,
    v: MatRef<'_, T>,
    tau: &[T],
    mut c: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    check_tau("unmqr", v.ncols(), tau)?;
    if c.is_empty() || tau.is_empty() {
        return Ok(());
    }
    let ((m, n), (order, k)) = (c.shape(), v.shape());
    let others = if side == Side::Left { n } else { m };
    if options.plan::<T>(rt, Problem::Product { m: order, n: others, k })? == Plan::Serial {
        serial(side, op, v, tau, c);
        return Ok(());
    }
    let nb = options.reflector_columns::<T>((order, k))?;
    let block = options.right_hand_sides::<T>(rt, v.nrows(), others)?;
    let (mut tau, distribution) = (tau.to_vec(), options.distribution_over(rt)?);
    Ok(rt.scope(|s| {
        let a = Tiled::read_only_columns(s, v, nb);
        let q = reflectors(s, &a, &mut tau);
        let c = match side {
            Side::Left => Tiled::columns(s, c.rb_mut(), block),
            Side::Right => Tiled::new(s, c.rb_mut(), block, n),
        };
        spawn(s, side, op, &a, &q, &c.distributed(s, distribution));
    })?)
}

/// Reflectors per triangular factor on the calling thread.
pub(crate) const SERIAL_BLOCK: usize = 64;

/// Multiplies C by op(Q) on the calling thread, like [`unmqr`](fn@crate::unmqr).
///
/// # Panics
/// If the shapes do not match, or for [`Op::Trans`] of a complex type.
///
/// ```
/// use superscalar::dla::{Matrix, Op, Side, serial};
///
/// let (mut a, mut tau) = (Matrix::from_fn(2, 1, |i, _| [3.0, 4.0][i]), [0.0]);
/// serial::geqrf(a.as_mut(), &mut tau);
/// let mut c = Matrix::from_fn(2, 1, |i, _| [3.0f64, 4.0][i]);
/// serial::unmqr(Side::Left, Op::ConjTrans, a.as_ref(), &tau, c.as_mut());
/// assert!((c.at(0, 0) + 5.0).abs() < 1e-14 && c.at(1, 0).abs() < 1e-14);
/// ```
#[each_type]
pub fn serial<T: Scalar>(side: Side, op: Op, a: MatRef<'_, T>, tau: &[T], mut c: MatMut<'_, T>) {
    assert!(!T::COMPLEX || op != Op::Trans, "unmqr: trans = T is not supported for complex matrices");
    let ((m, n), k) = (c.shape(), tau.len());
    let order = if side == Side::Left { m } else { n };
    assert!(
        a.nrows() == order && k <= a.ncols().min(order),
        "unmqr: A is {:?} with {k} reflectors, C is {m} x {n}",
        a.shape()
    );
    let mut t = Matrix::zeros(SERIAL_BLOCK.min(k), SERIAL_BLOCK.min(k));
    let blocks = k.div_ceil(SERIAL_BLOCK);
    // Q = Q[0] Q[1] …
    let forward = (side == Side::Left) != (op == Op::None);
    for step in 0..blocks {
        let start = SERIAL_BLOCK * if forward { step } else { blocks - 1 - step };
        let count = SERIAL_BLOCK.min(k - start);
        let v = a.submatrix(start..order, start..start + count);
        let mut t = t.as_mut().submatrix(0..count, 0..count);
        cpu::larft(v, &tau[start..start + count], t.rb_mut());
        let c = match side {
            Side::Left => c.rb_mut().submatrix(start..order, 0..n),
            Side::Right => c.rb_mut().submatrix(0..m, start..order),
        };
        cpu::larfb(side, op, BlockReflector::new(v, t.as_ref()), c);
    }
}
