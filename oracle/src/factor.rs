//! The matrices in residuals, as routines store them: a triangle that defines a Hermitian matrix, reflectors, row
//! interchanges. Each can be applied to a vector in O(elements), by plain loops that share no code with the kernels.

use crate::{bound::largest, parallel};
use std::ops::{AddAssign, Range};
use superscalar_kernels::{Diag, MatRef, Op, Real, Scalar, Uplo};

/// Which part of a stored matrix is used, and the matrix that it defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// All of it.
    General,
    /// The part on one side of the diagonal, also of a rectangular matrix.
    Triangle(Uplo, Diag),
    /// One triangle; the other is its transpose.
    Symmetric(Uplo),
    /// One triangle; the other is its conjugate transpose. Imaginary parts on the diagonal are ignored.
    Hermitian(Uplo),
}

impl Storage {
    /// A lower triangle with its diagonal.
    pub const LOWER: Self = Self::Triangle(Uplo::Lower, Diag::NonUnit);
    /// An upper triangle with its diagonal.
    pub const UPPER: Self = Self::Triangle(Uplo::Upper, Diag::NonUnit);
}

/// Calls `f(i, j, element)` for every element of the matrix that this storage defines, except structural zeros.
pub fn each<T: Scalar>(storage: Storage, a: MatRef<'_, T>, f: impl FnMut(usize, usize, T)) {
    each_of(storage, a, 0..a.ncols(), f);
}

/// Like [`each`], for the elements that some of the columns define.
fn each_of<T: Scalar>(storage: Storage, a: MatRef<'_, T>, columns: Range<usize>, mut f: impl FnMut(usize, usize, T)) {
    let m = a.nrows();
    let column = |uplo, j: usize| if uplo == Uplo::Lower { (j + 1).min(m)..m } else { 0..j.min(m) };
    for j in columns {
        match storage {
            Storage::General => (0..m).for_each(|i| f(i, j, a.at(i, j))),
            Storage::Triangle(uplo, diag) => {
                if j < m {
                    f(j, j, if diag == Diag::Unit { T::ONE } else { a.at(j, j) });
                }
                column(uplo, j).for_each(|i| f(i, j, a.at(i, j)));
            }
            Storage::Symmetric(uplo) => {
                f(j, j, a.at(j, j));
                column(uplo, j).for_each(|i| {
                    f(i, j, a.at(i, j));
                    f(j, i, a.at(i, j));
                });
            }
            Storage::Hermitian(uplo) => {
                f(j, j, T::from_real(a.at(j, j).re()));
                column(uplo, j).for_each(|i| {
                    f(i, j, a.at(i, j));
                    f(j, i, a.at(i, j).conj());
                });
            }
        }
    }
}

/// One factor of a product.
#[derive(Clone, Copy)]
pub enum Factor<'a, T> {
    /// op(A).
    Matrix {
        /// How A is stored.
        storage: Storage,
        /// The transposition.
        op: Op,
        /// The stored matrix.
        a: MatRef<'a, T>,
    },
    /// One triangle of op(A) op(B), with zeros elsewhere.
    TriangleOf {
        /// Which triangle.
        uplo: Uplo,
        /// The transposition of A.
        op_a: Op,
        /// A.
        a: MatRef<'a, T>,
        /// The transposition of B.
        op_b: Op,
        /// B.
        b: MatRef<'a, T>,
    },
    /// Q = H₁ H₂ ⋯ or its conjugate transpose, where Hₚ = I − τₚ v vᴴ. The vector v has zeros, a one in row p, and then
    /// the elements below the diagonal in column p. With `by_rows` the conjugate of v is in row p instead.
    Reflectors {
        /// The reflectors.
        v: MatRef<'a, T>,
        /// Their scalars, a column.
        tau: MatRef<'a, T>,
        /// Whether the reflectors are in rows.
        by_rows: bool,
        /// Whether the factor is Qᴴ.
        adjoint: bool,
    },
    /// The permutation that undoes the interchanges of rows, or with `inverse` the one that makes them.
    Interchanges {
        /// The rows that the first, the second, … row was exchanged with, counted from one.
        pivots: &'a [i32],
        /// Whether it makes the interchanges.
        inverse: bool,
    },
}

