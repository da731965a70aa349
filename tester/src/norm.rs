//! Norms, as doubles, through which NaN is not lost.

use crate::link::{Stored, each};
use crate::operand::same;
use crate::parallel;
use std::ops::Range;
use superscalar_kernels::{MatRef, Real, Scalar, Uplo};

/// The larger of two errors; NaN if one is. (`f64::max` would drop it.)
pub fn worst(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// The largest of these, 0 for none, NaN if one is.
pub fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, worst)
}

/// 0 if the numbers of each pair are the same, otherwise ∞.
pub fn mismatch<T: Scalar>(pairs: impl IntoIterator<Item = (T, T)>) -> f64 {
    if pairs.into_iter().all(|(a, b)| same(a, b)) { 0.0 } else { f64::INFINITY }
}

/// |x| as a double.
pub fn modulus<T: Scalar>(x: T) -> f64 {
    x.abs().to_f64()
}

/// ‖A‖₁, the largest sum of a column.
pub fn one<T: Scalar>(a: MatRef<'_, T>) -> f64 {
    let (m, n) = a.shape();
    let of = |columns: Range<usize>| largest(columns.map(|j| (0..m).map(|i| modulus(a.at(i, j))).sum()));
    largest(parallel::map(parallel::ranges(n, m * n), of))
}

/// ‖A‖₁ and ‖A‖∞ of the matrix that this storage stands for.
pub fn one_and_inf<T: Scalar>(stored: Stored, a: MatRef<'_, T>) -> (f64, f64) {
    let (mut columns, mut rows) = (vec![0.0; a.ncols()], vec![0.0; a.nrows()]);
    each(stored, a, |i, j, element| {
        columns[j] += modulus(element);
        rows[i] += modulus(element);
    });
    (largest(columns), largest(rows))
}

/// ‖A‖₁ of a Hermitian matrix of which one triangle is stored.
pub fn one_hermitian<T: Scalar>(uplo: Uplo, a: MatRef<'_, T>) -> f64 {
    let n = a.nrows();
    let a = if uplo == Uplo::Upper { a.transpose() } else { a };
    largest(parallel::sum((n, n * n), vec![0.0; n], |columns, sums| {
        for j in columns {
            sums[j] += modulus(a.at(j, j));
            for i in j + 1..n {
                let entry = modulus(a.at(i, j));
                sums[i] += entry;
                sums[j] += entry;
            }
        }
    }))
}

/// The largest diagonal entry of L Lᴴ (lower) or Uᴴ U (upper): at most ‖A‖₁ of that product and, where the diagonal of
/// the factor dominates, not far below it.
pub fn largest_diagonal<T: Scalar>(uplo: Uplo, factor: MatRef<'_, T>) -> f64 {
    let n = factor.nrows();
    let factor = if uplo == Uplo::Upper { factor.transpose() } else { factor };
    largest(parallel::sum((n, n * n), vec![0.0; n], |columns, sums| {
        for j in columns {
            (j..n).for_each(|i| sums[i] += modulus(factor.at(i, j)).powi(2));
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_of_a_small_matrix() {
        let data = [1.0f64, -2.0, 3.0, 4.0];
        let a = MatRef::from_col_major(&data, 2, 2, 2).expect("a shape that fits");
        assert_eq!(one(a), 7.0);
        assert_eq!((one_hermitian(Uplo::Lower, a), one_hermitian(Uplo::Upper, a)), (6.0, 7.0));
        assert_eq!((largest_diagonal(Uplo::Lower, a), largest_diagonal(Uplo::Upper, a)), (20.0, 25.0));
        assert_eq!(one(a.submatrix(0..0, 0..2)), 0.0);
        assert_eq!(
            (one_and_inf(Stored::General, a), one_and_inf(Stored::Symmetric(Uplo::Lower), a)),
            ((7.0, 6.0), (6.0, 6.0))
        );
    }

    #[test]
    fn nan_is_not_lost() {
        assert!(worst(f64::NAN, 1.0).is_nan() && worst(1.0, f64::NAN).is_nan() && largest([f64::NAN, 2.0]).is_nan());
        assert_eq!(worst(1.0, 2.0), 2.0);
    }
}
