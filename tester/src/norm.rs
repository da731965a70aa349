//! Norms, as doubles, through which NaN is not lost.

use crate::link::{Stored, each};
use crate::operand::same;
use superscalar_kernels::{MatRef, Real, Scalar};

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

/// ‖A‖₁ and ‖A‖∞ of the matrix that this storage stands for.
pub fn one_and_inf<T: Scalar>(stored: Stored, a: MatRef<'_, T>) -> (f64, f64) {
    let (mut columns, mut rows) = (vec![0.0; a.ncols()], vec![0.0; a.nrows()]);
    each(stored, a, |i, j, element| {
        columns[j] += modulus(element);
        rows[i] += modulus(element);
    });
    (largest(columns), largest(rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use superscalar_kernels::Uplo;

    #[test]
    fn norms_of_a_small_matrix() {
        let data = [1.0f64, -2.0, 3.0, 4.0];
        let a = MatRef::from_col_major(&data, 2, 2, 2).expect("a shape that fits");
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
