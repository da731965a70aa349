//! Residuals that are sums of products, such as alpha op(A) op(B) + beta C − C′ or P L U − A. They are multiplied with
//! vectors from the left: uᴴ R costs O(n²), however many factors there are.
//!
//! The vectors are a few random ones with entries of modulus one and, up to order [`COLUMNS_MAX`], all unit vectors,
//! which test every element. Errors are measured relative to what rounding can explain. Let G be the same sum of
//! magnitudes, such as |alpha| |op(A)| |op(B)| + |beta| |C| + |C′|: rounding leaves about ε Gᵢⱼ in an element of R. The
//! roundings of a column are independent, so with a random u they add up to about ε ‖Gⱼ‖₂ rather than ε ‖Gⱼ‖₁. The
//! errors are
//!
//! - of random vectors, |uᴴ R|ⱼ / (ε ‖Gⱼ‖₂). An error in one element or tile appears in uᴴ R undiminished, while the
//!   contribution of rounding grows only with √n. A norm such as n ε ‖A‖₁ grows with n², and in single precision hides
//!   whole tiles from some hundred rows on;
//! - of unit vectors, |R|ᵢⱼ / (ε Gᵢⱼ) for results of products alone ([`componentwise`](Sum::componentwise), the measure
//!   of the Level 3 tests of the BLAS), and |R|ᵢⱼ / (ε ‖Gⱼ‖₂) for others ([`columnwise`](Sum::columnwise)).
//!
//! Reflectors do not change the length of a column. In G, k of them count as the identity times √k, for their k
//! roundings.

use crate::{
    bound::{largest, ratio},
    factor::{Factor, modulus, scale_of},
    probe::{signed_vectors, vectors},
};
use superscalar_kernels::{Real, Scalar};

/// The largest accepted error. Right results mostly have a few roundings. Factors of Cholesky have up to 15, because
/// the elements on a diagonal stay large while hundreds of small ones are subtracted, each with a rounding of the large
/// one.
pub const ROUNDINGS_MAX: f64 = 30.0;
/// The largest number of rows for which a residual is multiplied with all unit vectors.
pub const COLUMNS_MAX: usize = 64;

/// A sum of products of matrices, each with a coefficient. An empty product is the identity.
///
/// # Example
/// ```
/// use superscalar_kernels::{Diag, Op, Uplo, reference};
/// use superscalar_oracle::{ROUNDINGS_MAX, Storage, Stored, Sum, stored, triangle};
///
/// let a = Stored::<f64>::positive_definite(200, 1);
/// let mut l = a.clone();
/// reference::potrf(Uplo::Lower, l.view_mut())?;
/// let lower = |op| triangle(Uplo::Lower, op, Diag::NonUnit, l.view());
/// let of_a = stored(Storage::Hermitian(Uplo::Lower), a.view());
/// let error = Sum::new(200).plus(1.0, [lower(Op::None), lower(Op::ConjTrans)]).minus([of_a]).columnwise();
/// assert!(error <= ROUNDINGS_MAX);
/// # Ok::<(), superscalar_kernels::NotPositiveDefinite>(())
/// ```
pub struct Sum<'a, T> {
    rows: usize,
    terms: Vec<(T, Vec<Factor<'a, T>>)>,
}

impl<'a, T: Scalar> Sum<'a, T> {
    /// Returns an empty sum of matrices with this number of rows.
    pub fn new(rows: usize) -> Self {
        Self { rows, terms: Vec::new() }
    }

    /// Adds a product. If the coefficient is 0, the factors are not read, as in the BLAS.
    pub fn plus(mut self, coefficient: T, factors: impl IntoIterator<Item = Factor<'a, T>>) -> Self {
        if coefficient != T::ZERO {
            self.terms.push((coefficient, factors.into_iter().collect()));
        }
        self
    }

    /// Subtracts a product.
    pub fn minus(self, factors: impl IntoIterator<Item = Factor<'a, T>>) -> Self {
        self.plus(-T::ONE, factors)
    }

    /// Returns the largest error, where each element is measured by its own magnitudes.
    pub fn componentwise(&self) -> f64 {
        let of_row = |u: Vec<T>| self.error(&u, &self.magnitudes_times(&u));
        largest(unit_vectors(self.rows).map(of_row).chain([self.probed()]))
    }

