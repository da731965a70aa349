//! getrf and laswp as loops.

use crate::scalar::division::size;
use crate::{Direction, MatMut, Scalar, Singular};

/// Computes A = P L U; L and U replace A. See [`cpu::getrf`](crate::cpu::getrf).
///
/// # Errors
/// If a pivot is exactly zero; the error holds the first one. The factorization is completed nevertheless.
///
/// # Panics
/// If the length of `ipiv` is not min(m, n), or m is larger than `i32::MAX`.
pub fn getrf<T: Scalar>(mut a: MatMut<'_, T>, ipiv: &mut [i32]) -> Result<(), Singular> {
    let (m, n) = a.shape();
    assert_eq!(ipiv.len(), m.min(n), "getrf: the length of ipiv is not min(m, n)");
    assert!(i32::try_from(m).is_ok(), "getrf: {m} rows exceed the range of interchanges");
    let mut outcome = Ok(());
    for j in 0..m.min(n) {
        let mut p = j;
        for i in j + 1..m {
            if size(a[(i, j)]) > size(a[(p, j)]) {
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
        for i in j + 1..m {
            a[(i, j)] = a[(i, j)].quotient(pivot);
            for c in j + 1..n {
                let product = a[(i, j)] * a[(j, c)];
                a[(i, c)] -= product;
            }
        }
    }
    outcome
}

/// Interchanges the rows of A one by one. See [`cpu::laswp`](crate::cpu::laswp).
///
/// # Panics
/// If an index is not in 1 ..= m.
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
