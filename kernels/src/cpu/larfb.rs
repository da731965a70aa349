//! larfb: applies a block reflector to a matrix.

use super::gemm::add;
use super::larft::{matrix_in, unit_lower};
use crate::vector::{Factor, Operand, PackedForms, Workspace};
use crate::{MatMut, MatRef, Op, Scalar, Side};

/// The block reflector Q = I - V T Vᴴ. V, m x k, is unit lower trapezoidal, and its elements on and above the diagonal
/// are not read; T, k x k, is zero below its diagonal. If T has ib < k rows, Q is the product of one such reflector for
/// every ib columns of V and T.
#[derive(Clone, Copy, Debug)]
pub struct BlockReflector<'a, T> {
    /// The reflectors, as [`geqrf`](super::geqrf) leaves them.
    pub v: MatRef<'a, T>,
    /// The triangular factor of the reflectors.
    pub t: MatRef<'a, T>,
    /// For a tile that is applied to many others: the packed forms of V as the factor that is multiplied with C, and as
    /// the factor that multiplies the product. They are used only if T is k x k.
    pub packs: Option<[&'a PackedForms; 2]>,
}

impl<'a, T> BlockReflector<'a, T> {
    /// Makes a reflector that is applied once.
    #[must_use]
    pub fn new(v: MatRef<'a, T>, t: MatRef<'a, T>) -> Self {
        Self { v, t, packs: None }
    }
}

/// Computes C = op(Q) C ([`Side::Left`]) or C op(Q) ([`Side::Right`]), for op(Q) = Q or Qᴴ; for real types
/// [`Op::Trans`] is Qᴴ.
///
/// # Panics
/// If the shapes do not agree, or for [`Op::Trans`] of a complex type.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, MatRef, Op, Side, cpu, cpu::BlockReflector};
///
/// let (v, t, mut c) = ([f64::NAN, 1.0], [1.0], [3.0, 4.0]); // I - v vᵀ for v = (1, 1) exchanges and negates
/// let q = BlockReflector::new(MatRef::from_col_major(&v, 2, 1, 2)?, MatRef::from_col_major(&t, 1, 1, 1)?);
/// cpu::larfb(Side::Left, Op::None, q, MatMut::from_col_major(&mut c, 2, 1, 2)?);
/// assert_eq!(c, [-4.0, -3.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn larfb<T: Scalar>(side: Side, op: Op, q: BlockReflector<'_, T>, c: MatMut<'_, T>) {
    assert!(!T::COMPLEX || op != Op::Trans, "larfb: complex matrices take no plain transpose");
    let (m, k) = q.v.shape();
    let (order, n) = if side == Side::Left { c.shape() } else { (c.ncols(), c.nrows()) };
    let fits = m >= k && order == m && q.t.ncols() == k && (1..=k.max(1)).contains(&q.t.nrows());
    assert!(fits || k == 0, "larfb: shapes do not agree: V {m} x {k}, C {:?}, T {:?}", c.shape(), q.t.shape());
    if k == 0 || n == 0 {
        return;
    }
    let block = q.t.nrows();
    if block == k {
        return apply(side, op, q, c);
    }
    // Q C and C Qᴴ begin with the last factor of Q.
    let (mut c, blocks) = (c, k.div_ceil(block));
    let backward = (side == Side::Left) == (op == Op::None);
    for count in 0..blocks {
        let first = block * if backward { blocks - 1 - count } else { count };
        let columns = first..k.min(first + block);
        let (v, t) = (q.v.submatrix(first..m, columns.clone()), q.t.submatrix(0..columns.len(), columns));
        let rest = match side {
            Side::Left => c.rb_mut().submatrix(first..m, 0..n),
            Side::Right => c.rb_mut().submatrix(0..n, first..m),
        };
        apply(side, op, BlockReflector::new(v, t), rest);
    }
}

/// Applies a block reflector with one T.
fn apply<T: Scalar>(side: Side, op: Op, q: BlockReflector<'_, T>, c: MatMut<'_, T>) {
    let BlockReflector { v, t, packs } = q;
    // From the right, compute (C op(Q))ᵀ instead: V is conjugated and T is transposed.
    let right = side == Side::Right;
    let mut c = if right { c.transpose() } else { c };
    let ((m, k), n) = (v.shape(), c.ncols());
    let adjoint = op != Op::None;
    let t = if adjoint != right { t.transpose() } else { t };
    let t = Factor { conj: adjoint, ..Factor::plain(t) };

    let mut scratch = Workspace::<T>::take(k * k + 2 * k * n);
    let (unit, products) = scratch.elements().split_at_mut(k * k);
    let (y, z) = products.split_at_mut(k * n);
    let unit = unit_lower(v, unit);
    let (mut y, mut z) = (matrix_in(y, k, n), matrix_in(z, k, n));
    let below = v.submatrix(k..m, 0..k);
    let (mut top, mut bottom) = c.rb_mut().split_at_row(k);
    let factor = |view, packs| Factor { conj: right, ..Factor::new(Op::None, Operand { view, packs }) };
    let transposed = |view, packs| Factor { conj: !right, ..Factor::new(Op::Trans, Operand { view, packs }) };

    // Y = Vᴴ C, then C - V (op(T) Y). The triangle of V and the rows below it are separate factors.
    add(T::ONE, transposed(unit, None), Factor::plain(top.as_ref()), T::ZERO, y.rb_mut());
    if m > k {
        let below = transposed(below, packs.map(|packs| packs[0]));
        add(T::ONE, below, Factor::plain(bottom.as_ref()), T::ONE, y.rb_mut());
    }
    add(T::ONE, t, Factor::plain(y.as_ref()), T::ZERO, z.rb_mut());
    add(-T::ONE, factor(unit, None), Factor::plain(z.as_ref()), T::ONE, top.rb_mut());
    if m > k {
        let below = factor(below, packs.map(|packs| packs[1]));
        add(-T::ONE, below, Factor::plain(z.as_ref()), T::ONE, bottom.rb_mut());
    }
}
