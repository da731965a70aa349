//! getrf and laswp as loops.

use crate::{Direction, MatMut, Real, Scalar, Singular};

/// A = P L U, L and U over A. See [`cpu::getrf`](crate::cpu::getrf).
///
/// # Errors
/// The first pivot that is exactly zero; the factorization is complete.
///
/// # Panics
/// When `ipiv` has another length than min(m, n).
pub fn getrf<T: Scalar>(mut a: MatMut<'_, T>, ipiv: &mut [i32]) -> Result<(), Singular> {
    let (m, n) = a.shape();
    assert_eq!(ipiv.len(), m.min(n), "as many interchanges as pivots");
    let abs = |x: T::Real| if x < T::Real::ZERO { -x } else { x };
    let mut outcome = Ok(());
    for j in 0..m.min(n) {
        let measure = |x: T| abs(x.re()) + abs(x.im());
        let mut p = j;
        for i in j + 1..m {
            if measure(a[(i, j)]) > measure(a[(p, j)]) {
                p = i;
            }
        }
        ipiv[j] = (p + 1) as i32;
        (0..n).for_each(|c| exchange(&mut a, j, p, c));
        let pivot = a[(j, j)];
        if pivot == T::ZERO {
            outcome = outcome.and(Err(Singular { pivot: j + 1 }));
            continue;
        }
        // Scaled by a power of two, so that squares of the parts of a tiny complex pivot do not vanish.
        let by = if measure(pivot) < T::Real::ONE { T::Real::ONE / T::Real::MIN_POSITIVE } else { T::Real::ONE };
        for i in j + 1..m {
            a[(i, j)] = scaled_quotient(a[(i, j)], pivot, by);
            for c in j + 1..n {
                let product = a[(i, j)] * a[(j, c)];
                a[(i, c)] -= product;
            }
        }
    }
    outcome
}

/// x / y, where x is not larger than y, by way of y / (largest part of y).
fn scaled_quotient<T: Scalar>(x: T, y: T, by: T::Real) -> T {
    let times = |x: T| T::from_parts(x.re() * by, x.im() * by);
    let (x, y) = (times(x), times(y));
    let abs = |x: T::Real| if x < T::Real::ZERO { -x } else { x };
    let largest = if abs(y.re()) > abs(y.im()) { abs(y.re()) } else { abs(y.im()) };
    let over = |x: T| T::from_parts(x.re() / largest, x.im() / largest);
    over(x) / over(y)
}

/// Exchanges the rows of A one by one. See [`cpu::laswp`](crate::cpu::laswp).
///
/// # Panics
/// When an index is not in 1 ..= m.
pub fn laswp<T: Scalar>(mut a: MatMut<'_, T>, ipiv: &[i32], direction: Direction) {
    for count in 0..ipiv.len() {
        let i = if direction == Direction::Forward { count } else { ipiv.len() - 1 - count };
        (0..a.ncols()).for_each(|c| exchange(&mut a, i, ipiv[i] as usize - 1, c));
    }
}

fn exchange<T: Scalar>(a: &mut MatMut<'_, T>, i: usize, p: usize, column: usize) {
    let x = a[(i, column)];
    a[(i, column)] = a[(p, column)];
    a[(p, column)] = x;
}
