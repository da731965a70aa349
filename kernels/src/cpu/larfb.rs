//! larfb: a block reflector applied to a matrix.

use super::gemm::add;
use super::larft::{square, unit_lower};
use crate::vector::{Factor, Operand, Packs, Workspace};
use crate::{MatMut, MatRef, Op, Scalar, Side};

/// Q = I - V T Vᴴ: V, m x k, unit lower trapezoidal, and T, k x k, zero below its diagonal. What is on and above the
/// diagonal of V is not read. With T of ib < k rows, Q is the product of one such for every ib columns of V and T.
#[derive(Clone, Copy, Debug)]
pub struct BlockReflector<'a, T> {
    /// The reflectors, as [`geqrf`](super::geqrf) leaves them.
    pub v: MatRef<'a, T>,
    /// Their triangular factor.
    pub t: MatRef<'a, T>,
    /// Of a tile that is applied to many others: what is remembered of V as it is multiplied with C, and as it
    /// multiplies the product. Of use only where T is k x k.
    pub packs: Option<[&'a Packs; 2]>,
}

impl<'a, T> BlockReflector<'a, T> {
    /// A reflector that is applied once.
    #[must_use]
    pub fn new(v: MatRef<'a, T>, t: MatRef<'a, T>) -> Self {
        Self { v, t, packs: None }
    }
}

/// C = op(Q) C ([`Side::Left`]) or C op(Q) ([`Side::Right`]), for op(Q) = Q or Qᴴ; for real types [`Op::Trans`] is Qᴴ.
///
/// # Panics
/// When the shapes do not agree, or for [`Op::Trans`] of a complex type.
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
    assert!(!T::COMPLEX || op != Op::Trans, "larfb takes no plain transpose");
    let (m, k) = q.v.shape();
    let (order, n) = if side == Side::Left { c.shape() } else { (c.ncols(), c.nrows()) };
    let fits = m >= k && order == m && q.t.ncols() == k && (1..=k.max(1)).contains(&q.t.nrows());
    assert!(fits || k == 0, "larfb: V {m} x {k}, C {:?}, T {:?}", c.shape(), q.t.shape());
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

/// The same for one T.
fn apply<T: Scalar>(side: Side, op: Op, q: BlockReflector<'_, T>, c: MatMut<'_, T>) {
    let BlockReflector { v, t, packs } = q;
    // From the right it is (C op(Q))ᵀ: the conjugate of V takes V's place, and T is transposed.
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
    let (mut y, mut z) = (square(y, k, n), square(z, k, n));
    let below = v.submatrix(k..m, 0..k);
    let (mut top, mut bottom) = c.rb_mut().split_at_row(k);
    let factor = |view, packs| Factor { conj: right, ..Factor::new(Op::None, Operand { view, packs }) };
    let transposed = |view, packs| Factor { conj: !right, ..Factor::new(Op::Trans, Operand { view, packs }) };

    // Y = Vᴴ C, then C - V (op(T) Y), the rows below the triangle of V apart.
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