    /// Returns the largest error, where elements are measured by the length of their column of magnitudes.
    pub fn columnwise(&self) -> f64 {
        let mut scales: Vec<f64> = Vec::new();
        for row in unit_vectors(self.rows).map(|u| self.magnitudes_times(&u)) {
            scales.resize(row.len(), 0.0);
            scales.iter_mut().zip(&row).for_each(|(scale, &entry)| *scale = scale.hypot(entry));
        }
        largest(unit_vectors(self.rows).map(|u| self.error(&u, &scales)).chain([self.probed()]))
    }

    /// Returns the largest error with random vectors.
    fn probed(&self) -> f64 {
        let scales = self.lengths();
        largest(vectors(self.rows).map(|u| self.error(&u, &scales)))
    }

    /// Returns the largest |uᴴ R|ⱼ / (ε scaleⱼ); NaN if a scale is not finite.
    fn error(&self, u: &[T], scales: &[f64]) -> f64 {
        let of_column = |(&residual, &scale): (&T, &f64)| ratio(modulus(residual), scale);
        largest(self.adjoint_times(u).iter().zip(scales).map(of_column)) / T::EPSILON.to_f64()
    }

    /// Estimates ‖Gⱼ‖₂ for each column as the root mean square of wᵀ G for random vectors w. The entries of w have
    /// different moduli; with a common modulus, two large elements of a column would cancel in every fourth pair of
    /// vectors. The estimate is never less than the lower bound ‖Gⱼ‖₁ / √m.
    fn lengths(&self) -> Vec<f64> {
        let mean = (self.rows.max(1) as f64).sqrt();
        let mut lengths = self.magnitudes_times(&vec![T::ONE; self.rows]);
        lengths.iter_mut().for_each(|sum| *sum /= mean);
        let signed: Vec<Vec<f64>> = signed_vectors(self.rows).map(|w| self.magnitudes_times(&w)).collect();
        for (j, length) in lengths.iter_mut().enumerate() {
            let sum = signed.iter().fold(0.0, |sum: f64, row| sum.hypot(row[j]));
            *length = largest([*length, sum / (signed.len() as f64).sqrt()]);
        }
        lengths
    }

    /// Returns Rᴴ u.
    fn adjoint_times(&self, u: &[T]) -> Vec<T> {
        let mut sum: Vec<T> = Vec::new();
        for (coefficient, factors) in &self.terms {
            let y = factors.iter().fold(u.to_vec(), |x, factor| factor.adjoint_times(x));
            add(&mut sum, coefficient.conj(), &y);
        }
        sum
    }

    /// Returns wᵀ G.
    fn magnitudes_times(&self, w: &[T]) -> Vec<f64> {
        let mut sum: Vec<T> = Vec::new();
        for (coefficient, factors) in &self.terms {
            let y = factors.iter().fold(w.to_vec(), |x, factor| factor.magnitudes_times(x));
            let roundings = factors.iter().map(Factor::reflections).sum::<usize>().max(1);
            add(&mut sum, T::from_f64(scale_of(*coefficient) * (roundings as f64).sqrt()), &y);
        }
        sum.into_iter().map(|entry| entry.re().to_f64()).collect()
    }
}

/// Computes sum := sum + by y; an empty sum is zero.
fn add<T: Scalar>(sum: &mut Vec<T>, by: T, y: &[T]) {
    sum.resize(y.len(), T::ZERO);
    sum.iter_mut().zip(y).for_each(|(sum, &entry)| *sum += by * entry);
}