/// Returns a general matrix as a factor.
pub fn general<T: Scalar>(a: MatRef<'_, T>) -> Factor<'_, T> {
    Factor::Matrix { storage: Storage::General, op: Op::None, a }
}

/// Returns op(A) of a general matrix as a factor.
pub fn transformed<T: Scalar>(op: Op, a: MatRef<'_, T>) -> Factor<'_, T> {
    Factor::Matrix { storage: Storage::General, op, a }
}

/// Returns a matrix with this storage as a factor.
pub fn stored<T: Scalar>(storage: Storage, a: MatRef<'_, T>) -> Factor<'_, T> {
    Factor::Matrix { storage, op: Op::None, a }
}

/// Returns op(A) of a triangle or trapezoid as a factor.
pub fn triangle<T: Scalar>(uplo: Uplo, op: Op, diag: Diag, a: MatRef<'_, T>) -> Factor<'_, T> {
    Factor::Matrix { storage: Storage::Triangle(uplo, diag), op, a }
}

/// Returns |x| as a double.
pub fn modulus<T: Scalar>(x: T) -> f64 {
    x.abs().to_f64()
}

/// Returns ‖A‖₁ and ‖A‖∞ of the matrix that this storage defines.
pub fn one_and_inf<T: Scalar>(storage: Storage, a: MatRef<'_, T>) -> (f64, f64) {
    let (mut columns, mut rows) = (vec![0.0; a.ncols()], vec![0.0; a.nrows()]);
    each(storage, a, |i, j, element| {
        columns[j] += modulus(element);
        rows[i] += modulus(element);
    });
    (largest(columns), largest(rows))
}

/// Returns |re| + |im|, a cheap upper bound of the modulus, which is safe as a scale.
fn magnitude<T: Scalar>(x: T) -> T {
    T::from_real(x.re().abs() + x.im().abs())
}

/// Returns element (i, j) of op(A).
fn element<T: Scalar>(op: Op, a: MatRef<'_, T>, i: usize, j: usize) -> T {
    match op {
        Op::None => a.at(i, j),
        Op::Trans => a.at(j, i),
        Op::ConjTrans => a.at(j, i).conj(),
    }
}

impl<T: Scalar> Factor<'_, T> {
    /// Returns Mᴴ x for this matrix M.
    pub fn adjoint_times(&self, x: Vec<T>) -> Vec<T> {
        match *self {
            Factor::Matrix { storage, op, a } => matrix_adjoint_times(storage, op, a, &x, |element| element),
            Factor::TriangleOf { .. } => self.triangle_adjoint_times(&x, |element| element),
            Factor::Reflectors { v, tau, by_rows, adjoint } => reflect(v, tau, by_rows, adjoint, x),
            Factor::Interchanges { pivots, inverse } => interchange(pivots, inverse, x),
        }
    }

    /// Returns |M|ᵀ x, where |M| has the magnitudes of the elements of M. Reflectors, which do not change lengths,
    /// return x.
    pub fn magnitudes_times(&self, x: Vec<T>) -> Vec<T> {
        match *self {
            Factor::Matrix { storage, op, a } => matrix_adjoint_times(storage, op, a, &x, magnitude),
            Factor::TriangleOf { .. } => self.triangle_adjoint_times(&x, magnitude),
            Factor::Reflectors { .. } => x,
            Factor::Interchanges { pivots, inverse } => interchange(pivots, inverse, x),
        }
    }

    /// Returns how many reflectors the factor has.
    pub fn reflections(&self) -> usize {
        if let Factor::Reflectors { tau, .. } = self { tau.nrows() } else { 0 }
    }

    /// Element j of the result is the inner product of column j of op(B) with a running sum: the rows i of op(A) that
    /// meet column j in the triangle, each times `x[i]`.
    fn triangle_adjoint_times(&self, x: &[T], map: impl Fn(T) -> T) -> Vec<T> {
        let Factor::TriangleOf { uplo, op_a, a, op_b, b } = *self else { unreachable!("the caller has looked") };
        let (n, k) = op_a.shape(a.shape());
        let (mut sum, mut y) = (vec![Total::ZERO; k], vec![T::ZERO; n]);
        for step in 0..n {
            let j = if uplo == Uplo::Lower { n - 1 - step } else { step };
            (0..k).for_each(|p| sum[p] += map(element(op_a, a, j, p)).conj() * x[j]);
            y[j] = Total::of((0..k).map(|p| map(element(op_b, b, p, j)).conj() * sum[p].rounded()));
        }
        y
    }
}

/// A sum that is rounded only at its end. The result under test may be more accurate than a plain sum of its terms.
#[derive(Clone, Copy)]
struct Total<T> {
    sum: T,
    /// The sum of the rounding errors so far.
    rest: T,
}

impl<T: Scalar> Total<T> {
    const ZERO: Self = Self { sum: T::ZERO, rest: T::ZERO };

    fn of(terms: impl Iterator<Item = T>) -> T {
        let mut total = Self::ZERO;
        terms.for_each(|term| total += term);
        total.rounded()
    }

    fn rounded(self) -> T {
        self.sum + self.rest
    }
}

impl<T: Scalar> AddAssign<T> for Total<T> {
    /// Adds a term and its rounding error by Knuth's two-sum.
    fn add_assign(&mut self, term: T) {
        let sum = self.sum + term;
        let part = sum - self.sum;
        self.rest += (self.sum - (sum - part)) + (term - part);
        self.sum = sum;
    }
}

impl<T: Scalar> AddAssign for Total<T> {
    fn add_assign(&mut self, other: Self) {
        *self += other.sum;
        self.rest += other.rest;
    }
}

/// Returns op(A)ᴴ x, with each element passed through `map`.
fn matrix_adjoint_times<T: Scalar>(
    storage: Storage,
    op: Op,
    a: MatRef<'_, T>,
    x: &[T],
    map: impl Fn(T) -> T + Sync,
) -> Vec<T> {
    let (rows, columns) = op.shape(a.shape());
    assert_eq!(x.len(), rows, "rows of op(A)");
    let (m, n) = a.shape();
    let totals = parallel::sum((n, m * n), vec![Total::ZERO; columns], |of, y| match op {
        Op::None => each_of(storage, a, of, |i, j, element| y[j] += map(element).conj() * x[i]),
        Op::Trans => each_of(storage, a, of, |i, j, element| y[i] += map(element).conj() * x[j]),
        Op::ConjTrans => each_of(storage, a, of, |i, j, element| y[i] += map(element) * x[j]),
    });
    totals.into_iter().map(Total::rounded).collect()
}

/// Returns Qᴴ x, or with `adjoint` Q x, one reflector at a time.
fn reflect<T: Scalar>(v: MatRef<'_, T>, tau: MatRef<'_, T>, by_rows: bool, adjoint: bool, mut x: Vec<T>) -> Vec<T> {
    let v = if by_rows { v.transpose() } else { v };
    let entry = |i, p| if by_rows { v.at(i, p).conj() } else { v.at(i, p) };
    let (m, k) = (x.len(), tau.nrows());
    for step in 0..k {
        // Qᴴ = ⋯ H₂ᴴ H₁ᴴ starts with the first reflector, Q = H₁ H₂ ⋯ with the last.
        let p = if adjoint { k - 1 - step } else { step };
        let factor = if adjoint { tau.at(p, 0) } else { tau.at(p, 0).conj() };
        let inner = x[p] + Total::of((p + 1..m).map(|i| entry(i, p).conj() * x[i]));
        let by = factor * inner;
        x[p] -= by;
        (p + 1..m).for_each(|i| x[i] -= entry(i, p) * by);
    }
    x
}

/// Interchanges the entries of x, first to last, or with `backward` last to first. An index that is not an entry leaves
/// NaN.
pub fn interchange<T: Scalar>(pivots: &[i32], backward: bool, mut x: Vec<T>) -> Vec<T> {
    for step in 0..pivots.len() {
        let i = if backward { pivots.len() - 1 - step } else { step };
        match usize::try_from(pivots[i]).ok().and_then(|pivot| pivot.checked_sub(1)) {
            Some(other) if other < x.len() => x.swap(i, other),
            _ => x[i] = T::from_f64(f64::NAN),
        }
    }
    x
}

/// Returns the magnitude of a coefficient or an entry, for use as a scale.
pub fn scale_of<T: Scalar>(x: T) -> f64 {
    magnitude(x).re().to_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_of_a_small_matrix() {
        let data = [1.0f64, -2.0, 3.0, 4.0];
        let a = MatRef::from_col_major(&data, 2, 2, 2).expect("a shape that fits");
        assert_eq!(one_and_inf(Storage::General, a), (7.0, 6.0));
        assert_eq!(one_and_inf(Storage::Symmetric(Uplo::Lower), a), (6.0, 6.0));
    }
}
