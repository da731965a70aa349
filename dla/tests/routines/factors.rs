//! Factors taken apart: L and U, and the Q of reflectors, from the definitions.

use crate::matrices::{Stored, Wide, wide};
use superscalar_dla::Scalar;
use superscalar_kernels::c64;

/// L, unit lower trapezoidal, and U, upper trapezoidal.
pub fn lower_and_upper<T: Scalar>(lu: &Stored<T>) -> (Wide, Wide) {
    let (m, n) = lu.shape();
    let k = m.min(n);
    let (below, above) = (lu.part(|i, j| i > j), lu.part(|i, j| i <= j));
    let l = Wide::new((m, k), |i, j| if i == j { c64::ONE } else { below.at(i, j) });
    (l, above.submatrix(0..k, 0..n))
}

/// Column i of V: zero before element i, which is one.
fn reflector(v: &Wide, i: usize) -> Vec<c64> {
    let element = |row: usize| match row.cmp(&i) {
        std::cmp::Ordering::Less => c64::ZERO,
        std::cmp::Ordering::Equal => c64::ONE,
        std::cmp::Ordering::Greater => v.at(row, i),
    };
    (0..v.shape().0).map(element).collect()
}

/// Q = H₁ H₂ …, all m columns of it, from the reflectors in the columns of V.
pub fn q_of_columns<T: Scalar>(v: &Wide, tau: &[T]) -> Wide {
    let mut q = Wide::identity(v.shape().0);
    for (i, &tau) in tau.iter().enumerate().rev() {
        q.reflect(wide(tau), &reflector(v, i));
    }
    q
}

/// The Q of A = L Q, … H₂ᴴ H₁ᴴ, all n rows of it: its adjoint is H₁ H₂ …, whose reflectors are the conjugates of rows.
pub fn q_of_rows<T: Scalar>(v: &Wide, tau: &[T]) -> Wide {
    q_of_columns(&v.adjoint(), tau).adjoint()
}