/// Returns all unit vectors of this length, or none if it is above [`COLUMNS_MAX`].
fn unit_vectors<T: Scalar>(n: usize) -> impl Iterator<Item = Vec<T>> {
    let count = if n <= COLUMNS_MAX { n } else { 0 };
    (0..count).map(move |at| (0..n).map(|i| if i == at { T::ONE } else { T::ZERO }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factor::{Storage, general, stored, transformed, triangle};
    use superscalar_kernels::{Diag, MatRef, Op, Uplo, c64};

    fn z(re: f64, im: f64) -> c64 {
        c64::new(re, im)
    }

    fn view(data: &[c64]) -> MatRef<'_, c64> {
        MatRef::from_col_major(data, 2, 2, 2).expect("a shape that fits")
    }

    #[test]
    fn equal_terms_cancel() {
        let a = [z(1.0, 2.0), z(3.0, -1.0), z(0.0, 1.0), z(2.0, 2.0)];
        let conjugated = [a[0].conj(), a[2].conj(), a[1].conj(), a[3].conj()];
        let transposed = Sum::new(2).plus(z(2.0, 1.0), [transformed(Op::ConjTrans, view(&a))]);
        let both = transposed.plus(z(-2.0, -1.0), [general(view(&conjugated))]);
        assert_eq!((both.columnwise(), both.componentwise()), (0.0, 0.0));
        // One triangle defines the other; a unit diagonal is not read.
        let hermitian = [z(1.0, 9.0), z(2.0, 1.0), z(f64::NAN, 0.0), z(3.0, 9.0)];
        let whole = [z(1.0, 0.0), z(2.0, 1.0), z(2.0, -1.0), z(3.0, 0.0)];
        let sum = Sum::new(2).plus(c64::ONE, [stored(Storage::Hermitian(Uplo::Lower), view(&hermitian))]);
        assert_eq!(sum.minus([general(view(&whole))]).columnwise(), 0.0);
        let unit = [z(f64::NAN, 0.0), z(f64::NAN, 0.0), z(2.0, -1.0), z(f64::NAN, 0.0)];
        let ones = [c64::ONE, c64::ZERO, z(2.0, -1.0), c64::ONE];
        let sum = Sum::new(2).plus(c64::ONE, [triangle(Uplo::Upper, Op::None, Diag::Unit, view(&unit))]);
        assert_eq!(sum.minus([general(view(&ones))]).columnwise(), 0.0);
    }

    #[test]
    fn reflectors_and_interchanges_cancel() {
        let (v, tau) = ([f64::NAN, 1.0, f64::NAN, f64::NAN], [1.0]);
        let v = MatRef::from_col_major(&v, 2, 2, 2).expect("a shape that fits");
        let tau = MatRef::from_col_major(&tau, 1, 1, 1).expect("a shape that fits");
        let q = |adjoint, by_rows| Factor::Reflectors { v, tau, by_rows, adjoint };
        // I − (1, 1)ᵀ (1, 1) = −[0, 1; 1, 0].
        assert_eq!(q(false, false).adjoint_times(vec![2.0, 3.0]), [-3.0, -2.0]);
        let identity = Sum::new(2).plus(1.0, [q(false, false), q(true, false)]).minus([]);
        assert_eq!(identity.columnwise(), 0.0);
        let (pivots, bad) = ([3, 2, 3], [0, 9]);
        let p = |inverse| Factor::Interchanges { pivots: &pivots, inverse };
        assert_eq!(Sum::new(3).plus(1.0, [p(false), p(true)]).minus([]).columnwise(), 0.0);
        let bad: Factor<'_, f64> = Factor::Interchanges { pivots: &bad, inverse: false };
        assert!(bad.adjoint_times(vec![1.0, 2.0]).iter().all(|entry| entry.is_nan()));
    }

    #[test]
    fn infinite_scale_is_rejected() {
        let one_by_one = |x: &'static [f64; 1]| general(MatRef::from_col_major(x, 1, 1, 1).expect("a shape that fits"));
        let nothing = |x| Sum::new(1).plus(1.0, [one_by_one(x)]).minus([one_by_one(x)]);
        assert_eq!(nothing(&[1.0]).error(&[1.0], &[1.0]), 0.0);
        for scale in [f64::INFINITY, f64::NAN] {
            assert!(nothing(&[1.0]).error(&[1.0], &[scale]).is_nan(), "{scale}");
        }
        // The magnitudes overflow, while the residual is zero. Squares would overflow earlier.
        let overflown = nothing(&[f64::MAX]);
        assert!(overflown.componentwise().is_nan() && overflown.columnwise().is_nan());
        for x in [&[1e200], &[1e-200]] {
            assert_eq!(nothing(x).columnwise(), 0.0);
            assert!(Sum::new(1).plus(1.0, [one_by_one(x)]).columnwise() >= 1e15, "{x:?} for nothing");
        }
    }

    #[test]
    fn triangle_of_a_product() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]);
        fn view(data: &[f64]) -> MatRef<'_, f64> {
            MatRef::from_col_major(data, 2, 2, 2).expect("a shape that fits")
        }
        // [1, 3; 2, 4] [5, 6; 7, 8] = [26, 30; 38, 44]; the other triangle is NaN, to show that it is not read.
        for (uplo, whole) in [(Uplo::Lower, [26.0, 38.0, f64::NAN, 44.0]), (Uplo::Upper, [26.0, f64::NAN, 30.0, 44.0])]
        {
            let product = Factor::TriangleOf { uplo, op_a: Op::None, a: view(&a), op_b: Op::Trans, b: view(&b) };
            let sum = Sum::new(2).plus(1.0, [product]);
            assert_eq!(sum.minus([triangle(uplo, Op::None, Diag::NonUnit, view(&whole))]).columnwise(), 0.0, "{uplo}");
        }
    }
}
