//! Products of a stored matrix and a vector, by plain loops along columns: O(n²), and independent of the kernels.

use crate::{parallel, random::Random};
use superscalar_kernels::{Diag, MatRef, Op, Scalar, Uplo};

/// Probes per residual.
const PROBES: u64 = 3;

/// The random vectors that residuals are probed with: entries of modulus one.
pub fn vectors<T: Scalar>(n: usize) -> impl Iterator<Item = Vec<T>> {
    (0..PROBES).map(move |probe| {
        let mut random = Random::new(probe);
        (0..n).map(|_| random.unit()).collect()
    })
}

/// A x for a Hermitian A of which one triangle is stored.
pub fn hermitian_times<T: Scalar>(uplo: Uplo, a: MatRef<'_, T>, x: &[T]) -> Vec<T> {
    by_columns(x, |j, y| {
        let mut sum = T::from_real(a.at(j, j).re()) * x[j];
        let off_diagonal = if uplo == Uplo::Lower { j + 1..x.len() } else { 0..j };
        for i in off_diagonal {
            let entry = a.at(i, j);
            y[i] += entry * x[j];
            sum += entry.conj() * x[i];
        }
        y[j] += sum;
    })
}

/// op(A) x for a triangular A.
pub fn triangle_times<T: Scalar>(uplo: Uplo, op: Op, a: MatRef<'_, T>, x: &[T]) -> Vec<T> {
    by_columns(x, |j, y| {
        let rows = if uplo == Uplo::Lower { j..x.len() } else { 0..j + 1 };
        match op {
            Op::None => rows.for_each(|i| y[i] += a.at(i, j) * x[j]),
            Op::Trans => y[j] = rows.map(|i| a.at(i, j) * x[i]).sum(),
            Op::ConjTrans => y[j] = rows.map(|i| a.at(i, j).conj() * x[i]).sum(),
        }
    })
}

/// What the columns of a square matrix add up to, each of which is multiplied with its entry of x.
fn by_columns<T: Scalar>(x: &[T], column: impl Fn(usize, &mut [T]) + Sync) -> Vec<T> {
    let n = x.len();
    parallel::sum((n, n * n), vec![T::ZERO; n], |columns, y| columns.for_each(|j| column(j, y)))
}

/// Solves op(A) y = x for a triangular A, y over x.
pub fn triangle_solve<T: Scalar>(uplo: Uplo, op: Op, diag: Diag, a: MatRef<'_, T>, x: &mut [T]) {
    let n = x.len();
    let entry = |i, j| match op {
        Op::None => a.at(i, j),
        Op::Trans => a.at(j, i),
        Op::ConjTrans => a.at(j, i).conj(),
    };
    let is_forward = (uplo == Uplo::Lower) == (op == Op::None);
    for step in 0..n {
        let j = if is_forward { step } else { n - 1 - step };
        if diag == Diag::NonUnit {
            x[j] = x[j].quotient(entry(j, j));
        }
        let by = x[j];
        let rest = if is_forward { j + 1..n } else { 0..j };
        rest.for_each(|i| x[i] -= entry(i, j) * by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use superscalar_kernels::c64;

    #[test]
    fn products_of_a_small_matrix() {
        let z = |re, im| c64::new(re, im);
        // Of the Hermitian [1, 2 - i; 2 + i, 3] and the triangular [1, 0; 2 + i, 3], with NaN where nobody looks.
        let lower = [z(1.0, 0.0), z(2.0, 1.0), z(f64::NAN, 0.0), z(3.0, 0.0)];
        let upper = [z(1.0, 0.0), z(f64::NAN, 0.0), z(2.0, -1.0), z(3.0, 0.0)];
        let view = |data| MatRef::from_col_major(data, 2, 2, 2).expect("a shape that fits");
        let x = [z(1.0, 0.0), z(0.0, 1.0)];
        for (uplo, data) in [(Uplo::Lower, &lower), (Uplo::Upper, &upper)] {
            assert_eq!(hermitian_times(uplo, view(data), &x), [z(2.0, 2.0), z(2.0, 4.0)]);
        }
        let l = |op| triangle_times(Uplo::Lower, op, view(&lower), &x);
        assert_eq!(l(Op::None), [z(1.0, 0.0), z(2.0, 4.0)]);
        assert_eq!(l(Op::Trans), [z(0.0, 2.0), z(0.0, 3.0)]);
        assert_eq!(l(Op::ConjTrans), [z(2.0, 2.0), z(0.0, 3.0)]);
        let u = |op| triangle_times(Uplo::Upper, op, view(&upper), &x);
        assert_eq!(u(Op::None), [z(2.0, 2.0), z(0.0, 3.0)]);
        assert_eq!(u(Op::ConjTrans), [z(1.0, 0.0), z(2.0, 4.0)]);
        for (uplo, data) in [(Uplo::Lower, &lower), (Uplo::Upper, &upper)] {
            for op in [Op::None, Op::Trans, Op::ConjTrans] {
                let mut y = triangle_times(uplo, op, view(data), &x);
                triangle_solve(uplo, op, Diag::NonUnit, view(data), &mut y);
                assert!(y.iter().zip(&x).all(|(y, x)| (y - x).norm() < 1e-14), "{uplo} {op}");
            }
        }
    }
}
