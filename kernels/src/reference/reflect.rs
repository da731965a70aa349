//! geqrf, larft and larfb as loops.

use super::product::gemm;
use crate::{MatMut, MatRef, Op, Real, Scalar, Side};

/// Computes A = Q R and the factor T of Q. See [`cpu::geqrf`](crate::cpu::geqrf).
///
/// # Panics
/// If the shapes do not agree.
pub fn geqrf<T: Scalar>(mut a: MatMut<'_, T>, tau: &mut [T], t: MatMut<'_, T>) {
    let (m, n) = a.shape();
    for j in 0..m.min(n) {
        tau[j] = reflector(a.rb_mut().submatrix(j..m, j..j + 1));
        for c in j + 1..n {
            // Hᴴ a = a - conj(tau) v (vᴴ a).
            let mut product = a[(j, c)];
            for i in j + 1..m {
                product += a[(i, j)].conj() * a[(i, c)];
            }
            let by = tau[j].conj() * product;
            a[(j, c)] -= by;
            for i in j + 1..m {
                let change = a[(i, j)] * by;
                a[(i, c)] -= change;
            }
        }
    }
    larft(a.as_ref().submatrix(0..m, 0..m.min(n)), tau, t);
}

/// Computes the reflector that takes the column x to beta e1. Stores beta and v in x, and returns tau.
fn reflector<T: Scalar>(mut x: MatMut<'_, T>) -> T {
    let m = x.nrows();
    let alpha = x[(0, 0)];
    let rest = (1..m).fold(T::Real::ZERO, |norm, i| hypot(norm, x[(i, 0)].abs()));
    if rest == T::Real::ZERO && alpha.im() == T::Real::ZERO {
        return T::ZERO;
    }
    let norm = hypot(alpha.abs(), rest);
    let beta = if alpha.re() < T::Real::ZERO { norm } else { -norm };
    // Dividing by beta gives numbers near one, so their quotients neither overflow nor vanish.
    let over = |x: T| T::from_parts(x.re() / beta, x.im() / beta);
    let divisor = over(alpha - T::from_real(beta));
    for i in 1..m {
        x[(i, 0)] = over(x[(i, 0)]).quotient(divisor);
    }
    x[(0, 0)] = T::from_real(beta);
    T::from_parts((beta - alpha.re()) / beta, -alpha.im() / beta)
}

/// Computes the square root of a sum of two squares, without undue overflow.
fn hypot<R: Real>(x: R, y: R) -> R {
    let (large, small) = if x > y { (x, y) } else { (y, x) };
    if large == R::ZERO {
        return large;
    }
    let ratio = small / large;
    large * (R::ONE + ratio * ratio).sqrt()
}

/// Returns an element of V, including its implicit ones and zeros.
fn element<T: Scalar>(v: MatRef<'_, T>, i: usize, j: usize) -> T {
    match i.cmp(&j) {
        std::cmp::Ordering::Less => T::ZERO,
        std::cmp::Ordering::Equal => T::ONE,
        std::cmp::Ordering::Greater => v.at(i, j),
    }
}

/// Computes T with H1 H2 ... Hk = I - V T Vᴴ. See [`cpu::larft`](crate::cpu::larft).
///
/// # Panics
/// If the shapes do not agree.
pub fn larft<T: Scalar>(v: MatRef<'_, T>, tau: &[T], mut t: MatMut<'_, T>) {
    let (m, k) = v.shape();
    t.fill(T::ZERO);
    for j in 0..k {
        // (I - V T Vᴴ) (I - tau v vᴴ) adds the column -tau T (Vᴴ v) to T, with tau below it.
        for i in 0..j {
            let mut sum = T::ZERO;
            for p in i..j {
                let product: T = (0..m).map(|r| element(v, r, p).conj() * element(v, r, j)).sum();
                sum += t[(i, p)] * product;
            }
            t[(i, j)] = -tau[j] * sum;
        }
        t[(j, j)] = tau[j];
    }
}

/// Computes C = op(Q) C or C op(Q) for Q = I - V T Vᴴ, by forming Q. See [`cpu::larfb`](crate::cpu::larfb).
///
/// # Panics
/// If the shapes do not agree.
pub fn larfb<T: Scalar>(side: Side, op: Op, v: MatRef<'_, T>, t: MatRef<'_, T>, mut c: MatMut<'_, T>) {
    let (m, k) = v.shape();
    // Form W = T Vᴴ, then Q = I - V W.
    let w = |r: usize, j: usize| (r..k).map(|s| t.at(r, s) * element(v, j, s).conj()).sum::<T>();
    let w: Vec<T> = (0..m * k).map(|at| w(at % k, at / k)).collect();
    let mut q = vec![T::ZERO; m * m];
    for (at, q) in q.iter_mut().enumerate() {
        let (i, j) = (at % m, at / m);
        let product: T = (0..k).map(|r| element(v, i, r) * w[r + j * k]).sum();
        *q = if i == j { T::ONE - product } else { -product };
    }
    let q = MatRef::from_col_major(&q, m, m, m.max(1)).expect("Q has m x m elements");
    let op = if op == Op::None { op } else { Op::ConjTrans };
    let old = c.as_ref().to_vec();
    let old = MatRef::from_col_major(&old, c.nrows(), c.ncols(), c.nrows().max(1)).expect("a copy of C");
    match side {
        Side::Left => gemm(T::ONE, op, q, Op::None, old, T::ZERO, c.rb_mut()),
        Side::Right => gemm(T::ONE, Op::None, old, op, q, T::ZERO, c.rb_mut()),
    }
}
